"""Calibration pairs and new inputs that belong together: groups, labels (Mondrian), weights under a shift of the inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import is_array, to_numpy
from mercer.core.collections import Collection, count, distinct, listed, members


@dataclass
class KnownPairs:
    """Pairs with known scores, of a model that was not trained on them.

    Attributes
    ----------
    size : int
        m, their number.
    groups : int array (m,), optional
        The group of each: each group counts as one pair.
    inputs : collection, optional
        Their inputs; None if these are known through kernel values alone.
    kept : int array (m,), optional
        Their positions among the pairs a user passed to `fit`, if some were left out.
    """

    size: int
    groups: np.ndarray | None = None
    inputs: Collection | None = None
    kept: np.ndarray | None = None

    def mass(self, rows: np.ndarray) -> np.ndarray:
        """Return the weight of each of some pairs, one in all for each group."""
        if self.groups is None or not len(rows):
            return np.ones(len(rows))
        _, group, sizes = np.unique(self.groups[rows], return_inverse=True, return_counts=True)
        return 1.0 / sizes[group]


@dataclass
class Stratum:
    """Calibration pairs and new inputs of the same label, with their weights.

    Attributes
    ----------
    known, new : int arrays
        Positions of the pairs and of the inputs.
    weights, own : arrays
        Their weights.
    """

    known: np.ndarray
    new: np.ndarray
    weights: np.ndarray
    own: np.ndarray


def strata(pairs: KnownPairs, inputs: Collection, by: Any = None, weights: Any = None) -> Iterator[Stratum]:
    """Yield the calibration pairs and new inputs of each label, with weights: one for each group, times density ratios.

    Examples
    --------
    >>> pairs = KnownPairs(3, groups=np.array([0, 0, 1]))
    >>> one = next(strata(pairs, np.zeros((2, 1)), weights=([1.0, 1.0, 4.0], [2.0, 1.0])))
    >>> one.weights.tolist(), one.own.tolist()
    ([0.5, 0.5, 4.0], [2.0, 1.0])
    """
    known, new = np.zeros(pairs.size, dtype=int), np.zeros(count(inputs), dtype=int)
    if by is not None:
        numbers: dict[Any, int] = {}
        labels = _of_both(by, "by", pairs, inputs)
        known, new = (np.asarray([numbers.setdefault(x, len(numbers)) for x in side], dtype=int) for side in labels)
    ratios, own = np.ones(len(known)), np.ones(len(new))
    if weights is not None:
        ratios, own = (_ratios(side) for side in _of_both(weights, "weights", pairs, inputs))
    for label in np.unique(new):
        rows, asked = np.flatnonzero(known == label), np.flatnonzero(new == label)
        yield Stratum(rows, asked, ratios[rows] * pairs.mass(rows), own[asked])


def group_numbers(groups: Any, pairs: int) -> np.ndarray | None:
    """Return a number for each of the given labels of groups; None if there are none."""
    if groups is None:
        return None
    numbers = distinct(np.fromiter(listed(groups), dtype=object))[1]
    if len(numbers) != pairs:
        raise ValueError(f"groups has {len(numbers)} labels; expected one for each of the {pairs} pairs")
    return numbers


def _of_both(given: Any, name: str, pairs: KnownPairs, inputs: Collection) -> tuple[list[Any], list[Any]]:
    """Return a value for each calibration pair and for each new input, from a function or from two sequences."""
    m, q = pairs.size, count(inputs)
    if callable(given):
        if pairs.inputs is None:
            raise ValueError(f"{name} is a function, and inputs are known through kernel values; pass two sequences")
        return [given(x) for x in members(pairs.inputs)], [given(x) for x in members(inputs)]
    expected = f"a function of one input, or a pair: {m} values for the calibration pairs, {q} for X"
    if not hasattr(given, "__len__") or len(given) != 2 or not all(hasattr(side, "__len__") for side in given):
        raise ValueError(f"{name}={given!r:.60}; expected {expected}")
    known, new = (to_numpy(side).tolist() if is_array(side) else list(side) for side in given)
    if pairs.kept is not None and len(known) > m:
        known = [known[i] for i in pairs.kept]
    if (len(known), len(new)) != (m, q):
        raise ValueError(f"{name} holds {len(known)} and {len(new)} values; expected {expected}")
    return known, new


def _ratios(values: list[Any]) -> np.ndarray:
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"weights holds {values[0]!r:.40}; expected density ratios, numbers from 0 upwards") from error
    if not np.all(np.isfinite(found)) or np.any(found < 0):
        raise ValueError("weights has negative or non-finite entries; expected density ratios, numbers from 0 upwards")
    return found
