"""Knee angles from hip angles over one step: from curves to curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from experiments.charts import Line, line_chart
from experiments.experiment import Experiment, Outcome, Piece, mean_row
from experiments.protocol import known_copies
from mercer.datasets import load_gait
from mercer.estimators import CurveRidge
from mercer.kernels import Gaussian, Kernel, Linear
from mercer.report import section

MEAN, LINEAR, GAUSSIAN = "mean curve", "linear kernel", "Gaussian kernel"
BY_POINT, SMOOTH = "point by point", "smoothing operator"
METRIC = "MSE, squared degrees"
BOYS, PICTURES = 39, 4
SCALES = (1.0, 2.0, 4.0)
METHODS = (MEAN, *(f"{kernel}, {operator}" for kernel in (LINEAR, GAUSSIAN) for operator in (BY_POINT, SMOOTH)))


class HipToKnee(Experiment):
    """Leave-one-boy-out prediction of knee angles."""

    name = "gait"
    title = "Gait: the angle of the knee from that of the hip"
    source = "Not from the papers: the gait data of Ramsay and Silverman, 39 boys, 20 points of a step."
    protocol = (
        "Each boy in turn is left out and his knee curve predicted from his hip curve. On the other 38, alpha, "
        "the length of the smoothing operator exp(−lag/h) over the closed step (none, or 1/64 to 1/2 of it) and the "
        "scale of the Gaussian kernel (1, 2 or 4 median distances) are chosen by exact leave-one-out, mean curve "
        "refitted. MSE is the mean over the 20 points."
    )
    digits = 2

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each boy."""
        return [Piece(f"boy-{boy:02d}", {"boy": boy}) for boy in range(6 if small else BOYS)]

    def run(self, piece: Piece) -> Outcome:
        """Run all methods without one boy."""
        boy = piece.settings["boy"]
        gait = load_gait()
        rest = np.arange(BOYS) != boy
        X, Y = gait.hip[rest], gait.knee[rest]
        median = Gaussian(scale="median").resolve(X).scale
        kernels: dict[str, list[Kernel]] = {
            LINEAR: [Linear()],
            GAUSSIAN: [Gaussian(float(factor * median)) for factor in SCALES],
        }
        predicted, lengths = {MEAN: Y.mean(axis=0)}, {}
        for kernel, candidates in kernels.items():
            for operator, tried in ((BY_POINT, [0.0]), (SMOOTH, None)):
                with known_copies():
                    models = [
                        CurveRidge(each, grid=gait.times, lengths=tried, period=1.0).fit(X, Y) for each in candidates
                    ]
                model = min(models, key=lambda model: float(np.min(model.loo_path_)))
                predicted[f"{kernel}, {operator}"] = model.predict(gait.hip[[boy]])[0]
                lengths[f"{kernel}, {operator}"] = model.length_
        outcome: Outcome = {
            "scores": {name: float(np.mean((curve - gait.knee[boy]) ** 2)) for name, curve in predicted.items()},
            "lengths": lengths,
        }
        if boy < PICTURES:
            shown = {"observed": gait.knee[boy], MEAN: predicted[MEAN], METHODS[2]: predicted[METHODS[2]]}
            outcome["picture"] = {name: np.round(curve, 1).tolist() for name, curve in shown.items()}
        return outcome

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return the mean over the boys."""
        return [mean_row([outcome["scores"][method] for outcome in outcomes], method, METRIC) for method in METHODS]

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Compare the best method with the mean curve, and the operators with each other."""
        found = {row["method"]: row["value"] for row in rows}
        best = min(found, key=lambda method: found[method])
        gains = [found[f"{kernel}, {BY_POINT}"] - found[f"{kernel}, {SMOOTH}"] for kernel in (LINEAR, GAUSSIAN)]
        return [
            f"The best method, {best}, has {found[best] / found[MEAN]:.0%} of the error of the mean curve.",
            f"The smoothing operator takes {gains[0]:+.2f} off the error of the linear kernel and {gains[1]:+.2f} off "
            f"that of the Gaussian one; the standard error of a mean is {max(row['error'] for row in rows[1:]):.2f}.",
        ]

    def blocks(self, rows: list[dict[str, Any]], outcomes: Sequence[Outcome]) -> Iterable[str]:
        """Draw the curves of the first boys."""
        yield section("Knee curves of boys not trained on")
        times = (np.arange(20) / 20 + 0.025).tolist()
        for boy, outcome in enumerate(outcomes):
            if "picture" in outcome:
                lines = {name: Line(times, values, dots=False) for name, values in outcome["picture"].items()}
                yield line_chart(lines, across="share of the step", up="knee, degrees", title=f"Boy {boy + 1}")
