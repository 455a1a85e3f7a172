"""An estimator on columns of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

SIDES = ("input", "output")


@dataclass
class TextModel:
    """An estimator together with the rule that splits columns of text into symbols.

    On the sides in `tokens`, of "input" and "output", symbols are words separated by spaces; elsewhere they are characters.
    """

    estimator: Any
    tokens: Sequence[str] = ()
    preset: str = "strings"
    pairs: int = 0
    """Number of pairs it was fitted on."""

    def split(self, column: Iterable[str], side: str) -> list[Any]:
        """Split texts into inputs or outputs of the estimator."""
        return [tuple(text.split()) if side in self.tokens else text for text in column]

    def fit(self, inputs: Sequence[str], outputs: Sequence[str]) -> TextModel:
        """Fit on two columns."""
        self.estimator.fit(self.split(inputs, "input"), self.split(outputs, "output"))
        self.pairs = len(inputs)
        return self

    def predict(self, column: Sequence[str]) -> list[str]:
        """Return the answer to each text."""
        return [_joined(answer) for answer in self.estimator.predict(self.split(column, "input"))]

    def rank(self, column: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
        """Return the k best answers to each text, with their scores."""
        if not hasattr(self.estimator, "rank"):
            raise ValueError(f"a model of the preset {self.preset!r} gives one answer each; leave out --top-k")
        return [
            [(_joined(answer), float(score)) for answer, score in zip(ranked.objects, ranked.scores, strict=True)]
            for ranked in self.estimator.rank(self.split(column, "input"), k)
        ]


def _joined(answer: Any) -> str:
    return answer if isinstance(answer, str) else " ".join(map(str, np.asarray(answer, dtype=object).tolist()))
