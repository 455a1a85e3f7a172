"""Lower half of a digit from the upper half: the methods of Weston's section 4.3 and ours, on one fold."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from experiments.baselines.hopfield import HopfieldNet
from experiments.papers.weston_classifiers import settings
from experiments.protocol import Split, best_by_leave_one_out, input_scales, paper_estimator
from mercer.datasets import DigitHalves, load_usps
from mercer.decoders import Candidates, FixedPoint
from mercer.embeddings import PrincipalComponents
from mercer.estimators import NeighborsEstimator
from mercer.estimators.base import ObjectEstimator
from mercer.kernels import Gaussian, Linear
from mercer.kernels.images import gradient_histograms
from mercer.losses import KernelLoss
from mercer.operators import ConditionalCovariance, Covariance
from mercer.selection import LeaveOneOut

DIGITS = 1000
FACTORS = (0.25, 0.35, 0.5, 0.7, 1.0)
"""Candidate scales of the input kernel, in medians of the distances of the training halves."""
EPS = (0.1, 1.0)
"""Candidate values of ε of the conditional covariance."""
CELLS, SHARES = (4, 5), (0.0, 0.5, 1.0)
"""Candidate parts of the histograms of gradients, and weights of pixels relative to them."""

ALPHAS = (1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0)
"""Candidate values of alpha where every one of them is decoded."""

KNN, KDE, HOPFIELD = "k-NN", "KDE", "Hopfield net"
WHOLE = "Hopfield net, whole digit"
BLANK, BLANK_WHOLE = "Hopfield net, blank below", "Hopfield net, blank below, whole digit"
ONE = "k-NN, k = 1"
ALL = "KDE, all directions"
FREE = "KDE, continuous"
COVARIANCE = "KDE, continuous, covariance"
CONDITIONAL = "KDE, continuous, conditional"
BEST = "KDE, continuous, gradients"
SVM = "1-vs-rest SVM"
ORACLE = "best training half"


STATED, WIDE = 4.0, 7.0
"""σ′ of the report, which alignment gives here too; and one at which losses after the pre-image have the paper's size."""
ALIGNED, NEXT = "σ′ by alignment", "σ′ = 7, next 1000"
LADDER = (KNN, KDE, ALL, FREE, COVARIANCE, CONDITIONAL, BEST, ORACLE)
"""Methods from k-NN to the best, one choice after the other."""

LOSS, BEFORE, ROOT = "RBF loss", "RBF loss before decoding", "RBF distance"
SATURATED, STABLE = "share of saturated pixels", "share of training digits that are equilibria"
CLASS, TOP = "class of the pre-image", "class from the upper half"
PAPER: dict[str, dict[str, tuple[float, float]]] = {
    LOSS: {KDE: (0.8384, 0.0077), KNN: (0.8960, 0.0052), HOPFIELD: (1.2190, 0.0072)},
    CLASS: {KNN: (0.2345, 0.0058), KDE: (0.2985, 0.0147), HOPFIELD: (0.5910, 0.0137)},
    TOP: {KDE: (0.1878, 0.0098), SVM: (0.1942, 0.0097), KNN: (0.2345, 0.0058)},
}
PAPER[BEFORE] = PAPER[ROOT] = PAPER[LOSS]
"""Losses and errors of the NIPS edition; whether they are before or after the pre-image, squared or not, is not known."""

CLIMB = FixedPoint(n_starts=1)  # from the best half and from the mean; more starts find the same maxima


@cache
def halves(skip: int = 0) -> DigitHalves:
    """Return halves of the first 1000 USPS digits after `skip` of them."""
    whole, part = load_usps().halves(), slice(skip, skip + DIGITS)
    return DigitHalves(whole.inputs[part], whole.outputs[part], whole.labels[part], whole.shape)


