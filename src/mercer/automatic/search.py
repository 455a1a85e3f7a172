"""The search over a menu: which learners are tried, in which order, until the time is up."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import Any

import numpy as np

from mercer.automatic.inputs import Family
from mercer.automatic.members import MEAN, MOST_EXACT, Member, Scorer, learner_member, ridge_member
from mercer.core.arrays import NumericalWarning
from mercer.learners.base import Learner
from mercer.learners.constant import Constant

_TURNED = 10**6  # most numbers of outputs whose principal components have an alpha of their own


@dataclass(frozen=True)
class Effort:
    """The amount that is tried, by the size of the data and not by the clock, so that the result does not depend on the machine.

    Attributes
    ----------
    core : bool
        True for the core families alone.
    climbed : int
        Number of families whose width is searched, best first.
    seconds : float
        About the time that kernels may take on two cores.
    trees : int
        Trees of each forest.
    forests : int
        Most forests.
    pairs, splits : int
        Most pairs on which whole models are compared, and how many of their three folds are left out.
    patience : float
        About the seconds that a whole model may take for all pairs.
    relevant, metrics : int
        Number of kernels with a width for each column, and with a learned metric.
    thorough : bool
        True to try all of these and one more forest whatever the number of pairs.
    """

    core: bool
    climbed: int
    seconds: float
    trees: int
    forests: int
    pairs: int
    splits: int
    patience: float
    relevant: int = 0
    metrics: int = 0
    thorough: bool = False

    def most_kernels(self, n: int) -> int:
        """Return the number of kernels to try on n pairs; a decomposition of a thousand takes about a third of a second."""
        return int(np.clip(self.seconds / (0.01 + 0.35 * (min(n, MOST_EXACT) / 1000) ** 3), 5 if self.core else 7, 120))

    def most_forests(self, entries: int) -> int:
        """Return the number of forests to grow on a table with so many entries."""
        return min(self.forests, 3 + self.thorough if entries <= 10**5 else 2 if entries <= 10**6 else 1)


EFFORTS = {
    "fast": Effort(True, 2, 1.5, trees=100, forests=1, pairs=150, splits=1, patience=15.0),
    "balanced": Effort(
        False, 8, 12.0, trees=200, forests=3, pairs=300, splits=2, patience=300.0, relevant=4, metrics=1
    ),
    "best": Effort(
        False,
        99,
        120.0,
        trees=500,
        forests=4,
        pairs=600,
        splits=3,
        patience=np.inf,
        relevant=4,
        metrics=3,
        thorough=True,
    ),
}


class OutOfTime(Exception):
    """No time is left for another member."""


@dataclass
class Clock:
    """Time of a search."""

    limit: float | None = None
    start: float = field(default_factory=monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return monotonic() - self.start

    def check(self, members: int, expected: float = 0.0) -> None:
        """Raise OutOfTime if the limit has passed, or would with one more, and there are members."""
        if self.limit is not None and members and self.elapsed + expected > self.limit:
            raise OutOfTime


@dataclass
class Search:
    """Tries the members of a menu and keeps what it found, whenever it is stopped.

    Attributes
    ----------
    scorer : Scorer
        The pairs and their loss.
    effort : Effort
        How much is tried.
    clock : Clock
        The time.
    verbose : int
        1 to write a line for each member.
    members : list of Member
        All that were fitted.
    stopped : str
        Why the search ended early; empty if it did not.
    """

    scorer: Scorer
    effort: Effort
    clock: Clock
    verbose: int = 0
    members: list[Member] = field(default_factory=list)
    stopped: str = ""
    known: dict[str, Any] = field(default_factory=dict)

    @property
    def tried(self) -> list[Member]:
        """The members that look at inputs: all but the mean output."""
        return [member for member in self.members if member.learner != MEAN]

    def run(
        self, families: list[Family], learners: Callable[[], list[tuple[str, Learner]]], between: Callable[[], None]
    ) -> None:
        """Try the mean output, the families at width one, `between`, what `learners` gives, and widths of the best families."""
        try:
            # free, and what every mixture is guarded by, however soon the search ends
            self._add(partial(learner_member, MEAN, Constant(), "", self.scorer))
            found = self._first_widths(families)
            between()
            for name, learner in learners():
                self._add(partial(learner_member, name, learner, "", self.scorer))
            self._climb(found)
        except OutOfTime:
            self.stopped = f"time_limit={self.clock.limit:g} seconds"
        except KeyboardInterrupt:
            if not self.tried:
                raise
            self.stopped = "an interrupt"
            warnings.warn("interrupted: the mixture is of the members fitted so far", UserWarning, stacklevel=4)
        self.known.clear()

    def _first_widths(self, families: list[Family]) -> dict[str, tuple[Family, dict[float, float]]]:
        found: dict[str, tuple[Family, dict[float, float]]] = {}
        for family in families:
            # half of the kernels are kept for widths: of thousands of pairs only a few are tried
            if (self.effort.core or self._late(0.5)) and not family.core:
                continue
            if family.components and not self._has_components():
                continue
            found[family.name] = (family, {1.0: self._kernel(family, 1.0)})
        return found

    def _climb(self, found: dict[str, tuple[Family, dict[float, float]]]) -> None:
        """Halve or double the width of each family as long as that helps, the best families first."""
        order = sorted(found.values(), key=lambda own: own[1][1.0])
        for family, losses in order[: self.effort.climbed]:
            for factor in (0.5, 2.0):
                width = factor
                while width in family.widths and not self._late():
                    losses[width] = self._kernel(family, width)
                    if losses[width] > losses[width / factor]:
                        break
                    width *= factor
                if losses.get(factor, np.inf) < losses[1.0]:
                    break  # the other direction is worse

    def _has_components(self) -> bool:
        """True for outputs of several coordinates, few enough to decompose, and a loss that adds up over them."""
        n, width = self.scorer.problem.targets.shape  # type: ignore[union-attr]
        return self.scorer.by_squares and width > 1 and n * width <= _TURNED

    def _late(self, share: float = 1.0) -> bool:
        """True if this share of the kernels that may be tried has been."""
        ridges = sum(member.alpha is not None for member in self.members)
        return ridges >= share * self.effort.most_kernels(self.scorer.problem.size)

    def _kernel(self, family: Family, width: float) -> float:
        name = family.name if family.widths == (1.0,) else f"{family.name}, width {width:g}"
        member = self._add(lambda: ridge_member(name, family.make(width), self.scorer, self.known, family.components))
        return np.inf if member is None else member.loss

    def _add(self, fit: Callable[[], Member]) -> Member | None:
        """Fit a member; one that fails for lack of memory or of a valid kernel is left out with a warning."""
        last = self.members[-1].seconds if self.members else 0.0
        self.clock.check(len(self.tried), last)
        try:
            member = fit()
        except (MemoryError, np.linalg.LinAlgError, ValueError) as error:
            warnings.warn(f"a member was left out: {error}", NumericalWarning, stacklevel=2)
            return None
        self.members.append(member)
        if self.verbose:
            left = "" if self.clock.limit is None else f", {max(0.0, self.clock.limit - self.clock.elapsed):.0f} s left"
            shown = f"{member.learner} {member.kernel}".strip()
            print(f"{shown}: left-out loss {member.loss:.4g} ({member.seconds:.1f} s{left})", file=sys.stderr)
        return member

    def rescore(self) -> None:
        """Score the members anew, after the way to decode has changed."""
        self.members = [replace(member, losses=self.scorer.score(member.points)) for member in self.members]
