"""Output kernel learning: the matrix of a separable kernel, learned together with the regression."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.linalg
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted

from mercer.core import memory
from mercer.core.arrays import clip_spectrum, eigh, to_numpy
from mercer.core.collections import Collection, count
from mercer.estimators.data import check_inputs, check_lengths, listed
from mercer.estimators.values import ValueParameters
from mercer.kernels import Gaussian
from mercer.kernels.base import Kernel
from mercer.kernels.grams import own
from mercer.selection.ridge import LeaveOneOut, ridge_selection
from mercer.solvers.gram import check_gram


class OutputKernelLearning(RegressorMixin, MultiOutputMixin, ValueParameters):
    r"""Learn how outputs belong together, a matrix L, while regressing with :math:`K(x, z) = k(x, z)\,L` (Dinuzzo et al. 2011).

    .. math:: \min_{L \succeq 0,\, C}\; \frac{1}{2\alpha}\|Y - K C L\|_F^2 + \frac12\langle C^\top K C, L\rangle
        + \frac12\|L\|_F^2, \qquad f(x) = k_x C L

    Parameters
    ----------
    kernel : Kernel, default=Gaussian(scale="median")
        Similarity of inputs.
    alpha : float, "loo" or LeaveOneOut(alphas), default="loo"
        λ of the paper. "loo" chooses it by leave-one-out, exact with L and the mean output held at their fit on all pairs.
    max_iter : int, default=1000
        Most steps; 0 leaves L a multiple of the identity, which is ridge regression output by output.
    tol : float, default=1e-9
        Stop when a step lowers the objective by no more than this share of it.
    fit_intercept : bool, default=True
        Regress around the mean output.

    Attributes
    ----------
    output_matrix_ : array (p, p)
        L, symmetric and positive semi-definite.
    dual_coef_ : array (n, p)
        C, the solution of :math:`K C L + \alpha C = Y`.
    objective_path_ : array
        The objective at the start and after every step; it never rises.
    gap_ : float
        How far the objective can be above its least value.
    n_iter_ : int
        Steps taken.
    kernel_ : Kernel
        The kernel with what depends on data filled in.
    alpha_, alphas_, loo_path_ : float, array, array
        The ridge, those tried, and the leave-one-out mean squared error of each (summed over outputs).

    Notes
    -----
    In the values :math:`F = C L` the problem is convex, so there is one L, whatever the start. Block coordinate descent on
    F and L has closed steps: the Sylvester equation above for F, and :math:`L^3 = \frac12 F^\top K F` for L, which is positive
    semi-definite as it stands. With C at its best, the objective is 1-strongly convex in L with gradient
    :math:`L - \frac12 C^\top K C`, half of whose squared norm bounds what is left to gain (`gap_`; often far less is). L is zero
    outside the span of the outputs, so what a step costs grows with min(n, p)² and not with p².

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 3, 20)[:, None]
    >>> Y = np.hstack([np.sin(X), 2 * np.sin(X), np.cos(3 * X)])
    >>> model = OutputKernelLearning(alpha=0.01).fit(X, Y)
    >>> L = model.output_matrix_
    >>> bool(np.isclose(L[0, 1] / np.sqrt(L[0, 0] * L[1, 1]), 1.0)), model.predict(X[:2]).shape
    (True, (2, 3))
    """

    def __init__(
        self,
        kernel: Kernel = Gaussian(scale="median"),  # noqa: B008 - kernels are values; fit never changes them
        alpha: Any = "loo",
        max_iter: int = 1000,
        tol: float = 1e-9,
        fit_intercept: bool = True,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> Self:
        """Learn L and the regression from inputs and rows of outputs, (n, p) or (n,)."""
        rule = self._check_parameters()
        noted = copy(self)  # a fit that fails leaves the estimator as it was
        inputs = check_inputs(noted, listed(X), self.kernel, reset=True)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        outputs = check_array(listed(y), dtype=np.float64, ensure_2d=False, input_name="y")
        column = outputs.ndim == 1
        outputs = outputs.reshape(len(outputs), -1)
        check_lengths(inputs, outputs)
        kernel = self.kernel.resolve(inputs)
        values, vectors = self._spectrum(kernel, inputs)
        mean = outputs.mean(axis=0) if self.fit_intercept else np.zeros(outputs.shape[1])
        # outside the span of the outputs L and C are zero
        left, lengths, span = scipy.linalg.svd(outputs - mean, full_matrices=False)
        targets = vectors.T @ (left * lengths)
        diagonal = max(float(values.sum()) / len(values), np.finfo(float).tiny)
        start = float(np.cbrt(0.5 * lengths[0] ** 2 / diagonal))
        alphas = path = None
        if rule is None:
            alpha = float(self.alpha)
            found = learn_gains(values, targets, alpha, start, self.max_iter, self.tol)
        else:
            alphas = np.logspace(-8, 2, 21) * (diagonal * start or 1.0)
            if rule.alphas is not None:
                alphas = rule.grid(None)  # type: ignore[arg-type]  # the grid given, checked
            tried = [learn_gains(values, targets, float(each), start, self.max_iter, self.tol) for each in alphas]
            path = np.asarray([each.leave_one_out(values, vectors, a) for each, a in zip(tried, alphas, strict=True)])
            best = max(np.flatnonzero(path == path.min()), key=lambda i: alphas[i])
            alpha, found = float(alphas[best]), tried[best]
        if not found.converged and self.max_iter > 0:
            warnings.warn(
                f"output kernel learning stopped after {self.max_iter} steps, the last of which lowered the objective by "
                f"{1 - found.path[-1] / found.path[-2]:.2g} of it (tol={self.tol:g}); raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        directions = span.T @ found.directions
        self.alpha_, self.alphas_, self.loo_path_ = alpha, alphas, path
        self.output_matrix_ = (directions * found.gains) @ directions.T
        self.dual_coef_ = vectors @ found.coefficients @ directions.T
        self.objective_path_, self.gap_, self.n_iter_ = found.path, found.gap, len(found.path) - 1
        self._weights = vectors @ (found.coefficients * found.gains) @ directions.T
        self._mean, self._column, self._inputs = mean, column, inputs
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(noted, name):
                setattr(self, name, getattr(noted, name))
            elif hasattr(self, name):
                delattr(self, name)
        self.kernel_ = kernel
        return self

    def predict(self, X: Any) -> np.ndarray:
        """f(x) for each input, (n, p), or (n,) where `fit` was given a plain column."""
        check_is_fitted(self, "kernel_")
        inputs = check_inputs(self, listed(X), self.kernel_, reset=False)
        predicted = to_numpy(self.kernel_(inputs, self._inputs)) @ self._weights + self._mean
        return predicted[:, 0] if self._column else predicted

    def _spectrum(self, kernel: Kernel, inputs: Collection) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of the input Gram matrix."""
        memory.require(count(inputs), count(inputs), 4.0, "the fit", "fit on fewer pairs")
        gram = kernel(inputs)
        check_gram(gram, kernel, "input", decomposed=True)
        values, vectors = eigh(to_numpy(own(gram, kernel)))
        return clip_spectrum(values, f"the Gram matrix of the input kernel {kernel!r}"), vectors

    def _check_parameters(self) -> LeaveOneOut | None:
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel={self.kernel!r:.60}; expected a kernel such as mercer.kernels.Gaussian()")
        rule = ridge_selection(self.alpha)
        if rule is not None and not isinstance(rule, LeaveOneOut):
            raise ValueError(
                f"alpha={self.alpha!r}; expected a positive number, 'loo' or LeaveOneOut(alphas=...). For folds use GridSearchCV"
            )
        if isinstance(self.max_iter, bool) or not isinstance(self.max_iter, int | np.integer) or self.max_iter < 0:
            raise ValueError(f"max_iter={self.max_iter!r}; expected a whole number, 0 or more")
        if not isinstance(self.tol, Real) or not 0 < float(self.tol) < 1:
            raise ValueError(f"tol={self.tol!r}; expected a number between 0 and 1")
        return rule

    def __sklearn_tags__(self) -> Tags:
        """Tags that follow the kernel."""
        tags = super().__sklearn_tags__()
        known = isinstance(self.kernel, Kernel)
        tags.input_tags.pairwise = known and self.kernel.pairwise
        tags.input_tags.two_d_array = known and (self.kernel.takes_vectors or self.kernel.pairwise)
        tags.input_tags.string = not tags.input_tags.two_d_array
        return tags


