"""Section 7 of Kadri et al.: structured support vector machines and joint kernel maps beside ridge regression."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from experiments.experiment import Experiment, Outcome, Piece, mean_row
from experiments.papers.kadri_completion import COMMON_SCALE
from experiments.papers.kadri_words_methods import Fold, image_features
from experiments.papers.kadri_words_reading import all_words
from experiments.protocol import block_folds, input_scales
from mercer import DependencyEstimator
from mercer.core.arrays import NumericalWarning
from mercer.datasets import load_usps
from mercer.decoders import Candidates
from mercer.embeddings import Features, Spectral
from mercer.kernels import Gaussian, Linear, Polynomial, Precomputed
from mercer.learners import MaxMargin
from mercer.losses import KernelLoss
from mercer.operators import Covariance, Identity, InducedJoint

DIGITS, WORDS = "digit completion", "handwritten words"
RIDGE, COVARIANCE = "ridge", "ridge, covariance"
MARGIN, JOINT, EPSILON = "structured SVM", "structured SVM, covariance", "joint kernel map, ε program"
METRIC, LETTERS, AS_WORDS = "RBF loss", "% of characters right, by letter", "% of characters right, as a training word"
BOX, ALPHAS, RADIUS = (0.1, 1.0, 10.0), (0.01, 0.1, 1.0), 0.5
FOLDS, TESTED, PASSES = 2, 1500, 40


class MaxMarginMaps(Experiment):
    """Digits and words by max-margin methods with general joint kernels."""

    name = "max-margin"
    title = "Structured support vector machines with joint kernels"
    source = "Kadri, Ghavamzadeh and Preux, ICML 2013, section 7, which names structured SVMs and JKM as the comparison to make."
    protocol = (
        "Digit completion: folds of 200 USPS digits, the lower half among the training halves, RBF loss at σl = "
        f"{COMMON_SCALE:g}, Gaussian kernels, the input scale at half the median distance. Words: folds of the OCR data (about "
        f"688 words), the paper's cubic features, one-hot letters at each position, {TESTED} test words. {FOLDS} folds each. The "
        "structured SVM has margins by the loss (squared distance of one-hot words, RBF loss), the joint kernel map the program "
        f"of Weston et al. 2007 with margins for outputs further than ε = {RADIUS}; both with all training outputs as candidates "
        f"and at most {PASSES} passes. The covariance joint kernel is k(x, x′)·⟨ψ(y), C ψ(y′)⟩. C and alpha are chosen on one "
        "half of the training fold after learning from the other."
    )
    digits = 3

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each task and fold."""
        folds = 1 if small else FOLDS
        return [
            Piece(f"{task.split()[0]}-{fold}", {"task": task, "fold": fold, "small": small})
            for task in (DIGITS, WORDS)
            for fold in range(folds)
        ]

    def parameters(self, small: bool) -> dict[str, Any]:
        """Return the grids."""
        return {"C": list(BOX), "alpha": list(ALPHAS), "epsilon": RADIUS}

    def run(self, piece: Piece) -> Outcome:
        """Run all methods on one fold."""
        task, fold, small = (piece.settings[key] for key in ("task", "fold", "small"))
        with threadpool_limits(1), warnings.catch_warnings():
            # what is left of the gap is in the rows
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", NumericalWarning)
            return _digits(fold, small) if task == DIGITS else _words(fold, small)

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return scores, and what is left of the duality gap."""
        rows = []
        for task in dict.fromkeys(outcome["task"] for outcome in outcomes):
            own = [outcome["scores"] for outcome in outcomes if outcome["task"] == task]
            for method, scores in own[0].items():
                for metric in scores:
                    rows.append(mean_row([each[method][metric] for each in own], method, metric, task=task))
        return rows

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Compare the methods on each task."""
        notes = []
        for task, metric in ((DIGITS, METRIC), (WORDS, LETTERS), (WORDS, AS_WORDS)):
            own = {row["method"]: row for row in rows if (row["task"], row["metric"]) == (task, metric)}
            listed = ", ".join(f"{name} {row['value']:.3f} ± {row['error'] or 0:.3f}" for name, row in own.items())
            sense = max if metric != METRIC else min
            best = sense(own, key=lambda name: own[name]["value"])
            notes.append(f"{task}, {metric}: {listed}; best: {best}.")
        return notes


