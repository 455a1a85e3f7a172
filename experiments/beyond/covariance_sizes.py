"""Covariance and conditional covariance on larger data, and as classifiers (Kadri et al., section 7)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.charts import Line, line_chart
from experiments.experiment import Experiment, Outcome, Piece, mean_row
from experiments.papers.kadri_face_views import flat_sides
from experiments.protocol import Split
from mercer import DependencyEstimator
from mercer.core.arrays import NumericalWarning
from mercer.datasets import load_faces, load_usps
from mercer.decoders import Candidates
from mercer.kernels import Classes, Gaussian, Linear
from mercer.operators import ConditionalCovariance, Covariance, Identity
from mercer.report import section
from mercer.selection import LeaveOneOut

IDENTITY, COVARIANCE, CONDITIONAL = "identity", "covariance", "conditional covariance"
COMPLETION, CLASSES, FACES = "lower half of a digit", "class of a digit", "front view of a face"
METRIC = {COMPLETION: "mean squared error of pixels", CLASSES: "error", FACES: "mean squared error of pixels"}
SIZES, TEST = (200, 500, 1000, 2000, 4000, 6291), 1000
SEEDS = {200: 4, 500: 4, 1000: 3, 2000: 2, 4000: 1, 6291: 1}
FACTOR, EPS, LARGE = 0.5, (0.01, 0.1, 1.0), 2000
DECADES = np.logspace(-4, 1, 11)


class LargerData(Experiment):
    """Where the covariance operators help, and from which size on they do not."""

    name = "covariance-sizes"
    apart = ("task",)
    title = "Covariance operators on larger data, and for classes"
    source = (
        "Kadri, Ghavamzadeh and Preux, ICML 2013, section 7, leaves larger data and classification open; no values."
    )
    protocol = (
        f"USPS training digits, n = {', '.join(map(str, SIZES))} drawn at random ({', '.join(map(str, SEEDS.values()))} "
        f"draws), {TEST} others to test (6291 and 1000 are all). The lower half of a digit from the upper one by vectors "
        "of pixels, and the class of a digit from all of it by ½[y = y′]; Gaussian kernel at half the median distance. "
        "Faces: any turned view to the front view, all pairs of 15 people, the other 5 to test, 3 draws. Alpha and ε (0.1 "
        "from n = 2000 on) by leave-one-out with the operator held (for classes too, in feature space). An intercept "
        "everywhere. For classes of equal size the covariance is a multiple of the identity plus a constant."
    )

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each task, size and draw."""
        if small:
            return [Piece(f"{i}-60-0", {"task": t, "n": 60, "seed": 0}) for i, t in enumerate((COMPLETION, CLASSES))]
        digits = [
            Piece(f"{i}-{n}-{seed}", {"task": task, "n": n, "seed": seed})
            for i, task in enumerate((COMPLETION, CLASSES))
            for n in (SIZES if task == COMPLETION else SIZES[:4])
            for seed in range(SEEDS[n])
        ]
        return digits + [Piece(f"faces-{seed}", {"task": FACES, "n": 0, "seed": seed}) for seed in range(3)]

    def parameters(self, small: bool) -> dict[str, Any]:
        """Return the grids."""
        return {"eps": list(EPS), "alphas": [round(float(a), 6) for a in DECADES], "scale, in medians": FACTOR}

    def seeds(self, small: bool) -> list[int]:
        """Return the seeds of the draws."""
        return list(range(4))

    def run(self, piece: Piece) -> Outcome:
        """Run all operators on one draw."""
        task, n, seed = (piece.settings[key] for key in ("task", "n", "seed"))
        inputs, outputs, queries, truth = _faces(seed) if task == FACES else _digits(task, n, seed)
        some = inputs[:500]
        kernel = Gaussian(FACTOR * float(Gaussian("median").resolve(some).scale))
        kinds: dict[str, list[Any]] = {
            IDENTITY: [Identity()],
            COVARIANCE: [Covariance()],
            CONDITIONAL: [ConditionalCovariance(eps) for eps in (EPS if n < LARGE else EPS[1:2])],
        }
        scores = {}
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericalWarning)
            for name, operators in kinds.items():
                # the gains of a covariance are about the variance over the number of directions
                size = 1.0 if name == IDENTITY else _gain(task, outputs)
                rule = LeaveOneOut([float(alpha * size) for alpha in DECADES])
                out, parts = (Classes(), {"decoder": Candidates()}) if task == CLASSES else (Linear(), {})
                models = [
                    DependencyEstimator(kernel, out, operator, alpha=rule, **parts).fit(inputs, outputs)
                    for operator in operators
                ]
                best = min(models, key=lambda model: float(np.min(model.loo_path_)))
                predicted = best.predict(queries)
                wrong = predicted != truth if task == CLASSES else (predicted - truth) ** 2
                scores[name] = float(np.mean(wrong))
        return {"task": task, "n": len(inputs), "key": "all" if task == FACES else n, "scores": scores}

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return errors, and their ratios to the identity operator."""
        rows = []
        for task, key in dict.fromkeys((outcome["task"], outcome["key"]) for outcome in outcomes):
            own = [o["scores"] for o in outcomes if (o["task"], o["key"]) == (task, key)]
            for method in own[0]:
                rows.append(mean_row([each[method] for each in own], method, METRIC[task], task=task, n=key))
            for method in (COVARIANCE, CONDITIONAL):
                ratios = [each[method] / each[IDENTITY] for each in own]
                rows.append(mean_row(ratios, method, "difference as a ratio to the identity", task=task, n=key))
        return rows

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Say where the operators help."""
        notes = []
        for task in dict.fromkeys(row["task"] for row in rows):
            for method in (COVARIANCE, CONDITIONAL):
                own = [
                    r
                    for r in rows
                    if r["task"] == task and r["method"] == method and r["metric"].startswith("difference")
                ]
                listed = ", ".join(f"{row['value']:.3f} at n = {row['n']}" for row in own)
                notes.append(f"{task}: the error of {method} over that of the identity operator is {listed}.")
        return notes

    def blocks(self, rows: list[dict[str, Any]], outcomes: Sequence[Outcome]) -> Iterable[str]:
        """Draw the ratios over n."""
        lines = {}
        for task in (COMPLETION, CLASSES):
            for method in (COVARIANCE, CONDITIONAL):
                own = [
                    r
                    for r in rows
                    if r["task"] == task and r["method"] == method and r["metric"].startswith("difference")
                ]
                if own:
                    lines[f"{method}, {task}"] = Line([row["n"] for row in own], [row["value"] for row in own])
        yield section("Error over that of the identity operator")
        yield line_chart(lines, across="training digits", up="ratio", log=["across"])


def _digits(task: str, n: int, seed: int) -> tuple[Any, Any, Any, Any]:
    digits = load_usps()
    order = np.random.default_rng(seed).permutation(len(digits.labels))[: n + TEST]
    if task == CLASSES:
        X, Y = digits.images.reshape(len(digits.images), -1)[order], digits.labels[order]
    else:
        halves = digits.halves()
        X, Y = halves.inputs[order], halves.outputs[order]
    return X[:n], Y[:n], X[n:], Y[n:]


def _faces(seed: int) -> tuple[Any, Any, Any, Any]:
    pairs = load_faces().pairs(("left", "right", "up")).with_mirrored()
    rng = np.random.default_rng(seed)
    people = rng.permutation(np.unique(pairs.person))
    held_out = np.isin(pairs.person, people[: len(people) // 4])
    return flat_sides(pairs, Split(rng.permutation(np.flatnonzero(~held_out)), np.flatnonzero(held_out)))


def _gain(task: str, outputs: Any) -> float:
    """Return the largest eigenvalue of the covariance, about."""
    if task == CLASSES:
        return 0.1
    rows = np.asarray(outputs)[:500]
    return float(np.linalg.norm(rows - rows.mean(axis=0), 2) ** 2 / len(rows))
