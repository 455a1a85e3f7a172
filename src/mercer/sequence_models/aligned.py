"""Sequences from sequences, symbol by symbol: spelling to sound and the like."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from sklearn.utils.validation import check_is_fitted

from mercer.core.collections import as_objects
from mercer.core.validation import check_whole
from mercer.decoders import Ranked
from mercer.sequence_models.alignment import Aligner
from mercer.sequence_models.base import WordEstimator, require_as_many
from mercer.sequence_models.context_model import ContextModel, Reading
from mercer.sequence_models.inventory import Inventory
from mercer.sequence_models.ngrams import NgramModel
from mercer.sequence_models.symbols import Chunk, SequenceCodec

_TRUST_IN_RUNS = 0.2  # weight of the model of runs, of 1 in all, before it is learned


@dataclass(eq=False, repr=False)
class AlignedSequences(WordEstimator):
    r"""Predict sequences whose symbols follow those of the input in order: pronunciations, transliterations.

    1. `Aligner` cuts every output into one chunk of 0 to `longest` symbols for each input symbol.
    2. Kernel ridges (`ContextModel`) predict the chunk of an input symbol from its context and from the chunks already chosen,
       reading forwards and backwards, with a ridge for each symbol and with ridges that symbols share. The weights of the
       columns of the context are learned from words left out.
    3. A beam search through each model gives candidates; they are scored by every model and by the runs of symbols with their
       chunks (`NgramModel`), and ranked by a weighted sum of the log-probabilities,

    .. math:: \text{score}(x, y) = \max_{c_1 \dots c_n = y} \; \sum_m w_m \log p_m(c \mid x) + w_0 \log p(x, c)

    with weights learned from training words that the models had not seen.

    Parameters
    ----------
    longest : int, default=3
        Most output symbols that one input symbol may stand for. Pairs that need more are left out, with a warning.
    width : int, default=10
        Number of candidates the beam keeps.
    held_out : int, default=1000
        Most training words, at most a quarter, that the weights of the scores are learned from, before the ridges see them.
    together : int, default=20000
        Most input symbols in all training words for which ridges are shared; with more, each symbol is seen often enough.
    sample, landmarks : int
        As for `ContextModel`.
    loss : None, Loss or callable
        The loss that `score` averages; by default 1 for an output that is not exactly right.
    seed : int
        Seed of the samples.

    Attributes
    ----------
    aligner_, inventory_, runs_ : Aligner, Inventory, NgramModel
        The alignment, the symbols and chunks, the model of runs.
    models_ : list of ContextModel
        Forwards and backwards, with own ridges, then with shared ones.
    trust_ : array
        The weight of the score of each model, and of the runs.

    Notes
    -----
    An input symbol never seen in training stands for itself if the training outputs have it, else for nothing. The empty input
    has the empty output.

    Examples
    --------
    >>> words = ["ca", "ce", "co", "ci", "cace", "coci", "cica", "ceco", "cocace", "cacoci"]
    >>> sounds = ["ka", "se", "ko", "si", "kase", "kosi", "sika", "seko", "kokase", "kakosi"]
    >>> model = AlignedSequences().fit(words, sounds)
    >>> model.predict(["coca", "ceci"])
    array(['koka', 'sesi'], dtype=object)
    >>> [str(sound) for sound in model.rank(["co"], k=2)[0].objects]
    ['ko', 'so']
    """

    longest: int = 3
    width: int = 10
    held_out: int = 1000
    together: int = 20000
    sample: int = 800
    landmarks: int = 2500
    loss: Any = None
    seed: int = 0

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from inputs and outputs: strings, or sequences of any hashable symbols."""
        for name in ("longest", "width", "held_out", "together", "sample", "landmarks"):
            check_whole(getattr(self, name), name)
        fitted = copy(self)  # a fit that fails leaves this estimator as it was
        fitted._fit(X, y)
        self.__dict__.update(fitted.__dict__)
        return self

    def _fit(self, X: Any, y: Any) -> None:
        words, sounds = SequenceCodec.encode(X, "X"), SequenceCodec.encode(y, "y")
        require_as_many(len(words), len(sounds))
        aligner = Aligner(longest=self.longest)
        words, sounds = self._alignable(aligner, words, sounds)
        aligner.fit(words, sounds)
        cuts = [aligner.align(word, sound) for word, sound in zip(words, sounds, strict=True)]
        inventory = Inventory().fit(words, cuts)
        order = np.random.default_rng(self.seed).permutation(len(words))
        held_out = np.isin(np.arange(len(words)), order[: min(self.held_out, len(words) // 4)])
        word_codes = [inventory.inputs_.codes(word) for word in words]
        cut_codes = [inventory.chunks_.codes(cut) for cut in cuts]
        ways = [
            ContextModel(backwards, shared, self.sample, self.landmarks, self.seed)
            for shared in ((False, True) if sum(map(len, words)) <= self.together else (False,))
            for backwards in (False, True)
        ]
        self.aligner_, self.inventory_ = aligner, inventory
        self.models_ = [model.fit(inventory, word_codes, cut_codes, ~held_out) for model in ways]
        self._codec = SequenceCodec.of(as_objects(y, "y"))
        runs = [_runs(word, cut) for word, cut in zip(word_codes, cut_codes, strict=True)]
        self.runs_ = NgramModel().fit([run for run, out in zip(runs, held_out, strict=True) if not out])
        self.trust_ = self._learn_trust(words, sounds, held_out)
        for model in self.models_:
            model.solve(np.ones(len(words), dtype=bool))
        self.runs_ = NgramModel().fit(runs)

    def rank(self, X: Any, k: int = 5, candidates: Any = None) -> list[Ranked]:
        """Return the `k` best outputs of each input, or as many as the beam found, best first, with scores (higher is better).

        Candidates that cannot be aligned with an input have score −∞.
        """
        check_is_fitted(self, "trust_")
        check_whole(k, "k")
        given = None if candidates is None else SequenceCodec.encode(candidates, "candidates")
        ranked = []
        for word in SequenceCodec.encode(X, "X"):
            sounds, scores = self._constructed(word) if given is None else self._given(word, given)
            possible = np.isfinite(scores).all(axis=1)
            totals = np.full(len(scores), -np.inf)
            totals[possible] = scores[possible] @ self.trust_
            best = np.argsort(-totals, kind="stable")[:k]
            ranked.append(Ranked(self._codec.decode([sounds[i] for i in best]), totals[best]))
        return ranked

    def candidates(self, X: Any) -> list[Ranked]:
        """Return the outputs the beams found for each input, best first, with their scores by every model (as in `trust_`)."""
        check_is_fitted(self, "trust_")
        found = []
        for word in SequenceCodec.encode(X, "X"):
            sounds, scores = self._constructed(word)
            order = np.argsort(-(scores @ self.trust_), kind="stable")
            found.append(Ranked(self._codec.decode([sounds[i] for i in order]), scores[order]))
        return found

    def score(self, X: Any, y: Any) -> float:
        """Return minus the mean loss of the predictions; by default, minus the share that is not exactly right."""
        predicted, outputs = self.predict(X), SequenceCodec.encode(y, "y")
        require_as_many(len(predicted), len(outputs))
        return -self._mean_loss(self._codec.decode(outputs), predicted)

    def _constructed(self, word: Chunk) -> tuple[Sequence[Chunk], np.ndarray]:
        """Return the outputs the beams find, each once, with its best scores."""
        if not word:
            return [()], np.zeros((1, len(self.models_) + 1))
        rows = np.concatenate([model.beam(word, self.width) for model in self.models_])
        rows = rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])]
        scores = self._scores(word, [model.read(word) for model in self.models_], rows)
        best: dict[Chunk, np.ndarray] = {}
        for row, score in zip(rows, scores, strict=True):
            sound = self.inventory_.spell(row)
            best[sound] = np.maximum(best.get(sound, score), score)
        return list(best), np.asarray(list(best.values()))

    def _given(self, word: Chunk, sounds: Sequence[Chunk]) -> tuple[Sequence[Chunk], np.ndarray]:
        """Return given outputs with their scores, each cut by the aligner."""
        scores = np.full((len(sounds), len(self.trust_)), -np.inf)
        readings = [model.read(word) for model in self.models_]
        for i, sound in enumerate(sounds):
            if not word and not sound:
                scores[i] = 0.0
            elif word and self.aligner_.can_align(word, sound):
                row = self.inventory_.chunks_.codes(self.aligner_.align(word, sound))
                scores[i] = self._scores(word, readings, row[None, :])[0]
        return sounds, scores

    def _scores(self, word: Chunk, readings: list[Reading], rows: np.ndarray) -> np.ndarray:
        by_context = [model.score(reading, rows) for model, reading in zip(self.models_, readings, strict=True)]
        codes = self.inventory_.inputs_.codes(word)
        by_runs = [self.runs_.log_probability(_runs(codes, row)) for row in rows]
        return np.column_stack([*by_context, by_runs])

    def _learn_trust(self, words: Sequence[Any], sounds: Sequence[Any], held_out: np.ndarray) -> np.ndarray:
        scores, correct = [], []
        for i in np.flatnonzero(held_out).tolist():
            found, values = self._constructed(words[i])
            scores.append(values)
            correct.append(np.asarray([sound == sounds[i] for sound in found]))
        each = (1.0 - _TRUST_IN_RUNS) / len(self.models_)
        return trust_in_scores(scores, correct, np.asarray([each] * len(self.models_) + [_TRUST_IN_RUNS]))

    def _alignable(self, aligner: Aligner, words: list[Any], sounds: list[Any]) -> tuple[list[Any], list[Any]]:
        fits = [aligner.can_align(x, y) for x, y in zip(words, sounds, strict=True)]
        if not all(fits):
            short = f"{len(fits) - sum(fits)} of {len(words)} pairs, first X[{fits.index(False)}], have more than"
            advice = "output symbols per input symbol and were left out; raise longest to keep them"
            warnings.warn(f"{short} longest={self.longest} {advice}", UserWarning, stacklevel=4)
        kept = [i for i, word in enumerate(words) if len(word) and fits[i]]
        if not kept:
            raise ValueError(f"no pair of X and y can be aligned with longest={self.longest}; raise longest")
        return [words[i] for i in kept], [sounds[i] for i in kept]


