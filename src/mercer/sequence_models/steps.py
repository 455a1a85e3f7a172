"""Models that read a word one symbol after another: the score of given chunks, and a beam search for likely ones."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from mercer.sequence_models.inventory import Inventory

NEVER = -10.0  # log-probability of a chunk that its symbol never stood for


class Reading(NamedTuple):
    """A word in the order a model reads it: symbols, contexts, and the chunks each symbol may stand for."""

    codes: np.ndarray
    contexts: np.ndarray
    options: list[np.ndarray]


class StepModel(Protocol):
    """A model of the next chunk, given those before it."""

    backwards: bool

    @property
    def inventory_(self) -> Inventory:
        """The symbols and chunks."""
        ...

    def step(self, reading: Reading, i: int, before: np.ndarray) -> np.ndarray:
        """Return the log-probabilities of the options at position `i` after each row of chunks in `before`."""
        ...


def score_by_steps(model: StepModel, reading: Reading, cuts: np.ndarray) -> np.ndarray:
    """Return the log-probability of each row of `cuts`, chunks in the order of the word."""
    cuts = np.ascontiguousarray(cuts[:, ::-1] if model.backwards else cuts)
    total = np.zeros(len(cuts))
    for i, options in enumerate(reading.options):
        values = np.full((len(cuts), len(model.inventory_.chunks_)), NEVER)
        values[:, options] = model.step(reading, i, cuts)
        total += values[np.arange(len(cuts)), cuts[:, i]]
    return total


def beam_by_steps(model: StepModel, reading: Reading, width: int) -> np.ndarray:
    """Return the `width` likeliest rows of chunks that a beam search finds, in the order of the word, best first."""
    rows, scores = np.zeros((1, len(reading.options)), dtype=np.int64), np.zeros(1)
    for i, options in enumerate(reading.options):
        values = scores[:, None] + model.step(reading, i, rows)
        best = np.argsort(-values.ravel(), kind="stable")[:width]
        parent, option = np.unravel_index(best, values.shape)
        rows, scores = rows[parent], values.ravel()[best]
        rows[:, i] = options[option]
    return rows[:, ::-1] if model.backwards else rows
