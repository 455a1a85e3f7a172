"""Ridge regression with an operator-valued kernel."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted

from mercer.core.arrays import Array, float64, is_array, is_numpy_array, namespace, to_numpy
from mercer.core.collections import Collection, reject_non_collection, take
from mercer.estimators.block_ridge import BlockRidge
from mercer.estimators.data import check_inputs, check_lengths
from mercer.operators.separable import Separable
from mercer.operators.valued import OperatorValuedKernel
from mercer.selection.ridge import LeaveOneOut, ridge_selection


class OperatorValuedRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Vector-valued kernel ridge regression, for any operator-valued kernel and outputs that may be missing.

    .. math:: \min_h \sum_i \|h(x_i) - y_i\|^2 + \alpha \|h\|_K^2, \qquad h(x) = \sum_j K(x, x_j)\, c_j, \qquad
        (\mathbf{K} + \alpha I)\,c = y

    How the system is solved follows from the kernel; nothing of size np×np is ever formed.

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

    Two terms whose matrices do not commute cannot be diagonalised together: the ridge αI is a third term, and the basis
    that takes :math:`T_1` and :math:`T_2` apart is then not orthogonal and leaves it coupled.

    Parameters
    ----------
    kernel : OperatorValuedKernel, default=Separable()
        K. The default learns outputs one by one, with a Gaussian kernel at the median distance.
    alpha : float, "loo" or LeaveOneOut(alphas), default=1.0
        The ridge of the sum of squares; "loo" chooses it by exact leave-one-out of whole samples.
    solver : {"auto", "exact", "cg"}, default="auto"
        "exact" refuses to iterate, "cg" always does.
    tol : float, default=1e-10
        The relative residual an iteration stops at.
    max_iter : int, default=1000
        Most products an iteration takes.

    Attributes
    ----------
    kernel_ : OperatorValuedKernel
        The kernel with what depends on data filled in.
    dual_coef_ : array (n, p)
        The cⱼ, for the training inputs that have at least one output.
    alpha_ : float
        The ridge in use.
    alphas_, loo_path_ : array or None
        The ridges tried, and the mean squared leave-one-out error of each (summed over outputs).
    n_iter_ : int
        Steps of the iteration (a preconditioner's own products not counted); 1 where the system was solved directly.
    residual_ : float
        The relative residual of the iteration; 0.0 where there was none.
    reasons_ : dict
        Why the system was solved as it was.

    Notes
    -----
    NaN in y is a missing output: the rest of its row is learned from, and related outputs help to fill it in. A row
    without any output is left out. An output that is never observed is an error.

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

    def __init__(
        self,
        kernel: OperatorValuedKernel = Separable(),  # noqa: B008 - kernels are values; fit never changes them
        alpha: Any = 1.0,
        solver: str = "auto",
        tol: float = 1e-10,
        max_iter: int = 1000,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from inputs and rows of outputs, some of which may be missing (NaN).

        Parameters
        ----------
        X : collection of n inputs
            As the scalar kernels take them.
        y : array (n, p) or (n,)
            Outputs.
        """
        self._check_arguments()
        rule = self._rule()
        source: Any = self.kernel  # says what inputs may be, as a scalar kernel does
        noted = copy(self)  # a fit that fails leaves the estimator as it was
        inputs = check_inputs(noted, _collection(X), source, reset=True)
        Y, observed, flat = check_targets(y)
        check_lengths(inputs, Y)
        inputs, Y, observed, kept = self._with_outputs(inputs, Y, observed)
        kernel = self.kernel.resolve(inputs, Y.shape[1])
        ridge = BlockRidge(kernel, inputs, Y, observed, self.solver, self.tol, self.max_iter)
        alphas = path = None
        alpha = self.alpha
        if rule is not None:
            alphas = ridge.grid(rule)
            path = np.asarray([np.mean(to_numpy(risk)) for risk in ridge.leave_one_out_risks(alphas.tolist())])
            alpha = np.max(alphas[path == path.min()])
        self.alpha_, self.alphas_, self.loo_path_ = float(alpha), alphas, path
        self._map = ridge.solve(self.alpha_)
        self.dual_coef_ = self._map.dual
        found = ridge.system.solution
        self.n_iter_ = 1 if found is None else found.iterations
        self.residual_ = 0.0 if found is None else found.residual
        self.reasons_ = {"solver": ridge.system.reason}
        self._kept, self._flat = kept, flat
        self.kernel_ = kernel
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(noted, name):
                setattr(self, name, getattr(noted, name))
            elif hasattr(self, name):
                delattr(self, name)
        return self

    def predict(self, X: Any) -> Array:
        """h(x) for each input, (n, p), or (n,) where `fit` was given a plain column."""
        check_is_fitted(self, "kernel_")
        source: Any = self.kernel_
        inputs = check_inputs(self, _collection(X), source, reset=False)
        if self._kept is not None and self.kernel_.pairwise:
            inputs = take(inputs.T, self._kept).T
        predicted = self._map(inputs)
        return predicted[:, 0] if self._flat else predicted

    # -- pieces -------------------------------------------------------------------------------------

    def _with_outputs(
        self, inputs: Collection, Y: Array, observed: np.ndarray | None
    ) -> tuple[Collection, Array, np.ndarray | None, np.ndarray | None]:
        """Without the rows that have no output at all; missing entries of the others are zero."""
        if observed is None:
            return inputs, Y, None, None
        kept = np.flatnonzero(observed.any(axis=1))
        if len(kept) == observed.shape[0]:
            return inputs, Y, observed, None
        inputs = take(inputs, kept)
        if self.kernel.pairwise:
            inputs = take(inputs.T, kept).T
        observed = observed[kept]
        return inputs, take(Y, kept), None if observed.all() else observed, kept

    def _rule(self) -> LeaveOneOut | None:
        rule = ridge_selection(self.alpha)
        if rule is None or isinstance(rule, LeaveOneOut):
            return rule
        raise ValueError(
            f"alpha={self.alpha!r}; expected a positive number, 'loo' or LeaveOneOut(alphas=...). For folds use GridSearchCV"
        )

    def _check_arguments(self) -> None:
        if not isinstance(self.kernel, OperatorValuedKernel):
            raise TypeError(
                f"kernel={self.kernel!r:.60}; expected an operator-valued kernel such as mercer.operators.Separable(kernel, T)"
            )
        if self.solver not in ("auto", "exact", "cg"):
            raise ValueError(f"solver={self.solver!r}; expected 'auto', 'exact' or 'cg'")
        if not 0 < self.tol < 1:
            raise ValueError(f"tol={self.tol!r}; expected a number between 0 and 1")
        if isinstance(self.max_iter, bool) or int(self.max_iter) != self.max_iter or self.max_iter < 1:
            raise ValueError(f"max_iter={self.max_iter!r}; expected a positive whole number")

    def __sklearn_tags__(self) -> Tags:
        """Tags that follow the kernel."""
        tags = super().__sklearn_tags__()
        known = isinstance(self.kernel, OperatorValuedKernel)
        tags.input_tags.pairwise = known and self.kernel.pairwise
        tags.input_tags.two_d_array = known and (self.kernel.takes_vectors or self.kernel.pairwise)
        tags.input_tags.string = not tags.input_tags.two_d_array
        return tags


