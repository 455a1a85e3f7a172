"""Weather: what the number of steps of the ascent does to an entangled kernel, and to its predictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from experiments.charts import Line, line_chart
from experiments.experiment import Experiment, Outcome, Piece, mean_row
from experiments.papers.entangled_methods import (
    MEASURES,
    Ascent,
    entangled_paths,
    inner_errors,
    measures,
)
from experiments.papers.entangled_weather import nmse
from experiments.protocol import input_scales
from mercer.datasets import load_weather
from mercer.report import section

EKL, TRACE = "EKL", "ptrEKL"
STEPS, SIZES, PARTITIONS = (10, 40, 100), (5, 10, 15), 10
RANK, GAMMA = 50, 0.1


class StepsOfTheAscent(Experiment):
    """Error and entanglement against the number of steps."""

    name = "entangled-steps"
    title = "Weather: how long to learn an entangled kernel"
    source = "Not in the poster of Huusari and Kadri, which does not say how long its ascent runs."
    protocol = (
        f"The reading of entangled-poster. EKL and ptrEKL with rank {RANK}, γ = {GAMMA}, one median distance as scale, and a "
        f"fixed number of steps of the ascent; alpha by inner folds, {PARTITIONS} partitions. Kernels are measured on the "
        "training stations: the distance of the Gram matrix to the nearest k ⊗ T relative to its norm (0: separable), to "
        "symmetric blocks (no sum of separable kernels is nearer), the negativity of its partial transpose, and its rank."
    )
    digits = 3
    without_best = tuple(MEASURES.values())

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each partition and size."""
        sizes, partitions = ((5,), 2) if small else (SIZES, PARTITIONS)
        return [Piece(f"n{n}-partition-{s}", {"n": n, "seed": s}) for n in sizes for s in range(partitions)]

    def seeds(self, small: bool) -> list[int]:
        """Return the seeds."""
        return list(range(2 if small else PARTITIONS))

    def run(self, piece: Piece) -> Outcome:
        """Learn and measure the kernels of one partition."""
        seed = piece.settings["seed"]
        n = piece.settings["n"]
        weather = load_weather()
        order = np.random.default_rng(seed).permutation(len(weather.station))
        train, test = np.sort(order[:n]), np.sort(order[n:])
        X, Y = weather.temperature, weather.precipitation
        spread = Y[train].std(axis=0)
        Y = (Y - Y[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        gram = input_scales(X[train], (1.0,))[0](X)
        scores = []
        for steps in STEPS:
            ascent = Ascent(RANK, GAMMA, steps)
            measured = measures(gram, Y, train, ascent, seed)
            for name, path in zip((EKL, TRACE), entangled_paths([ascent], seed), strict=True):
                errors = inner_errors(path, [gram], Y, train, seed).sum(axis=2)[0]
                tested = [nmse(each, Y, train, test) for each in path(gram, Y, train, test)]
                scores.append({"method": name, "steps": steps, "nMSE": tested[int(np.argmin(errors))]})
                scores[-1] |= measured if name == EKL else {}
        return {"n": n, "scores": scores}

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return errors and measures for each number of steps."""
        rows = []
        for n in sorted({outcome["n"] for outcome in outcomes}):
            own = [outcome["scores"] for outcome in outcomes if outcome["n"] == n]
            for place, score in enumerate(own[0]):
                for key, metric in ({"nMSE": "nMSE"} | MEASURES).items():
                    if key in score:
                        values = [scores[place][key] for scores in own]
                        rows.append(mean_row(values, score["method"], metric, n=n, steps=score["steps"]))
        return rows

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Say how entangled the kernels are, and what many steps do."""
        notes = []
        distance = MEASURES["product_distance"]
        at = {(row["method"], row["metric"], row["n"], row["steps"]): row for row in rows}
        for n in sorted({key[2] for key in at}):
            for method in (EKL, TRACE):
                listed = ", ".join(
                    f"{at[method, 'nMSE', n, s]['value']:.3f} ± {at[method, 'nMSE', n, s]['error'] or 0:.3f} with {s}"
                    for s in STEPS
                )
                notes.append(f"n = {n}: nMSE of {method} is {listed} steps.")
            apart = ", ".join(f"{at[EKL, distance, n, s]['value']:.2f} with {s}" for s in STEPS)
            notes.append(f"n = {n}: the distance to the nearest separable kernel is {apart} steps.")
        return notes

    def blocks(self, rows: list[dict[str, Any]], outcomes: Sequence[Outcome]) -> Iterable[str]:
        """Draw error and distance to separable kernels over the number of steps."""
        for metric in ("nMSE", MEASURES["product_distance"]):
            lines = {}
            for method, n in dict.fromkeys((row["method"], row["n"]) for row in rows if row["metric"] == metric):
                here = [row for row in rows if (row["method"], row["n"], row["metric"]) == (method, n, metric)]
                lines[f"{method}, n = {n}"] = Line(*([row[key] for row in here] for key in ("steps", "value", "error")))
            yield section(f"{metric} against the steps of the ascent")
            yield line_chart(lines, across="steps", up=metric)
