"""Ridge regression with a width for each column, found by marginal likelihood."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist, squareform

from mercer.core.arrays import to_numpy
from mercer.core.validation import check_choice, check_whole
from mercer.kernels import Encoded, Encoding, Gaussian, Kernel, Laplacian, Linear, Projected, Scaled, ZScores
from mercer.learners.base import Learner, LearningProblem
from mercer.learners.by_output import FittedByOutput
from mercer.learners.ridge import FittedRidge, LearnedRidge, best_of_each
from mercer.solvers import Exact, RidgePath

_KERNELS = {"Gaussian": Gaussian, "Laplacian": Laplacian}
_DISTANCES = {"Gaussian": "euclidean", "Laplacian": "cityblock"}
_PAIRS = 400  # most pairs from which widths are found
_WIDTHS = np.log([0.02, 1000.0])  # least and largest width, in units of the median distance
_NOISE = np.log([1e-6, 1e3])  # variance of the noise, in units of the variance of the function
_SLOPES = np.log([1e-5, 1e3])  # that of the linear part
_FIRST = np.log(0.1)  # that of noise and of the linear part, at first
_PRIOR = 2.0  # deviation of the logarithm of a width from that of the median distance, before outputs are seen
_NEAR = 1.0  # that of the width of one output from the width of all, before this output is seen
_FEATURES = 200  # most features of outputs that have no coordinates of their own
_FLAT = 1e-20  # squared deviations, over squared outputs, that are rounding
_FAILED = 1e10  # loss of parameters whose matrix is not positive


@dataclass
class RelevantColumns(Learner):
    r"""Kernel ridge regression with a width for each column, so that columns that tell nothing do not count.

    .. math:: k(x, z) = \exp\Bigl(-\tfrac12 \sum_c (x_c - z_c)^2 / s_c^2\Bigr) + a\, x^\top z \quad\text{or}\quad
        \exp\Bigl(-\sum_c |x_c - z_c| / s_c\Bigr) + a\, x^\top z

    The widths and a are those of largest marginal likelihood of a Gaussian process (automatic relevance determination; Rasmussen
    and Williams 2006, chapter 5), with a wide prior around the median distance, from 400 pairs where there are more. Outputs that
    are rows of numbers have the alpha of each coordinate that is best by exact leave-one-out with the widths held, others the
    noise of largest likelihood. Pairs are left out by folds, ten of up to 400 pairs, else five, with widths of each.

    Parameters
    ----------
    encoding : Encoding
        The coordinates of inputs that have widths, such as `ZScores` or `NormalScores`.
    shape : {"Gaussian", "Laplacian"}
        The kernel.
    iterations : int
        Most steps of the search for the widths.
    each : bool
        True for widths of each coordinate of outputs that are rows of numbers, with a prior around the widths of all together;
        no more outputs than pairs.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> from mercer.kernels import Linear
    >>> X = np.random.default_rng(0).standard_normal((60, 4))
    >>> model = DependencyEstimator(Linear(), regressor=RelevantColumns()).fit(X, np.sin(2 * X[:, 1]))
    >>> int(np.argmin(model.widths_))
    1
    """

    encoding: Encoding = field(default_factory=ZScores)
    shape: str = "Gaussian"
    iterations: int = 30
    each: bool = False

    def __post_init__(self) -> None:
        check_choice(self.shape, "shape", tuple(_KERNELS))
        check_whole(self.iterations, "iterations")

    def reason(self) -> str:
        """Return one sentence on how the map was learned."""
        return "a width for each column" + " and output" * self.each + ", by marginal likelihood"

    def fit(self, problem: LearningProblem) -> LearnedRidge | FittedByOutput:
        """Find the widths, and a ridge with them."""
        targets, outputs = problem.require_targets(self), output_features(problem)
        if outputs is None:
            raise ValueError(
                f"widths are found for outputs of at most {_FEATURES} features, and {problem.embedding.kernel_!r} has no such"
            )
        if not problem.kernel.takes_vectors:
            raise ValueError(f"columns have widths, and the inputs are objects for {problem.kernel!r}")
        X = to_numpy(problem.inputs)
        encoding = self.encoding if self.encoding.is_resolved else self.encoding.resolve(X)
        process = Process.of(to_numpy(encoding(X)), outputs, problem.sample_weight, self.shape)
        found, number = process.fit(self.iterations), targets.shape[1]
        if not (self.each and problem.embedding.euclidean and 1 < number <= len(process.rows)):
            fitted = self._ridge(problem, encoding, process.read(found))
            return LearnedRidge(**vars(fitted), learner=self, problem=problem.held())
        maps = []
        for j in range(number):
            own = process.near(found, j)
            alone = replace(problem, targets=targets[:, j : j + 1])
            maps.append(self._ridge(alone, encoding, own.read(own.fit(self.iterations))))
        widths = np.stack([own.attributes["widths_"] for own in maps])
        return FittedByOutput(maps, {"widths_": widths}, self, problem.held())

    def _ridge(
        self, problem: LearningProblem, encoding: Encoding, parameters: tuple[np.ndarray, float, float]
    ) -> FittedRidge:
        """The ridge with the widths, the linear part and the noise that were found."""
        widths, slope, noise = parameters
        kernel: Kernel = Encoded(Projected(encoding, np.diag(1.0 / widths)), _KERNELS[self.shape](1.0))
        kernel = kernel + Scaled(slope, Encoded(encoding, Linear()))
        ridge = replace(problem, kernel=kernel).ridge(problem.require_targets(self), True)
        path = RidgePath.of(ridge, ridge.decomposed(), ridge.basis())
        if problem.embedding.euclidean:
            fitted = best_of_each(path, ridge, Exact())
        else:
            points = to_numpy(path.left_out_points(noise))
            parts = (path.basis, *path.coefficients(noise), ridge, Exact(), noise, {"alpha_": noise}, True, points)
            fitted = FittedRidge(*parts)
        fitted.attributes |= {"widths_": widths}
        return fitted


def output_features(problem: LearningProblem, most: int = _FEATURES) -> np.ndarray | None:
    """Return the outputs in coordinates of their feature space; None if they have none, or more than `most`."""
    if problem.embedding.euclidean:
        return None if problem.targets is None else to_numpy(problem.targets)
    features = problem.embedding.kernel_.feature_map(problem.outputs)
    return None if features is None or features.dimension > most else to_numpy(features(problem.outputs))


@dataclass
class Process:
    """Outputs as draws of a Gaussian process, whose likelihood tells the widths.

    Attributes
    ----------
    rows : array (n, d)
        The inputs.
    targets : array (n, r)
        The outputs, without their mean.
    spread : array (n,)
        The variance of the noise of each pair, in units of their mean.
    shape : str
        The kernel.
    typical : float
        The logarithm of the median distance.
    centre : array (d + 2,)
        The parameters that the search begins with, and a prior is around.
    gaps : array (d, n (n - 1) / 2) or None
        The distances of each two inputs in each column, for the Laplacian kernel.
    deviation : float
        The deviation of the prior.
    """

    rows: np.ndarray
    targets: np.ndarray
    spread: np.ndarray
    shape: str
    typical: float
    centre: np.ndarray
    gaps: np.ndarray | None
    deviation: float = _PRIOR

    @classmethod
    def of(cls, rows: np.ndarray, outputs: np.ndarray, sample_weight: np.ndarray | None, shape: str) -> Process:
        """Take the pairs, or a random choice of many."""
        n, weight = len(rows), np.ones(len(rows)) if sample_weight is None else sample_weight
        if n > _PAIRS:
            some = np.sort(np.random.default_rng(0).choice(n, _PAIRS, replace=False))
            rows, outputs, weight = rows[some], outputs[some], weight[some]
        targets = outputs - np.average(outputs, axis=0, weights=weight)
        if np.sum(targets**2) <= _FLAT * np.sum(outputs**2):
            targets = np.zeros((len(rows), 0))
        elif targets.shape[1] > len(rows):
            left, values, _ = np.linalg.svd(targets, full_matrices=False)
            targets = left * values  # of the same inner products
        median = float(np.median(pdist(rows, _DISTANCES[shape]))) if len(rows) > 1 else 0.0
        gaps = None
        if shape == "Laplacian":
            gaps = np.stack([pdist(column[:, None]) for column in rows.T])
        typical = float(np.log(median or 1.0))
        centre = np.append(np.full(rows.shape[1], typical), [_FIRST, _FIRST])
        return cls(rows, targets, weight.mean() / weight, shape, typical, centre, gaps)

    def near(self, parameters: np.ndarray, j: int) -> Process:
        """Return the draws of output j alone, with a prior around the parameters of all outputs."""
        own = self.targets[:, j : j + 1]
        flat = np.sum(own**2) <= _FLAT * np.sum(self.targets**2)
        return replace(self, targets=own[:, :0] if flat else own, centre=parameters, deviation=_NEAR)

    def fit(self, iterations: int) -> np.ndarray:
        """Return the parameters of largest likelihood: logarithms of widths, of the noise, and of the linear part."""
        if self.targets.shape[1] == 0:
            return self.centre
        bounds = [*([self.typical + _WIDTHS] * self.rows.shape[1]), _NOISE, _SLOPES]
        return minimize(
            self.loss, self.centre, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": iterations}
        ).x

    def read(self, parameters: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Return the widths, the factor of the linear kernel and the variance of the noise."""
        *widths, noise, slope = np.exp(parameters)
        return np.array(widths), float(slope) / len(widths), float(noise)

    def loss(self, parameters: np.ndarray) -> tuple[float, np.ndarray]:
        """Return minus the logarithm of likelihood times prior, for each output and for the best variance, and its gradient."""
        (n, r), (widths, slope, noise) = self.targets.shape, self.read(parameters)
        kernel, linear = self._kernel(widths), slope * (self.rows @ self.rows.T)
        try:
            factor = cho_factor(kernel + linear + np.diag(noise * self.spread), lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            return _FAILED, np.zeros(len(parameters))
        solved, inverse = (cho_solve(factor, right, check_finite=False) for right in (self.targets, np.eye(n)))
        variance = float(np.sum(self.targets * solved)) / (n * r)
        by_matrix = 0.5 * (inverse - solved @ solved.T / (r * variance))
        away = (parameters - self.centre)[:-2] / self.deviation
        value = 0.5 * n * np.log(variance) + float(np.sum(np.log(np.diag(factor[0])))) + 0.5 * float(away @ away)
        gradient = self._by_widths(by_matrix * kernel, widths) + away / self.deviation
        return value, np.append(gradient, [noise * np.diag(by_matrix) @ self.spread, np.sum(by_matrix * linear)])

    def _kernel(self, widths: np.ndarray) -> np.ndarray:
        if self.gaps is not None:
            kernel = squareform(np.exp(-(1.0 / widths) @ self.gaps))
            np.fill_diagonal(kernel, 1.0)
            return kernel
        scaled = self.rows / widths
        return np.exp(-0.5 * cdist(scaled, scaled, "sqeuclidean"))

    def _by_widths(self, weighted: np.ndarray, widths: np.ndarray) -> np.ndarray:
        """The sum of weights times the derivatives of the distances by the logarithms of the widths."""
        if self.gaps is not None:
            return 2.0 * (self.gaps @ squareform(weighted, checks=False)) / widths
        scaled = self.rows / widths
        return 2.0 * (weighted.sum(axis=1) @ scaled**2 - np.sum(scaled * (weighted @ scaled), axis=0))