@cache
def gradients(cells: int, skip: int = 0) -> np.ndarray:
    """Compute histograms of gradients of all upper halves; each depends on its own image alone."""
    rows, columns = halves(skip).shape
    return gradient_histograms(halves(skip).inputs.reshape(-1, rows // 2, columns), cells=cells)


@dataclass
class Completion:
    """One fold under the loss of one σ′: predictions of each method, with all settings chosen in training."""

    split: Split
    scale: float
    skip: int = 0
    chosen: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        digits = halves(self.skip)
        self.top, self.bottom = digits.inputs[self.split.train], digits.outputs[self.split.train]
        self.test_top, self.truth = digits.inputs[self.split.test], digits.outputs[self.split.test]
        self.labels, self.test_labels = digits.labels[self.split.train], digits.labels[self.split.test]
        self.kernel = Gaussian(self.scale)
        self.loss = KernelLoss(self.kernel)

    # -- the paper's methods --------------------------------------------------------------------------

    def neighbours(self, loss: str = "kernel") -> NeighborsEstimator:
        """Fit k-NN with k by leave-one-out and a training half as answer."""
        # Linear means plain Euclidean distance; a Gaussian would leave distant halves equally far to machine precision
        model = NeighborsEstimator(Linear(), self.kernel, k="loo", loss=loss, decoder=Candidates())
        return model.fit(self.top, self.bottom)

    def weston(self, loss: str = "kernel") -> ObjectEstimator:
        """Fit KDE on the principal components of the outputs, with a training half as answer."""
        alpha = LeaveOneOut(ALPHAS) if loss == "kernel" else "loo"
        return self._best(embedding=PrincipalComponents(), loss=loss, alpha=alpha, decoder=Candidates())

    @cached_property
    def net(self) -> HopfieldNet:
        """Store the whole training digits in a Hopfield net."""
        return HopfieldNet(max_iter=500, tol=1e-4).fit(np.hstack([self.top, self.bottom]))

    def equilibria(self, below: float = 0.0) -> np.ndarray:
        """Run the net to equilibrium from each upper half, with one value for all pixels below."""
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ConvergenceWarning
            )  # a few states still move slowly; their nearest digits no longer change
            return self.net.transform(np.hstack([self.test_top, np.full_like(self.truth, below)]))

    def paper(self) -> dict[str, np.ndarray]:
        """Predict by the methods of the paper, which answer with training halves."""
        models = {KNN: self.neighbours(), KDE: self.weston()}
        self.chosen |= {name: settings(model) for name, model in models.items()}
        predicted = {name: model.predict(self.test_top) for name, model in models.items()}
        predicted[ONE] = self.bottom[cdist(self.test_top, self.top).argmin(axis=1)]
        middle, whole = self.top.shape[1], np.hstack([self.top, self.bottom])
        for names, below in (((HOPFIELD, WHOLE), 0.0), ((BLANK, BLANK_WHOLE), -1.0)):
            states = self.equilibria(below)
            predicted[names[0]] = self.bottom[cdist(states[:, middle:], self.bottom).argmin(axis=1)]
            predicted[names[1]] = self.bottom[cdist(states, whole).argmin(axis=1)]
        return predicted

    def net_measures(self) -> dict[str, float]:
        """Measure how many pixels of the equilibria are saturated, and how many training digits are equilibria."""
        digits = np.hstack([self.top, self.bottom])
        moved = np.clip(digits @ self.net.weights_ + self.net.bias_, -1.0, 1.0) - digits
        return {
            SATURATED: float(np.mean(np.abs(self.equilibria()) > 0.999)),
            STABLE: float(np.mean(np.abs(moved).max(axis=1) < 1e-3)),
        }

    # -- ours -----------------------------------------------------------------------------------------

    def ours(self) -> dict[str, np.ndarray]:
        """Predict with other operators, continuous pre-images and better inputs."""
        conditional = [ConditionalCovariance(eps) for eps in EPS]
        models = {
            ALL: self._best(loss="kernel", alpha=LeaveOneOut(ALPHAS), decoder=Candidates()),
            FREE: self._best(decoder=CLIMB),
            COVARIANCE: self._best(operator=[Covariance()], decoder=CLIMB),
            CONDITIONAL: self._best(operator=conditional, decoder=CLIMB),
        }
        self.chosen |= {name: settings(model) for name, model in models.items()}
        return {name: model.predict(self.test_top) for name, model in models.items()} | {BEST: self._on_gradients()}

    def fresh(self) -> dict[str, np.ndarray]:
        """Predict by the few methods that are repeated on other digits."""
        models = {KNN: self.neighbours(), KDE: self.weston(), FREE: self._best(decoder=CLIMB)}
        return {name: model.predict(self.test_top) for name, model in models.items()} | {BEST: self._on_gradients()}

    def oracle(self) -> np.ndarray:
        """Return the training half of least loss for each test digit, a bound for every method that answers with one."""
        return self.bottom[cdist(self.truth, self.bottom).argmin(axis=1)]

    def _on_gradients(self) -> np.ndarray:
        found = {}
        for cells in CELLS:
            for share in SHARES:
                inputs, queries = self._inputs(cells, share)
                found[cells, share] = self._best(inputs, decoder=CLIMB), queries
        cells, share = min(found, key=lambda key: float(np.min(found[key][0].loo_path_)))
        model, queries = found[cells, share]
        self.chosen[BEST] = settings(model) | {"cells": cells, "share of pixels": share}
        return model.predict(queries)

    def _inputs(self, cells: int, share: float) -> tuple[np.ndarray, np.ndarray]:
        """Join histograms of gradients and pixels, both in units of their median distance in training."""
        edges = gradients(cells, self.skip)
        pairs = [(edges[self.split.train], edges[self.split.test]), (self.top, self.test_top)]
        weights = [
            weight / Gaussian("median").resolve(pair[0]).scale for weight, pair in zip((1.0, share), pairs, strict=True)
        ]
        train, test = (np.hstack([w * pair[i] for w, pair in zip(weights, pairs, strict=True)]) for i in range(2))
        return train, test

    def _best(self, top: np.ndarray | None = None, operator: Any = None, **parts: Any) -> ObjectEstimator:
        """Fit the model of least leave-one-out loss over input scales (and operators)."""
        inputs = self.top if top is None else top
        kernels = input_scales(inputs, FACTORS)
        models = [paper_estimator(kernel, self.kernel, **parts) for kernel in kernels]
        if operator is not None:
            models = [paper_estimator(k, self.kernel, chosen, **parts) for chosen in operator for k in kernels]
        return best_by_leave_one_out(models, inputs, self.bottom)

    # -- scores ---------------------------------------------------------------------------------------

    def before_decoding(self, model: ObjectEstimator) -> float:
        """Compute the mean of ‖h(x) − ψ(y)‖² over the test digits, in the whole feature space."""
        weights = np.asarray(model.decision_weights(self.test_top))
        products = np.sum(weights * self.kernel(self.truth, self.bottom), axis=1)
        return float(np.mean(1.0 - 2.0 * products + np.sum((weights @ self.kernel(self.bottom)) * weights, axis=1)))

    def losses(self, predicted: np.ndarray) -> np.ndarray:
        """Compute the RBF loss of each test digit."""
        return np.asarray(self.loss.paired(self.truth, predicted))

    def class_error(self, predicted: np.ndarray) -> float:
        """Compute the share of answers taken from a training digit of another class."""
        owner = cdist(predicted, self.bottom).argmin(axis=1)
        return float(np.mean(self.labels[owner] != self.test_labels))
