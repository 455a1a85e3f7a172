"""Classes of input symbols, induced from aligned pairs: symbols are alike if their neighbours are read alike beside them."""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma

import numpy as np

from mercer.core.compiled import compiled

CONCENTRATION = 4.0  # of the Dirichlet prior, for the readings of one symbol


def effect_classes(words: Sequence[np.ndarray], cuts: Sequence[np.ndarray], symbols: int, offset: int) -> np.ndarray:
    """Return a class for each of `symbols` symbols, by its effect on the chunk of the neighbour at ``-offset`` from it.

    With ``offset=-1`` two symbols are in one class if what follows them is read alike (as after the consonants of one series in
    Khmer); with ``offset=1``, if what precedes them is (as before e and i in Italian). `words` and `cuts` are numbers of symbols
    and of the chunks they stand for.
    """
    beside, events = [np.empty(0, dtype=np.int64)], [np.empty((0, 2), dtype=np.int64)]
    for word, cut in zip(words, cuts, strict=True):
        mine, other = (slice(1, None), slice(None, -1)) if offset < 0 else (slice(None, -1), slice(1, None))
        beside.append(word[other])
        events.append(np.column_stack([word[mine], cut[mine]]))
    readings, which = np.unique(np.concatenate(events), axis=0, return_inverse=True)
    counts = np.zeros((symbols, len(readings)))
    np.add.at(counts, (np.concatenate(beside), which.ravel()), 1.0)
    return merged_classes(counts, np.unique(readings[:, 0], return_inverse=True)[1])


def merged_classes(counts: np.ndarray, groups: np.ndarray, concentration: float = CONCENTRATION) -> np.ndarray:
    r"""Merge the rows of `counts` two by two as long as that raises the evidence; return the class of each row.

    Column e is an event of group ``groups[e]`` (a chunk of one symbol). Within a group the events of a class with counts n are
    drawn from a distribution with a Dirichlet prior at the shares p of all rows together, so that its evidence is

    .. math:: \prod_g \frac{\Gamma(a)}{\Gamma(a + n_g)} \prod_{e \in g} \frac{\Gamma(a p_e + n_e)}{\Gamma(a p_e)}

    with a the `concentration`. The number of classes is found, not chosen.
    """
    if not counts.size:
        return np.zeros(len(counts), dtype=np.int64)
    _, groups = np.unique(groups, return_inverse=True)
    rows, totals = counts.astype(float), counts.sum(axis=0) + 1e-3
    prior = concentration * totals / np.bincount(groups, totals)[groups]
    of_groups = np.zeros((len(rows), int(groups.max()) + 1))
    np.add.at(of_groups.T, groups, rows.T)
    members = np.arange(len(rows))
    gains = np.full((len(rows), len(rows)), -np.inf)
    for i in range(len(rows) - 1):
        gains[i, i + 1 :] = _gains(i, np.arange(i + 1, len(rows)), rows, of_groups, prior, concentration)
    while len(rows) > 1:
        i, j = divmod(int(np.argmax(gains)), len(rows))
        if gains[i, j] <= 0.0:
            break
        rows[i] += rows[j]
        of_groups[i] += of_groups[j]
        members[members == j] = i
        gains[j, :] = gains[:, j] = -np.inf
        others = np.unique(members[members != i])
        gains[np.minimum(i, others), np.maximum(i, others)] = _gains(i, others, rows, of_groups, prior, concentration)
    return np.unique(members, return_inverse=True)[1]


@compiled
def _gains(  # noqa: PLR0913
    i: int, others: np.ndarray, rows: np.ndarray, of_groups: np.ndarray, prior: np.ndarray, concentration: float
) -> np.ndarray:
    """Return what is gained if row `i` is merged with each of others; only events, and groups, that both have count."""
    gains = np.zeros(len(others))
    mine, groups = np.flatnonzero(rows[i]), np.flatnonzero(of_groups[i])
    for k in range(len(others)):
        other, totals = rows[others[k]], of_groups[others[k]]
        for e in mine:
            if other[e] > 0.0:
                gains[k] += _together(rows[i, e], other[e], prior[e])
        for g in groups:
            if totals[g] > 0.0:
                gains[k] -= _together(of_groups[i, g], totals[g], concentration)
    return gains


@compiled
def _together(n: float, m: float, a: float) -> float:
    """Return log Γ(n + m + a) Γ(a) / (Γ(n + a) Γ(m + a))."""
    return lgamma(n + m + a) + lgamma(a) - lgamma(n + a) - lgamma(m + a)
