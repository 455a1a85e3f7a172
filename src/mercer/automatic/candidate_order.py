"""The order of given words: by the mixture, or by their edit distance to the input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, count, take, to_backend_of
from mercer.decoders import Decoder, Ranked
from mercer.decoders.base import best
from mercer.losses.base import Loss
from mercer.selection.candidates import output_halves

MIXTURE, EDITS, EXCHANGES = "the mixture", "edit distance", "edit distance with exchanges"
_MOST = 200  # most pairs of each half that are predicted
_EXTRA = 5000  # most outputs without an input among their candidates


@dataclass(frozen=True)
class CandidateOrder:
    """The score by which given candidates that were not trained on are ranked.

    Attributes
    ----------
    name : str
        "the mixture", "edit distance" (letters inserted, deleted or replaced), or "edit distance with exchanges" (of neighbours,
        too); candidates at the same distance are in the order of the mixture.
    reason : str
        One sentence why.
    losses : dict
        The mean loss of each order for outputs kept out of training.

    Examples
    --------
    >>> by_mixture = Ranked(np.array(["house", "mouse", "moose"], dtype=object), np.array([0.3, 0.2, 0.1]))
    >>> CandidateOrder(EXCHANGES).apply(["muose"], [by_mixture], 2)[0].objects.tolist()
    ['mouse', 'moose']
    """

    name: str = MIXTURE
    reason: str = ""
    losses: dict[str, float] = field(default_factory=dict)

    def apply(self, inputs: Sequence[Any], ranked: Sequence[Ranked], k: int) -> list[Ranked]:
        """Return the `k` best candidates of each input, from all of them in the order of the mixture."""
        return [_nearest(x, every, self.name, k) for x, every in zip(inputs, ranked, strict=True)]


def _nearest(x: Any, ranked: Ranked, name: str, k: int) -> Ranked:
    if name == MIXTURE:
        return Ranked(take(ranked.objects, slice(0, k)), ranked.scores[:k])
    distances = edit_distances(x, ranked.objects, name)
    nearest = np.argsort(distances, kind="stable")[:k]
    return Ranked(take(ranked.objects, nearest), -distances[nearest])


def edit_distances(x: Any, words: Collection, name: str = EDITS) -> np.ndarray:
    """Return the fewest edits that turn `x` into each of the words, with or without exchanges of neighbours.

    Examples
    --------
    >>> edit_distances("ab", ["ba", "abc"]).tolist(), edit_distances("ab", ["ba", "abc"], EXCHANGES).tolist()
    ([2.0, 1.0], [1.0, 1.0])
    """
    from rapidfuzz.distance import OSA, Levenshtein
    from rapidfuzz.process import cdist

    scorer = OSA.distance if name == EXCHANGES else Levenshtein.distance
    return cdist([x], list(words), scorer=scorer, dtype=np.float64)[0]


def candidate_order(
    decoder: Decoder,
    loss: Loss,
    points_without: Callable[[np.ndarray], Array],
    inputs: Collection,
    groups: np.ndarray | None = None,
) -> CandidateOrder:
    """Choose the order of least loss for training outputs that are kept out of training.

    As for `mercer.selection.candidates.candidate_rule`, the distinct outputs are cut into two halves, and each input is predicted
    without its half. The candidates are the outputs of that half and those without an input, so that a dictionary is chosen from
    as it will be. With too few outputs for that, it is the edit distance if that names most of the training outputs: it learns
    nothing from them.

    Parameters
    ----------
    decoder : Decoder
        Scores candidates that were not trained on, by the mixture.
    loss : Loss
        The loss that predictions are scored by.
    points_without : callable
        Groups of the training pairs → the point of each pair from a fit without its group.
    inputs : collection
        The training inputs.
    groups : int array (n,), optional
        Pairs that stay together.
    """
    embedding, halves = decoder.embedding_, output_halves(decoder, groups)
    if halves is None:
        return _of_few(list(inputs), take(embedding.outputs_, slice(0, embedding.paired_)))
    outputs, points = embedding.outputs_, to_backend_of(embedding.outputs_, points_without(halves))
    extra = np.arange(embedding.paired_, count(outputs))[:_EXTRA]
    losses: dict[str, list[np.ndarray]] = {name: [] for name in (MIXTURE, EDITS, EXCHANGES)}
    for half in (0, 1):
        own = np.flatnonzero(halves == half)[:_MOST]
        # the right ones last, so that none is right because it is listed first
        ranked = decoder.choose(take(points, own), take(outputs, np.concatenate([extra, own])), len(own) + len(extra))
        for name, found in losses.items():
            chosen = best(CandidateOrder(name).apply(list(take(inputs, own)), ranked, 1))
            found.append(to_numpy(loss.paired(take(outputs, own), chosen)).astype(float))
    means = {name: float(np.mean(np.concatenate(found))) for name, found in losses.items()}
    name = min(means, key=lambda each: means[each])
    others = ", ".join(f"{value:.4g} by {each}" for each, value in means.items() if each != name)
    reason = f"{name}: {loss!r} is {means[name]:.4g} for outputs kept out of training, {others}"
    return CandidateOrder(name, reason, means)


def _of_few(inputs: list[Any], outputs: Collection) -> CandidateOrder:
    """The order where too few outputs could be kept out of training."""
    right = 0
    for own, x in enumerate(inputs):
        distances = edit_distances(x, outputs, EXCHANGES)
        others = np.array([output != outputs[own] for output in outputs])
        right += bool(others.any()) and distances[own] < float(np.min(distances[others]))
    name = EXCHANGES if 2 * right > len(inputs) else MIXTURE
    told = f"the edit distance names the right one of them for {right} of {len(inputs)} pairs"
    return CandidateOrder(name, f"{name}: too few distinct outputs to keep some out of training; {told}")
