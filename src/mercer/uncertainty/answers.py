"""Explanations of predictions by training pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.structures.graphs import described


@dataclass(frozen=True)
class Carrier:
    """A training pair and its part in a prediction.

    Attributes
    ----------
    position : int
        Number j of the training pair.
    input, output : objects
        The pair; `input` is None if the training inputs are known through a Gram matrix alone, or the output has none.
    weight : float
        w_j, its weight in h(x) = Σ w_j ψ(y_j).
    similarity : float
        l(y_j, ŷ), the similarity of its output and the prediction.
    share : float
        w_j l(y_j, ŷ), over the sum of its absolute values over all pairs; below zero for a pair against the prediction.
    """

    position: int
    input: Any
    output: Any
    weight: float
    similarity: float
    share: float


@dataclass(frozen=True)
class Explanation:
    """A prediction as a sum over training pairs, ⟨h(x), ψ(ŷ)⟩ = Σ w_j l(y_j, ŷ).

    Attributes
    ----------
    input, prediction : objects
        x and ŷ.
    carriers : list of Carrier
        The training pairs of largest share, largest first.
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
    plain = thing.item() if isinstance(thing, np.generic) else thing  # 2, not np.int64(2)
    return described(plain) or f"{plain!r:.40}"
