"""Kernel ridges from contexts to chunks: the probability of each chunk an input symbol may stand for, given its context.

A context is a row of numbers (see `contexts`). The cost of a difference in each column is learned from words left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from mercer.sequence_models.contexts import HISTORY_COLUMNS, INPUT_COLUMNS, history_contexts, input_contexts
from mercer.sequence_models.hamming_ridge import (
    hamming_gram,
    hamming_kernel,
    log_softmax,
    ridge_coefficients,
    weight_slopes,
)
from mercer.sequence_models.inventory import Inventory
from mercer.sequence_models.steps import Reading, beam_by_steps, score_by_steps

PARTS = 4  # parts into which words are cut to learn settings
COMMON, OWN = 0.2, 1.0  # penalty on settings: of a class towards the start, and of one symbol towards its class
ENOUGH = 40  # contexts that a symbol needs for settings of its own
_BLOCK = 4096


@dataclass
class Settings:
    """The parameters of a ridge over contexts: the cost of a difference in each column, and three numbers."""

    weights: np.ndarray
    alpha: float = 0.1
    offset: float = 0.1  # constant added to the kernel
    sharpness: float = 5.0  # s of p(c) ∝ exp(−½ s ‖h − ψ_c‖²)

    def kernel(self, A: np.ndarray, B: np.ndarray | None = None) -> np.ndarray:
        """Return k(a, b) for each row a of `A` and b of `B`, by default of `A` itself."""
        return (hamming_gram(A, self.weights) if B is None else hamming_kernel(A, B, self.weights)) + self.offset

    def logarithms(self) -> np.ndarray:
        """Return all parameters as one vector without bounds."""
        return np.log(np.concatenate([self.weights, [self.alpha, self.offset, self.sharpness]]))

    @classmethod
    def from_logarithms(cls, values: np.ndarray) -> Settings:
        """Return the settings of a vector of logarithms."""
        found = np.exp(values)
        return cls(found[:-3], *(float(value) for value in found[-3:]))


@dataclass
class Examples:
    """Contexts of input symbols and the chunks they stood for."""

    contexts: np.ndarray
    chunks: np.ndarray
    options: np.ndarray  # boolean, (examples, chunks): the chunks each could have stood for
    features: np.ndarray  # ψ of every chunk
    folds: np.ndarray  # the part each example belongs to; those of one word are in one part


def learn_settings(groups: Sequence[Examples], start: Settings, strength: float = 0.2, rounds: int = 20) -> Settings:
    """Find the settings, shared by all groups, with the least `held_out_loss` + ½ `strength` ‖θ − θ₀‖² of their logarithms."""
    theta = start.logarithms()

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        away = values - theta
        total, slope = 0.5 * strength * away @ away, strength * away
        for group in groups:
            value, change = held_out_loss(values, group)
            total, slope = total + value, slope + change
        return float(total), slope

    bounds = [(-7.0, 3.0)] * len(theta)
    found = minimize(loss, theta, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": rounds})
    return Settings.from_logarithms(found.x)


def held_out_loss(values: np.ndarray, group: Examples) -> tuple[float, np.ndarray]:
    """Return −Σ log p(c_i) over the parts of a group, each left out in turn, and its slope in the logarithms of the settings."""
    settings = Settings.from_logarithms(values)
    kernel = hamming_gram(group.contexts, settings.weights)
    slopes = np.zeros_like(kernel)
    targets = group.features[group.chunks]
    loss = alpha_slope = sharpness_slope = 0.0
    for part in np.unique(group.folds):
        out, rest = np.flatnonzero(group.folds == part), np.flatnonzero(group.folds != part)
        if not len(rest):
            continue
        system = kernel[np.ix_(rest, rest)] + settings.offset
        system[np.diag_indices(len(rest))] += settings.alpha
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        dual = cho_solve(factor, targets[rest], check_finite=False)
        across = kernel[np.ix_(out, rest)] + settings.offset
        # −½‖h − ψ_c‖² less −½‖h‖², which is the same for all c
        nearness = (across @ dual) @ group.features.T - 0.5 * np.sum(group.features**2, axis=1)
        scores = np.where(group.options[out], settings.sharpness * nearness, -np.inf)
        probabilities = np.exp(log_softmax(scores))
        right = probabilities[np.arange(len(out)), group.chunks[out]]
        loss -= float(np.sum(np.log(np.maximum(right, 1e-300))))
        # the slope runs backwards through the softmax, the scores and the ridge
        excess = probabilities
        excess[np.arange(len(out)), group.chunks[out]] -= 1.0
        sharpness_slope += float(np.sum(excess * nearness))
        by_point = settings.sharpness * excess @ group.features
        by_system = -cho_solve(factor, across.T @ by_point, check_finite=False) @ dual.T
        slopes[np.ix_(out, rest)] += by_point @ dual.T
        slopes[np.ix_(rest, rest)] += by_system
        alpha_slope += float(np.trace(by_system))
    by_weight = weight_slopes(group.contexts, slopes * kernel)
    slope = np.concatenate([by_weight, [alpha_slope, float(slopes.sum()), sharpness_slope]])
    return loss, slope * np.exp(values)


def starting_settings() -> Settings:
    """Return the settings before learning: the nearer a column, the more it matters."""
    columns = INPUT_COLUMNS + HISTORY_COLUMNS
    weights = np.full(len(columns), 0.25)
    for j, name in enumerate(columns):
        kind, _, offset = name.partition(" ")
        if kind in ("symbol", "class", "effect") and offset:
            weights[j] = 0.5 / abs(int(offset))
        elif kind in ("last", "first"):
            weights[j] = 0.05
    weights[0] = 1.0
    return Settings(weights)


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

    with the product-Hamming kernel over `INPUT_COLUMNS` and `HISTORY_COLUMNS`.

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
        ridge has coefficients for (half as many for a ridge of one symbol), and the seed of both samples.
    """

    kind: ClassVar[str] = "ridge"

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

    def read(self, x: Sequence[Hashable]) -> Reading:
        """Return a word as this model reads it."""
        x = x[::-1] if self.backwards else x
        codes = self.inventory_.inputs_.codes(x)
        options = self.inventory_.options_of(x, codes, self.options_)
        return Reading(codes, input_contexts(codes, *self._classes()), options)

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
        return score_by_steps(self, reading, cuts)

    def beam(self, reading: Reading, width: int) -> np.ndarray:
        """Return the `width` likeliest rows of chunks that a beam search finds, in the order of the word, best first."""
        return beam_by_steps(self, reading, width)

    def _contexts(self, word: np.ndarray, cut: np.ndarray) -> np.ndarray:
        inventory = self.inventory_
        before = [history_contexts(cut[None, :], i, self.spelled_, inventory.output_vowels_) for i in range(len(cut))]
        return np.hstack([input_contexts(word, *self._classes()), np.concatenate(before)])

    def _classes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = self.inventory_
        sides = (found.after_, found.before_) if self.backwards else (found.before_, found.after_)
        return found.input_vowels_, *sides

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

    def _members(self, group: int, chosen: np.ndarray) -> np.ndarray:
        """Return the contexts of one ridge in the chosen words, by their positions."""
        return np.flatnonzero((self.group_[self._contexts_of_all[:, 0]] == group) & chosen[self._owner])

    def _examples(self, group: int, sample: float, chosen: np.ndarray) -> Examples:
        """Sample contexts of one ridge from the chosen words, in parts."""
        rng = np.random.default_rng((self.seed, group))
        mine = self._members(group, chosen)
        words = rng.permutation(np.unique(self._owner[mine]))
        words = words[: max(PARTS, round(len(words) * sample / max(1, len(mine))))]
        part = np.full(len(self._words), -1)
        part[words] = np.arange(len(words)) % PARTS
        mine = mine[part[self._owner[mine]] >= 0]
        contexts, chunks = self._contexts_of_all[mine], self._chunks[mine]
        parts = part[self._owner[mine]]
        return Examples(contexts, chunks, self.options_[contexts[:, 0]], self.inventory_.features_, parts)

    def _solve(self, group: int, chosen: np.ndarray) -> System:
        settings, mine = self.settings_[group], self._members(group, chosen)
        contexts, targets = self._contexts_of_all[mine], self.inventory_.features_[self._chunks[mine]]
        known = np.unique(self._chunks[mine])
        marks, dual = contexts[:0], targets[:0]  # with nothing to choose between a ridge is never asked
        if len(known) > 1:
            rng, drawn = np.random.default_rng((self.seed, group)), None
            # one symbol varies less than all of a kind
            most = self.landmarks if self.shared else (self.landmarks + 1) // 2
            if len(mine) > most:
                drawn = contexts[np.sort(rng.choice(len(mine), most, replace=False))]
            dual = ridge_coefficients(settings, contexts, targets, drawn, _BLOCK)
            marks = contexts if drawn is None else drawn
        inputs, histories = np.hsplit(marks, [len(INPUT_COLUMNS)])
        votes = dual @ self.inventory_.features_[known].T
        return System(settings, np.ascontiguousarray(inputs), np.ascontiguousarray(histories), known, votes)

    def __getstate__(self) -> dict[str, Any]:
        # the training words are needed for learning only
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}
