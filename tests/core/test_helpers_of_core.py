"""Examples of helpers that users do not call.

>>> import math
>>> import numpy as np
>>> from mercer.core.validation import is_whole
>>> import numpy as np
>>> is_whole(3), is_whole(np.int64(3)), is_whole(True), is_whole(np.True_), is_whole(3.0)
(True, True, False, False, False)

>>> from mercer.core.validation import is_real
>>> import numpy as np
>>> is_real(0.5), is_real(np.float32(2)), is_real(True), is_real("1"), is_real(math.nan)
(True, True, False, False, False)

>>> from mercer.core.validation import check_whole
>>> check_whole(0, "rank")
Traceback (most recent call last):
...
ValueError: rank=0; expected a positive whole number

>>> from mercer.core.validation import check_real
>>> check_real(1.5, "tol", 0, 1, expected="a number between 0 and 1")
Traceback (most recent call last):
...
ValueError: tol=1.5; expected a number between 0 and 1

>>> from mercer.core.validation import check_choice
>>> check_choice("mean", "origin", ("zero", "one"))
Traceback (most recent call last):
...
ValueError: origin='mean'; expected 'zero' or 'one'

>>> from mercer.core.validation import check_instance
>>> check_instance(3, "kernel", str, expected="the name of a kernel")
Traceback (most recent call last):
...
TypeError: kernel=3; expected the name of a kernel

>>> from mercer.core.threads import Groups
>>> groups, found = Groups(25, workers=1), []
>>> groups.work(lambda group: found.append(len(group)))
>>> found
[1, 2, 4, 6, 4, 2, 2, 1, 1, 1, 1]

>>> from pathlib import Path
>>> from mercer.core.files import written_atomically
>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     with written_atomically(Path(folder, "greeting.txt")) as temporary:
...         _ = temporary.write_text("hello")
...     Path(folder, "greeting.txt").read_text()
'hello'

>>> from mercer.core.compiled import compiled
>>> @compiled
... def total(n):
...     found = 0
...     for i in range(n):
...         found += i
...     return found
>>> total(4)  # numba is imported here
6
"""
