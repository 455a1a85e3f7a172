"""Models without tensors, for machines that lack the device or the library they were fitted with."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from mercer.core.arrays import is_array, is_numpy_array, to_numpy

_LEVELS = 3
"""Nested containers that are looked into; training objects may be nested far deeper, and hold no tensors."""


def portable(model: Any) -> Any:
    """Return the model with every array of another library as a NumPy array; the model itself if it holds none.

    Objects of this library, and dictionaries, lists and tuples in them, are looked into. An object that occurs twice occurs
    twice in the result.

    Examples
    --------
    >>> portable({"a": [1.0, 2.0]})
    {'a': [1.0, 2.0]}
    """
    return _converted(model, {}, 0)


def _converted(item: Any, known: dict[int, tuple[Any, Any]], level: int) -> Any:
    if id(item) in known:
        return known[id(item)][1]
    if is_array(item):
        found: Any = item if is_numpy_array(item) else to_numpy(item)
    elif isinstance(item, dict | list | tuple):
        found = item if level >= _LEVELS else _container(item, lambda own: _converted(own, known, level + 1))
    elif type(item).__module__.partition(".")[0] == "mercer" and hasattr(item, "__dict__"):
        return _object(item, known)
    else:
        return item
    known[id(item)] = (item, found)  # the item is kept, so that its id is not taken by another
    return found


def _container(item: Any, convert: Callable[[Any], Any]) -> Any:
    own = list(item.values()) if isinstance(item, dict) else list(item)
    parts = [convert(each) for each in own]
    if all(new is old for new, old in zip(parts, own, strict=True)):
        return item
    if isinstance(item, dict):
        return dict(zip(item, parts, strict=True))
    return type(item)(*parts) if hasattr(item, "_fields") else type(item)(parts)


def _object(item: Any, known: dict[int, tuple[Any, Any]]) -> Any:
    found = copy(item)
    known[id(item)] = (item, found)  # before its parts, which may refer to it
    changed = False
    for name, value in vars(item).items():
        new = _converted(value, known, 0)
        changed = changed or new is not value
        found.__dict__[name] = new
    if not changed:
        known[id(item)] = (item, item)
        return item
    return found
