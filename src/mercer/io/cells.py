"""Objects written in the cells of text files, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from mercer.io.types import Mistake
from mercer.structures.trees import is_node, parse_tree

_SEPARATORS = re.compile(r"\s*[;|,]\s*")


def _labels(cell: str) -> frozenset[str]:
    return frozenset(label for label in _SEPARATORS.split(cell.strip()) if label)


def _numbers(cell: str) -> list[float]:
    try:
        return [float(part) for part in re.split(r"[\s;,|]+", cell.strip().strip("[]()")) if part]
    except ValueError as error:
        raise Mistake(f"{cell!r:.40}; expected numbers separated by spaces, commas or semicolons") from error


def _tree(cell: str) -> Any:
    try:
        return parse_tree(cell)
    except ValueError as error:
        raise Mistake(str(error)) from error


def _smiles(cell: str) -> str:
    from mercer.structures.molecules.fingerprints import molecule

    try:
        molecule(cell.strip(), "the cell")
    except ValueError as error:
        raise Mistake(f"{cell!r:.60}, which rdkit cannot read; expected the SMILES of a molecule") from error
    return cell.strip()


PARSERS: dict[str, Callable[[str], Any]] = {
    "sequences": lambda cell: tuple(cell.split()),
    "sets": _labels,
    "label sets": _labels,
    "trees": _tree,
    "molecules": _smiles,
    "vectors": _numbers,
    "curves": _numbers,
    "rankings": _numbers,
}
"""Functions that read an object of a kind from a cell of text."""


def parsed(value: Any, kind: str) -> Any:
    """Return the object of a kind that a cell holds: text is read, lists and other objects are taken as they are.

    Examples
    --------
    >>> sorted(parsed("sun; sea", "label sets")), parsed("W ER D", "sequences")
    (['sea', 'sun'], ('W', 'ER', 'D'))
    """
    if isinstance(value, str) and kind in PARSERS:
        return PARSERS[kind](value)
    if type(value) is list:
        if kind in ("sets", "label sets"):
            return frozenset(map(str, value))
        return value if all(isinstance(item, int | float) for item in value) else tuple(value)
    return value


def plain(value: Any) -> Any:
    """Return an object as JSON has them: text, a number, or a list.

    Examples
    --------
    >>> plain(frozenset(["b", "a"])), plain(("S", ("NP", "I")))
    (['a', 'b'], '(S (NP I))')
    """
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, tuple) and is_node(value) and any(is_node(child) for child in value[1:]):
        return _bracketed(value)
    if hasattr(value, "mz") and hasattr(value, "intensity"):
        return f"spectrum of {len(value.mz)} peaks"
    if hasattr(value, "isoformat"):
        return value.isoformat()
    found = value.tolist() if hasattr(value, "tolist") else value
    return [plain(item) for item in found] if isinstance(found, list | tuple) else found


def written(value: Any) -> str:
    """Return an object as text for a cell: labels joined by semicolons, symbols by spaces, arrays as JSON.

    Examples
    --------
    >>> written(frozenset(["b", "a"])), written(("W", "ER", "D")), written(0.1), written(None)
    ('a;b', 'W ER D', '0.1', '')
    """
    found = plain(value)
    if found is None:
        return ""
    if isinstance(found, list):
        if isinstance(value, set | frozenset):
            return ";".join(found)
        return " ".join(found) if all(isinstance(item, str) for item in found) else json.dumps(found)
    return found if isinstance(found, str) else repr(found) if isinstance(found, float) else str(found)


def _bracketed(node: Any) -> str:
    return f"({' '.join([str(node[0]), *(_bracketed(child) if is_node(child) else str(child) for child in node[1:])])})"
