"""The probability of each chunk an input symbol may stand for, given its context."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mercer.sequence_models.contexts import (
    INPUT_COLUMNS,
    Examples,
    Settings,
    history_contexts,
    input_contexts,
    learn_settings,
    starting_settings,
)
from mercer.sequence_models.hamming_ridge import hamming_kernel, log_softmax, ridge_coefficients
from mercer.sequence_models.inventory import Inventory

PARTS = 4
"""Parts into which words are cut to learn settings."""
COMMON, OWN = 0.2, 1.0
"""Strength of the penalty on settings: of a class towards the start, and of one symbol towards its class."""
ENOUGH = 40
"""Number of contexts that a symbol needs for settings of its own."""
NEVER = -10.0
"""Log-probability of a chunk that its symbol never stood for."""
_BLOCK = 4096


class Reading(NamedTuple):
    """A word in the order a model reads it: symbols, contexts, and the chunks each symbol may stand for."""

    codes: np.ndarray
    contexts: np.ndarray
    options: list[np.ndarray]


@dataclass
class System:
    """A solved ridge: its contexts, and what each of them adds to ⟨h, ψ_c⟩ for the chunks c it knows."""

    settings: Settings
    inputs: np.ndarray
    histories: np.ndarray
    chunks: np.ndarray
    votes: np.ndarray


@dataclass
class ContextModel:
    r"""Kernel ridge from contexts to features of chunks, read from one end of the word to the other.

    .. math:: p(c \mid x, i, \text{history}) \propto \exp(-\tfrac{s}{2} \lVert h - \psi_c \rVert^2), \quad
              h = \sum_j k(\text{context}, \text{context}_j)\, z_j

    with the product-Hamming kernel over the columns of `mercer.sequence_models.contexts`.

    Parameters
    ----------
    backwards : bool
        Read from the end; the history is then what follows.
    shared : bool
        One ridge for all vowels and one for all consonants (see `alternating_class`), in which rare symbols learn from the
        others through the characters of their chunks; else one ridge for each input symbol, with settings of its own that start
        from those of its class.
    sample, landmarks, seed : int
        Contexts from which the settings of a shared ridge are learned (fewer for each of several ridges), most contexts that a
        ridge has coefficients for, and the seed of both samples.
    """

    backwards: bool = False
    shared: bool = False
    sample: int = 800
    landmarks: int = 2500
    seed: int = 0

    def fit(
        self, inventory: Inventory, words: Sequence[np.ndarray], cuts: Sequence[np.ndarray], chosen: np.ndarray
    ) -> ContextModel:
        """Learn the settings from the `chosen` words (a mask) and their chunks, all as numbers, and solve."""
        self.inventory_ = inventory
        order = -1 if self.backwards else 1
        self.spelled_ = inventory.spelled_[:, ::order]
        self._words, self._cuts = [w[::order] for w in words], [c[::order] for c in cuts]
        rows = [self._contexts(word, cut) for word, cut in zip(self._words, self._cuts, strict=True)]
        self._contexts_of_all, self._chunks = np.concatenate(rows), np.concatenate(self._cuts)
        self._owner = np.repeat(np.arange(len(words)), [len(word) for word in words])
        self.options_ = self._options(chosen)
        vowels = inventory.input_vowels_
        self.group_ = vowels.astype(np.int64) if self.shared else np.arange(len(vowels))
        self.settings_ = [starting_settings()] * (2 if self.shared else len(vowels))
        for kind in (False, True):
            self._learn(np.unique(self.group_[vowels == kind]), chosen)
        return self.solve(chosen)

    def solve(self, chosen: np.ndarray) -> ContextModel:
        """Solve on the chosen words, with the settings learned before."""
        self.options_ = self._options(chosen)
        self.systems_ = [self._solve(group, chosen) for group in range(len(self.settings_))]
        return self

    # -- words in, log-probabilities out ------------------------------------------------------------

    def read(self, x: Sequence[Hashable]) -> Reading:
        """Return a word as this model reads it."""
        x = x[::-1] if self.backwards else x
        codes = self.inventory_.inputs_.codes(x)
        contexts = input_contexts(codes, self.inventory_.input_vowels_)
        options = [np.flatnonzero(self.options_[code]) if code >= 0 else np.empty(0, dtype=np.int64) for code in codes]
        for i, symbol in enumerate(x):
            if not len(options[i]):
                options[i] = np.asarray([self.inventory_.chunk_of_unknown(symbol)])
        return Reading(codes, contexts, options)

    def step(self, reading: Reading, i: int, before: np.ndarray) -> np.ndarray:
        """Return the log-probabilities of the options at position `i` after each row of chunks in `before`."""
        options = reading.options[i]
        if len(options) == 1:
            return np.zeros((len(before), 1))
        system = self.systems_[self.group_[reading.codes[i]]]
        known = history_contexts(before, i, self.spelled_, self.inventory_.output_vowels_)
        histories, which = np.unique(known, axis=0, return_inverse=True)
        weights, split = system.settings.weights, len(INPUT_COLUMNS)
        near = hamming_kernel(reading.contexts[i : i + 1], system.inputs, weights[:split])
        near = near * hamming_kernel(histories, system.histories, weights[split:]) + system.settings.offset
        points = near @ system.votes[:, np.searchsorted(system.chunks, options)]
        nearness = points - 0.5 * np.sum(self.inventory_.features_[options] ** 2, axis=1)
        return log_softmax(system.settings.sharpness * nearness)[which.ravel()]

    def score(self, reading: Reading, cuts: np.ndarray) -> np.ndarray:
        """Return the log-probability of each row of `cuts`, chunks in the order of the word."""
        cuts = cuts[:, ::-1] if self.backwards else cuts
        cuts = np.ascontiguousarray(cuts)
        total = np.zeros(len(cuts))
        for i, options in enumerate(reading.options):
            values = np.full((len(cuts), len(self.inventory_.chunks_)), NEVER)
            values[:, options] = self.step(reading, i, cuts)
            total += values[np.arange(len(cuts)), cuts[:, i]]
        return total

    def beam(self, x: Sequence[Hashable], width: int) -> np.ndarray:
        """Return the `width` likeliest rows of chunks that a beam search finds, in the order of the word, best first."""
        reading = self.read(x)
        rows, scores = np.zeros((1, len(x)), dtype=np.int64), np.zeros(1)
        for i, options in enumerate(reading.options):
            values = scores[:, None] + self.step(reading, i, rows)
            best = np.argsort(-values.ravel(), kind="stable")[:width]
            parent, option = np.unravel_index(best, values.shape)
            rows, scores = rows[parent], values.ravel()[best]
            rows[:, i] = options[option]
        return rows[:, ::-1] if self.backwards else rows

    # -- learning -----------------------------------------------------------------------------------

    def _contexts(self, word: np.ndarray, cut: np.ndarray) -> np.ndarray:
        inventory = self.inventory_
        before = [history_contexts(cut[None, :], i, self.spelled_, inventory.output_vowels_) for i in range(len(cut))]
        return np.hstack([input_contexts(word, inventory.input_vowels_), np.concatenate(before)])

    def _options(self, chosen: np.ndarray) -> np.ndarray:
        """Return a mask of the chunks each symbol stood for in the chosen words."""
        mine = chosen[self._owner]
        options = np.zeros((len(self.inventory_.inputs_), len(self.inventory_.chunks_)), dtype=bool)
        options[self._contexts_of_all[mine, 0], self._chunks[mine]] = True
        return options

    def _learn(self, groups: np.ndarray, chosen: np.ndarray) -> None:
        """Learn the settings of some ridges: first in common, then, if there are several, one by one."""
        # the work grows with the cube of the sample: this keeps it the same however many ridges there are
        sample = self.sample / max(1, len(groups)) ** (1 / 3)
        examples = {int(group): self._examples(int(group), sample, chosen) for group in groups}
        ambiguous = {group: found for group, found in examples.items() if np.any(found.options.sum(axis=1) > 1)}
        if not ambiguous:
            return
        common = learn_settings(list(ambiguous.values()), starting_settings(), COMMON, rounds=20)
        for group in examples:
            self.settings_[group] = common
        if len(groups) > 1:
            for group, found in ambiguous.items():
                if len(found.chunks) >= ENOUGH:
                    self.settings_[group] = learn_settings([found], common, OWN, rounds=10)

    def _examples(self, group: int, sample: float, chosen: np.ndarray) -> Examples:
        """Sample contexts of one ridge from the chosen words, in parts."""
        rng = np.random.default_rng((self.seed, group))
        mine = np.flatnonzero((self.group_[self._contexts_of_all[:, 0]] == group) & chosen[self._owner])
        words = rng.permutation(np.unique(self._owner[mine]))
        words = words[: max(PARTS, round(len(words) * sample / max(1, len(mine))))]
        part = np.full(len(self._words), -1)
        part[words] = np.arange(len(words)) % PARTS
        mine = mine[part[self._owner[mine]] >= 0]
        contexts, chunks = self._contexts_of_all[mine], self._chunks[mine]
        parts = part[self._owner[mine]]
        return Examples(contexts, chunks, self.options_[contexts[:, 0]], self.inventory_.features_, parts)

    def _solve(self, group: int, chosen: np.ndarray) -> System:
        settings = self.settings_[group]
        mine = np.flatnonzero((self.group_[self._contexts_of_all[:, 0]] == group) & chosen[self._owner])
        contexts, targets = self._contexts_of_all[mine], self.inventory_.features_[self._chunks[mine]]
        known = np.unique(self._chunks[mine])
        if len(known) < 2:  # nothing to choose between: never asked
            marks, dual = contexts[:0], np.zeros((0, targets.shape[1]))
        elif len(contexts) > self.landmarks:
            rng = np.random.default_rng((self.seed, group))
            marks = contexts[np.sort(rng.choice(len(mine), self.landmarks, replace=False))]
            dual = ridge_coefficients(settings, contexts, targets, marks, _BLOCK)
        else:
            marks, dual = contexts, ridge_coefficients(settings, contexts, targets)
        inputs, histories = np.hsplit(marks, [len(INPUT_COLUMNS)])
        votes = dual @ self.inventory_.features_[known].T
        return System(settings, np.ascontiguousarray(inputs), np.ascontiguousarray(histories), known, votes)

    def __getstate__(self) -> dict[str, Any]:
        # the training words are needed for learning only
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}
