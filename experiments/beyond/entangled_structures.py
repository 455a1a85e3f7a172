"""Entangled kernels for structured outputs, through their coordinates: digits and strings."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.experiment import Experiment, Outcome, Piece, mean_row
from experiments.papers.toy_strings import make_string_pairs
from experiments.papers.weston_completion import halves
from experiments.protocol import block_folds, input_scales
from mercer import DependencyEstimator, EntangledRidge, OutputKernelLearning
from mercer.core.arrays import NumericalWarning
from mercer.decoders import Candidates
from mercer.embeddings import PrincipalComponents
from mercer.kernels import Gaussian, GaussianOf, Subsequence
from mercer.losses import KernelLoss
from mercer.operators import Covariance

DIGITS, STRINGS = "lower half of a digit", "toy strings"
RIDGE, COVARIANCE, OKL, EKL, TRACE = "ridge", "covariance", "OKL", "EKL", "ptrEKL"
LOSS, CLASS = "loss of the output kernel", "class error"
KEPT, SCALE, SEEDS = {DIGITS: 20, STRINGS: 15}, 7.0, 3
SETTINGS = tuple((gamma, steps) for gamma in (0.1,) for steps in (10, 40))
PRICES = (1e-3, 1e-2, 0.1, 1.0, 10.0)


class EntangledStructures(Experiment):
    """Entangled kernels on the coordinates of digits and strings."""

    name = "entangled-structures"
    title = "Entangled kernels for structured outputs"
    source = "Huusari and Kadri name structured outputs as an application; the poster has vectors only, so there are no values."
    protocol = (
        f"Outputs are given by their leading kernel principal components ({KEPT[DIGITS]} for digits, {KEPT[STRINGS]} for "
        "strings), and decoded to the nearest training output. Digits: folds of 200 USPS digits, the lower half from the "
        f"upper one, Gaussian kernels, σ′ = {SCALE:g}, 400 test digits. Strings: Weston's toy problem, 150 pairs to train "
        f"on and 100 to test, subsequences of two letters. {SEEDS} folds or draws. All methods have the same input kernel "
        "and alpha from five values; alpha and, for the entangled kernels (rank 20, γ = 0.1), the number of steps are chosen "
        "by the loss on one half of the training pairs after learning from the other, where everything is learned again."
    )

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each task and fold."""
        seeds = 1 if small else SEEDS
        return [
            Piece(f"{task.split()[-1]}-{seed}", {"task": task, "seed": seed, "small": small})
            for task in (DIGITS, STRINGS)
            for seed in range(seeds)
        ]

    def seeds(self, small: bool) -> list[int]:
        """Return the seeds."""
        return list(range(1 if small else SEEDS))

    def run(self, piece: Piece) -> Outcome:
        """Run all methods on one fold."""
        task, seed, small = (piece.settings[key] for key in ("task", "seed", "small"))
        X, Y, labels, n, kernel, output_kernel = _digits(seed) if task == DIGITS else _strings(seed)
        train, test = np.arange(60 if small else n), np.arange(n, n + (50 if small else len(X) - n))
        loss = KernelLoss(output_kernel)
        scores = {}
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericalWarning)
            for name, makers in _methods(kernel, seed).items():
                models = [_estimator(kernel, output_kernel, KEPT[task], make) for make in makers]
                half = len(train) // 2
                first, second = train[:half], train[half:]
                errors = [_loss(model.fit(X[first], Y[first]), X[second], Y[second], loss) for model in models]
                best = models[int(np.argmin(errors))].fit(X[train], Y[train])
                predicted = best.predict(X[test])
                owner = [_position(Y[train], each) for each in predicted]
                scores[name] = {
                    LOSS: float(np.mean(np.asarray(loss.paired(Y[test], predicted)))),
                    CLASS: float(np.mean(labels[train][owner] != labels[test])),
                }
        return {"task": task, "scores": scores}

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return losses and class errors, and differences to ridge on the same pairs."""
        rows = []
        for task in dict.fromkeys(outcome["task"] for outcome in outcomes):
            own = [outcome["scores"] for outcome in outcomes if outcome["task"] == task]
            for method in own[0]:
                for metric in (LOSS, CLASS):
                    rows.append(mean_row([each[method][metric] for each in own], method, metric, task=task))
                if method != RIDGE:
                    gaps = [each[method][LOSS] - each[RIDGE][LOSS] for each in own]
                    rows.append(mean_row(gaps, method, "difference of the loss to ridge", task=task))
        return rows

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Say whether an entangled kernel helps."""
        notes = []
        for task in dict.fromkeys(row["task"] for row in rows):
            own = [row for row in rows if row["task"] == task and row["metric"].startswith("difference")]
            listed = ", ".join(f"{row['method']} {row['value']:+.4f} ± {row['error'] or 0:.4f}" for row in own)
            ahead = [row["method"] for row in own if row["error"] and row["value"] < -2 * row["error"]]
            notes.append(
                f"{task}: loss less that of ridge: {listed}; clearly below zero: {', '.join(ahead) or 'none'}."
            )
        return notes


def _methods(kernel: Any, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Return the parts of the estimator of each method, for every setting."""

    def entangled(mode: str) -> list[dict[str, Any]]:
        parts: dict[str, Any] = {"mode": mode, "kraus_rank": 20, "random_state": seed}
        return [
            {"regressor": EntangledRidge(kernel, gamma=gamma, max_iter=steps, alpha=alpha, **parts)}
            for gamma, steps in SETTINGS
            for alpha in PRICES
        ]

    return {
        RIDGE: [{"alpha": alpha} for alpha in PRICES],
        COVARIANCE: [{"alpha": alpha / 20, "operator": Covariance()} for alpha in PRICES],
        OKL: [{"regressor": OutputKernelLearning(kernel, alpha=alpha)} for alpha in PRICES],
        EKL: entangled("entangled"),
        TRACE: entangled("partial-trace"),
    }


def _estimator(kernel: Any, output_kernel: Any, kept: int, parts: dict[str, Any]) -> DependencyEstimator:
    embedding = PrincipalComponents(n_components=kept)
    return DependencyEstimator(kernel, output_kernel, embedding=embedding, decoder=Candidates(), **parts)


def _loss(model: DependencyEstimator, X: Any, Y: Any, loss: KernelLoss) -> float:
    return float(np.mean(np.asarray(loss.paired(Y, model.predict(X)))))


def _position(outputs: Any, answer: Any) -> int:
    """Return the first training output that equals the answer."""
    if isinstance(answer, str):
        return int(np.flatnonzero(outputs == answer)[0])
    return int(np.argmin(np.sum((outputs - answer) ** 2, axis=1)))


def _digits(seed: int) -> tuple[Any, Any, np.ndarray, int, Any, Any]:
    data, split = halves(), block_folds(1000, 5)[seed]
    order = np.concatenate([split.train, split.test[:400]])
    inputs = data.inputs[order]
    return inputs, data.outputs[order], data.labels[order], 200, input_scales(inputs[:200], (0.5,))[0], Gaussian(SCALE)


def _strings(seed: int) -> tuple[Any, Any, np.ndarray, int, Any, Any]:
    pairs = make_string_pairs(300, random_state=seed)
    long = np.flatnonzero([len(word) > 1 for word in pairs.outputs])[:250]
    letters = Subsequence(2, 0.5).normalized()
    return pairs.inputs[long], pairs.outputs[long], pairs.classes[long], 150, GaussianOf(letters, 1.0), letters
