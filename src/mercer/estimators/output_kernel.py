"""Output kernel learning."""

from __future__ import annotations

from typing import Any

from mercer.estimators.vectors import VectorEstimator
from mercer.kernels import Gaussian
from mercer.kernels.base import Kernel
from mercer.learners.output_kernel import OutputKernel


class OutputKernelLearning(VectorEstimator):
    r"""Learn the output matrix L of a regression with :math:`K(x, z) = k(x, z)\,L` (Dinuzzo et al. 2011).

    .. math:: \min_{L \succeq 0,\, C}\; \frac{1}{2\alpha}\|Y - K C L\|_F^2 + \frac12\langle C^\top K C, L\rangle
        + \frac12\|L\|_F^2, \qquad f(x) = k_x C L

    Parameters
    ----------
    kernel : Kernel, default=Gaussian(scale="median")
        Similarity of inputs.
    alpha : float, "loo" or LeaveOneOut(alphas), default="loo"
        λ of the paper. "loo" chooses it by leave-one-out, exact with L held at its fit on all pairs.
    max_iter : int, default=1000
        Most steps; 0 leaves L a multiple of the identity, which is ridge regression output by output.
    tol : float, default=1e-9
        Stop when a step lowers the objective by at most this share of it.
    fit_intercept : bool, default=True
        True for a mean that is not penalised.

    Attributes
    ----------
    output_matrix_ : array (p, p)
        L, symmetric and positive semi-definite.
    dual_coef_ : array (n, p)
        C, the solution of :math:`K C L + \alpha C = Y`.
    objective_path_, n_iter_ : array, int
        The objective at the start and after every step, which never rises, and the number of steps.
    gap_ : float
        A bound on the distance of the objective from its least value.
    kernel_ : Kernel
        The kernel with everything that depends on data fixed.
    alpha_, alphas_, loo_path_ : float, array, array
        The alpha in use, those tried, and the leave-one-out mean squared error of each (summed over outputs).

    Notes
    -----
    The problem is convex in :math:`F = C L`, so L does not depend on the start. Block coordinate descent has closed steps: the
    Sylvester equation above for F, and :math:`L^3 = \frac12 F^\top K F` for L. At the best C the objective is 1-strongly convex
    in L with gradient :math:`L - \frac12 C^\top K C`, half of whose squared norm is `gap_`. L is zero outside the span of the
    outputs, so the cost of a step grows with min(n, p)² and not with p².

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

    learner_type = OutputKernel

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
