"""Examples of helpers that users do not call.

>>> import numpy as np
>>> from mercer.solvers.conjugate_gradient import conjugate_gradient
>>> import numpy as np
>>> A = np.array([[2.0, 1.0], [1.0, 3.0]])
>>> found = conjugate_gradient(lambda x: A @ x, np.array([3.0, 4.0]))
>>> found.values.round(10), found.iterations, found.converged
(array([1., 1.]), 2, True)
"""
