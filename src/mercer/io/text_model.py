"""A model of text, with how lines become objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

SIDES = ("input", "output")


@dataclass
class TextModel:
    """A fitted estimator together with how columns of text are cut into symbols.

    Examples
    --------
    >>> TextModel(None, tokens=["output"]).outputs(["a b"])
    [('a', 'b')]
    """

    estimator: Any
    tokens: Sequence[str] = ()
    """The sides, of "input" and "output", on which symbols are words with spaces between; characters elsewhere."""
    preset: str = "strings"
    pairs: int = 0
    """How many pairs it was fitted on."""

    def inputs(self, column: Iterable[str]) -> list[Any]:
        """Texts as the inputs of the estimator."""
        return self._cut(column, "input")

    def outputs(self, column: Iterable[str]) -> list[Any]:
        """Texts as the outputs of the estimator."""
        return self._cut(column, "output")

    def fit(self, inputs: Sequence[str], outputs: Sequence[str]) -> TextModel:
        """Learn from two columns."""
        self.estimator.fit(self.inputs(inputs), self.outputs(outputs))
        self.pairs = len(inputs)
        return self

    def predict(self, column: Sequence[str]) -> list[str]:
        """The answer to each text."""
        return [self._text(answer) for answer in self.estimator.predict(self.inputs(column))]

    def rank(self, column: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
        """The k best answers to each text, with their scores."""
        if not hasattr(self.estimator, "rank"):
            raise ValueError(f"a model of the preset {self.preset!r} gives one answer each; leave out --top-k")
        ranked = self.estimator.rank(self.inputs(column), k)
        return [
            [(self._text(answer), float(score)) for answer, score in zip(found.objects, found.scores, strict=True)]
            for found in ranked
        ]

    def _cut(self, column: Iterable[str], side: str) -> list[Any]:
        return [tuple(text.split()) if side in self.tokens else text for text in column]

    def _text(self, answer: Any) -> str:
        return answer if isinstance(answer, str) else " ".join(map(str, np.asarray(answer, dtype=object).tolist()))
