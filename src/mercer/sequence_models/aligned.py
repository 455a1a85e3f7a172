"""Sequences from sequences, symbol by symbol: spelling to sound and the like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, Self

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import minimize
from sklearn.utils.validation import check_is_fitted

from mercer.core.collections import as_objects
from mercer.core.threads import one_blas_thread
from mercer.core.validation import check_whole
from mercer.decoders import Ranked
from mercer.sequence_models.alignment_choice import choose_aligner
from mercer.sequence_models.base import WordEstimator, require_as_many
from mercer.sequence_models.context_model import ContextModel
from mercer.sequence_models.inventory import Inventory
from mercer.sequence_models.network_model import NetworkModel, WordNetworks
from mercer.sequence_models.progress import Progress, to_stderr
from mercer.sequence_models.steps import NEVER, Reading
from mercer.sequence_models.symbols import UNKNOWN, Chunk, SequenceCodec
from mercer.sequence_models.word_models import WORD_SCORES, WordModels

_START = {
    "ridge": 0.35,
    "network backwards": 0.225,
    "network forwards": 0.225,
    "runs": 0.05,
    "outputs": 0.05,
    "shapes": 0.25,
    "length": 0.15,
}  # weights before learning
PULL = 20_000.0  # of the penalty that keeps them near these, for one word held out: the more words, the weaker it is
_JUDGES, _MEMBERS = 2, 4  # networks while the weights of scores are learned, and in the end
_SHARES = {
    "aligned": 0.05,
    "models": 0.45,
    "weights": 0.1,
    "all words": 0.4,
}  # of the time to fit


class ChunkModel(Protocol):
    """A model of the chunks of a word; `kind` names it."""

    @property
    def kind(self) -> str:
        """The name of the model."""
        ...

    def fit(
        self, inventory: Inventory, words: Sequence[np.ndarray], cuts: Sequence[np.ndarray], chosen: np.ndarray
    ) -> Self:
        """Learn from the `chosen` words (a mask) and their chunks, all as numbers."""
        ...

    def solve(self, chosen: np.ndarray) -> Self:
        """Learn from the chosen words, with the settings learned before."""
        ...

    def read(self, x: Sequence[Hashable]) -> Reading:
        """Return a word as this model reads it."""
        ...

    def score(self, reading: Reading, cuts: np.ndarray) -> np.ndarray:
        """Return the log-probability of each row of `cuts`, chunks in the order of the word."""
        ...

    def beam(self, reading: Reading, width: int) -> np.ndarray:
        """Return the likeliest rows of chunks, best first."""
        ...


@dataclass(eq=False, repr=False)
class AlignedSequences(WordEstimator):
    r"""Predict sequences whose symbols follow those of the input in order: pronunciations, transliterations.

    1. An `Aligner` cuts every output into one chunk of 0 to `longest` symbols for each input symbol. The most symbols of a chunk,
       how many input symbols (up to `reads`) may stand for one together, and how firmly unwritten symbols go to one side, are
       those under which pairs left out are likeliest (`choose_aligner`).
    2. Input symbols are put into classes by their effect on the reading of their neighbours (`effect_classes`).
    3. A kernel ridge (`ContextModel`) predicts the chunk of an input symbol from its context and from the chunks already chosen,
       reading forwards; the weights of the columns of the context are learned from words left out. Recurrent networks
       (`NetworkModel`) read the whole word from both ends, so that symbols far away count, and choose chunks backwards and
       forwards.
    4. Beam searches through ridge and networks find the candidates. They are scored by every model, by the runs of symbols with
       their chunks, of output symbols, and of vowels and consonants, and by their length (`WordModels`), and ranked by a weighted
       sum,

    .. math:: \text{score}(x, y) = \max_{c_1 \dots c_n = y} \; \sum_m w_m \log p_m(c \mid x) + \sum_k v_k \log p_k(x, c)

    with weights learned from training words that the models had not seen.

    Parameters
    ----------
    longest : int, default=4
        Most output symbols that one input symbol may stand for. A pair that needs more is cut into chunks of nearly equal length.
    reads : int, default=1
        Most input symbols that may stand for one chunk together. Up to 3 made words left out likelier in three languages of
        seven, and predicted as many of them right.
    width : int, default=10
        Number of candidates a beam keeps.
    held_out : int, default=500
        Most training words, at most a quarter, that the weights of the scores are learned from, before the models see them.
    together : int, default=20000
        Most input symbols in all training words for which ridges are shared; with more, each symbol is seen often enough for
        ridges of its own.
    sample, landmarks : int
        As for `ContextModel`.
    loss : None, Loss or callable
        The loss that `score` averages; by default 1 for an output that is not exactly right.
    seed : int
        Seed of the samples.
    n_jobs : int, optional
        Models that are fitted at a time, in threads; -1 for one for each core.
    verbose : int
        1 to write a line when a part of the fit is done, with the time that is left.

    Attributes
    ----------
    aligner_, inventory_ : Aligner, Inventory
        The alignment; the symbols, chunks and classes.
    models_ : list of ContextModel and NetworkModel
        The ridge that reads forwards, the networks that choose chunks backwards, and those that choose them forwards.
    whole_ : WordModels
        The scores of whole words.
    trust_ : array
        The weight of the score of each model, and of each of `WORD_SCORES`.
    empty_ : tuple
        The output of the empty input.

    Notes
    -----
    A symbol of a string is a code point, so a combining mark is a symbol of its own, and a letter with a mark is one symbol in
    Unicode's composed form (NFC) and two in the decomposed form (NFD); nothing is normalised. Normalise inputs and outputs alike
    if your sources differ, or pass lists of symbols to choose them yourself.

    An input symbol never seen in training stands for itself if the training outputs have it, else for nothing. The empty input
    has the output that empty training inputs most often had, else the empty output. No pair is left out.

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

    longest: int = 4
    reads: int = 1
    width: int = 10
    held_out: int = 500
    together: int = 20000
    sample: int = 500
    landmarks: int = 2500
    loss: Any = None
    seed: int = 0
    n_jobs: int | None = None
    verbose: int = 0

    @one_blas_thread
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from inputs and outputs: strings, or sequences of any hashable symbols."""
        for name in ("longest", "reads", "width", "held_out", "together", "sample", "landmarks"):
            check_whole(getattr(self, name), name)
        self._check_settings()
        fitted = copy(self)  # a fit that fails leaves this estimator as it was
        fitted._forget_calibration()
        fitted._fit(X, y)
        self.__dict__ = fitted.__dict__
        return self

    def _fit(self, X: Any, y: Any) -> None:
        words, sounds = SequenceCodec.encode(X, "X"), SequenceCodec.encode(y, "y")
        require_as_many(len(words), len(sounds))
        self._codec = SequenceCodec.of(as_objects(y, "y"))
        of_empty = Counter(sound for word, sound in zip(words, sounds, strict=True) if not word)
        self.empty_ = of_empty.most_common(1)[0][0] if of_empty else ()
        kept = [i for i, word in enumerate(words) if word]
        if not kept:
            raise ValueError("every input of X is empty; expected at least one with a symbol")
        words, sounds = [words[i] for i in kept], [sounds[i] for i in kept]
        progress = Progress(f"{len(words)} words", _SHARES, to_stderr if self.verbose else None)
        self.aligner_ = choose_aligner(words, sounds, self.longest, self.reads, self.seed)
        cuts = [self.aligner_.align(word, sound) for word, sound in zip(words, sounds, strict=True)]
        inventory = self.inventory_ = Inventory().fit(words, cuts)
        order = np.random.default_rng(self.seed).permutation(len(words))
        held_out = np.isin(np.arange(len(words)), order[: min(self.held_out, len(words) // 4)])
        word_codes = [inventory.inputs_.codes(word) for word in words]
        cut_codes = [inventory.chunks_.codes(cut) for cut in cuts]
        shared = sum(map(len, words)) <= self.together
        progress.done("aligned")
        run = Parallel(n_jobs=self.n_jobs, prefer="threads")
        ridge = ContextModel(False, shared, self.sample, self.landmarks, self.seed)
        networks = WordNetworks(_JUDGES if held_out.any() else _MEMBERS, seed=self.seed)
        self.models_: list[ChunkModel] = [ridge, *(NetworkModel(networks, side) for side in (True, False))]
        given = (inventory, word_codes, cut_codes, ~held_out)
        run(delayed(part)() for part in (partial(ridge.fit, *given), *networks.start(*given)))
        progress.done("models")
        rest = np.flatnonzero(~held_out)
        self.whole_ = WordModels().fit(inventory, [word_codes[i] for i in rest], [cut_codes[i] for i in rest])
        out = np.flatnonzero(held_out).tolist()
        lists = run(delayed(self._constructed)(words[i]) for i in out)
        correct = [
            np.asarray([sound == sounds[i] for sound in found]) for i, (found, _) in zip(out, lists, strict=True)
        ]
        self.trust_ = self.learned_trust([scores for _, scores in lists], correct)
        progress.done("weights")
        if held_out.any():
            every, networks.members = np.ones(len(words), dtype=bool), _MEMBERS
            run(delayed(part)() for part in (partial(ridge.solve, every), *networks.again(every)))
            self.whole_ = WordModels().fit(inventory, word_codes, cut_codes)
        progress.done("all words")

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

    def abstention_score(self, X: Any) -> np.ndarray:
        """Return the uncertainty of each prediction, from 0 (sure) to 1: the share of right answers with a better score.

        It is 1 for an input with a symbol that no training input has: one output may be all that is found, which would seem sure.
        """
        return np.where(self.has_new_symbols(X), 1.0, super().abstention_score(X))

    def has_new_symbols(self, X: Any) -> np.ndarray:
        """Return True for each input with a symbol that no training input has."""
        check_is_fitted(self, "trust_")
        known = self.inventory_.inputs_
        return np.asarray([UNKNOWN in known.codes(word) for word in SequenceCodec.encode(X, "X")], dtype=bool)

    def candidates(self, X: Any) -> list[Ranked]:
        """Return the outputs the beams found for each input, best first, with their scores by every model (as in `trust_`)."""
        check_is_fitted(self, "trust_")
        found = []
        for word in SequenceCodec.encode(X, "X"):
            sounds, scores = self._constructed(word)
            order = np.argsort(-(scores @ self.trust_), kind="stable")
            found.append(Ranked(self._codec.decode([sounds[i] for i in order]), scores[order]))
        return found

    def first_trust(self) -> np.ndarray:
        """Return the weights of the scores before they are learned; the learned ones stay near them if words are few."""
        return np.asarray([_START[name] for name in (*(model.kind for model in self.models_), *WORD_SCORES)])

    def learned_trust(self, scores: list[np.ndarray], correct: list[np.ndarray]) -> np.ndarray:
        """Return the weights of the scores, from those of candidates of words held out and whether each is right."""
        return trust_in_scores(scores, correct, self.first_trust(), PULL / max(1, len(scores)))

    def score(self, X: Any, y: Any) -> float:
        """Return minus the mean loss of the predictions; by default, minus the share that is not exactly right."""
        predicted, outputs = self.predict(X), SequenceCodec.encode(y, "y")
        require_as_many(len(predicted), len(outputs))
        return -self._mean_loss(self._codec.decode(outputs), predicted)

    def _constructed(self, word: Chunk) -> tuple[Sequence[Chunk], np.ndarray]:
        """Return the outputs the searches find, with the scores of each: sums over the cuts that were found for it."""
        if not word:
            return [self.empty_], np.zeros((1, len(self.models_) + len(WORD_SCORES)))
        readings = [model.read(word) for model in self.models_]
        rows = self._rows(readings)
        return self._summed(rows, self._scores(word, readings, rows))

    def _given(self, word: Chunk, sounds: Sequence[Chunk]) -> tuple[Sequence[Chunk], np.ndarray]:
        """Return given outputs with their scores; those the searches do not find are cut by the aligner."""
        scores = np.full((len(sounds), len(self.trust_)), -np.inf)
        known = dict(zip(*self._constructed(word), strict=True))
        readings = [model.read(word) for model in self.models_] if word else []
        for i, sound in enumerate(sounds):
            if sound in known:
                scores[i] = known[sound]
            elif word and self.aligner_.can_align(word, sound):
                row = self.inventory_.chunks_.codes(self.aligner_.align(word, sound))
                unseen = np.sum(row < 0)
                scores[i] = self._scores(word, readings, np.maximum(row, 0)[None, :])[0] + NEVER * unseen
                scores[i, -1] = len(sound)
        return sounds, scores

    def _rows(self, readings: list[Reading]) -> np.ndarray:
        """Return the distinct rows of chunks that the searches find."""
        pairs = zip(self.models_, readings, strict=True)
        rows = np.concatenate([model.beam(reading, self.width) for model, reading in pairs])
        return rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])]

    def _summed(self, rows: np.ndarray, scores: np.ndarray) -> tuple[Sequence[Chunk], np.ndarray]:
        """Return the output of each row once, with log Σ exp of each score over its rows; a length is the same in all."""
        found: dict[Chunk, list[np.ndarray]] = {}
        for row, score in zip(rows, scores, strict=True):
            found.setdefault(self.inventory_.spell(row), []).append(score)
        summed = np.asarray([np.logaddexp.reduce(own) for own in found.values()])
        summed[:, -1] = [len(sound) for sound in found]
        return list(found), summed

    def _scores(self, word: Chunk, readings: list[Reading], rows: np.ndarray) -> np.ndarray:
        by_context = [model.score(reading, rows) for model, reading in zip(self.models_, readings, strict=True)]
        return np.column_stack([*by_context, self.whole_.score(self.inventory_.inputs_.codes(word), rows)])


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
