"""Lines on the progress of a long fit, with the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping


class Progress:
    """Writes a line when a part of the work is done: the seconds so far, and those left if parts take their usual shares.

    Parameters
    ----------
    title : str
        Name of the work.
    shares : mapping
        The parts, in order, with the usual share of each in the time of all.
    write : callable, optional
        Takes each line; by default they are not written.
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> seconds = iter([0.0, 2.0, 9.0])
    >>> progress = Progress("words", {"aligned": 1.0, "learned": 3.0}, print, lambda: next(seconds))
    >>> progress.done("aligned")
    words: aligned, 2 s, about 6 s left
    >>> progress.done("learned")
    words: learned, 9 s
    """

    def __init__(
        self,
        title: str,
        shares: Mapping[str, float],
        write: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._title, self._write, self._clock = title, write, clock
        self._left = dict(shares)
        self._total, self._begin = sum(shares.values()), clock()

    def done(self, part: str) -> None:
        """Say that a part is done."""
        del self._left[part]
        if self._write is not None:
            passed, left = self._clock() - self._begin, sum(self._left.values())
            rest = f", about {passed * left / (self._total - left):.0f} s left" if left else ""
            self._write(f"{self._title}: {part}, {passed:.0f} s{rest}")


def to_stderr(line: str) -> None:
    """Write a line to standard error."""
    print(line, file=sys.stderr, flush=True)
