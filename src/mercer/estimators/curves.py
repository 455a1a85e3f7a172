"""Ridge regression for outputs that are curves on a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mercer.estimators.vectors import VectorEstimator
from mercer.kernels import Gaussian
from mercer.kernels.base import Kernel
from mercer.learners.curves import SmoothedCurves


class CurveRidge(VectorEstimator):
    r"""Predict curves, with an operator that smooths over their grid and a mean curve that is not penalised.

    .. math:: \min_{h, b} \sum_i \|h(x_i) + b - y_i\|^2_{L^2} + \alpha \|h\|_K^2, \qquad
        K(x, z) = k(x, z)\, T_\ell, \qquad (T_\ell f)(s) = \int e^{-|s - t| / \ell} f(t)\, dt

    Integrals are sums over the grid with trapezoidal weights. The length ℓ and α have the least leave-one-out error, exact for
    the kernel k.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian(scale="median")
        k, the similarity of inputs.
    grid : array (p,), optional
        Points at which the curves are observed, ascending; by default 0, 1, …, p − 1.
    lengths : sequence of float, optional
        The ℓ to choose from, in the units of the grid; 0 learns the points of the curve one by one. By default 0 and the
        width of the grid (or the period) divided by 2, 4, …, 64.
    period : float, optional
        The period of closed curves, such as 365 for days of the year.
    alpha : float, "loo" or LeaveOneOut(alphas), default="loo"
        The weight of the norm, for operators of mean eigenvalue one; "loo" chooses between 1e-4 and 1e2 times the mean of
        k(x, x), together with the length.
    fit_intercept : bool, default=True
        True for a mean curve that is not penalised.

    Attributes
    ----------
    length_, alpha_ : float
        The values chosen.
    lengths_, alphas_, loo_path_ : array
        The values tried, and the leave-one-out mean squared error in L² of each length (row) and alpha (column).
    kernel_ : Kernel
        The kernel with everything that depends on data fixed.

    Notes
    -----
    Each eigenvector of the weighted matrix W^½ T W^½ has a ridge regression of its own, all on the same eigenvectors of k, so
    that all lengths and values of alpha cost little more than one.

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

    learner_type = SmoothedCurves

    def __init__(  # noqa: PLR0913
        self,
        kernel: Kernel = Gaussian(scale="median"),  # noqa: B008 - kernels are values; fit never changes them
        grid: Any = None,
        lengths: Sequence[float] | None = None,
        period: float | None = None,
        alpha: Any = "loo",
        fit_intercept: bool = True,
    ) -> None:
        self.kernel = kernel
        self.grid = grid
        self.lengths = lengths
        self.period = period
        self.alpha = alpha
        self.fit_intercept = fit_intercept
