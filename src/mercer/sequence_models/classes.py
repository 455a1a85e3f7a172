"""Classes of input symbols, induced from aligned pairs: symbols are alike if their neighbours are read alike beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

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
    indicator = np.eye(int(groups.max()) + 1)[groups]
    totals = counts.sum(axis=0) + 1e-3
    prior = concentration * totals / (totals @ indicator)[groups]

    def evidence(rows: np.ndarray) -> np.ndarray:
        own = gammaln(rows + prior) - gammaln(prior)
        return own.sum(axis=-1) - (gammaln(rows @ indicator + concentration) - gammaln(concentration)).sum(axis=-1)

    rows = counts.astype(float)
    members = np.arange(len(rows))
    alone = evidence(rows)
    gains = np.full((len(rows), len(rows)), -np.inf)
    for i in range(len(rows) - 1):
        gains[i, i + 1 :] = evidence(rows[i] + rows[i + 1 :]) - alone[i] - alone[i + 1 :]
    while len(rows) > 1:
        i, j = divmod(int(np.argmax(gains)), len(rows))
        if gains[i, j] <= 0.0:
            break
        rows[i] += rows[j]
        alone[i] = evidence(rows[i])
        members[members == j] = i
        gains[j, :] = gains[:, j] = -np.inf
        others = np.unique(members[members != i])
        gain = evidence(rows[i] + rows[others]) - alone[i] - alone[others]
        gains[np.minimum(i, others), np.maximum(i, others)] = gain
    return np.unique(members, return_inverse=True)[1]
