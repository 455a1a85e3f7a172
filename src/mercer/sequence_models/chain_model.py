"""A log-linear chain over the chunks of a word: features of the context of each symbol, and of neighbouring chunks."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize

from mercer.core.compiled import compiled
from mercer.sequence_models.chain import (
    NOWHERE,
    best_paths,
    chain_loss,
    forward_sums,
    log_sum,
    scores_of_options,
    scores_of_steps,
)
from mercer.sequence_models.contexts import AFTER, BEFORE, INPUT_COLUMNS, input_contexts
from mercer.sequence_models.inventory import Inventory
from mercer.sequence_models.steps import NEVER, Reading
from mercer.sequence_models.symbols import Alphabet, Chunk

_SIDE, _REACH = 2, 4  # most columns of a window beside the symbol, and the farthest neighbour
_FIRMEST = 30.0  # most that the penalty of a template is raised or lowered
_PER_FEATURE = 30_000  # contexts for each time a feature must have been seen, so that large sets do not fill the memory


def _windows(kind: str, most: int, fewest: int = 1) -> list[tuple[str, ...]]:
    """List the columns of `kind` in windows of at most `most` symbols around the symbol, or `_SIDE` beside it."""
    found = []
    for start in range(-_REACH, _REACH + 1):
        for end in range(start, _REACH + 1):
            size, around = end - start + 1, start <= 0 <= end
            if fewest <= size <= (most if around else _SIDE):
                found.append(tuple(f"{kind} {offset:+d}" for offset in range(start, end + 1) if offset))
    return list(dict.fromkeys(found))


_FAR = [
    *(("vowel before",), ("vowel after",), ("vowel before", "vowel after")),
    *(
        ("consonants after",),
        ("consonants before",),
        ("consonants after", "effect +1"),
        ("consonants before", "effect -1"),
    ),
    *(("syllables before", "syllables after"), ("consonants after", "syllables before", "syllables after")),
    *(("double after",), ("double before",)),
]
OWN = [*_windows("symbol", 5), *(w for w in _windows("effect", 4) if w), *_FAR]
SHARED = [*_windows("effect", 4), *_windows("class", 7, 3), *_FAR]
"""Templates, combinations of columns of a context: those of each symbol alone, and those that symbols of a kind share."""


@dataclass
class ChainModel:
    r"""Conditional log-linear model of all chunks of a word together.

    .. math:: p(c \mid x) \propto \exp\Big(\sum_i \langle w, \phi(x, i, c_i) \rangle + \langle v, \chi(c_{i-1}, c_i) \rangle\Big)

    φ marks every combination of columns (`OWN`) of the context of a symbol, with the chunk; and combinations (`SHARED`) that all
    vowels, or all consonants, have in common, with the *pattern* of the chunk (see `chunk_patterns`), so that what follows the
    own sound of a symbol is learned from all of them. It is the machine of the kernel :math:`\langle \phi, \phi' \rangle`, which
    counts the combinations two contexts share, with the loss −log p and a penalty on ‖(w, v)‖².

    Templates are weighted by the data: after a first solution the penalty of each is divided by the size ‖w_t‖² its weights
    have reached, relative to the others (the fixed point of the prior variance in empirical Bayes), and the weights go on.

    Parameters
    ----------
    alpha : float
        First penalty: ½ alpha √(m + 1) ‖w_t‖² for a template t of m columns.
    rounds : int
        Most iterations of L-BFGS; half as many after each change of the penalties.
    passes : int
        Changes of the penalties.
    """

    kind: ClassVar[str] = "chain"
    listed: ClassVar[int] = 3  # its search is exact and quick

    alpha: float = 0.3
    rounds: int = 40
    passes: int = 2

    def fit(
        self, inventory: Inventory, words: Sequence[np.ndarray], cuts: Sequence[np.ndarray], chosen: np.ndarray
    ) -> ChainModel:
        """Learn from the `chosen` words (a mask) and their chunks, all as numbers."""
        self.inventory_ = inventory
        self._symbols, self._chunks = np.concatenate(words), np.concatenate(cuts)
        self._sizes = np.asarray([len(word) for word in words])
        # all words are numbered once, also those that are not chosen yet: their features have no weight until they are
        self._number_options(self._symbols, self._chunks)
        codes = np.concatenate([self._features(word) for word in words])
        self._places, self._template = self._number_features(self._symbols, codes)
        self._right = np.asarray(
            [
                np.searchsorted(self.options_[s], c)
                for s, c in zip(self._symbols.tolist(), self._chunks.tolist(), strict=True)
            ]
        )
        self._start = self.alpha * np.append(np.sqrt(np.sum(_TEMPLATES >= 0, axis=1) + 1.0), 1.0)
        self._penalties, self.weights_ = self._start, np.zeros(len(self._template))
        self._learn(chosen, self.rounds)
        for _ in range(self.passes):
            self._weigh_templates()
            self._learn(chosen, self.rounds // 2)
        return self

    def solve(self, chosen: np.ndarray) -> ChainModel:
        """Learn from the chosen words, from the weights and with the penalties learned before."""
        self._learn(chosen, self.rounds // 2)
        return self

    def _learn(self, chosen: np.ndarray, rounds: int) -> None:
        mine = np.repeat(chosen, self._sizes)
        symbols, features, right = self._symbols[mine], self._places[mine], self._right[mine]
        words = np.concatenate([[0], np.cumsum(self._sizes[chosen])])
        # chunks that no chosen word has are out of reach; the unknown symbol, which is the last, has one option
        self.first_scores_ = np.append(np.full(self.starts_[-1] - 1, NOWHERE), 0.0)
        self.first_scores_[self.starts_[symbols] + right] = 0.0
        penalties = self._penalties[self._template]

        def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
            slope = penalties * weights
            half = 0.5 * float(weights @ slope)
            arrays = (self.labels_, self.first_scores_, self.places_, self.table_sizes_, self.ends_, self.starts_)
            return half + chain_loss(weights, features, len(OWN), *arrays, symbols, words, right, slope), slope

        options = {"maxiter": rounds, "maxcor": 6}
        self.weights_ = minimize(loss, self.weights_, jac=True, method="L-BFGS-B", options=options).x

    def _weigh_templates(self) -> None:
        """Lower the penalty of templates whose weights are large, and raise that of the others."""
        size = np.bincount(self._template, self.weights_**2, minlength=len(self._start))[:-1]
        typical = np.mean(np.sqrt(size[size > 0])) ** 2 if size.any() else 1.0
        relative = np.clip(typical / np.maximum(size, 1e-12), 1 / _FIRMEST, _FIRMEST)
        self._penalties = self._start * np.append(relative, 1.0)

    def read(self, x: Sequence[Hashable]) -> Reading:
        """Return a word as this model reads it."""
        codes = self.inventory_.inputs_.codes(x)
        options = []
        for symbol, code in zip(x, codes, strict=True):
            options.append(
                self.options_[code] if self._knows(code) else np.asarray([self.inventory_.chunk_of_unknown(symbol)])
            )
        return Reading(codes, self._features(codes), options)

    def beam(self, reading: Reading, width: int) -> np.ndarray:
        """Return the `width` likeliest rows of chunks, exactly, best first."""
        options, steps, counts = self._potentials(reading)
        paths = best_paths(options, steps, counts, width)
        return np.column_stack([chunks[paths[:, i]] for i, chunks in enumerate(reading.options)])

    def score(self, reading: Reading, cuts: np.ndarray) -> np.ndarray:
        """Return the log-probability of each row of `cuts`; a chunk that its symbol never stood for has `NEVER`."""
        options, steps, counts = self._potentials(reading)
        total = np.full(len(cuts), -log_sum(forward_sums(options, steps, counts)[-1, : counts[-1]]))
        before, known_before = np.zeros(len(cuts), dtype=np.int64), np.ones(len(cuts), dtype=bool)
        for i, chunks in enumerate(reading.options):
            place = np.minimum(np.searchsorted(chunks, cuts[:, i]), len(chunks) - 1)
            known = (chunks[place] == cuts[:, i]) & (options[i, place] > 0.5 * NOWHERE)
            step = np.where(known_before, steps[i, before, place], 0.0)
            total += np.where(known, options[i, place] + step, NEVER)
            before, known_before = place, known
        return total

    def _knows(self, code: int) -> bool:
        """Return True for a symbol of the words the weights were learned from."""
        return bool(code >= 0 and np.any(self.first_scores_[self.starts_[code] : self.starts_[code + 1]] == 0.0))

    def _features(self, word: np.ndarray) -> np.ndarray:
        found = self.inventory_
        contexts = input_contexts(word, found.input_vowels_, found.before_, found.after_)
        kinds = np.where(word >= 0, found.input_vowels_[word], False).astype(np.int64)
        return _feature_codes(contexts, kinds, _TEMPLATES, len(OWN))

    def _number_options(self, symbols: np.ndarray, chunks: np.ndarray) -> None:
        """List the chunks each symbol stood for, their labels, and the tables of neighbours; one more symbol is unknown."""
        known = len(self.inventory_.inputs_)
        self.options_ = [np.unique(chunks[symbols == s]) for s in range(known)]
        sizes = np.asarray([*map(len, self.options_), 1])
        self.starts_ = np.concatenate([[0], np.cumsum(sizes)])
        all_chunks: list[Chunk] = self.inventory_.chunks_.symbols
        counts = Counter(zip(symbols.tolist(), chunks.tolist(), strict=True))
        patterns = [
            chunk_patterns([all_chunks[c] for c in own], [counts[s, c] for c in own])
            for s, own in enumerate(own.tolist() for own in self.options_)
        ]
        vowels = self.inventory_.input_vowels_
        by_kind = [
            Alphabet(chain.from_iterable(p for p, v in zip(patterns, vowels, strict=True) if v == kind))
            for kind in (0, 1)
        ]
        everything = Alphabet(chain.from_iterable(patterns))
        of_kind = [by_kind[int(vowel)].codes(own) for vowel, own in zip(vowels, patterns, strict=True)]
        none = np.zeros(1, dtype=np.int64)
        self.labels_ = np.stack([np.concatenate([np.arange(n) for n in sizes]), np.concatenate([*of_kind, none])])
        # the last row and column of a table stand for the start, and for an unknown symbol
        self.table_sizes_ = np.asarray([len(all_chunks) + 1, len(everything) + 1])
        ends = [np.concatenate(self.options_), np.concatenate([everything.codes(own) for own in patterns])]
        self.ends_ = np.stack([np.append(own, size - 1) for own, size in zip(ends, self.table_sizes_, strict=True)])
        self._label_sizes = [sizes, np.asarray([max(1, len(kind)) for kind in by_kind])]

    def _number_features(self, symbols: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the place of the first weight of each feature, or −1, and the template of every weight (one more for tables)."""
        known, first, which, seen = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
        position, template = np.divmod(first, codes.shape[1])
        kinds = self.inventory_.input_vowels_[symbols[position]].astype(np.int64)
        sizes = np.where(template < len(OWN), self._label_sizes[0][symbols[position]], self._label_sizes[1][kinds])
        sizes = np.where((seen > len(symbols) // _PER_FEATURE) & (known != 0), sizes, 0)
        places = np.concatenate([[0], np.cumsum(sizes)])
        tables = self.table_sizes_**2
        self.places_ = places[-1] + np.concatenate([[0], np.cumsum(tables)[:-1]])
        kept = sizes > 0
        self.known_, self.offsets_ = known[kept], places[:-1][kept]
        found = np.where(kept, places[:-1], -1)[which.reshape(codes.shape)]
        return found, np.append(np.repeat(template, sizes), np.full(int(tables.sum()), len(_TEMPLATES)))

    def _potentials(self, reading: Reading) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the scores of options and steps, and the number of options at each position."""
        place = np.minimum(np.searchsorted(self.known_, reading.contexts), len(self.known_) - 1)
        features = np.where(self.known_[place] == reading.contexts, self.offsets_[place], -1)
        unknown = len(self.starts_) - 2
        known = np.asarray([self._knows(code) for code in reading.codes])
        symbols = np.where(known, reading.codes, unknown)
        features[~known] = -1
        own = (self.labels_, self.first_scores_, self.starts_, symbols)
        options = scores_of_options(self.weights_, features, len(OWN), *own)
        arrays = (self.places_, self.table_sizes_, self.ends_, self.starts_, symbols, options.shape[1])
        return options, scores_of_steps(self.weights_, *arrays), self.starts_[symbols + 1] - self.starts_[symbols]

    def __getstate__(self) -> dict[str, Any]:
        # the training words are needed for learning only
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}


def chunk_patterns(chunks: Sequence[Chunk], counts: Sequence[int]) -> list[str]:
    """Return the pattern of each chunk of a symbol: its characters, with ``*`` for those the symbol most often stands for.

    Examples
    --------
    >>> chunk_patterns([("k",), ("k", "a"), ("x",), ()], [5, 3, 1, 1])
    ['*', '*a', '=x', '=']
    """
    texts = [unicodedata.normalize("NFD", "".join(map(str, chunk))) for chunk in chunks]
    pieces = dict.fromkeys(t[:end] for t in texts for end in range(1, len(t) + 1))
    pieces |= dict.fromkeys(t[start:] for t in texts for start in range(len(t)))
    if not pieces:
        return ["="] * len(texts)
    # the string in most of what the symbol stood for, the longest of several
    most = max(pieces, key=lambda p: (sum(n for t, n in zip(texts, counts, strict=True) if p in t), len(p)))
    return [text.replace(most, "*", 1) if most in text else f"={text}" for text in texts]


@compiled
def _feature_codes(contexts: np.ndarray, kinds: np.ndarray, templates: np.ndarray, own: int) -> np.ndarray:
    """Number each combination of columns by a hash of 64 bits; 0 if it reaches beyond the word by more than one symbol."""
    found = np.zeros((len(contexts), len(templates)), dtype=np.uint64)
    for i in range(len(contexts)):
        for t in range(len(templates)):
            code = np.uint64(2 * t + 1) * np.uint64(0x9E3779B97F4A7C15)
            key = contexts[i, 0] if t < own else kinds[i]
            code = (code ^ np.uint64(key + 16)) * np.uint64(0xBF58476D1CE4E5B9)
            code ^= code >> np.uint64(31)
            before = after = 0
            for column in templates[t]:
                if column >= 0:
                    value = contexts[i, column]
                    before += value == BEFORE
                    after += value == AFTER
                    code = (code ^ np.uint64(value + 16)) * np.uint64(0x94D049BB133111EB)
                    code ^= code >> np.uint64(29)
            if before < 2 and after < 2:
                found[i, t] = code
    return found


def _template_columns() -> np.ndarray:
    """Return the columns of each template as a row, padded with −1."""
    templates = [*OWN, *SHARED]
    found = np.full((len(templates), max(map(len, templates))), -1, dtype=np.int64)
    for row, template in zip(found, templates, strict=True):
        row[: len(template)] = [INPUT_COLUMNS.index(column) for column in template]
    return found


_TEMPLATES = _template_columns()
