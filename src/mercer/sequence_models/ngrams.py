"""The probability of a sequence, from the runs of symbols it is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain, islice
from math import log
from typing import Any

import numpy as np

from mercer.sequence_models.symbols import Alphabet

START, END = "<start>", "<end>"
Gram = tuple[Hashable, ...]


class NgramModel:
    r"""Interpolated Kneser–Ney model of sequences.

    .. math:: p(s \mid h) = \frac{\max(c(hs) - d, 0) + d\, t(h)\, p(s \mid h')}{c(h)}

    h are the last symbols, h′ the same without the first, t(h) is the number of distinct symbols that follow h, d a discount
    estimated from the numbers of runs that occur once and twice. Shorter runs count the distinct contexts in which they occur.
    The longest runs, with the symbol predicted, have `order` symbols.
    """

    def __init__(self, order: int = 4) -> None:
        self.order = order

    def fit(self, sequences: Iterable[Sequence[Hashable]]) -> NgramModel:
        """Count the runs of `sequences`."""
        self.sequences_ = [tuple(sequence) for sequence in sequences]
        counts: dict[int, Counter[Gram]] = {self.order: Counter()}
        for sequence in self.sequences_:
            padded = self._padded(sequence)
            counts[self.order].update(padded[i : i + self.order] for i in range(len(sequence) + 1))
        for size in range(self.order - 1, 0, -1):
            counts[size] = Counter(gram[1:] for gram in counts[size + 1])
        self._counts = counts
        self._totals: Counter[Gram] = Counter()
        self._followers: Counter[Gram] = Counter()
        for grams in counts.values():
            for gram, number in grams.items():
                self._totals[gram[:-1]] += number
                self._followers[gram[:-1]] += 1
        self._discounts = {size: _discount(grams) for size, grams in counts.items()}
        # one more than the symbols seen, so that an unseen one has a share too
        self._uniform = 1.0 / (len(counts[1]) + 1)
        self._known: dict[Gram, float] = {}
        for size in range(1, self.order + 1):
            for gram in counts[size]:
                self._known[gram] = self._probability(gram)
        return self

    def log_probability(self, sequence: Sequence[Hashable]) -> float:
        """Return the log-probability of `sequence` and of its end."""
        return float(self.log_probabilities([sequence])[0])

    def log_probabilities(self, sequences: Iterable[Sequence[Hashable]]) -> np.ndarray:
        """Return the log-probability of each sequence and of its end; what several have in common is computed once."""
        of_grams: dict[Gram, float] = {}
        of_sequences: dict[Gram, float] = {}
        found = []
        for sequence in map(tuple, sequences):
            if sequence not in of_sequences:
                padded, total = self._padded(sequence), 0.0
                for i in range(len(sequence) + 1):
                    gram = padded[i : i + self.order]
                    if gram not in of_grams:
                        of_grams[gram] = log(self._probability(gram))
                    total += of_grams[gram]
                of_sequences[sequence] = total
            found.append(of_sequences[sequence])
        return np.asarray(found)

    def probabilities(self) -> dict[Gram, float]:
        """Return p(last symbol | the others) of every run that occurred, up to the longest."""
        return self._known

    def shares_of_unseen(self) -> dict[Gram, float]:
        """Return the share of symbols that did not follow each history; it is spread as after the history without its first."""
        discounts = self._discounts
        return {h: discounts[len(h) + 1] * self._followers[h] / total for h, total in self._totals.items()}

    @property
    def least(self) -> float:
        """The part of the share of unseen symbols, after the empty history, that each has."""
        return self._uniform

    def _padded(self, sequence: Sequence[Hashable]) -> Gram:
        return (START,) * (self.order - 1) + tuple(sequence) + (END,)

    def _probability(self, gram: Gram) -> float:
        """Return p(last symbol of `gram` | the others)."""
        if not gram:
            return self._uniform
        found = self._known.get(gram)
        if found is None:
            history, size = gram[:-1], len(gram)
            found = self._probability(gram[1:])
            total = self._totals.get(history, 0)
            if total:
                discount = self._discounts[size]
                kept = max(self._counts[size].get(gram, 0) - discount, 0.0)
                found = (kept + discount * self._followers[history] * found) / total
        return found

    def __getstate__(self) -> dict[str, Any]:
        # a saved model holds the sequences, as numbers, and counts them again when loaded
        if not hasattr(self, "sequences_"):
            return {"order": self.order}
        symbols = Alphabet(chain.from_iterable(self.sequences_))
        codes = symbols.codes(chain.from_iterable(self.sequences_))
        sizes = np.asarray([len(sequence) for sequence in self.sequences_], dtype=np.int64)
        return {"order": self.order, "symbols": symbols, "codes": codes, "sizes": sizes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.order = state["order"]
        if "codes" in state:
            known = state["symbols"].symbols
            symbols = iter([known[code] for code in state["codes"]])
            self.fit([list(islice(symbols, size)) for size in state["sizes"]])


def _discount(grams: Counter[Gram]) -> float:
    once = sum(number == 1 for number in grams.values())
    twice = sum(number == 2 for number in grams.values())
    return min(max(once / (once + 2 * twice), 0.3), 0.95) if once else 0.5
