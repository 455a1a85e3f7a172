"""Front views of faces by windows around each pixel, on the CMU faces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.experiment import Experiment, Outcome, Piece, mean_row
from experiments.papers.kadri_face_views import NEW_PEOPLE, RANDOM, Found, draws, face_pictures, flat_sides, split_faces
from experiments.protocol import input_scales
from mercer.datasets import load_faces
from mercer.estimators import JointKernelMap
from mercer.kernels import Gaussian, Patches
from mercer.operators import CoordinateJoint, PatchwiseJoint, TensorProductJoint, WindowedJoint
from mercer.report import Card, Picture, gallery, paragraph, pivot, section, table_html
from mercer.selection import LeaveOneOut

MEAN, CORTES, CORTES_LOO = "mean face", "Cortes", "Cortes, plain leave-one-out"
CENTRED, PATCH = "Cortes, centred", "patches + whole"
ONE, ALONE, WINDOWS = "window 0.8 + whole", "windows 0.8 + 3", "windows 0.8 + 3 + whole"
METHODS = (MEAN, CORTES, CORTES_LOO, CENTRED, PATCH, ALONE, ONE, WINDOWS)
BARS = {RANDOM: 0.90, NEW_PEOPLE: 0.83}
METRIC, RATIO = "MSE", "MSE / Cortes"
FIRST_DRAW = 200
"""Draws 0 to 17 were used during development; these were not."""
WIDTHS = (0.8, 3.0)
FACTORS = {CORTES: (0.25, 0.5, 1.0, 2.0, 4.0, 8.0), WINDOWS: (1.0, 2.0, 4.0)}
ALPHAS = np.logspace(-4, 1, 11)


class FrontViews(Experiment):
    """Front views from right views: windows against the whole image."""

    name = "faces"
    title = "Faces: windows around each pixel"
    source = (
        "Beyond Kadri et al. 2013, Table 3: CMU faces, 30° right → front, against Cortes et al. 2005 on the same draws."
    )
    protocol = (
        "A face seen from the right is given, the same face from the front predicted (30 × 32 pixels in [0, 1]). 20 "
        "pairs to train on and up to 80 to test on, at random or so that nobody is in both parts (new people): 20 "
        "draws of each, different from those used during development. Cortes is the identity operator with a"
        " Gaussian of the whole image. The others are joint kernel maps: each pixel of the front view has a kernel "
        "of its own, the mean of Gaussians that look at the given view through windows of 0.8 and 3 pixels around it"
        " and as a whole; outputs are centred and answers bounded to [0, 1]. Scales (in medians, one factor for all "
        "windows), alpha and patch sizes are chosen inside the 20: by exact leave-one-out, and for new people by "
        "exact leave-one-person-out, for Cortes too. The widths and the equal weights were fixed on the earlier "
        "draws."
    )
    digits = 5

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each draw."""
        return draws(self.seeds(small), small)

    def seeds(self, small: bool) -> list[int]:
        """Return the seeds of the draws."""
        return list(range(FIRST_DRAW, FIRST_DRAW + (1 if small else 20)))

    def parameters(self, small: bool) -> dict[str, Any]:
        """Return the grids."""
        return {"widths": list(WIDTHS), "scales, in medians": FACTORS, "alpha": ALPHAS.tolist(), "bars": BARS}

    def run(self, piece: Piece) -> Outcome:
        """Run all methods on one draw."""
        kind, seed = piece.settings["kind"], piece.settings["seed"]
        pairs = load_faces().pairs("right")
        split = split_faces(pairs.person, kind, seed)
        shape = (pairs.inputs.shape[1], pairs.inputs.shape[2])
        inputs, outputs, queries, truth = flat_sides(pairs, split)
        person = pairs.person[split.train] if kind == NEW_PEOPLE else None
        found = Found({}, {}, {})

        def keep(method: str, predicted: np.ndarray) -> None:
            found.errors[method] = float(np.mean((predicted - truth) ** 2))
            found.predictions[method] = predicted.reshape(-1, *shape)

        # matrices this small lose more to several BLAS threads than they gain
        with threadpool_limits(1):
            keep(MEAN, np.broadcast_to(outputs.mean(axis=0), truth.shape))
            for method, joints in _methods(inputs, shape, piece.settings["small"]).items():
                groups = None if method == CORTES_LOO else person
                # the mean of the training outputs is held; Cortes has none
                mean = np.zeros(outputs.shape[1]) if method in (CORTES, CORTES_LOO) else outputs.mean(axis=0)
                model = _best(joints, inputs, outputs - mean, groups)
                predicted = model.predict(queries) + mean
                keep(method, np.clip(predicted, 0.0, 1.0) if mean.any() else predicted)
                found.chosen[method] = {"alpha": model.alpha_, "joint": repr(model.joint_kernel_)}
        outcome: Outcome = {"kind": kind, "errors": found.errors, "chosen": found.chosen}
        if seed == FIRST_DRAW:
            outcome["pictures"] = face_pictures(pairs, split, found, (CORTES, WINDOWS))
        return outcome

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return means over the draws of the errors, and of their ratios to Cortes."""
        rows = []
        for kind in (RANDOM, NEW_PEOPLE):
            here = [outcome["errors"] for outcome in outcomes if outcome["kind"] == kind]
            shown = [method for method in METHODS if method in here[0] and (kind == NEW_PEOPLE or method != CORTES_LOO)]
            for method in shown:
                rows.append(mean_row([errors[method] for errors in here], method, METRIC, test=kind))
            for method in shown:
                ratios = [errors[method] / errors[CORTES] for errors in here]
                if method != CORTES:
                    rows.append(mean_row(ratios, method, RATIO, test=kind))
        return rows

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Compare with the bars, and list the errors of all methods."""
        notes = []
        for kind, bar in BARS.items():
            at = {row["method"]: row for row in rows if (row["metric"], row["test"]) == (RATIO, kind)}
            mse = {row["method"]: row["value"] for row in rows if (row["metric"], row["test"]) == (METRIC, kind)}
            best, error = at[WINDOWS]["value"], at[WINDOWS]["error"] or 0.0
            means = mse[WINDOWS] / mse[CORTES]
            verdict = "met" if best <= bar else "missed"
            steps = ", ".join(f"{method} {at[method]['value']:.3f}" for method in METHODS if method in at)
            notes.append(
                f"{kind}: {WINDOWS} {best:.3f} ± {error:.3f} times Cortes (mean of ratios; ratio of means {means:.3f}), bar "
                f"{bar:.2f} {verdict}. All: {steps}."
            )
        return notes

    def blocks(self, rows: list[dict[str, Any]], outcomes: Sequence[Outcome]) -> Iterable[str]:
        """Show the errors as a table, and faces."""
        own = [row for row in rows if row["metric"] == METRIC]
        yield table_html(pivot(own, "method", "test", title="Mean squared error per pixel", digits=5))
        ratios = [row for row in rows if row["metric"] == RATIO]
        yield table_html(pivot(ratios, "method", "test", title="Divided by Cortes, mean over draws", digits=3))
        for outcome in outcomes:
            if "pictures" in outcome:
                yield section(f"Predicted front views ({outcome['kind']})")
                yield paragraph("The first six test faces of the first draw, not selected; squared error per pixel.")
                yield gallery((_card(entry) for entry in outcome["pictures"]), photographs=True)