def _models(kernel: Any, output_kernel: Any, loss: Any, embedding: Any) -> dict[str, list[DependencyEstimator]]:
    """Return the candidates of each method over alpha or C."""

    def estimator(**parts: Any) -> DependencyEstimator:
        parts = {"embedding": embedding} | parts
        return DependencyEstimator(kernel, output_kernel, decoder=Candidates(), fit_intercept=False, **parts)

    learned: dict[str, Any] = {"tol": 0.02, "max_passes": PASSES}
    induced = InducedJoint(kernel, output_kernel, Covariance())
    return {
        RIDGE: [estimator(alpha=alpha, operator=Identity()) for alpha in ALPHAS],
        COVARIANCE: [estimator(alpha=alpha / 10, operator=Covariance()) for alpha in ALPHAS],
        MARGIN: [estimator(loss=loss, regressor=MaxMargin(C, **learned)) for C in BOX],
        JOINT: [estimator(loss=loss, regressor=MaxMargin(10 * C, joint_kernel=induced, **learned)) for C in BOX],
        EPSILON: [estimator(loss=loss, regressor=MaxMargin(C, "epsilon", RADIUS, **learned)) for C in BOX],
    }


def _digits(fold: int, small: bool) -> Outcome:
    data, split = load_usps().halves(), block_folds(1000, 5)[fold]
    train, test = (split.train[:60], split.test[:200]) if small else (split.train, split.test)
    X, Y, kernel = data.inputs[train], data.outputs[train], input_scales(data.inputs[train], (0.5,))[0]
    loss, half = KernelLoss(Gaussian(COMMON_SCALE)), len(train) // 2
    scores = {}
    for name, models in _models(kernel, Gaussian(COMMON_SCALE), loss, Spectral()).items():

        def held(model: DependencyEstimator) -> float:
            predicted = model.fit(X[:half], Y[:half]).predict(X[half:], candidates=Y[:half])
            return float(np.mean(np.asarray(loss.paired(Y[half:], predicted))))

        best = min(models, key=held).fit(X, Y)
        predicted = best.predict(data.inputs[test], candidates=Y)
        scores[name] = {METRIC: float(np.mean(np.asarray(loss.paired(data.outputs[test], predicted))))} | _gap(best)
    return {"task": DIGITS, "scores": scores}


def _words(fold: int, small: bool) -> Outcome:
    words = all_words()
    train, test = np.flatnonzero(words.folds == fold), np.flatnonzero(words.folds != fold)
    train, test = (
        (train[:80] if small else train),
        np.random.default_rng(fold).permutation(test)[: 100 if small else TESTED],
    )
    part = Fold(words.take(train), words.take(test))
    grams = image_features(part, Polynomial(degree=3))
    spectrum, targets = grams.spectrum, np.asarray(part.targets)
    vectors = np.asarray(spectrum.vectors)
    gram = (vectors * np.asarray(spectrum.values)) @ vectors.T
    fitted, held_out = part.halves
    scores = {}
    for name, models in _models(Precomputed(), Linear(), None, Features()).items():

        def right(model: DependencyEstimator) -> float:
            model.fit(gram[np.ix_(fitted, fitted)], targets[fitted])
            points = np.zeros((len(train), targets.shape[1]))
            points[held_out] = np.asarray(model.map_.points(gram[np.ix_(held_out, fitted)]))
            read = part.reader.by_letter(points[held_out], part.train_lengths[held_out])
            return sum(
                a == b
                for r, w in zip(read, part.train.strings[held_out], strict=True)
                for a, b in zip(r, w, strict=True)
            )

        best = max(models, key=right).fit(gram, targets)
        points = np.asarray(best.map_.points(grams.cross))
        found = part.score(points)
        scores[name] = {LETTERS: found["letters"], AS_WORDS: found["words"]} | _gap(best)
    return {"task": WORDS, "scores": scores}


def _gap(model: DependencyEstimator) -> dict[str, float]:
    gap = getattr(model, "gap_", None)
    return {} if gap is None else {"difference of primal and dual": gap / model.objective_}
