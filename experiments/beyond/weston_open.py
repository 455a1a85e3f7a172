"""Open ends of Weston et al. (sections 4.3 and 5): whole digits, single pixels, invariant outputs, directions, denoising."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import sklearn.decomposition
from threadpoolctl import threadpool_limits

from experiments.experiment import Experiment, Outcome, Piece, mean_row
from experiments.papers.weston_completion import CLIMB, halves
from experiments.protocol import Split, block_folds, input_scales
from mercer import DependencyEstimator, KernelPCA
from mercer.core.arrays import NumericalWarning
from mercer.datasets import load_usps
from mercer.decoders import Candidates
from mercer.embeddings import KernelCCA, KernelPLS, PrincipalComponents, ReducedRank
from mercer.kernels import Gaussian, Linear
from mercer.kernels.images import Jittered, shifted
from mercer.losses import KernelLoss

SCALE, FACTOR, FOLDS = 7.0, 0.5, 3
COMPLETION, DENOISING = "completion", "denoising"
CANDIDATE, FREE = "KDE, training half", "KDE, continuous"
WHOLE, PIXELS, PIXELS_CANDIDATE = (
    "top half → whole digit, continuous",
    "each pixel for itself",
    "each pixel for itself, training half",
)
VIRTUAL, JITTERED = "KDE, virtual outputs", "KDE, jittered output kernel"
SELECTED = "KDE, number of components chosen"
PLS, CCA, RANK = "kernel PLS", "kernel CCA", "reduced rank"
OURS, THEIRS, LINEAR, NOISY = "mercer.KernelPCA", "scikit-learn KernelPCA", "linear PCA", "as they are"
LOSS, SQUARE = "RBF loss", "mean squared error of pixels"
COUNTS = (5, 10, 20, 40, 80)
KEPT, NOISE = 60, 0.5


class OpenEnds(Experiment):
    """Extensions that the paper names and does not try."""

    name = "weston-open"
    title = "What Weston et al. leave open: outputs with invariances, directions that look at inputs, denoising"
    source = "Weston et al., Kernel Dependency Estimation, footnotes 2 and 3, the end of section 4.3, and section 5; no values."
    protocol = (
        f"Completion as in weston-table3 (200 digits to train on, 800 to test, {FOLDS} folds), RBF loss at σ′ = {SCALE:g}, "
        "Gaussian input kernel at half the median distance, alpha by leave-one-out. The whole digit is predicted from its top "
        "half and its lower half scored; the naive regressor predicts each pixel by ridge. Virtual outputs are the "
        "training halves moved by one pixel, without inputs: they take part in the decomposition and among the candidates; "
        "the jittered output kernel is the same invariance in the kernel. The number of directions is chosen among "
        f"{', '.join(map(str, COUNTS))} by the left-out loss of the decoded half. Denoising: 300 digits to learn {KEPT} "
        f"components from, 100 others with normal noise of standard deviation {NOISE}; the kernel's width, and the regression of "
        "scikit-learn's way back, are chosen on 50 noisy training digits."
    )

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each fold of each task."""
        folds = 1 if small else FOLDS
        return [
            Piece(f"{task}-{fold}", {"task": task, "fold": fold, "small": small})
            for task in (COMPLETION, DENOISING)
            for fold in range(folds)
        ]

    def run(self, piece: Piece) -> Outcome:
        """Run one fold."""
        task, fold, small = (piece.settings[key] for key in ("task", "fold", "small"))
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericalWarning)
            if task == DENOISING:
                return {"task": task, "metric": SQUARE, "scores": _denoised(fold, small)}
            split = block_folds(1000, 5)[fold]
            split = Split(split.train[:80], split.test[:100]) if small else split
            return {"task": task, "metric": LOSS, "scores": _completed(split)}

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return means over the folds."""
        rows = []
        for task in dict.fromkeys(outcome["task"] for outcome in outcomes):
            own = [outcome for outcome in outcomes if outcome["task"] == task]
            for method in own[0]["scores"]:
                rows.append(mean_row([o["scores"][method] for o in own], method, own[0]["metric"], task=task))
        return rows

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Compare each extension with what it extends."""
        at = {(row["task"], row["method"]): row["value"] for row in rows}
        complete = {method: value for (task, method), value in at.items() if task == COMPLETION}
        clean = {method: value for (task, method), value in at.items() if task == DENOISING}
        directions = ", ".join(f"{name} {complete[name]:.4f}" for name in (SELECTED, PLS, CCA, RANK))
        return [
            f"Whole digits from the top half: {complete[WHOLE]:.4f} on the lower half, {complete[FREE]:.4f} when only that is "
            "predicted.",
            f"Each pixel for itself: {complete[PIXELS]:.4f}, and {complete[PIXELS_CANDIDATE]:.4f} with the nearest "
            f"training half; KDE has {complete[FREE]:.4f} and {complete[CANDIDATE]:.4f}.",
            f"Invariance of outputs, with training halves as answers: virtual outputs {complete[VIRTUAL]:.4f}, jittered kernel "
            f"{complete[JITTERED]:.4f}, neither {complete[CANDIDATE]:.4f}.",
            f"Directions, with training halves as answers: {directions}; all of them {complete[CANDIDATE]:.4f}.",
            f"Denoising: {', '.join(f'{name} {value:.4f}' for name, value in clean.items())}.",
        ]


