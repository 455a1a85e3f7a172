"""Networks from whole words, and the chunks chosen before, to the chunk of each input symbol."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.sequence_models.gated_units import Words
from mercer.sequence_models.inventory import Inventory
from mercer.sequence_models.recurrent import RecurrentNetworks
from mercer.sequence_models.recurrent_loops import BACK
from mercer.sequence_models.steps import NEVER, Reading, beam_by_steps, score_by_steps
from mercer.sequence_models.symbols import UNKNOWN
from mercer.sequence_models.voting import Readout

_UNITS, _HIDDEN = (64, 112), (64, 128)  # fewest and most gated units in a direction, and units of a hidden layer
_MANY = 6000  # symbols from which on less is left out


@dataclass
class WordNetworks:
    """`RecurrentNetworks` of aligned words, which two `NetworkModel` share: one that reads backwards, one that reads forwards.

    They grow with the number of input symbols they learn from, and less of them is left out (`networks_for`).

    Parameters
    ----------
    members, epochs, seed : int
        As for `RecurrentNetworks`.
    """

    members: int = 4
    epochs: int = 80
    seed: int = 0
    _tables: dict[int, tuple[list[np.ndarray], Readout]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def start(
        self, inventory: Inventory, words: Sequence[np.ndarray], cuts: Sequence[np.ndarray], chosen: np.ndarray
    ) -> list[Callable[[], Any]]:
        """Return the parts of learning from the `chosen` words (a mask) and their chunks, which can be done at the same time."""
        self.inventory_, self._words, self._cuts = inventory, words, cuts
        return self.again(chosen)

    def again(self, chosen: np.ndarray) -> list[Callable[[], Any]]:
        """Return the parts of learning from other words among these, from the start.

        Going on from what was learned before is quicker, and worse on words left out.
        """
        known, features = self._chosen(chosen), self.inventory_.features_[:, len(self.inventory_.chunks_) :]
        self.networks_ = networks_for(len(known.symbols), self.members, self.epochs, self.seed)
        return self.networks_.start(known, self.options_, features)

    def tables(self, side: int) -> tuple[list[np.ndarray], Readout]:
        """Tabulate the effect of each chunk in each place before, the last row being that of no chunk, and the readout."""
        found = self._tables.get(side)
        if found is None:
            found = [self.networks_.table(back, side) for back in range(BACK)], self.networks_.readout()
            self._tables[side] = found
        return found

    def _chosen(self, chosen: np.ndarray) -> Words:
        self._tables = {}  # made when they are asked for, after learning
        mine = np.flatnonzero(chosen).tolist()
        sizes = [len(self._words[i]) for i in mine]
        symbols, chunks = (np.concatenate([each[i] for i in mine]) for each in (self._words, self._cuts))
        self.options_ = np.zeros((len(self.inventory_.inputs_), len(self.inventory_.chunks_)), dtype=bool)
        self.options_[symbols, chunks] = True
        return Words(symbols, chunks, np.concatenate([[0], np.cumsum(sizes)]))

    def __getstate__(self) -> dict[str, Any]:
        # the training words are needed for learning only
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._tables = {}


@dataclass
class NetworkModel:
    """One direction of `WordNetworks`.

    The kernel of `ContextModel` sees only whether two symbols are equal, or in one class, in given places; here symbols after
    which vowels are read alike, say, get vectors that are alike, and what matters is found wherever in the word it stands.

    Parameters
    ----------
    networks : WordNetworks
        The networks.
    backwards : bool
        Read from the end; the history is then what follows.
    """

    networks: WordNetworks = field(default_factory=WordNetworks)
    backwards: bool = False

    @property
    def kind(self) -> str:
        """The name of the model."""
        return "network backwards" if self.backwards else "network forwards"

    @property
    def inventory_(self) -> Inventory:
        """The symbols and chunks."""
        return self.networks.inventory_

    def fit(
        self, inventory: Inventory, words: Sequence[np.ndarray], cuts: Sequence[np.ndarray], chosen: np.ndarray
    ) -> NetworkModel:
        """Let the networks, which the other direction may share, learn from the `chosen` words (a mask) and their chunks."""
        for part in self.networks.start(inventory, words, cuts, chosen):
            part()
        return self

    def solve(self, chosen: np.ndarray) -> NetworkModel:
        """Let the networks learn from the chosen words."""
        for part in self.networks.again(chosen):
            part()
        return self

    def read(self, x: Sequence[Hashable]) -> Reading:
        """Return a word as this model reads it; its contexts are what the networks make of each symbol in the word."""
        codes = self.inventory_.inputs_.codes(x)
        contexts = self.networks.networks_.before_hidden(codes, int(self.backwards))
        if self.backwards:
            x, codes, contexts = x[::-1], codes[::-1], contexts[:, ::-1]
        return Reading(codes, contexts, self.inventory_.options_of(x, codes, self.networks.options_))

    def step(self, reading: Reading, i: int, before: np.ndarray) -> np.ndarray:
        """Return the log-probabilities of the options at position `i` after each row of chunks in `before`."""
        options = reading.options[i]
        if len(options) == 1:
            return np.zeros((len(before), 1))
        tables, readout = self.networks.tables(int(self.backwards))
        hidden = reading.contexts[:, i : i + 1]
        for back, table in enumerate(tables, 1):
            hidden = hidden + table[:, before[:, i - back] if i >= back else np.full(len(before), UNKNOWN)]
        return np.maximum(readout.log_probabilities(hidden, options), NEVER)

    def score(self, reading: Reading, cuts: np.ndarray) -> np.ndarray:
        """Return the log-probability of each row of `cuts`, chunks in the order of the word."""
        return score_by_steps(self, reading, cuts)

    def beam(self, reading: Reading, width: int) -> np.ndarray:
        """Return the `width` likeliest rows of chunks that a beam search finds, in the order of the word, best first."""
        return beam_by_steps(self, reading, width)


def networks_for(symbols: int, members: int, epochs: int, seed: int) -> RecurrentNetworks:
    """Return networks of a size for words of so many symbols: more units, of which fewer are left out, for more symbols.

    Examples
    --------
    >>> found = [networks_for(n, 4, 40, 0) for n in (1000, 10000, 100000)]
    >>> [(each.units, each.hidden, round(each.dropout, 2)) for each in found]
    [(64, 64, 0.3), (64, 96, 0.23), (112, 128, 0.07)]
    """
    root = symbols**0.5
    units, hidden = (16 * round(float(np.clip(n, *bounds)) / 16) for n, bounds in ((root / 2, _UNITS), (root, _HIDDEN)))
    dropout = RecurrentNetworks.dropout * min(1.0, (_MANY / symbols) ** 0.5)
    return RecurrentNetworks(members, units=units, hidden=hidden, dropout=dropout, epochs=epochs, seed=seed)
