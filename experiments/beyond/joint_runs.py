"""The probability of an input and an output together, from the runs of units that both are cut into."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.core.compiled import compiled
from mercer.sequence_models.alignment import Aligner
from mercer.sequence_models.ngrams import END, START, NgramModel
from mercer.sequence_models.symbols import UNKNOWN, Symbols
from mercer.sequence_models.transducer_features import slot_of

_MOST = 1000  # pairs that are enough to choose units by
_STATES = 8  # most histories that are kept at each place in input and output


class JointRuns:
    r"""Joint n-grams: the probability of a pair, summed over the ways to cut it into units.

    .. math:: p(x, y) = \sum_{u_1 \dots u_k = (x, y)} \; \prod_i p(u_i \mid u_{i-1}, u_{i-2}, \dots)

    A unit is an input symbol with the chunk it stands for, or several input symbols that stand for one output symbol together
    (`Aligner`). The runs of units are those of an `NgramModel` of the best cuts. A unit that was never seen shares the
    probability of unseen units with all that have as many symbols.

    Parameters
    ----------
    order : int
        Units in the longest run.
    reads : int
        Most input symbols of a unit that `choose` tries.
    """

    def __init__(self, order: int = 6, reads: int = 3) -> None:
        self.order, self.reads = order, reads

    def choose(self, words: Sequence[Symbols], sounds: Sequence[Symbols], aligner: Aligner, seed: int = 0) -> JointRuns:
        """Learn from pairs, cut as `aligner` does with the most input symbols in a unit that make pairs left out likeliest."""
        rows = np.random.default_rng(seed).permutation(len(words))[:_MOST]
        out, kept = rows[: len(rows) // 4].tolist(), rows[len(rows) // 4 :].tolist()
        known = [words[i] for i in kept], [sounds[i] for i in kept]

        def likelihood(each: Aligner) -> float:
            runs = JointRuns(self.order).fit(*known, each.fit(*known))
            return sum(float(runs.log_probabilities(words[i], [sounds[i]])[0]) for i in out)

        menu = [replace(aligner, reads=reads) for reads in range(1, self.reads + 1 if out else 2)]
        best = max(menu, key=likelihood) if out else menu[0]
        return self.fit(words, sounds, best.fit(words, sounds))

    def fit(self, words: Sequence[Symbols], sounds: Sequence[Symbols], aligner: Aligner) -> JointRuns:
        """Learn from the pairs that a fitted aligner can cut."""
        self.aligner_ = aligner
        cut = [aligner.units(x, y) for x, y in zip(words, sounds, strict=True) if aligner.can_align(x, y)]
        self.letters_ = [len({symbol for each in side for symbol in each}) + 1 for side in (words, sounds)]
        codes = [aligner.numbers(units) for units in cut]
        self.units_ = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *codes]))
        self.model_ = NgramModel(self.order).fit([np.searchsorted(self.units_, each).tolist() for each in codes])
        self._build()
        return self

    def log_probabilities(self, x: Symbols, outputs: Sequence[Symbols]) -> np.ndarray:
        """Return log p(x, y) for each of some outputs y; one that cannot be cut is a run of unseen units."""
        shape = (len(x), self.aligner_.reads, -1, self.aligner_.longest + 1)
        by_unit, by_symbol = self._unseen[0] + self._unseen[1], self._unseen[2]
        found = np.asarray([len(x) * by_unit + len(y) * by_symbol for y in outputs])
        for k, y in enumerate(outputs):
            if len(self.units_) and self.aligner_.can_align(x, y):
                codes = self.aligner_.lattice(x, y)
                place = np.minimum(np.searchsorted(self.units_, codes), len(self.units_) - 1)
                units = np.where(self.units_[place] == codes, place, UNKNOWN)
                found[k] = _sum_of_paths(units.reshape(shape), *self._tables, self._unseen, self._start)
        return found

    def _build(self) -> None:
        """Make an automaton of the runs: each history is a state, from which units lead on, and else to a shorter history."""
        probabilities, shares = self.model_.probabilities(), self.model_.shares_of_unseen()
        states = {history: i for i, history in enumerate(sorted(shares, key=len))}
        width = len(self.units_) + 1  # the last number is the end
        numbers: dict[Hashable, int] = {END: width - 1} | {unit: unit for unit in range(width - 1)}
        steps = [(states[g[:-1]] * width + numbers[g[-1]], g[1 - self.order :]) for g in probabilities]
        places = np.asarray([(key, states.get(after, 0)) for key, after in steps], dtype=np.int64).reshape(-1, 2)
        keys = np.zeros(1 << int(np.ceil(np.log2(2 * len(places) + 16))), dtype=np.uint64)
        logs, nexts = np.zeros(len(keys)), np.zeros(len(keys), dtype=np.int64)
        _fill(keys, logs, nexts, places, np.log(np.asarray(list(probabilities.values()))))
        shorter = np.asarray([states[history[1:]] for history in states], dtype=np.int64)
        self._tables = keys, logs, nexts, np.log(np.asarray([shares[history] for history in states])), shorter
        self._unseen = np.concatenate([[np.log(self.model_.least)], -np.log(self.letters_), [width]])
        self._start = states.get((START,) * (self.order - 1), 0)

    def __getstate__(self) -> dict[str, Any]:
        # a saved model holds the runs; the automaton is made again when it is loaded
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if hasattr(self, "model_"):
            self._build()


@compiled
def _fill(keys: np.ndarray, logs: np.ndarray, nexts: np.ndarray, steps: np.ndarray, values: np.ndarray) -> None:
    for row in range(len(steps)):
        key = _key(steps[row, 0])
        place = slot_of(keys, key)
        keys[place], logs[place], nexts[place] = key, values[row], steps[row, 1]


@compiled
def _key(step: int) -> np.uint64:
    """Return a number above zero, different for different steps, as the factor is odd."""
    return np.uint64(step + 1) * np.uint64(0x9E3779B97F4A7C15)


@compiled
def _sum_of_paths(  # noqa: C901, PLR0913
    units: np.ndarray,
    keys: np.ndarray,
    logs: np.ndarray,
    nexts: np.ndarray,
    shares: np.ndarray,
    shorter: np.ndarray,
    unseen: np.ndarray,
    start: int,
) -> float:
    """Return the log of the sum over all cuts; `units` holds numbers of units as [i, read−1, j, size]."""
    n, reads, m, longest = units.shape[0], units.shape[1], units.shape[2] - 1, units.shape[3] - 1
    width = int(unseen[3])
    states, values = np.zeros((n + 1, m + 1, _STATES), dtype=np.int64), np.full((n + 1, m + 1, _STATES), -np.inf)
    states[0, 0, 0], values[0, 0, 0] = start, 0.0
    total = -np.inf
    for i in range(n + 1):
        for j in range(m + 1):
            for s in range(_STATES):
                if values[i, j, s] == -np.inf:
                    continue
                ends = i == n
                if ends and j < m:
                    continue
                for read in range(1, 2 if ends else min(reads, n - i) + 1):
                    for size in range(int(read > 1), 1 if ends else min(longest if read == 1 else 1, m - j) + 1):
                        unit = width - 1 if ends else units[i, read - 1, j, size]
                        if unit < 0 and read > 1:
                            continue
                        state, value = states[i, j, s], values[i, j, s]
                        after = -1
                        while after < 0:
                            if unit >= 0:
                                key = _key(state * width + unit)
                                place = slot_of(keys, key)
                                if keys[place] == key:
                                    value, after = value + logs[place], nexts[place]
                                    break
                            value += shares[state]
                            if state == 0:
                                value, after = value + unseen[0] + unseen[1] + size * unseen[2], 0
                            state = shorter[state]
                        if ends:
                            total = np.logaddexp(total, value)
                        else:
                            _put(states[i + read, j + size], values[i + read, j + size], after, value)
    return total


@compiled
def _put(states: np.ndarray, values: np.ndarray, state: int, value: float) -> None:
    """Add a path to those with the same history, or keep it in place of the least likely one."""
    least = 0
    for s in range(len(states)):
        if values[s] > -np.inf and states[s] == state:
            values[s] = np.logaddexp(values[s], value)
            return
        if values[s] < values[least]:
            least = s
    if value > values[least]:
        states[least], values[least] = state, value
