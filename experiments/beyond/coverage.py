"""Coverage asked for and coverage measured: sets of objects, and regions of vectors beside MAPIE and crepes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy
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
SPLITS, CURVE_SPLITS, BLOCK, TESTED = 100, 400, 20, 100
BOX, JACKKNIFE_BOX = "box, pairs held out", "box, jackknife+"
ELLIPSOID, LEFT_OUT_ELLIPSOID = "ellipsoid, pairs held out", "ellipsoid, left out in turn"
IN_GROUPS = "pairs held out, one to three copies of each as a group"
REACHABLE = "every candidate (size: as calibration estimates its coverage)"
MAPIE, CREPES = "MAPIE, pairs held out", "crepes, pairs held out"
GUARANTEED = (HELD_OUT, BOX, ELLIPSOID, IN_GROUPS, MAPIE, CREPES)


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
        f"Nine tasks, {SPLITS} random splits each ({CURVE_SPLITS} for the few curves), up to {TESTED} test inputs; coverage "
        "asked for 0.8, 0.9 and 0.95. Models calibrated by pairs held out are trained without them, the others on all pairs; "
        "alpha by leave-one-out. For vectors, coverage is the share of coordinates in their interval, for boxes (bands of "
        "curves) and ellipsoids that of whole outputs; width is the mean over coordinates, each over the standard deviation "
        "of its outputs, and for ellipsoids that of the cube of the same volume. MAPIE and crepes get the predictions of the "
        "same model, a coordinate at a time. For sets, coverage and size are those of the experiment `conformal`; a right "
        "output that is not a training output cannot be covered: the coverage of the set of every candidate is given too. "
        "The bound of the jackknife+ is 0.6, 0.8 and 0.9. Errors are standard errors over splits, which share their data."
    )
    digits = 3

    def pieces(self, small: bool) -> list[Piece]:
        """Return pieces of some splits each; the small version has four splits of three tasks."""
        names = (TASKS[0], TASKS[3], TASKS[-1]) if small else TASKS
        return [
            Piece(
                f"{TASKS.index(name)}-{block}", {"task": name, "first": block * BLOCK, "splits": 4 if small else BLOCK}
            )
            for name in names
            for block in range(1 if small else (CURVE_SPLITS if name in CURVES else SPLITS) // BLOCK)
        ]

    def seeds(self, small: bool) -> list[int]:
        """Return a seed for each split."""
        return list(range(4 if small else CURVE_SPLITS))

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
            for method in splits[0]:
                for place, level in enumerate(LEVELS):
                    found = np.asarray([split[method][place] for split in splits], dtype=float)
                    for values, metric in zip(found.T, ("coverage", "size"), strict=True):
                        rows.append(mean_row(values, method, f"{metric} at {level:g}", task=name))
        return rows

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Give the lowest coverage against the level asked for, and widths beside those of the other packages."""
        gaps = [
            (row["value"] - float(row["metric"].split()[-1]), row["error"] or 0.0, row["method"], row["task"])
            for row in rows
            if row["metric"].startswith("coverage")
        ]
        held = [gap for gap in gaps if gap[2] in GUARANTEED[:4]]
        notes = []
        for title, some in (("Pairs held out", held), ("The jackknife+", [g for g in gaps if JACKKNIFE in g[2]])):
            gap, error, method, task = min(some)
            where = f"{gap:+.3f} ± {error:.3f} ({method}; {task})"
            notes.append(f"{title}: the lowest measured coverage less the level asked for is {where}.")
        sizes = {(row["task"], row["metric"], row["method"]): row["value"] for row in rows if "size" in row["metric"]}
        for rival in (MAPIE, CREPES):
            ratios = [
                sizes[task, metric, HELD_OUT] / value
                for (task, metric, method), value in sizes.items()
                if method == rival
            ]
            if ratios:
                notes.append(
                    f"Intervals have {min(ratios):.4f} to {max(ratios):.4f} times the width of those of {rival.split(',')[0]}, "
                    f"over {len(ratios)} tasks and levels."
                )
        return notes


Measured = dict[str, list[tuple[float, float]]]
"""Coverage and size at each level, by method."""


def _parts(n: int, trained: int, calibrated: int, seed: int) -> list[np.ndarray]:
    order = np.random.default_rng(seed).permutation(n)
    return np.split(order[: trained + calibrated + TESTED], [trained, trained + calibrated])


def sets_of_split(name: str, seed: int) -> Measured:
    """Return coverage and size of sets of objects."""
    chosen = conformal_tasks.task(name)
    X, y = chosen.inputs, chosen.outputs
    train, held, test = _parts(len(y), chosen.trained, chosen.calibrated, seed)
    every = np.concatenate([train, held])
    split = chosen.model().fit(X[train], y[train]).calibrate(X[held], y[held])
    whole = chosen.model().fit(X[every], y[every])
    copies = np.repeat(held, np.random.default_rng(seed).integers(1, 4, len(held)))
    grouped = copy(split).calibrate(X[copies], y[copies], groups=copies)
    found: Measured = {}
    for method, model, how in (
        (HELD_OUT, split, "auto"),
        (IN_GROUPS, grouped, "auto"),
        (LEFT_OUT, whole, "auto"),
        (JACKKNIFE, whole, JACKKNIFE),
    ):
        measured = [conformal.measured(model.predict_set(X[test], level, method=how), y[test]) for level in LEVELS]
        found[method] = [(each[conformal.COVERAGE], each[conformal.SIZE]) for each in measured]
    # no set of candidates can cover more; the second number is what calibration says about it
    among = float(np.mean(_listed(split, y[test])))
    found[REACHABLE] = [(among, split._calibrated(split.decoder_).reachable)] * len(LEVELS)
    return found


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
    train, held, test = _parts(len(Y), chosen.trained, chosen.calibrated, seed)
    every = np.concatenate([train, held])
    split = chosen.model().fit(X[train], Y[train]).calibrate(X[held], Y[held])
    whole = chosen.model().fit(X[every], Y[every])

    def measured(model: ObjectEstimator, method: str, simultaneous: bool = False) -> list[tuple[float, float]]:
        regions = [model.predict_interval(X[test], level, method, simultaneous) for level in LEVELS]
        return [(float(each.contains(Y[test]).mean()), float(np.mean(each.width / scale))) for each in regions]

    def ellipsoids(model: ObjectEstimator) -> list[tuple[float, float]]:
        regions = [model.predict_ellipsoid(X[test], level) for level in LEVELS]
        volumes = [(each.log_volumes - np.log(scale).sum()) / len(scale) for each in regions]
        return [
            (float(each.contains(Y[test]).mean()), float(np.mean(np.exp(volume))))
            for each, volume in zip(regions, volumes, strict=True)
        ]

    found = {
        HELD_OUT: measured(split, "auto"),
        LEFT_OUT: measured(whole, "auto"),
        JACKKNIFE: measured(whole, JACKKNIFE),
        BOX: measured(split, "auto", True),
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
