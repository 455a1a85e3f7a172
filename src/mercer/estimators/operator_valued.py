"""Ridge regression with an operator-valued kernel."""

from __future__ import annotations

from typing import Any

from mercer.core.validation import check_choice, check_instance, check_real, check_whole
from mercer.estimators.vectors import VectorEstimator
from mercer.learners.ridge import Ridge
from mercer.operators.separable import Separable
from mercer.operators.valued import OperatorValuedKernel
from mercer.selection.alpha import leave_one_out_only
from mercer.solvers.base import REGISTERED, Auto, Solver
from mercer.solvers.structured import Structured


class OperatorValuedRidge(VectorEstimator):
    r"""Vector-valued kernel ridge regression, for any operator-valued kernel and outputs that may be missing.

    .. math:: \min_{h, b} \sum_i \|h(x_i) + b - y_i\|^2 + \alpha \|h\|_K^2, \qquad h(x) = \sum_j K(x, x_j)\, c_j

    The solver follows from the kernel; nothing of size np×np is formed.

    ==========================================================  =================================================
    kernel                                                      solved by
    ==========================================================  =================================================
    one separable term                                          eigenvectors of k and of T, exact, leave-one-out
    the same, fewer features than samples                       m×m in place of n×n, exact, leave-one-out
    two terms, :math:`T_2 = \mu I + \nu T_1` (or exchanged)     one matrix pencil, exact, leave-one-out
    terms whose T commute                                       a Cholesky factor per direction, exact, leave-one-out
    terms whose Gram matrices commute                           a p×p system per eigenvector, exact, leave-one-out
    finite features (entangled, partial trace, transforms)      r coefficients, exact, leave-one-out
    anything else; T not diagonal with missing outputs          preconditioned conjugate gradients, to `tol`
    ==========================================================  =================================================

    Parameters
    ----------
    kernel : OperatorValuedKernel, default=Separable()
        K. The default learns outputs one by one, with a Gaussian kernel at the median distance.
    alpha : float, "loo" or LeaveOneOut(alphas), default="loo"
        The weight of the norm; "loo" chooses it by exact leave-one-out of whole samples, or by five folds for iterations.
    solver : {"auto", "exact", "cg"} or Solver, default="auto"
        "exact" refuses to iterate, "cg" always does.
    tol : float, default=1e-10
        The relative residual an iteration stops at.
    max_iter : int, default=1000
        Most products an iteration takes.
    fit_intercept : bool, default=True
        True for a mean b of each output that is not penalised.

    Attributes
    ----------
    kernel_ : OperatorValuedKernel
        The kernel with everything that depends on data fixed.
    dual_coef_ : array (n, p)
        The cⱼ, for the training inputs that have at least one output.
    intercept_ : array (p,)
        b; zeros without an intercept.
    alpha_, alphas_, loo_path_ : float, array, array
        The alpha in use, those tried, and the mean squared leave-one-out error of each (summed over outputs).
    n_iter_, residual_ : int, float
        Steps of the iteration, and its relative residual; 1 and 0.0 for a direct solution.
    reasons_ : dict
        The reason for the solver.

    Notes
    -----
    NaN in y is a missing output: the rest of its row is learned from, and related outputs help to predict it. A row without
    any output is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.operators import Separable
    >>> X = np.linspace(0, 3, 20)[:, None]
    >>> Y = np.hstack([np.sin(X), np.sin(X) + 0.1])
    >>> Y[5:15, 1] = np.nan  # the second output is missing where the first is not
    >>> related = Separable(Gaussian(1.0), [[1.0, 0.99], [0.99, 1.0]])
    >>> model = OperatorValuedRidge(related, alpha=1e-4).fit(X, Y)
    >>> bool(abs(model.predict([[1.5]])[0, 1] - np.sin(1.5) - 0.1) < 0.02)
    True
    """

    handles_missing = True

    def __init__(  # noqa: PLR0913
        self,
        kernel: OperatorValuedKernel = Separable(),  # noqa: B008 - kernels are values; fit never changes them
        alpha: Any = "loo",
        solver: Any = "auto",
        tol: float = 1e-10,
        max_iter: int = 1000,
        fit_intercept: bool = True,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept

    def learner(self) -> Ridge:
        """Return the ridge with this operator."""
        expected = "an operator-valued kernel such as mercer.operators.Separable(kernel, T)"
        kernel = check_instance(self.kernel, "kernel", OperatorValuedKernel, expected=expected)
        leave_one_out_only(self.alpha)
        check_real(self.tol, "tol", 0, 1, expected="a number between 0 and 1")
        check_whole(self.max_iter, "max_iter")
        solver = self.solver
        if not isinstance(solver, Solver):
            method = check_choice(solver, "solver", ("auto", "exact", "cg"))
            structured = Structured(self.tol, self.max_iter, method)
            asked = [structured if type(solver) is Structured else solver for solver in REGISTERED]
            solver = structured if method == "cg" else Auto(asked)
        return Ridge(kernel, self.alpha, solver, self.fit_intercept, keep_dual=True)
