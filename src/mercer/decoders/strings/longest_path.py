"""Kernels that compare position by position: the best sequence is the longest path through the positions."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

import numpy as np
from scipy import sparse

from mercer.core.arrays import to_numpy
from mercer.core.compiled import compiled
from mercer.decoders.base import register
from mercer.decoders.pool import snapped
from mercer.decoders.strings.base import Constructed, Lengths, StringDecoder
from mercer.decoders.strings.kernels import position_span, require_room
from mercer.kernels.base import Kernel


@register(priority=30)
class LongestPath(StringDecoder):
    r"""The nearest of all sequences under a kernel that compares position by position, by dynamic programming.

    The features of `Positions` and of `WeightedDegree` without shifts say which symbols stand at which position, so that l(y, y)
    depends on the length alone and ⟨h, ψ(y)⟩ adds up from left to right. The gain of the next symbol depends on the last d − 1
    ones: with :math:`V_p(s)` the best sum over positions up to p that ends in s,

    .. math:: V_{p+1}(s') = \max_{s, a:\, sa \to s'} V_p(s) + 2 g_{p+1}(sa)

    where endings that do not occur at that position in training are merged. Exact over all sequences of an allowed length.

    Parameters
    ----------
    length : int, (int, int), "predicted" or None
        As for `BeamSearch`, but no longer than the longest training output: nothing is known of later positions.
    alphabet : collection of symbols, optional
        The symbols answers are made of; by default those of the training outputs.

    Examples
    --------
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import WeightedDegree
    >>> embedding = Implicit().fit(WeightedDegree(2), np.array(["cats", "cuts", "bat"], dtype=object))
    >>> LongestPath().fit(embedding).decode(np.array([[0.6, 0.1, 0.9]]))
    array(['bats'], dtype=object)
    """

    needs = "Positions, or WeightedDegree without shifts,"
    reason = "{kernel} compares position by position, so the best of all sequences is a longest path"

    @classmethod
    def decodes(cls, kernel: Kernel) -> bool:
        """For kernels that compare position by position."""
        return position_span(kernel) is not None

    def _prepare(self) -> tuple[int, float]:
        kernel, outputs = self.embedding_.kernel_, self.embedding_.outputs_
        longest, texts = int(self._lengths.max()), [self._alphabet.numbers(output) for output in outputs]
        self._machine = PositionMachine.of(texts, position_span(kernel) or 1, len(self._alphabet))
        # a symbol that no output has fills the positions before a stretch, and adds nothing
        alphabet = self._alphabet.with_unseen()
        padded = [[len(self._alphabet)] * (p - len(stretch)) + list(stretch) for p, stretch in self._machine.states]
        whole, shorter = (self._readout(alphabet.words(words)) for words in (padded, [word[:-1] for word in padded]))
        self._rise = sparse.csr_array(whole - shorter)
        self._norms = to_numpy(kernel.diag(self._alphabet.words([[0] * length for length in range(longest + 1)])))
        return 0, longest

    def _construct(self, points: np.ndarray, lengths: Lengths, k: int) -> list[Constructed]:
        found = []
        for point, low, high in zip(points, *lengths, strict=True):
            rise = 2.0 * snapped((self._rise @ point)[None, :])[0]
            ends = np.where(np.arange(len(self._norms)) >= low, -self._norms, -np.inf)[: high + 1]
            rest = _rest(rise, self._machine.follow, self._machine.positions, ends)
            found.append(Constructed(self._paths(rise, rest, ends, k), float(rest[0])))
        return found

    def _paths(self, rise: np.ndarray, rest: np.ndarray, ends: np.ndarray, k: int) -> list[list[int]]:
        """The k best sequences: prefixes are followed in the order of the best score they can still reach."""
        ties, words = count(), list[list[int]]()
        heap: list[tuple[float, int, float, int, list[int], bool]] = [(-rest[0], next(ties), 0.0, 0, [], False)]
        while heap and len(words) < k:
            _, _, score, state, word, ended = heappop(heap)
            if ended:
                words.append(word)
                continue
            if np.isfinite(ends[len(word)]):
                heappush(heap, (-(score + ends[len(word)]), -1 if k == 1 else next(ties), score, state, word, True))
            if len(word) + 1 < len(ends):
                for symbol, after in enumerate(self._machine.follow[state]):
                    total = score + rise[after]
                    if np.isfinite(rest[after]):
                        heappush(heap, (-(total + rest[after]), next(ties), total, after, [*word, symbol], False))
        return words


@dataclass
class PositionMachine:
    """The stretches of up to n symbols that end at each position of some sequence, as states; state 0 is the beginning."""

    states: list[tuple[int, tuple[int, ...]]]  # position and stretch, in the order of positions
    follow: np.ndarray  # the state after each state and symbol; -1 after the last position
    positions: np.ndarray  # the position of each state

    @classmethod
    def of(cls, sequences: list[list[int]], span: int, symbols: int) -> PositionMachine:
        """The states of some sequences of symbol numbers; negative numbers are in no stretch."""
        found: set[tuple[int, tuple[int, ...]]] = {(p, ()) for p in range(max(map(len, sequences)) + 1)}
        for sequence in sequences:
            for end in range(1, len(sequence) + 1):
                for start in range(end - 1, max(end - span, 0) - 1, -1):
                    if sequence[start] < 0:
                        break
                    found.add((end, tuple(sequence[start:end])))
        states = sorted(found, key=lambda state: (state[0], len(state[1]), state[1]))
        require_room(len(states), symbols)
        number = {state: i for i, state in enumerate(states)}
        follow = np.full((len(states), symbols), -1, dtype=np.int32)
        for i, (position, stretch) in enumerate(states):
            if stretch:
                follow[number[position - 1, stretch[:-1]], stretch[-1]] = i
        for i, (position, stretch) in enumerate(states):
            missing = follow[i] < 0
            if stretch:
                follow[i, missing] = follow[number[position, stretch[1:]], missing]
            elif (position + 1, ()) in number:
                follow[i, missing] = number[position + 1, ()]
        return cls(states, follow, np.asarray([position for position, _ in states]))


@compiled
def _rest(rise: np.ndarray, follow: np.ndarray, positions: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The best sum over the positions after each state, the end included."""
    best = np.full(len(rise), -np.inf)
    for state in range(len(rise) - 1, -1, -1):  # later positions come last
        position = positions[state]
        if position >= len(ends):
            continue
        most = ends[position]
        if position + 1 < len(ends):
            for after in follow[state]:
                most = max(most, rise[after] + best[after])
        best[state] = most
    return best