def _methods(inputs: np.ndarray, shape: tuple[int, int], small: bool) -> dict[str, list[CoordinateJoint]]:
    """Return the candidate joint kernels of each method."""
    whole: list[CoordinateJoint] = [TensorProductJoint(kernel) for kernel in input_scales(inputs, FACTORS[CORTES])]
    factors = FACTORS[WINDOWS][:2] if small else FACTORS[WINDOWS]
    windows = {width: _window(inputs, shape, width) for width in WIDTHS}

    def mixed(widths: Sequence[float], with_whole: bool) -> list[CoordinateJoint]:
        made: list[CoordinateJoint] = []
        for factor in factors:
            parts: list[CoordinateJoint] = [windows[width](factor) for width in widths]
            if with_whole:
                parts.append(TensorProductJoint(input_scales(inputs, (factor,))[0]))
            made.append(reduce(add, [part * (1 / len(parts)) for part in parts]))
        return made

    found = {
        CORTES: whole,
        CORTES_LOO: whole,
        CENTRED: whole,
        PATCH: _patches(inputs, shape, factors[:2]),
        ALONE: mixed(WIDTHS, with_whole=False),
        ONE: mixed(WIDTHS[:1], with_whole=True),
        WINDOWS: mixed(WIDTHS, with_whole=True),
    }
    return {method: found[method] for method in ((CORTES, CORTES_LOO, WINDOWS) if small else found)}


def _window(inputs: np.ndarray, shape: tuple[int, int], width: float) -> Callable[[float], WindowedJoint]:
    """Make windows of one width at multiples of the median scale of the training inputs."""
    scale = float(WindowedJoint(shape, width).resolve(inputs, inputs).scale)
    return lambda factor: WindowedJoint(shape, width, scale * factor)


def _patches(inputs: np.ndarray, shape: tuple[int, int], factors: Sequence[float]) -> list[CoordinateJoint]:
    """Make patches of several sizes plus the whole image, half and half: the best of Table 3's comparison."""
    made: list[CoordinateJoint] = []
    (whole,) = input_scales(inputs, (1.0,))
    for size in (4, 6, 10):
        kernel = Patches(shape, size, size // 2, Gaussian("median")).resolve(inputs).kernel
        assert isinstance(kernel, Gaussian)
        for factor in factors:
            patch = PatchwiseJoint(shape, size, size // 2, Gaussian(float(kernel.scale) * factor))
            made.append(patch * 0.5 + TensorProductJoint(whole) * 0.5)
    return made


def _best(joints: list[CoordinateJoint], inputs: np.ndarray, outputs: np.ndarray, groups: Any) -> JointKernelMap:
    """Return the fitted map of least leave-one-out error, without an intercept."""
    models = [JointKernelMap(joint, LeaveOneOut(ALPHAS), fit_intercept=False) for joint in joints]
    fitted = [model.fit(inputs, outputs, groups=groups) for model in models]
    return min(fitted, key=lambda model: float(np.min(np.asarray(model.loo_path_))))


def _card(entry: list[Any]) -> Card:
    """Make a card of pictures; pixels are at most 0.6."""
    return Card("", [Picture(1.0 - 2.0 * np.asarray(image) / 0.6, name, score) for name, image, score in entry])