@dataclass
class Gains:
    """A learned L = Q diag(gains) Qᵀ, and the coefficients that go with it, Uᵀ C Q."""

    directions: np.ndarray
    """Q, in the coordinates the targets came in."""
    gains: np.ndarray
    coefficients: np.ndarray
    path: np.ndarray
    gap: float
    converged: bool

    def leave_one_out(self, values: np.ndarray, vectors: np.ndarray, alpha: float) -> float:
        """Mean squared error of each sample without it, L held fixed: cᵢ / ((l k + αI)⁻¹)ᵢᵢ in each direction."""
        diagonal = vectors**2 @ (1.0 / (values[:, None] * self.gains + alpha))
        return float(np.sum((vectors @ self.coefficients / diagonal) ** 2)) / len(vectors)


def learn_gains(
    values: np.ndarray, targets: np.ndarray, alpha: float, start: float, max_iter: int, tol: float
) -> Gains:
    """Block coordinate descent from L = `start`·I.

    Parameters
    ----------
    values : array (n,)
        Eigenvalues of K = U diag(values) Uᵀ.
    targets : array (n, q)
        Uᵀ Y, at most as many columns as rows.
    alpha, start : float
        λ, and the first L.
    max_iter, tol : int, float
        When to stop.
    """
    directions, gains = np.eye(targets.shape[1]), np.full(targets.shape[1], start)
    roots, path = np.sqrt(values)[:, None], []
    while True:
        rotated = targets @ directions
        # in the eigenvectors of K and of L, K C L + αC = Y is a division
        coefficients = rotated / (values[:, None] * gains + alpha)
        path.append(0.5 * float(np.sum(rotated * coefficients)) + 0.5 * float(gains @ gains))
        half = roots * coefficients
        converged = len(path) > 1 and path[-2] - path[-1] <= tol * path[-2]
        if converged or len(path) > max_iter:
            gap = 0.5 * float(np.sum((np.diag(gains) - 0.5 * half.T @ half) ** 2))
            return Gains(directions, gains, coefficients, np.asarray(path), gap, converged)
        # L³ = ½ Fᵀ K F; singular values of K^½ F keep small gains that the eigenvalues of the square would lose
        _, singular, turn = scipy.linalg.svd(half * gains / np.sqrt(2.0), full_matrices=False)
        directions, gains = directions @ turn.T, np.cbrt(singular**2)
