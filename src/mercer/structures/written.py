"""Objects of any kind in a few characters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.core.arrays import is_array
from mercer.structures.graphs import described


def brief(thing: Any, most: int = 40, text: Callable[[Any], str] = repr) -> str:
    """Write an object in at most `most` characters; `text` writes strings, tuples and whatever else has no rule here.

    Examples
    --------
    >>> import numpy as np
    >>> brief("receive"), brief("receive", text=str), brief({"b", "a"}), brief(np.array([0.5, 2.0]))
    ("'receive'", 'receive', '{a, b}', '[0.5, 2]')
    """
    if (graph := described(thing)) is not None:
        return graph
    if isinstance(thing, set | frozenset):
        return _short("{" + ", ".join(sorted(map(str, thing))) + "}", most)
    if is_array(thing) and thing.shape != ():
        if len(thing.shape) > 1 or thing.shape[0] > 8:
            return f"array of shape {tuple(thing.shape)}"
        return "[" + ", ".join(f"{float(value):.3g}" for value in thing) + "]"
    return _short(str(thing) if isinstance(thing, np.generic) else text(thing), most)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
