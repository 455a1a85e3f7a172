"""Coverage asked for and coverage measured: sets of objects, and regions of vectors beside MAPIE and crepes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from experiments.beyond import conformal, conformal_tasks
from experiments.beyond.conformal import HELD_OUT, JACKKNIFE, LEFT_OUT
from experiments.experiment import Experiment, Outcome, Piece, mean_row
from mercer.core.arrays import NumericalWarning
from mercer.datasets import load_gait, load_multi_target, load_weather
from mercer.estimators import CurveRidge, DependencyEstimator, ObjectEstimator
from mercer.kernels import Gaussian

LEVELS = (0.8, 0.9, 0.95)
SPLITS, FEW_SPLITS, BLOCK, TESTED = 100, 400, 20, 100
BOX, JACKKNIFE_BOX = "box, pairs held out", "box, jackknife+"
ELLIPSOID, LEFT_OUT_ELLIPSOID = "ellipsoid, pairs held out", "ellipsoid, left out in turn"
REACHABLE = "every candidate"
MAPIE, CREPES = "MAPIE, pairs held out", "crepes, pairs held out"
COVERAGE, SIZE, ANY = "coverage", "size", "sets for every object"
ROUNDING = 1e-12


@dataclass(frozen=True)
class VectorTask:
    """Inputs, vector outputs, the model, and the numbers of training and calibration pairs."""

    inputs: np.ndarray
    outputs: np.ndarray
    model: Callable[[], ObjectEstimator]
    trained: int
    calibrated: int


def _curves(inputs: np.ndarray, outputs: np.ndarray, trained: int) -> VectorTask:
    # 19 pairs are the fewest that allow for 0.95; MAPIE asks for 21
    return VectorTask(inputs, outputs, lambda: CurveRidge(lengths=[0.0]), trained, 21)


def _gait() -> VectorTask:
    gait = load_gait()
    return _curves(gait.hip, gait.knee, 12)


def _weather() -> VectorTask:
    weather = load_weather()
    # a value for each week is enough for a band
    return _curves(weather.temperature[:, ::7], weather.log_precipitation[:, ::7], 10)


def _multi_target(name: str, trained: int, calibrated: int) -> VectorTask:
    data = load_multi_target(name)
    X = StandardScaler().fit_transform(data.X)
    return VectorTask(X, data.Y, lambda: DependencyEstimator(Gaussian("median")), trained, calibrated)


VECTORS: dict[str, Callable[[], VectorTask]] = {
    "knee curve, from the hip": _gait,
    "rain over a year, from temperature": _weather,
    "metals in the soil (jura)": lambda: _multi_target("jura", 160, 99),
    "discharge machining (edm)": lambda: _multi_target("edm", 60, 59),
    "water quality (wq)": lambda: _multi_target("wq", 160, 150),
}
TASKS = (*VECTORS, *conformal_tasks.TASKS)
CURVES = TASKS[:2]


@cache
def vector_task(name: str) -> VectorTask:
    """Load a task of vectors once."""
    return VECTORS[name]()


class Coverage(Experiment):
    """A hundred random splits of nine tasks, at three levels."""

    name = "coverage"
    title = "Coverage: sets of objects and regions of vectors"
    source = "Not from the papers: conformal prediction, beside MAPIE and crepes on the same predictions."
    protocol = (
        f"Nine tasks, {SPLITS} random splits each ({FEW_SPLITS} for the few curves), up to {TESTED} test inputs; coverage "
        "asked for 0.8, 0.9 and 0.95. Models calibrated by pairs held out are trained without them, the others on all pairs; "
        "alpha by leave-one-out. For vectors, coverage is the share of coordinates in their interval, for boxes (bands of "
        "curves) and ellipsoids that of whole outputs; width is the mean over coordinates, each over the standard deviation "
        "of its outputs, and for ellipsoids that of the cube of the same volume. MAPIE and crepes get the predictions of the "
        "same model, a coordinate at a time. For sets, coverage and size are those of the experiment `conformal`: a right "
        "output that is not a training output is covered by sets that stand for every object alone, whose share is given, and "
        "so is the coverage of the set of every candidate. "
        "The bound of the jackknife+ is 0.6, 0.8 and 0.9. Errors are standard errors over splits, which share their data."
    )
    digits = 3
    apart = ("asked",)
    without_best = (COVERAGE, SIZE, ANY)

    def pieces(self, small: bool) -> list[Piece]:
        """Return pieces of some splits each; the small version has four splits of three tasks."""
        names = (TASKS[0], TASKS[3], TASKS[-1]) if small else TASKS
        return [
            Piece(
                f"{TASKS.index(name)}-{block}", {"task": name, "first": block * BLOCK, "splits": 4 if small else BLOCK}
            )
            for name in names
            for block in range(1 if small else (FEW_SPLITS if name in CURVES else SPLITS) // BLOCK)
        ]

    def seeds(self, small: bool) -> list[int]:
        """Return a seed for each split."""
        return list(range(4 if small else FEW_SPLITS))

    def run(self, piece: Piece) -> Outcome:
        """Run some splits of one task."""
        name, first, splits = (piece.settings[key] for key in ("task", "first", "splits"))
        measured = vectors_of_split if name in VECTORS else sets_of_split
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericalWarning)  # too few right answers among the candidates for 0.95
            return {"task": name, "splits": [measured(name, seed) for seed in range(first, first + splits)]}

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return coverage and size of every method at every level, by task."""
        rows = []
        for name in dict.fromkeys(outcome["task"] for outcome in outcomes):
            splits = [split for outcome in outcomes if outcome["task"] == name for split in outcome["splits"]]
            rows += rows_of(splits, task=name)
        return rows

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Give the lowest coverage against the level asked for, and widths beside those of the other packages."""
        notes = lowest(rows, (HELD_OUT, BOX, ELLIPSOID))
        sizes = {(row["task"], row["asked"], row["method"]): row["value"] for row in rows if row["metric"] == SIZE}
        for rival in (MAPIE, CREPES):
            ratios = [
                sizes[task, level, HELD_OUT] / value
                for (task, level, method), value in sizes.items()
                if method == rival
            ]
            if ratios:
                larger = sum(ratio > 1.0 + ROUNDING for ratio in ratios)
                notes.append(
                    f"Intervals have {min(ratios):.4f} to {max(ratios):.4f} times the width of those of {rival.split(',')[0]}, "
                    f"over {len(ratios)} tasks and levels; they are larger by more than rounding ({ROUNDING:g}) in {larger}."
                )
        return notes


Measured = dict[str, list[tuple[float | None, ...]]]
"""Coverage and size, and for sets of objects the share of those for every object, at each level, by method."""


def rows_of(splits: Sequence[Measured], **varies: Any) -> list[dict[str, Any]]:
    """Return the figures of every method at every level, as means over splits."""
    rows = []
    for method in splits[0]:
        for place, level in enumerate(LEVELS):
            found = np.asarray([split[method][place] for split in splits], dtype=float)
            for values, metric in zip(found.T, (COVERAGE, SIZE, ANY), strict=False):
                finite = values[~np.isnan(values)]
                if len(finite):
                    rows.append(mean_row(finite, method, metric, **varies, asked=level))
    return rows


def lowest(rows: list[dict[str, Any]], guaranteed: Sequence[str]) -> list[str]:
    """Say where coverage is lowest: by pairs held out against the level asked for, by the jackknife+ against its bound."""
    notes = []
    for title, methods, bound in (
        ("Pairs held out: the lowest measured coverage less the level asked for", guaranteed, lambda c: c),
        (
            "The jackknife+: the lowest measured coverage less its bound",
            (JACKKNIFE, JACKKNIFE_BOX),
            lambda c: 2 * c - 1,
        ),
    ):
        gap, error, *where = min(
            (row["value"] - bound(row["asked"]), row["error"] or 0.0, row["method"], *map(str, _varied(row)))
            for row in rows
            if row["metric"] == COVERAGE and row["method"] in methods
        )
        notes.append(f"{title} is {gap:+.3f} ± {error:.3f} ({'; '.join(where)}).")
    return notes


def _varied(row: dict[str, Any]) -> list[Any]:
    return [row[key] for key in row if key not in ("method", "metric", "value", "error")]


def parts(n: int, trained: int, calibrated: int, seed: int) -> list[np.ndarray]:
    """Draw positions of training, calibration and test pairs."""
    order = np.random.default_rng(seed).permutation(n)
    return np.split(order[: trained + calibrated + TESTED], [trained, trained + calibrated])


def sets_of_split(name: str, seed: int) -> Measured:
    """Return coverage and size of sets of objects."""
    chosen = conformal_tasks.task(name)
    X, y = chosen.inputs, chosen.outputs
    train, held, test = parts(len(y), chosen.trained, chosen.calibrated, seed)
    every = np.concatenate([train, held])
    split = chosen.model().fit(X[train], y[train]).calibrate(X[held], y[held])
    whole = chosen.model().fit(X[every], y[every])
    found = {
        HELD_OUT: measured_sets(split, X[test], y[test]),
        LEFT_OUT: measured_sets(whole, X[test], y[test]),
        JACKKNIFE: measured_sets(whole, X[test], y[test], JACKKNIFE),
    }
    among = _listed(split, y[test])
    candidates = len(set(map(split.output_kernel_.key, y[train])))
    found[REACHABLE] = [(float(np.mean(among)), float(candidates), 0.0)] * len(LEVELS)
    return found


def measured_sets(
    model: ObjectEstimator, X: Any, y: np.ndarray, method: str = "auto", share: np.ndarray | None = None
) -> list[tuple[float | None, ...]]:
    """Return coverage, size, and share of sets for every object, at each level; `share` is the weight of each pair."""
    found = [conformal.measured(model.predict_set(X, level, method=method), y, share) for level in LEVELS]
    return [tuple(each[name] for name in (conformal.COVERAGE, conformal.SIZE, conformal.ANY)) for each in found]


def _listed(model: ObjectEstimator, outputs: np.ndarray) -> list[bool]:
    """Whether each output is a candidate."""
    key = model.output_kernel_.key
    known = set(map(key, model.embedding_.outputs_))
    return [key(each) in known for each in outputs]


def vectors_of_split(name: str, seed: int) -> Measured:
    """Return coverage and width of regions of vectors, ours and those of other packages on the same predictions."""
    chosen = vector_task(name)
    X, Y = chosen.inputs, chosen.outputs
    scale = Y.std(axis=0)
    train, held, test = parts(len(Y), chosen.trained, chosen.calibrated, seed)
    every = np.concatenate([train, held])
    split = chosen.model().fit(X[train], Y[train]).calibrate(X[held], Y[held])
    whole = chosen.model().fit(X[every], Y[every])

    def measured(
        model: ObjectEstimator, method: str = "auto", simultaneous: bool = False
    ) -> list[tuple[float | None, ...]]:
        return measured_intervals(model, X[test], Y[test], scale, method, simultaneous)

    def ellipsoids(model: ObjectEstimator) -> list[tuple[float | None, ...]]:
        regions = [model.predict_ellipsoid(X[test], level) for level in LEVELS]
        volumes = [(each.log_volumes - np.log(scale).sum()) / len(scale) for each in regions]
        return [
            (float(each.contains(Y[test]).mean()), float(np.mean(np.exp(volume))))
            for each, volume in zip(regions, volumes, strict=True)
        ]

    found: Measured = {
        HELD_OUT: measured(split),
        LEFT_OUT: measured(whole),
        JACKKNIFE: measured(whole, JACKKNIFE),
        BOX: measured(split, simultaneous=True),
        JACKKNIFE_BOX: measured(whole, JACKKNIFE, True),
        ELLIPSOID: ellipsoids(split),
        LEFT_OUT_ELLIPSOID: ellipsoids(whole),
    }
    known, new = split.predict(X[held]), split.predict(X[test])
    for rival, intervals in ((MAPIE, _mapie), (CREPES, _crepes)):
        try:
            ends = np.stack([intervals(known[:, c], Y[held][:, c], new[:, c]) for c in range(Y.shape[1])], axis=3)
        except ImportError:
            continue  # pip install mercer[rivals]
        inside = [float(np.mean((low <= Y[test]) & (Y[test] <= high))) for low, high in ends]
        found[rival] = list(zip(inside, [float(np.mean((high - low) / scale)) for low, high in ends], strict=True))
    return found


def measured_intervals(  # noqa: PLR0913
    model: ObjectEstimator,
    X: np.ndarray,
    Y: np.ndarray,
    scale: np.ndarray,
    method: str = "auto",
    simultaneous: bool = False,
    share: np.ndarray | None = None,
) -> list[tuple[float | None, ...]]:
    """Return coverage and mean width over `scale` at each level; `share` is the weight of each pair."""
    found: list[tuple[float | None, ...]] = []
    for level in LEVELS:
        each = model.predict_interval(X, level, method, simultaneous)
        inside, width = each.contains(Y).reshape(len(X), -1).mean(axis=1), np.mean(each.width / scale, axis=1)
        size = float(np.average(width, weights=share))
        # too few pairs, or groups, for the level: NaN, which JSON has not, stands for an infinite width
        found.append((float(np.average(inside, weights=share)), size if np.isfinite(size) else None))
    return found


class _Given(RegressorMixin, BaseEstimator):
    """A regressor whose inputs are its predictions."""

    n_features_in_ = 1

    def fit(self, X: Any, y: Any) -> _Given:
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(X)[:, 0]


def _mapie(known: np.ndarray, truth: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return lower and upper ends, (levels, 2, q), by MAPIE."""
    from mapie.regression import SplitConformalRegressor

    regressor = SplitConformalRegressor(_Given().fit(None, None), confidence_level=list(LEVELS), prefit=True)
    return regressor.conformalize(known[:, None], truth).predict_interval(new[:, None])[1].transpose(2, 1, 0)


def _crepes(known: np.ndarray, truth: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return lower and upper ends, (levels, 2, q), by crepes."""
    from crepes import ConformalRegressor

    regressor = ConformalRegressor()
    regressor.fit(truth - known)
    return np.stack([np.asarray(regressor.predict_int(new, confidence=level)).T for level in LEVELS])
