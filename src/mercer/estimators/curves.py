"""Ridge regression for outputs that are curves on a grid."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted

from mercer.core import memory
from mercer.core.arrays import to_numpy
from mercer.estimators.data import check_inputs, check_lengths, listed
from mercer.estimators.values import ValueParameters
from mercer.kernels import Gaussian
from mercer.kernels.base import Kernel
from mercer.operators.smoothing import check_grid, quadrature_weights, smoothing_matrix
from mercer.solvers.gram import check_gram


class CurveRidge(RegressorMixin, MultiOutputMixin, ValueParameters):
    r"""Predict curves, with an operator that smooths over their grid and a mean curve that is not penalised.

    .. math:: \min_{h, b} \sum_i \|h(x_i) + b - y_i\|^2_{L^2} + \alpha \|h\|_K^2, \qquad
        K(x, z) = k(x, z)\, T_\ell, \qquad (T_\ell f)(s) = \int e^{-|s - t| / \ell} f(t)\, dt

    Integrals are sums over the grid with trapezoidal weights. The length ℓ and the ridge α have the least leave-one-out
    error, exact with k as it is: it equals refitting n times, mean curve included.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian(scale="median")
        k, the similarity of inputs.
    grid : array (p,), optional
        Where the curves are observed, ascending; by default 0, 1, …, p − 1.
    lengths : sequence of float, optional
        The ℓ to choose from, in the units of the grid; 0 learns the points of the curve one by one. By default 0 and the
        width of the grid (or the period) divided by 2, 4, …, 64.
    period : float, optional
        Where the curves close, such as 365 for days of the year.
    alphas : sequence of float, optional
        The ridges to choose from, for operators of mean eigenvalue one; by default from 1e-4 to 1e2 times the mean of k(x, x).

    Attributes
    ----------
    length_, alpha_ : float
        What was chosen.
    lengths_, alphas_, loo_path_ : array
        What was tried, and the leave-one-out mean squared error in L² of each length (row) and ridge (column).
    kernel_ : Kernel
        The kernel with what depends on data filled in.

    Notes
    -----
    In the eigenvectors of the weighted matrix W^½ T W^½ each direction is a ridge regression of its own, on the same
    eigenvectors of k: all lengths and ridges together cost little more than one.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> times, X = np.linspace(0, 1, 50), rng.standard_normal((20, 1))
    >>> curves = X * np.sin(6 * times)
    >>> model = CurveRidge(grid=times).fit(X, curves + rng.standard_normal((20, 50)))
    >>> alone = CurveRidge(grid=times, lengths=[0.0]).fit(X, curves + rng.standard_normal((20, 50)))
    >>> bool(model.length_ > 0), bool(np.std(model.predict(X) - curves) < np.std(alone.predict(X) - curves))
    (True, True)
    """

    def __init__(
        self,
        kernel: Kernel = Gaussian(scale="median"),  # noqa: B008 - kernels are values; fit never changes them
        grid: Any = None,
        lengths: Sequence[float] | None = None,
        period: float | None = None,
        alphas: Sequence[float] | None = None,
    ) -> None:
        self.kernel = kernel
        self.grid = grid
        self.lengths = lengths
        self.period = period
        self.alphas = alphas

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from inputs and their curves, (n, p)."""
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel={self.kernel!r:.60}; expected a kernel such as mercer.kernels.Gaussian()")
        inputs = check_inputs(self, listed(X), self.kernel, reset=True)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        outputs = check_array(listed(y), dtype=np.float64, ensure_2d=False, input_name="y")
        column = outputs.ndim == 1
        outputs = outputs.reshape(len(outputs), -1)
        check_lengths(inputs, outputs)
        n, p = outputs.shape
        if n < 2:
            raise ValueError(f"y has {n} sample; expected at least 2, to leave one out")
        points = check_grid(np.arange(float(p)) if self.grid is None else self.grid, self.period)
        if len(points) != p:
            raise ValueError(f"y has {p} columns and grid has {len(points)} points; expected as many of each")
        kernel = self.kernel.resolve(inputs)
        memory.require(n, n, 4.0, "the fit", "fit on fewer curves")
        gram = to_numpy(kernel(inputs))
        check_gram(gram, kernel, "input")
        lengths, alphas = self._grids(points, float(np.trace(gram)) / n)
        values, vectors = np.linalg.eigh(gram)
        values = np.maximum(values, 0.0)
        # the mean is taken off for the sake of rounding; the intercept makes up for it exactly
        mean = outputs.mean(axis=0)
        path = np.empty((len(lengths), len(alphas)))
        for i, length in enumerate(lengths):
            roots, gains, turn = _directions(tuple(points), float(length), self.period)
            rotated = vectors.T @ ((outputs - mean) * roots @ turn)
            for j, alpha in enumerate(alphas):
                path[i, j] = np.sum(_Directions(values, vectors, rotated, gains, alpha).leave_one_out() ** 2) / n
        # of equals the largest ridge
        best, last = divmod(int(np.argmin(path[:, ::-1])), len(alphas))
        chosen = len(alphas) - 1 - last
        roots, gains, turn = _directions(tuple(points), float(lengths[best]), self.period)
        solved = _Directions(
            values, vectors, vectors.T @ ((outputs - mean) * roots @ turn), gains, float(alphas[chosen])
        )
        self.length_, self.alpha_ = float(lengths[best]), float(alphas[chosen])
        self.lengths_, self.alphas_, self.loo_path_ = lengths, alphas, path
        self.kernel_, self._inputs, self._column = kernel, inputs, column
        self.dual_coef_ = (solved.coefficients * gains) @ turn.T / roots
        self.intercept_ = mean + solved.intercept @ turn.T / roots
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The curve predicted for each input."""
        check_is_fitted(self, "kernel_")
        inputs = check_inputs(self, listed(X), self.kernel_, reset=False)
        predicted = to_numpy(self.kernel_(inputs, self._inputs)) @ self.dual_coef_ + self.intercept_
        return predicted[:, 0] if self._column else predicted

    def _grids(self, points: np.ndarray, diagonal: float) -> tuple[np.ndarray, np.ndarray]:
        width = points[-1] - points[0] if self.period is None else self.period
        default = np.append(0.0, width / 2.0 ** np.arange(6, 0, -1)) if width > 0 else np.zeros(1)
        lengths = default if self.lengths is None else np.asarray(self.lengths, dtype=float)
        alphas = np.logspace(-4, 2, 13) * (diagonal or 1.0) if self.alphas is None else np.asarray(self.alphas, float)
        for name, grid, least in (("lengths", lengths, "zero or more"), ("alphas", alphas, "above zero")):
            fits = grid.ndim == 1 and len(grid) > 0 and np.all(np.isfinite(grid)) and np.all(grid >= 0)
            if not fits or (name == "alphas" and np.any(grid == 0)):
                raise ValueError(f"{name}={getattr(self, name)!r:.60}; expected a list of finite numbers, {least}")
        return lengths, np.sort(alphas)

    def __sklearn_tags__(self) -> Tags:
        """Tags that follow the kernel of the inputs."""
        tags = super().__sklearn_tags__()
        known = isinstance(self.kernel, Kernel)
        tags.input_tags.pairwise = known and self.kernel.pairwise
        tags.input_tags.two_d_array = known and (self.kernel.takes_vectors or self.kernel.pairwise)
        tags.input_tags.string = not tags.input_tags.two_d_array
        return tags


class _Directions:
    """A ridge regression with an intercept in each direction: (c_d k + αI) a_d + 1 b_d = y_d with 1ᵀ a_d = 0."""

    def __init__(
        self, values: np.ndarray, vectors: np.ndarray, rotated: np.ndarray, gains: np.ndarray, alpha: float
    ) -> None:
        self.vectors = vectors
        self.inverse = 1.0 / (values[:, None] * gains + alpha)
        ones = vectors.sum(axis=0)[:, None]
        self.of_ones = vectors @ (ones * self.inverse)
        self.total = np.sum(ones**2 * self.inverse, axis=0)
        self.intercept = np.sum(ones * self.inverse * rotated, axis=0) / self.total
        self.coefficients = vectors @ (self.inverse * rotated) - self.of_ones * self.intercept

    def leave_one_out(self) -> np.ndarray:
        """The residual of each sample without it, (n, p): aᵢ over the diagonal of what takes y to a."""
        return self.coefficients / (self.vectors**2 @ self.inverse - self.of_ones**2 / self.total)


@lru_cache(maxsize=16)
def _directions(
    points: tuple[float, ...], length: float, period: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Roots of the quadrature weights, and eigenvalues (of mean one) and eigenvectors of W^½ T W^½."""
    roots = np.sqrt(quadrature_weights(points, period))
    if length == 0:
        return roots, np.ones(len(points)), np.eye(len(points))
    values, vectors = np.linalg.eigh(roots[:, None] * smoothing_matrix(points, length, period) * roots)
    values = np.maximum(values, 0.0)
    return roots, values / values.mean(), vectors
