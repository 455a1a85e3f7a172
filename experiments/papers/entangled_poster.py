"""Weather in the poster's own reading: all four methods, the improvement nI, and what the choice of settings does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from experiments.charts import Line, line_chart
from experiments.experiment import Experiment, Outcome, Piece, mean_row
from experiments.papers.entangled_methods import (
    ALPHAS,
    MEASURES,
    Ascent,
    entangled_paths,
    independent_path,
    inner_errors,
    least,
    measures,
    output_kernel_path,
)
from experiments.papers.entangled_weather import nmse
from experiments.protocol import input_scales
from mercer.datasets import load_weather
from mercer.report import section

KRR, OKL, EKL, TRACE, EITHER = "KRR", "OKL", "EKL", "ptrEKL", "EKL or ptrEKL"
METHODS = (KRR, OKL, EKL, TRACE, EITHER)
METRIC, IMPROVEMENT = "nMSE", "nI"
FOLDS, ALIKE, ORACLE = "inner folds", "inner folds, stations alike", "on the test stations"
RULES = {
    FOLDS: "the squared error over all training stations, each left out in turn and all learned again",
    ALIKE: "the same with the error of each station divided by its squared distance to the mean",
    ORACLE: "the test stations, which bounds what any choice could give and is not a result",
}
SIZES, PARTITIONS, FACTORS = (5, 10, 15), 30, (0.5, 1.0, 2.0)
ASCENTS = tuple(Ascent(rank, gamma, steps) for rank in (10, 50) for gamma in (0.0, 0.1, 0.9) for steps in (10, 40))
POSTER = {
    KRR: ((0.951, 0.101), (0.813, 0.141), (0.761, 0.037)),
    OKL: ((1.062, 0.250), (0.900, 0.196), (0.788, 0.058)),
    EITHER: ((0.840, 0.084), (0.722, 0.036), (0.728, 0.033)),
}
"""Method → mean and standard deviation of the poster at each n."""
POSTER_IMPROVEMENT = {OKL: (-0.092, -0.094, -0.034), EITHER: (0.124, 0.107, 0.044)}
TRAINED, HELD_OUT = "wettest station trained on", "wettest station in the test"


class PosterWeather(Experiment):
    """Table of the poster on weather data, in its own reading."""

    name = "entangled-poster"
    title = "Weather as in the poster: precipitation in mm, z-scored, from temperature"
    source = "Huusari and Kadri, poster on entangled kernel learning, table on the Weather data (35 stations, p = 365)."
    protocol = (
        f"n stations to train on, the other 35 − n to test on, {PARTITIONS} random partitions (the poster has 5). "
        "Precipitation in mm is z-scored for each day on the training stations, the reading in which KRR gives the "
        "poster's values; nMSE is the squared error on the test stations over that of the mean training curve, and nI the "
        "mean over partitions of (nMSE of KRR − nMSE) / √(their product), the normalized improvement of Ciliberto et al. "
        "2015, which gives the poster's nI from its means. Gaussian kernel of the temperature curves at ½, 1 or 2 median "
        "distances; this, alpha and, for EKL and ptrEKL, rank, γ and number of steps are chosen by "
        + "; or by ".join(RULES.values())
        + ". “EKL or ptrEKL”, the row of the poster, has the choice between the two as well. The kernel that EKL chose by "
        "inner folds is measured: 0 is separable for the distance to the nearest k ⊗ T (relative to the norm of the Gram "
        "matrix of the training stations) and no larger than the distance to any sum of separable kernels for symmetric blocks."
    )
    digits = 3
    apart = ("choice",)
    senses: dict[str, str] = Experiment.senses | {IMPROVEMENT: "max", "nMSE": "min"}
    without_best = (*MEASURES.values(), "rank chosen")

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each partition and number of stations."""
        sizes, partitions = ((5,), 2) if small else (SIZES, PARTITIONS)
        return [
            Piece(f"n{n}-partition-{seed}", {"n": n, "seed": seed, "small": small})
            for n in sizes
            for seed in range(partitions)
        ]

    def seeds(self, small: bool) -> list[int]:
        """Return the seeds of the partitions."""
        return list(range(2 if small else PARTITIONS))

    def parameters(self, small: bool) -> dict[str, Any]:
        """Return the grids."""
        return {
            "scales, in medians": list(FACTORS),
            "alphas": [round(float(alpha), 6) for alpha in ALPHAS],
            "rank, gamma, steps": [[each.rank, each.gamma, each.steps] for each in _ascents(small)],
        }

    def run(self, piece: Piece) -> Outcome:
        """Run all methods on one partition, with every rule of choice."""
        n, seed, small = (piece.settings[key] for key in ("n", "seed", "small"))
        weather = load_weather()
        order = np.random.default_rng(seed).permutation(len(weather.station))
        train, test = np.sort(order[:n]), np.sort(order[n:])
        X, Y = weather.temperature, weather.precipitation
        wettest = int(np.argmax(Y.mean(axis=1)))
        spread = Y[train].std(axis=0)
        Y = (Y - Y[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        grams = [kernel(X) for kernel in input_scales(X[train], FACTORS)]
        ascents = _ascents(small)
        whole, trace = entangled_paths(ascents, seed)
        inner, outer = {}, {}
        for name, path in ((KRR, independent_path), (OKL, output_kernel_path), (EKL, whole), (TRACE, trace)):
            inner[name] = inner_errors(path, grams, Y, train, seed)
            outer[name] = np.array(
                [[nmse(found, Y, train, test) for found in path(gram, Y, train, test)] for gram in grams]
            )
        inner[EITHER], outer[EITHER] = (np.concatenate([each[EKL], each[TRACE]], axis=1) for each in (inner, outer))
        # one fold for each station, in the order of inner_errors
        norms = np.sum(Y[np.random.default_rng(seed).permutation(train)] ** 2, axis=1)
        scores: dict[str, dict[str, float]] = {}
        for rule in RULES:
            for name, errors in inner.items():
                judged = {FOLDS: errors.sum(axis=2), ALIKE: (errors / norms).sum(axis=2), ORACLE: outer[name]}[rule]
                scores.setdefault(rule, {})[name] = float(outer[name][least(judged)])
        best, setting = least(inner[EKL].sum(axis=2))
        ascent = ascents[setting // len(ALPHAS)]
        return {
            "n": n,
            "wettest trained": bool(wettest in train),
            "share of the wettest": float(norms.max() / norms.sum()),
            "scores": scores,
            "chosen": {"rank": ascent.rank, "gamma": ascent.gamma, "steps": ascent.steps},
            "measures": measures(grams[best], Y, train, ascent, seed),
        }

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return nMSE and nI of every method, n and rule; nMSE apart for the wettest station; and measures of the kernels."""
        rows = []
        sizes = sorted({outcome["n"] for outcome in outcomes})
        for rule in RULES:
            for method in METHODS:
                for n in sizes:
                    own = [outcome["scores"][rule] for outcome in outcomes if outcome["n"] == n]
                    place = SIZES.index(n)
                    mean, deviation = POSTER[method][place] if method in POSTER and rule == FOLDS else (None, None)
                    varies = {"choice": rule, "n": n}
                    rows.append(
                        mean_row(
                            [each[method] for each in own], method, METRIC, paper=mean, paper_error=deviation, **varies
                        )
                    )
                    if method != KRR:
                        paper = (
                            POSTER_IMPROVEMENT[method][place]
                            if method in POSTER_IMPROVEMENT and rule == FOLDS
                            else None
                        )
                        gains = [(each[KRR] - each[method]) / np.sqrt(each[KRR] * each[method]) for each in own]
                        rows.append(mean_row(gains, method, IMPROVEMENT, paper=paper, **varies))
        for n in sizes:
            for where, trained in ((TRAINED, True), (HELD_OUT, False)):
                for method in METHODS:
                    values = [
                        o["scores"][FOLDS][method] for o in outcomes if o["n"] == n and o["wettest trained"] is trained
                    ]
                    if values:
                        rows.append(mean_row(values, method, f"{METRIC}, {where}", choice=FOLDS, n=n))
            own = [outcome for outcome in outcomes if outcome["n"] == n]
            for key, metric in MEASURES.items():
                rows.append(mean_row([o["measures"][key] for o in own], EKL, metric, choice=FOLDS, n=n))
            rows.append(mean_row([o["chosen"]["rank"] for o in own], EKL, "rank chosen", choice=FOLDS, n=n))
        return rows

    def paper_folds(self, row: dict[str, Any]) -> int:
        """Return 5: the size of the poster's errors is that of standard deviations over its partitions."""
        return 5

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Say what matches the poster, what the choice of settings does, and how the wettest station decides."""
        by = {(row["method"], row["metric"], row["choice"], row["n"]): row for row in rows}
        sizes = sorted({row["n"] for row in rows})
        notes = []
        for n in sizes:
            parts = []
            for method in POSTER:
                row = by[method, METRIC, FOLDS, n]
                parts.append(f"{method} {row['value']:.3f} ± {row['error']:.3f} (poster {row['paper']:.3f})")
            gain = by[EITHER, IMPROVEMENT, FOLDS, n]
            parts.append(
                f"nI of EKL or ptrEKL {gain['value']:+.3f} ± {gain['error']:.3f} (poster {gain['paper']:+.3f})"
            )
            notes.append(f"n = {n}: {'; '.join(parts)}.")
        for n in sizes:
            room = {
                name: by[name, METRIC, FOLDS, n]["value"] - by[name, METRIC, ORACLE, n]["value"] for name in METHODS
            }
            krr, either = (by[name, METRIC, ORACLE, n]["value"] for name in (KRR, EITHER))
            notes.append(
                f"n = {n}: chosen on the test stations, KRR would have {krr:.3f} and EKL or ptrEKL {either:.3f}; the choice "
                f"costs KRR {room[KRR]:.3f}, OKL {room[OKL]:.3f}, EKL {room[EKL]:.3f} and ptrEKL {room[TRACE]:.3f}."
            )
        for n in sizes:
            split = [
                f"{where}: "
                + ", ".join(f"{m} {by[m, f'{METRIC}, {where}', FOLDS, n]['value']:.3f}" for m in (KRR, EKL, TRACE))
                for where in (TRAINED, HELD_OUT)
                if (KRR, f"{METRIC}, {where}", FOLDS, n) in by
            ]
            notes.append(f"n = {n}, {'; '.join(split)}.")
        for n in sizes:
            distance, share = (
                by[EKL, name, FOLDS, n]["value"] for name in (MEASURES["product_distance"], MEASURES["is_entangled"])
            )
            rank, effective = (by[EKL, name, FOLDS, n]["value"] for name in ("rank chosen", MEASURES["effective_rank"]))
            notes.append(
                f"n = {n}: the kernel of EKL is {distance:.2f} of its norm away from the nearest separable one, proved "
                f"entangled in {share:.0%} of the partitions; rank chosen {rank:.0f} on average, effective rank {effective:.1f}."
            )
        return notes

    def blocks(self, rows: list[dict[str, Any]], outcomes: Sequence[Outcome]) -> Iterable[str]:
        """Draw nMSE over n for each rule of choice."""
        for rule in RULES:
            lines = {}
            for method in METHODS:
                own = [row for row in rows if (row["method"], row["metric"], row["choice"]) == (method, METRIC, rule)]
                lines[method] = Line(*([row[key] for row in own] for key in ("n", "value", "error")))
            yield section(f"nMSE, settings chosen {'' if rule == ORACLE else 'by '}{rule}")
            yield line_chart(lines, across="training stations", up="nMSE ± standard error")


def _ascents(small: bool) -> tuple[Ascent, ...]:
    return ASCENTS[:2] if small else ASCENTS
