"""Multi-label data sets, four of them, each by four methods on its official split."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from experiments.beyond.label_pages import examples_table, loo_table, scores_by
from experiments.beyond.label_search import by_label, by_size, example_f1
from experiments.beyond.multilabel_methods import (
    CS,
    FOLDS,
    GRIDS,
    KS,
    METHODS,
    OURS,
    OUTPUT_SCALES,
    PENALTIES,
    THRESHOLDS,
    predictions,
)
from experiments.experiment import Experiment, Outcome, Piece
from mercer.datasets import load_multilabel
from mercer.datasets.labels import MultiLabel
from mercer.report import Table, pivot, section, table_html

METRIC = "example F1"
SHOWN = 5


class MultiLabelSets(Experiment):
    """Four data sets: all choices inside the training part, each test part used once."""

    name = "multilabel"
    title = "Label sets: emotions, yeast, enron, corel5k"
    source = "Not from the papers: four sets of the Mulan collection, on their official splits."
    protocol = (
        "Example F1 on the test part. Ridge: the input kernel, alpha and the way to decode of the highest exact "
        "leave-one-out F1; ways are the best of all sets by expected F1, and the training set with the largest "
        "Σ w I/(I + a(|y|−I) + a(|y′|−I)), I = |y∩y′|. IOKR: the same input kernels and alphas, the nearest training set under a "
        "Gaussian output kernel of chosen scale, by the same leave-one-out F1. k-NN: the same input kernels, k by "
        "leave-one-out, decoded by expected F1. Logistic regression: one per label, regularisation and threshold by F1 over "
        f"{FOLDS} folds, the likeliest label always named. Input kernels: Laplacian and Gaussian of several widths on "
        "standardised inputs and on normal scores, and the mean of the Laplacians (emotions, yeast); Jaccard, Gaussian on unit "
        "rows with √idf, their mean, and Gaussian on standardised inputs (enron); Jaccard and its square (corel5k)."
    )
    best = "max"

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each set; the small version has the first examples of two."""
        limits = {"emotions": (150, 60), "enron": (120, 60)} if small else dict.fromkeys(GRIDS, (10**6, 10**6))
        return [Piece(name, {"set": name, "train": train, "test": test}) for name, (train, test) in limits.items()]

    def parameters(self, small: bool) -> dict[str, Any]:
        """Return the grids."""
        return {
            "alphas": {name: list(grid.alphas) for name, grid in GRIDS.items()},
            "penalties a": list(PENALTIES),
            "output scales of IOKR": list(OUTPUT_SCALES),
            "k": list(KS),
            "C": list(CS),
            "thresholds": list(THRESHOLDS),
        }

    def run(self, piece: Piece) -> Outcome:
        """Run all methods on one set."""
        name = piece.settings["set"]
        data = load_multilabel(name)
        rows, tests = slice(piece.settings["train"]), slice(piece.settings["test"])
        data = MultiLabel(
            data.X_train[rows], data.Y_train[rows], data.X_test[tests], data.Y_test[tests], data.labels, data.features
        )
        found, chosen, loo = predictions(data, GRIDS[name])
        scores = {method: example_f1(data.Y_test, found[method]) for method in METHODS}
        return {
            "set": name,
            "f1": {method: [float(f.mean()), float(f.std(ddof=1) / np.sqrt(len(f)))] for method, f in scores.items()},
            "chosen": chosen,
            "loo": loo,
            "by size": by_size(data.Y_test, found),
            "by label": by_label(data.Y_test, found, data.labels, 6),
            "examples": [
                [
                    {
                        "input": f"test example {i + 1}",
                        "true": data.names(data.Y_test[i]),
                        "method": method,
                        "predicted": data.names(found[method][i]),
                        "f1": float(scores[method][i]),
                    }
                    for i in range(SHOWN)
                ]
                for method in METHODS
            ],
        }

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return the F1 of each method on each set."""
        return [
            {
                "method": method,
                "metric": METRIC,
                "value": outcome["f1"][method][0],
                "error": outcome["f1"][method][1],
                "setting": outcome["set"],
            }
            for outcome in outcomes
            for method in METHODS
        ]

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Compare with the best other method."""
        sentences, ahead = [], 0
        names = list(dict.fromkeys(row["setting"] for row in rows))
        for name in names:
            found = {row["method"]: row["value"] for row in rows if row["setting"] == name}
            rival = max((method for method in METHODS if method != OURS), key=lambda method: found[method])
            ahead += found[OURS] > found[rival]
            sentences.append(f"{name} {found[OURS]:.3f} against {found[rival]:.3f} ({rival})")
        return [f"Ahead of the best other method on {ahead} of {len(names)} sets: {'; '.join(sentences)}."]

    def blocks(self, rows: list[dict[str, Any]], outcomes: Sequence[Outcome]) -> Iterable[str]:
        """Show one table for all, then choices, sizes, labels and examples of each set."""
        yield table_html(pivot(rows, "method", "setting", title="Example F1", best="max"))
        for outcome in outcomes:
            yield section(outcome["set"])
            yield _choices(outcome["chosen"])
            yield loo_table(outcome["loo"], "Leave-one-out F1, the best alpha of each combination")
            yield scores_by("labels", METHODS, [outcome["by size"]], "F1 by the number of true labels")
            yield scores_by("label", METHODS, [outcome["by label"]], "F1 of the most frequent labels")
            yield examples_table(outcome["examples"])


def _choices(chosen: dict[str, dict[str, Any]]) -> str:
    """Tabulate what each method chose, a column for each parameter."""
    keys = list(dict.fromkeys(key for own in chosen.values() for key in own))
    lines = [[method, *(_written(chosen[method].get(key, "")) for key in keys)] for method in METHODS]
    return table_html(Table(["method", *keys], lines, "Choices, and their F1 inside the training part"))


def _written(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
