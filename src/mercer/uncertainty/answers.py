"""Answers that say how sure they are: candidate sets, a score to abstain by, the pairs that carried a prediction."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import Array, NumericalWarning, to_numpy
from mercer.core.collections import Collection, count, distinct, is_numeric, member, take
from mercer.decoders import Decoder, Ranked
from mercer.decoders.pool import training_candidates
from mercer.embeddings.base import Embedding
from mercer.structures.graphs import described
from mercer.uncertainty.conformal import LEFT_OUT, Calibration


@dataclass(frozen=True)
class Carrier:
    """A training pair and its part in a prediction.

    Attributes
    ----------
    position : int
        Which training pair.
    input, output : objects
        The pair; `input` is None where the training inputs are known through a Gram matrix alone, or the output had none.
    weight : float
        w_j, its weight in h(x) = Σ w_j ψ(y_j).
    similarity : float
        l(y_j, ŷ), how alike its output and the prediction are.
    share : float
        w_j l(y_j, ŷ), over the sum of its absolute values over all pairs; below zero where it spoke against the prediction.
    """

    position: int
    input: Any
    output: Any
    weight: float
    similarity: float
    share: float


@dataclass(frozen=True)
class Explanation:
    """What a prediction rests on: ⟨h(x), ψ(ŷ)⟩ = Σ w_j l(y_j, ŷ), pair by pair.

    Attributes
    ----------
    input, prediction : objects
        x and ŷ.
    carriers : list of Carrier
        The training pairs of largest part, largest first.
    rest : float
        The sum of the absolute shares of all other pairs.
    """

    input: Any
    prediction: Any
    carriers: list[Carrier]
    rest: float

    def __str__(self) -> str:
        lines = [f"{_written(self.input)} -> {_written(self.prediction)}"]
        for one in self.carriers:
            pair = f"{_written(one.input)} -> {_written(one.output)}"
            lines.append(f"{one.share:+7.1%}  weight {one.weight:+.3f}  {pair}")
        return "\n".join([*lines, f"{self.rest:7.1%}  all other pairs"])


def _written(thing: Any) -> str:
    return described(thing) or f"{thing!r:.40}"


def explained(  # noqa: PLR0913
    x: Any,
    prediction: Collection,
    weights: np.ndarray,
    inputs: Collection | None,
    embedding: Embedding,
    k: int,
    decode: Callable[[Collection], Collection],
) -> Explanation:
    """Return the k pairs with the largest part in one prediction; `decode` writes outputs as the user does."""
    outputs = embedding.outputs_
    similarity = to_numpy(embedding.kernel_(outputs, prediction))[:, 0]
    parts = weights * similarity
    total = float(np.sum(np.abs(parts)))
    shares = parts / total if total > 0 else parts
    largest = np.argsort(-np.abs(shares), kind="stable")[:k]
    known = 0 if inputs is None else count(inputs)
    shown = decode(take(outputs, largest))
    carriers = [
        Carrier(
            int(j),
            member(inputs, int(j)) if j < known else None,
            member(shown, i),
            float(weights[j]),
            float(similarity[j]),
            float(shares[j]),
        )
        for i, j in enumerate(largest)
    ]
    return Explanation(x, member(decode(prediction), 0), carriers, float(np.abs(np.delete(shares, largest)).sum()))


def right_answers(
    decoder: Decoder, points: Array, outputs: Collection, source: str, origin: Array | None = None
) -> Calibration:
    """How unfit the right answer is at each point, and whether the default candidates hold it."""
    scores = np.asarray(decoder.objective(points, outputs), dtype=float)
    listed = _listed(decoder.embedding_, outputs, once_more=source == LEFT_OUT)
    return Calibration(scores, listed, source, decoder.support(points, origin))


def _listed(embedding: Embedding, outputs: Collection, once_more: bool) -> np.ndarray:
    """Whether each output is among the default candidates; `once_more`, even when one of its kind has left."""
    kernel = embedding.kernel_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)  # said at fit
        index, _ = training_candidates(embedding)
    _, group = distinct(embedding.outputs_, kernel.key)
    sizes = np.bincount(group)[group[index]]
    seen = {_key(kernel, take(embedding.outputs_, index), i): size for i, size in enumerate(sizes)}
    return np.asarray([seen.get(_key(kernel, outputs, i), 0) > once_more for i in range(count(outputs))])


def _key(kernel: Any, objects: Collection, i: int) -> Any:
    one = member(objects, i)
    return kernel.key(to_numpy(one) if is_numeric(objects) else one)


def cut(ranked: list[Ranked], threshold: float) -> list[Ranked]:
    """Of each ranking, the objects whose score is no worse than the threshold."""
    kept = [int(np.count_nonzero(-found.scores <= threshold)) for found in ranked]
    return [
        Ranked(take(found.objects, slice(0, keep)), found.scores[:keep])
        for found, keep in zip(ranked, kept, strict=True)
    ]
