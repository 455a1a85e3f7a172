"""Networks from the symbols around an input symbol, and the chunks chosen before it, to its chunk."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from mercer.sequence_models.inventory import Inventory
from mercer.sequence_models.networks import Networks, Task
from mercer.sequence_models.steps import NEVER, Reading, beam_by_steps, score_by_steps
from mercer.sequence_models.symbols import UNKNOWN

_REACH = 4  # symbols to either side
_BACK = 2  # chunks before
_FEWEST, _MOST = 64, 256  # units of a hidden layer
_MANY = 6000  # rows from which on less is left out
_OUTSIDE = 3  # symbols before and after the word, and unknown ones, have vectors too


@dataclass
class NetworkModel:
    """`Networks` that read a word from one end to the other.

    The kernel of `ContextModel` sees only whether two symbols are equal, or in one class; here symbols after which vowels are
    read alike, say, get vectors that are alike. The networks grow with the number of input symbols they learn from, and less of
    them is left out (`networks_for`).

    Parameters
    ----------
    backwards : bool
        Read from the end; the history is then what follows.
    members, epochs : int
        As for `Networks`.
    seed : int
        Seed of the networks.
    """

    listed: ClassVar[int] = 1

    backwards: bool = False
    members: int = 4
    epochs: int = 60
    seed: int = 0
    _tables: tuple[list[np.ndarray], np.ndarray] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def kind(self) -> str:
        """The name of the model."""
        return "network backwards" if self.backwards else "network forwards"

    def fit(
        self, inventory: Inventory, words: Sequence[np.ndarray], cuts: Sequence[np.ndarray], chosen: np.ndarray
    ) -> NetworkModel:
        """Learn from the `chosen` words (a mask) and their chunks, all as numbers."""
        for part in self.start(inventory, words, cuts, chosen):
            part()
        return self

    def solve(self, chosen: np.ndarray) -> NetworkModel:
        """Learn from the chosen words, from what was learned before."""
        for part in self.resume(chosen):
            part()
        return self

    def start(
        self, inventory: Inventory, words: Sequence[np.ndarray], cuts: Sequence[np.ndarray], chosen: np.ndarray
    ) -> list[Callable[[], Any]]:
        """Return the parts of `fit`, which can be done at the same time."""
        self.inventory_ = inventory
        known, number = len(inventory.inputs_) + _OUTSIDE, len(inventory.chunks_)
        order = -1 if self.backwards else 1
        self._words, self._cuts = [word[::order] for word in words], [cut[::order] for cut in cuts]
        task = self._task(chosen)
        self.networks_ = networks_for(len(task.rows), self.members, self.epochs, self.seed)
        return self.networks_.start(task, known + number + 1, inventory.features_[:, number:])

    def resume(self, chosen: np.ndarray) -> list[Callable[[], Any]]:
        """Return the parts of `solve`, likewise."""
        return self.networks_.resume(self._task(chosen))

    def read(self, x: Sequence[Hashable]) -> Reading:
        """Return a word as this model reads it; its contexts are what the networks make of the symbols around each one."""
        x = x[::-1] if self.backwards else x
        codes = self.inventory_.inputs_.codes(x)
        options = self.inventory_.options_of(x, codes, self.options_)
        return Reading(codes, self.networks_.before_hidden(self._windows(codes)), options)

    def step(self, reading: Reading, i: int, before: np.ndarray) -> np.ndarray:
        """Return the log-probabilities of the options at position `i` after each row of chunks in `before`."""
        options = reading.options[i]
        if len(options) == 1:
            return np.zeros((len(before), 1))
        tables, outward = self._tables or self._tabulate()
        hidden = reading.contexts[:, i : i + 1]
        for back, table in enumerate(tables, 1):
            hidden = hidden + table[:, before[:, i - back] if i >= back else np.full(len(before), -1)]
        return np.maximum(self.networks_.log_probabilities(hidden, outward, options), NEVER)

    def score(self, reading: Reading, cuts: np.ndarray) -> np.ndarray:
        """Return the log-probability of each row of `cuts`, chunks in the order of the word."""
        return score_by_steps(self, reading, cuts)

    def beam(self, x: Sequence[Hashable], width: int) -> np.ndarray:
        """Return the `width` likeliest rows of chunks that a beam search finds, in the order of the word, best first."""
        return beam_by_steps(self, self.read(x), width)

    def _task(self, chosen: np.ndarray) -> Task:
        """Return the rows of the chosen words, symbols around each one and chunks before it, with their chunks."""
        self._tables = None  # made when they are asked for, after learning
        mine = np.flatnonzero(chosen).tolist()
        words, cuts = [self._words[i] for i in mine], [self._cuts[i] for i in mine]
        codes, chunks = np.concatenate(words), np.concatenate(cuts)
        self.options_ = np.zeros((len(self.inventory_.inputs_), len(self.inventory_.chunks_)), dtype=bool)
        self.options_[codes, chunks] = True
        pairs = zip(words, cuts, strict=True)
        rows = np.concatenate([np.hstack([self._windows(word), self._histories(cut)]) for word, cut in pairs])
        return Task(rows, chunks, codes, self.options_)

    def _windows(self, word: np.ndarray) -> np.ndarray:
        """Return the symbols around each one of a word; numbers past the alphabet stand for before, after and unknown."""
        known = len(self.inventory_.inputs_)
        word = np.where(word == UNKNOWN, known + 2, word)
        padded = np.concatenate([np.full(_REACH, known), word, np.full(_REACH, known + 1)])
        return np.lib.stride_tricks.sliding_window_view(padded, 2 * _REACH + 1)

    def _histories(self, cut: np.ndarray) -> np.ndarray:
        """Return the chunks before each one of a word, the last first; their numbers follow those of symbols."""
        number = len(self.inventory_.chunks_)
        padded = np.concatenate([np.full(_BACK, number), cut[:-1]]) + len(self.inventory_.inputs_) + _OUTSIDE
        return np.lib.stride_tricks.sliding_window_view(padded, _BACK)[:, ::-1]

    def _tabulate(self) -> tuple[list[np.ndarray], np.ndarray]:
        """Tabulate the effect of each chunk in each place before, the last row being that of no chunk, and on each class."""
        first = len(self.inventory_.inputs_) + _OUTSIDE
        tables = [self.networks_.table(2 * _REACH + 1 + back)[:, first:] for back in range(_BACK)]
        self._tables = tables, self.networks_.out_of_hidden()
        return self._tables

    def __getstate__(self) -> dict[str, Any]:
        # the training words are needed for learning only
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._tables = None


def networks_for(rows: int, members: int, epochs: int, seed: int) -> Networks:
    """Return networks of a size for so many rows: about √rows hidden units, of which fewer are left out if rows are many.

    Examples
    --------
    >>> [(found.hidden, round(found.dropout, 2)) for found in (networks_for(n, 4, 60, 0) for n in (1000, 10000, 100000))]
    [(64, 0.3), (96, 0.27), (256, 0.17)]
    """
    hidden = 16 * round(min(max(rows**0.5, _FEWEST), _MOST) / 16)
    dropout = Networks.dropout * min(1.0, (_MANY / rows) ** 0.2)
    return Networks(members, hidden=hidden, dropout=dropout, epochs=epochs, seed=seed)