def check_targets(y: Any) -> tuple[Array, np.ndarray | None, bool]:
    """Targets as (n, p) doubles with zeros where they are missing, which ones are there, and whether y was a plain column."""
    if y is None:
        raise ValueError("OperatorValuedRidge requires y to be passed, but the target y is None")
    y = _collection(y)
    reject_non_collection(y, "y")
    if not is_array(y) or is_numpy_array(y):
        y = check_array(y, ensure_2d=False, dtype=np.float64, ensure_all_finite="allow-nan", input_name="y")
    xp = namespace(y)
    y = float64(y)
    if y.ndim not in (1, 2):
        raise ValueError(f"y has shape {tuple(y.shape)}; expected one row of outputs for each input")
    if bool(xp.any(xp.isinf(y))):
        raise ValueError("Input y contains infinity or a value too large for dtype('float64')")
    flat = y.ndim == 1
    y = xp.reshape(y, (-1, 1)) if flat else y
    missing = xp.isnan(y)
    if not bool(xp.any(missing)):
        return y, None, flat
    observed = ~to_numpy(missing)
    if not observed.any():
        raise ValueError("y is missing (NaN) everywhere; expected at least one observed value for each output")
    never = np.flatnonzero(~observed.any(axis=0))
    if len(never):
        raise ValueError(
            f"column {never[0]} of y is missing (NaN) in every row{_and_more(len(never))}; expected at least one observed value "
            "for each output. Drop such columns"
        )
    return xp.where(missing, xp.zeros_like(y), y), observed, flat


def _collection(values: Any) -> Any:
    """What only offers itself as an array, as one."""
    return np.asarray(values) if hasattr(values, "__array__") and not hasattr(values, "__iter__") else values


def _and_more(columns: int) -> str:
    return "" if columns == 1 else f" (and {columns - 1} more)"
