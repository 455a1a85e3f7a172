"""The stretches of symbols in the training outputs as states of an automaton."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mercer.decoders.strings.kernels import STEPS


def require_room(states: int, symbols: int) -> None:
    """Raise ValueError if the table of states and symbols would be too large."""
    if states * symbols > STEPS:
        raise ValueError(
            f"the training outputs have {symbols} symbols in {states} stretches, too many to grow sequences from "
            f"(more than {STEPS} steps); use decoder=Candidates(), or a kernel of shorter parts"
        )


@dataclass
class Automaton:
    """Every stretch of up to n symbols that occurs somewhere, as a state; state 0 is the empty one.

    A sequence is in the state of its longest ending that occurs; a score of stretches of n symbols depends on nothing else.

    Examples
    --------
    >>> machine = Automaton.of([[0, 1, 0]], longest=2, symbols=3)
    >>> machine.stretches
    [(), (0,), (1,), (0, 1), (1, 0)]
    >>> machine.follow[3].tolist()  # after 0 1: 0 leads to 1 0, 1 to 1, and 2 to the empty stretch
    [4, 2, 0]
    """

    stretches: list[tuple[int, ...]]
    follow: np.ndarray
    """The state after each state and symbol."""
    head: np.ndarray
    """The state without its last symbol."""
    tail: np.ndarray
    """The state without its first symbol."""
    lengths: np.ndarray
    """Number of symbols of each state."""

    @classmethod
    def of(cls, sequences: Iterable[Sequence[int]], longest: int, symbols: int) -> Automaton:
        """The automaton of some sequences of symbol numbers; negative numbers are in no stretch."""
        found: set[tuple[int, ...]] = {()}
        for sequence in sequences:
            text = tuple(sequence)
            for start in range(len(text)):
                for end in range(start + 1, min(start + longest, len(text)) + 1):
                    if text[end - 1] < 0:
                        break
                    found.add(text[start:end])
        stretches = sorted(found, key=lambda stretch: (len(stretch), stretch))
        require_room(len(stretches), symbols)
        number = {stretch: state for state, stretch in enumerate(stretches)}
        head = np.asarray([number[stretch[:-1]] for stretch in stretches])
        tail = np.asarray([number[stretch[1:]] for stretch in stretches])
        follow = np.zeros((len(stretches), symbols), dtype=np.int32)
        for state in range(1, len(stretches)):  # shorter ones come first
            follow[head[state], stretches[state][-1]] = state
        for state, stretch in enumerate(stretches):
            if stretch:
                missing = follow[state] == 0
                follow[state, missing] = follow[tail[state], missing]
        return cls(stretches, follow, head, tail, np.asarray([len(stretch) for stretch in stretches]))