def _completed(split: Split) -> dict[str, float]:
    data = halves()
    X, Y, queries, truth = (
        data.inputs[split.train],
        data.outputs[split.train],
        data.inputs[split.test],
        data.outputs[split.test],
    )
    kernel, out, loss = input_scales(X, (FACTOR,))[0], Gaussian(SCALE), KernelLoss(Gaussian(SCALE))

    def score(predicted: np.ndarray) -> float:
        return float(np.mean(np.asarray(loss.paired(truth, predicted))))

    def fitted(output_kernel: Any = out, **parts: Any) -> DependencyEstimator:
        return DependencyEstimator(kernel, output_kernel, **parts).fit(X, Y)

    scores = {
        CANDIDATE: score(fitted(decoder=Candidates()).predict(queries)),
        FREE: score(fitted(decoder=CLIMB).predict(queries)),
    }
    whole = np.hstack([X, Y])
    model = DependencyEstimator(kernel, Gaussian(np.sqrt(2.0) * SCALE), decoder=CLIMB).fit(X, whole)
    scores[WHOLE] = score(model.predict(queries)[:, X.shape[1] :])
    plain = fitted(Linear()).predict(queries)
    scores[PIXELS] = score(plain)
    nearest = np.argmin(np.sum(Y**2, axis=1) - 2.0 * plain @ Y.T, axis=1)
    scores[PIXELS_CANDIDATE] = score(Y[nearest])
    rows, columns = data.shape[0] // 2, data.shape[1]
    images = Y.reshape(-1, rows, columns)
    moved = np.concatenate([shifted(images, *by) for by in ((1, 0), (-1, 0), (0, 1), (0, -1))]).reshape(-1, Y.shape[1])
    model = DependencyEstimator(kernel, out, embedding=PrincipalComponents(cutoff=1e-3), decoder=Candidates())
    scores[VIRTUAL] = score(model.fit(X, Y, extra_outputs=moved).predict(queries))
    jittered = Jittered(out, (rows, columns), reach=1)
    scores[JITTERED] = score(
        fitted(jittered, embedding=PrincipalComponents(cutoff=1e-3), decoder=Candidates()).predict(queries)
    )
    for name, kind in ((SELECTED, PrincipalComponents), (PLS, KernelPLS), (CCA, KernelCCA), (RANK, ReducedRank)):
        models = [
            fitted(embedding=kind(n_components=count), decoder=Candidates(), loss="kernel", alpha="loo")
            for count in COUNTS
            if count < len(X) // 2
        ]
        best = min(models, key=lambda model: float(np.min(model.loo_path_)))
        scores[name] = score(best.predict(queries))
    return scores


def _denoised(fold: int, small: bool) -> dict[str, float]:
    images = load_usps().images.reshape(-1, 256)
    order = np.random.default_rng(fold).permutation(len(images))
    count = 100 if small else 300
    train, test = images[order[:count]], images[order[count : count + (20 if small else 100)]]
    noise = np.random.default_rng([fold, 1])
    noisy, tuning = (each + NOISE * noise.standard_normal(each.shape) for each in (test, train[:50]))
    median = float(Gaussian("median").resolve(train).scale)

    def error(model: Any, given: np.ndarray, clean: np.ndarray) -> float:
        return float(np.mean((model.inverse_transform(model.transform(given)) - clean) ** 2))

    kept = min(KEPT, count // 2)
    ours = [KernelPCA(Gaussian(factor * median), kept).fit(train) for factor in (0.5, 1.0, 2.0)]
    theirs = [
        sklearn.decomposition.KernelPCA(
            kept, kernel="rbf", gamma=0.5 / (factor * median) ** 2, fit_inverse_transform=True, alpha=alpha
        ).fit(train)
        for factor in (0.5, 1.0, 2.0)
        for alpha in (1e-3, 1e-2, 0.1)
    ]
    found = {
        OURS: min(ours, key=lambda model: error(model, tuning, train[:50])),
        THEIRS: min(theirs, key=lambda model: error(model, tuning, train[:50])),
        LINEAR: sklearn.decomposition.PCA(kept).fit(train),
    }
    return {NOISY: float(np.mean((noisy - test) ** 2))} | {
        name: error(model, noisy, test) for name, model in found.items()
    }
