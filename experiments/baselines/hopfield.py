"""Hopfield net for real values: a linear system in a saturated mode."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer.core.validation import check_real, check_whole


class HopfieldNet(TransformerMixin, BaseEstimator):
    r"""Associative memory on the cube :math:`[-1, 1]^d`: states run to an equilibrium near a stored pattern.

    The net of Li, Michel and Porod (1989): a linear system :math:`\dot y = T y + I` whose state is held inside the cube,
    synthesised from the patterns :math:`t_1, \dots, t_q`. With P the projection onto the differences
    :math:`t_i - t_q`, which a singular value decomposition gives,

    .. math:: T = P - \tau (1 - P), \qquad I = t_q - T t_q,

    so that states grow away from the middle along the patterns and shrink everywhere else. Patterns in the corners of the
    cube are equilibria; a pattern with values in between need not be one. The net runs in steps of time h, the linear part
    solved exactly,

    .. math:: y \leftarrow \mathrm{clip}(W y + b, -1, 1), \qquad W = e^{hT}, \quad b = \int_0^h e^{sT} I\, ds.

    Parameters
    ----------
    tau : float, default=10
        τ, the rate at which components orthogonal to the patterns decay.
    step : float, default=0.15
        h. These two defaults are those of ``newhop`` in MATLAB's Neural Network Toolbox.
    max_iter : int, default=2000
        Most steps; a `ConvergenceWarning` gives the number of states still moving.
    tol : float, default=1e-8
        A state in which no value changes by more than this in a step is an equilibrium.

    Attributes
    ----------
    weights_ : array of shape (d, d)
        W.
    bias_ : array of shape (d,)
        b.
    rank_ : int
        Dimension of the span of the differences of patterns.
    n_iter_ : int
        Steps of the longest run in the last `transform`.

    References
    ----------
    J. Li, A. N. Michel, W. Porod: Analysis and synthesis of a class of neural networks: linear systems operating on a
    closed hypercube. IEEE Transactions on Circuits and Systems 36(11), 1989.

    Examples
    --------
    >>> net = HopfieldNet().fit([[-1.0, -1.0, 1.0], [1.0, -1.0, 1.0]])
    >>> net.transform([[-0.7, -0.6, 0.6], [0.2, 0.0, 0.0]]).round(6).tolist()
    [[-1.0, -1.0, 1.0], [1.0, -1.0, 1.0]]
    """

    n_iter_: int

    def __init__(self, tau: float = 10.0, step: float = 0.15, max_iter: int = 2000, tol: float = 1e-8) -> None:
        self.tau = tau
        self.step = step
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store patterns, the rows of `X`; the last one is t_q."""
        self._check_parameters()
        patterns = validate_data(self, X, dtype=np.float64)
        furthest = float(np.max(np.abs(patterns)))
        if furthest > 1.0:
            raise ValueError(f"X has a value of size {furthest:.6g}; expected patterns with all values in [-1, 1]")
        last = patterns[-1]
        _, sizes, directions = np.linalg.svd(patterns[:-1] - last, full_matrices=False)
        floor = max(patterns.shape) * np.finfo(float).eps * (sizes[0] if sizes.size else 0.0)
        along = directions[sizes > floor]
        projection = along.T @ along
        rest = np.eye(len(last)) - projection
        drift = last - (projection - self.tau * rest) @ last
        self.weights_ = np.exp(self.step) * projection + np.exp(-self.tau * self.step) * rest
        grown, shrunk = np.expm1(self.step), -np.expm1(-self.tau * self.step) / self.tau
        self.bias_ = (grown * projection + shrunk * rest) @ drift
        self.rank_ = len(along)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the equilibrium that each state, a row of `X`, runs to."""
        check_is_fitted(self, "weights_")
        states = np.clip(validate_data(self, X, dtype=np.float64, reset=False), -1.0, 1.0)
        moving = np.arange(len(states))
        self.n_iter_ = 0
        while len(moving) and self.n_iter_ < self.max_iter:
            before = states[moving]
            after = np.clip(before @ self.weights_ + self.bias_, -1.0, 1.0)
            states[moving] = after
            moving = moving[np.max(np.abs(after - before), axis=1) > self.tol]
            self.n_iter_ += 1
        if len(moving):
            warnings.warn(
                f"{len(moving)} of {len(states)} states were still moving after max_iter={self.max_iter} steps; raise it, "
                "or raise tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        return states

    def _check_parameters(self) -> None:
        for name in ("tau", "step"):
            check_real(getattr(self, name), name)
        check_whole(self.max_iter, "max_iter")
        check_real(self.tol, "tol", closed="left", expected="a number, zero or more")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
