"""Output kernel learning."""

from __future__ import annotations

from typing import Any

from mercer.estimators.vectors import VectorEstimator
from mercer.kernels import Gaussian
from mercer.kernels.base import Kernel
from mercer.learners.output_kernel import OutputKernel


class OutputKernelLearning(VectorEstimator):
    r"""Learn how outputs belong together, a matrix L, while regressing with :math:`K(x, z) = k(x, z)\,L` (Dinuzzo et al. 2011).

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
        Stop when a step lowers the objective by no more than this share of it.
    fit_intercept : bool, default=True
        Whether the regression has a mean that is not penalised.

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
        The alpha in use, those tried, and the leave-one-out mean squared error of each (summed over outputs).

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
