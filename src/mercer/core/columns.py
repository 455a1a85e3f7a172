"""The choice of the columns of a Gram matrix that stand for the whole of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.collections import Collection, count
from mercer.core.leverage import leverage_scores
from mercer.core.pivoted import PivotedFactor, pivoted_cholesky
from mercer.core.pivots import GreedyPivots, PivotRule, PivotsInOrder, RandomPivots
from mercer.core.sketch import SketchedFactor
from mercer.core.validation import check_choice, check_whole

PIVOTS = ("random", "greedy", "uniform", "leverage")


@dataclass
class ColumnChoice:
    """A number of columns, and the way to choose them."""

    rank: int | None = None
    tol: float = 0.0
    pivots: Any = "random"
    random_state: int = 0

    def factor(self, kernel: Any, objects: Collection) -> PivotedFactor | SketchedFactor:
        """Return the factor of the Gram matrix of `objects`."""
        seed = check_whole(self.random_state, "random_state", least=0, expected="a whole number, 0 or more")
        if hasattr(self.pivots, "factor"):
            return self.pivots.factor(kernel, objects, self.rank, seed)
        return pivoted_cholesky(kernel, objects, rank=self.rank, tol=self.tol, pivots=self._rule(kernel, objects, seed))

    def _rule(self, kernel: Any, objects: Collection, seed: int) -> PivotRule:
        name = check_choice(self.pivots, "pivots", PIVOTS)
        if name == "random":
            return RandomPivots(seed)
        if name == "greedy":
            return GreedyPivots()
        random = np.random.default_rng(seed)
        uniform = PivotsInOrder(random.permutation(count(objects)))
        if name == "uniform":
            return uniform
        rank = check_whole(self.rank, "rank", expected="a positive whole number with pivots='leverage'")
        scores = leverage_scores(kernel, objects, rank, uniform)
        with np.errstate(divide="ignore"):
            # the order of draws without replacement, each with probability proportional to its score
            return PivotsInOrder(np.argsort(random.standard_exponential(len(scores)) / scores))
