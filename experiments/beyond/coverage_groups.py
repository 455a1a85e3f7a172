"""Coverage under groups, ties and copies: pairs that are more alike than pairs drawn one by one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from experiments.beyond import conformal_tasks, coverage
from experiments.beyond.conformal import HELD_OUT, JACKKNIFE, LEFT_OUT
from experiments.beyond.coverage import BOX, CURVES, TASKS, VECTORS, Measured
from experiments.experiment import Experiment, Outcome, Piece
from mercer.core.arrays import NumericalWarning
from mercer.estimators import ObjectEstimator

GROUPS, TIES, COPIES = "groups", "ties", "copies"
CONDITIONS = (GROUPS, TIES, COPIES)
IGNORED = "pairs held out, groups ignored"
SPLITS, FEW_SPLITS, BLOCK, TESTED = 100, 200, 20, 50
KINDS, MOST_COPIES = 20, 3


class CoverageOfGroups(Experiment):
    """Nine tasks whose pairs come in groups, tie, or are copied, at three levels."""

    name = "coverage-groups"
    title = "Coverage under groups, ties and copies"
    source = "Not from the papers: conformal prediction where pairs are more alike than pairs drawn one by one."
    protocol = (
        f"The nine tasks of the experiment `coverage`, changed in three ways, {SPLITS} random splits each ({FEW_SPLITS} for the "
        "four tasks with the fewest pairs). Groups: the pairs are clustered by their inputs (k-means, four to a cluster on "
        "average, fewer for curves; words by their mean letter, that is by hand); whole clusters are drawn for training, "
        "calibration and test, their labels given to fit and calibrate, and coverage is the mean over test clusters of the mean "
        f"over their pairs. Ties: every input is replaced by the nearest of {KINDS} centres (8 for curves; letters of a word by "
        "those of its first occurrence), and vectors are rounded to whole standard deviations, so that scores tie. Copies: "
        f"every pair occurs one to {MOST_COPIES} times, and copies are drawn for training, calibration and test as other pairs "
        f"are. Up to {TESTED} test inputs or clusters. Methods and figures are those of `coverage`; the bound of the jackknife+ "
        "is 0.6, 0.8 and 0.9. Copies of a pair are left out together and count as one, so that few curves may be too few for "
        "0.95 and intervals infinite, which cover; sizes are means over splits where they are finite."
    )
    digits = 3
    apart = ("asked",)
    without_best = (coverage.COVERAGE, coverage.SIZE, coverage.ANY)

    def pieces(self, small: bool) -> list[Piece]:
        """Return pieces of some splits each; the small version has four splits of two tasks."""
        return [
            Piece(
                f"{TASKS.index(name)}-{block}", {"task": name, "first": block * BLOCK, "splits": 4 if small else BLOCK}
            )
            for name in ((TASKS[2], TASKS[-1]) if small else TASKS)
            for block in range(1 if small else (FEW_SPLITS if name in TASKS[:4] else SPLITS) // BLOCK)
        ]

    def seeds(self, small: bool) -> list[int]:
        """Return a seed for each split."""
        return list(range(4 if small else FEW_SPLITS))

    def run(self, piece: Piece) -> Outcome:
        """Run some splits of one task under every condition."""
        name, first, splits = (piece.settings[key] for key in ("task", "first", "splits"))
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericalWarning)  # too few right answers among the candidates for 0.95
            found = {
                condition: [of_split(name, condition, seed) for seed in range(first, first + splits)]
                for condition in CONDITIONS
            }
        return {"task": name, "splits": found}

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return coverage and size of every method at every level, by condition and task."""
        rows = []
        for condition in CONDITIONS:
            for name in dict.fromkeys(outcome["task"] for outcome in outcomes):
                own = [outcome["splits"][condition] for outcome in outcomes if outcome["task"] == name]
                rows += coverage.rows_of([split for part in own for split in part], condition=condition, task=name)
        return rows

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Give the lowest coverage under each condition, and that of calibration without the labels of groups."""
        notes = []
        for condition in CONDITIONS:
            own = [row for row in rows if row["condition"] == condition]
            notes += [f"{condition.capitalize()}. {note}" for note in coverage.lowest(own, (HELD_OUT, BOX))]
        gap, task = min(
            (row["value"] - row["asked"], row["task"])
            for row in rows
            if row["method"] == IGNORED and row["metric"] == coverage.COVERAGE
        )
        return [*notes, f"Without the labels of groups the lowest coverage less the level is {gap:+.3f} ({task})."]


@dataclass(frozen=True)
class Pairs:
    """Inputs and outputs, the model, and the numbers of training and calibration pairs, or groups."""

    inputs: Any
    outputs: np.ndarray
    model: Callable[[], ObjectEstimator]
    trained: int
    calibrated: int
    groups: np.ndarray | None = None

    def split(self, seed: int) -> list[np.ndarray]:
        """Draw positions of training, calibration and test pairs; pairs of one group stay together."""
        units = np.arange(len(self.outputs)) if self.groups is None else self.groups
        order = np.random.default_rng(seed).permutation(int(units.max()) + 1)
        drawn = np.split(order, np.cumsum([self.trained, self.calibrated, TESTED]))[:3]
        return [np.flatnonzero(np.isin(units, some)) for some in drawn]


@cache
def pairs(name: str, condition: str) -> Pairs:
    """Return the pairs of a task under a condition."""
    chosen = coverage.vector_task(name) if name in VECTORS else conformal_tasks.task(name)
    X, y, n = chosen.inputs, chosen.outputs, len(chosen.outputs)
    few = name in CURVES
    if condition == COPIES:
        every = np.repeat(np.arange(n), np.random.default_rng(0).integers(1, MOST_COPIES + 1, n))
        return Pairs(X[every], y[every], chosen.model, chosen.trained, chosen.calibrated)
    seen = np.stack([part.mean(axis=0) for part in X]) if X.dtype == object else X
    if condition == GROUPS:
        clusters = n - 5 if few else n // 4
        groups = KMeans(clusters, n_init=1, random_state=0).fit(seen).labels_
        calibrated = max(20, min(60, 2 * clusters // 5))  # 19 are the fewest that allow for 0.95
        trained = min(50, 2 * (clusters - calibrated) // 3)
        return Pairs(X, y, chosen.model, trained, calibrated, groups)
    if X.dtype == object:
        first = {word: i for i, word in reversed(list(enumerate(y)))}
        X = X[[first[word] for word in y]]
    else:
        found = KMeans(8 if few else KINDS, n_init=1, random_state=0).fit(X)
        X = found.cluster_centers_[found.labels_]
    if name in VECTORS:
        y = np.round(y / y.std(axis=0)) * y.std(axis=0)
    return Pairs(X, y, chosen.model, chosen.trained, chosen.calibrated)


def of_split(name: str, condition: str, seed: int) -> Measured:
    """Return coverage and size at each level, by method, of one split."""
    chosen = pairs(name, condition)
    X, y, groups = chosen.inputs, chosen.outputs, chosen.groups
    train, held, test = chosen.split(seed)
    every = np.concatenate([train, held])

    def labels(rows: np.ndarray) -> dict[str, np.ndarray]:
        return {} if groups is None else {"groups": groups[rows]}

    split = chosen.model().fit(X[train], y[train], **labels(train))
    ignored = copy(split).calibrate(X[held], y[held])
    split.calibrate(X[held], y[held], **labels(held))
    whole = chosen.model().fit(X[every], y[every], **labels(every))
    share = None if groups is None else 1.0 / np.bincount(groups)[groups[test]]

    def measured(
        model: ObjectEstimator, method: str = "auto", simultaneous: bool = False
    ) -> list[tuple[float | None, ...]]:
        if name not in VECTORS:
            return coverage.measured_sets(model, X[test], y[test], method, share)
        scale = y.std(axis=0)
        return coverage.measured_intervals(model, X[test], y[test], scale, method, simultaneous, share)

    found = {HELD_OUT: measured(split), LEFT_OUT: measured(whole), JACKKNIFE: measured(whole, JACKKNIFE)}
    if groups is not None:
        found[IGNORED] = measured(ignored)
    if name in VECTORS:
        found[BOX] = measured(split, simultaneous=True)
    return found