def _runs(word: np.ndarray, cut: np.ndarray) -> tuple[tuple[int, int], ...]:
    return tuple(zip(word.tolist(), cut.tolist(), strict=True))


def trust_in_scores(
    scores: Sequence[np.ndarray], correct: Sequence[np.ndarray], prior: np.ndarray, strength: float = 10.0
) -> np.ndarray:
    r"""Learn weights w of several scores that make the correct candidates of each list likely.

    .. math:: \min_w \; -\sum_i \log \frac{\sum_{c \text{ correct}} e^{w^\top s_{ic}}}{\sum_c e^{w^\top s_{ic}}}
              + \frac{\text{strength}}{2} \lVert w - \text{prior} \rVert^2

    Lists without a correct candidate, or without a wrong one, are left out.
    """
    useful = [(s, c) for s, c in zip(scores, correct, strict=True) if c.any() and not c.all()]
    if not useful:
        return np.asarray(prior, dtype=float)
    rows = np.concatenate([s for s, _ in useful])
    right = np.concatenate([c for _, c in useful])
    starts = np.cumsum([0] + [len(c) for _, c in useful[:-1]])
    group = np.repeat(np.arange(len(useful)), [len(c) for _, c in useful])

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        values = rows @ w
        values -= np.maximum.reduceat(values, starts)[group]
        all_of = np.exp(values)
        right_of = np.where(right, all_of, 0.0)
        total, hit = np.add.reduceat(all_of, starts), np.maximum(np.add.reduceat(right_of, starts), 1e-300)
        slope = (all_of / total[group] - right_of / hit[group]) @ rows
        away = w - prior
        return float(np.sum(np.log(total / hit)) + 0.5 * strength * away @ away), slope + strength * away

    return minimize(loss, prior, jac=True, method="L-BFGS-B").x
