"""Ridge regression with a metric of the inputs that is learned from its own gradients."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from mercer.core.arrays import to_numpy
from mercer.core.validation import check_real, check_whole
from mercer.kernels.encodings import Encoded, Encoding, Projected, ZScores
from mercer.kernels.matern import Matern
from mercer.learners.base import Learner, LearningProblem
from mercer.learners.ridge import FittedRidge, LearnedRidge, best_of_each
from mercer.solvers import Exact, RidgePath

_FLAT = 1e-20  # squared gradients, over squared outputs, that are rounding


@dataclass
class LearnedMetric(Learner):
    r"""Kernel ridge regression whose distances follow the directions in which the outputs change.

    A recursive feature machine (Radhakrishnan et al. 2024): the metric M of a Matérn kernel of
    :math:`\sqrt{(x - z)^\top M (x - z)}` is the average outer product of the gradients of the last fit,

    .. math:: M \leftarrow \frac{1}{n} \sum_i \sum_t \nabla h_t(x_i) \, \nabla h_t(x_i)^\top

    Each fit has the alpha of each coordinate that is best by exact leave-one-out with the metric held. The metric has seen every
    pair, so that this is far too optimistic to compare learners by: left-out points are by folds, ten of up to 400
    pairs, else five, with a metric of each.

    Parameters
    ----------
    encoding : Encoding
        The coordinates of inputs in which the metric is learned, such as `ZScores` or `NormalScores`.
    nu : {1.5, 2.5}
        The smoothness of the Matérn kernel.
    width : float
        s, in units of the median distance.
    iterations : int
        How often the metric is learned.
    diagonal : bool
        True for a weight of each column and no rotation.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> from mercer.kernels import Linear
    >>> X = np.random.default_rng(0).standard_normal((60, 4))
    >>> model = DependencyEstimator(Linear(), regressor=LearnedMetric(diagonal=True)).fit(X, np.sin(X[:, 1]))
    >>> int(np.argmax(np.diag(model.metric_)))
    1
    """

    encoding: Encoding = field(default_factory=ZScores)
    nu: float = 1.5
    width: float = 1.0
    iterations: int = 3
    diagonal: bool = False

    def __post_init__(self) -> None:
        Matern("median", self.nu).check_parameters()
        check_real(self.width, "width", expected="a number above zero")
        check_whole(self.iterations, "iterations")

    def reason(self) -> str:
        """Return one sentence on how the map was learned."""
        return f"a metric learned from gradients, {self.iterations} times"

    def fit(self, problem: LearningProblem) -> LearnedRidge:
        """Fit, take the metric of the gradients, and fit again."""
        size = float(np.sum(to_numpy(problem.require_targets(self)) ** 2))
        if not problem.kernel.takes_vectors:
            raise ValueError(f"a metric is learned for vectors, and the inputs are objects for {problem.kernel!r}")
        X = to_numpy(problem.inputs)
        encoding = self.encoding if self.encoding.is_resolved else self.encoding.resolve(X)
        rows = to_numpy(encoding(X))
        root = np.eye(rows.shape[1])
        for _ in range(self.iterations):
            kernel, fitted = self._fitted(problem, encoding, root)
            found = gradient_products(kernel, rows @ root, fitted.coefficients, problem.sample_weight)
            if float(np.trace(found)) <= _FLAT * size:
                break
            root = self._root(root @ found @ root)
        fitted = self._fitted(problem, encoding, root)[1]
        fitted.attributes |= {"metric_": root @ root}
        return LearnedRidge(**vars(fitted), learner=self, problem=problem.held())

    def _fitted(self, problem: LearningProblem, encoding: Encoding, root: np.ndarray) -> tuple[Matern, FittedRidge]:
        """The ridge under one metric."""
        projected = Projected(encoding, root)
        typical = Matern("median", self.nu).resolve(projected(problem.inputs))
        kernel = Matern(self.width * float(typical.scale), self.nu)
        ridge = replace(problem, kernel=Encoded(projected, kernel)).ridge(problem.require_targets(self), True)
        return kernel, best_of_each(RidgePath.of(ridge, ridge.decomposed(), ridge.basis()), ridge, Exact())

    def _root(self, metric: np.ndarray) -> np.ndarray:
        """The symmetric root of a metric, of mean eigenvalue one."""
        mean = float(np.trace(metric)) / len(metric)
        if self.diagonal:
            return np.diag(np.sqrt(np.diag(metric) / mean))
        values, vectors = np.linalg.eigh(metric / mean)
        return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def gradient_products(
    kernel: Matern, rows: np.ndarray, coefficients: Any, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    r"""Return :math:`\sum_i w_i \sum_t \nabla h_t(x_i) \nabla h_t(x_i)^\top` of :math:`h_t(x) = \sum_j k(x, x_j) b_{jt}`.

    Parameters
    ----------
    kernel : Matern
        Resolved.
    rows : array (n, d)
        The x.
    coefficients : array (n, r)
        The b.
    sample_weight : array (n,), optional
        The w, by default ones.
    """
    slopes, total = kernel.slopes(cdist(rows, rows)), np.zeros((rows.shape[1], rows.shape[1]))
    roots = 1.0 if sample_weight is None else np.sqrt(sample_weight)[:, None]
    for own in to_numpy(coefficients).T:
        weighted = slopes * own
        gradients = roots * (weighted.sum(axis=1)[:, None] * rows - weighted @ rows)
        total += gradients.T @ gradients
    return total
