"""Scores of whole words: the runs of symbols with their chunks, of output symbols, of vowels and consonants; the length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mercer.sequence_models.inventory import Inventory
from mercer.sequence_models.ngrams import NgramModel

WORD_SCORES = ("runs", "outputs", "shapes", "length")
_ORDERS = {"runs": 5, "outputs": 5, "shapes": 8}
_Sequences = dict[str, tuple[object, ...]]


class WordModels:
    """Models of runs (`NgramModel`), one for each kind of `WORD_SCORES`, and the number of output symbols."""

    def fit(self, inventory: Inventory, words: Sequence[np.ndarray], cuts: Sequence[np.ndarray]) -> WordModels:
        """Learn from words and their chunks, both as numbers."""
        self.inventory_ = inventory
        seen = [self._sequences(word, cut) for word, cut in zip(words, cuts, strict=True)]
        self.models_ = {name: NgramModel(order).fit([own[name] for own in seen]) for name, order in _ORDERS.items()}
        return self

    def score(self, word: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return a row of `WORD_SCORES` for each row of chunks."""
        all_of = [self._sequences(word, row) for row in rows]
        runs = [model.log_probabilities(own[name] for own in all_of) for name, model in self.models_.items()]
        return np.column_stack([*runs, [float(len(own["outputs"])) for own in all_of]])

    def _sequences(self, word: np.ndarray, row: np.ndarray) -> _Sequences:
        spelled = self.inventory_.spelled_[row]
        outputs = spelled[spelled >= 0]
        return {
            "runs": tuple(zip(word.tolist(), row.tolist(), strict=True)),
            "outputs": tuple(outputs.tolist()),
            "shapes": tuple(self.inventory_.output_vowels_[outputs].tolist()),
        }
