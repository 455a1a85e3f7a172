"""Output directions found by looking at the inputs: partial least squares, canonical correlation, reduced rank."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

from mercer.core.arrays import (
    Array,
    add_to_diagonal,
    cholesky,
    eigh,
    float64,
    is_array,
    like,
    namespace,
    solve_triangular,
)
from mercer.core.collections import Collection, count
from mercer.embeddings.directions import Directions, check_how_many
from mercer.embeddings.spectral import PrincipalComponents
from mercer.kernels.base import Kernel


class InputAware(Directions):
    r"""Directions that inputs say something about, :math:`\max_u\; u^\top V^\top S V u \,/\, u^\top M u`.

    V are coordinates of the centred outputs, S is what the inputs can make of them (`_smoothed`), M the size of a direction
    (`_sizes`). The directions are made orthonormal one after the other: the first c span what the c best ones span.
    """

    looks_at_inputs = True
    cutoff: float
    n_components: int | None
    values_: Array

    def fit(self, kernel: Kernel, outputs: Collection, paired: int | None = None, input_gram: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        kernel : Kernel
            The resolved output kernel.
        outputs : collection of N outputs
            The first n have an input; the others count for the mean and the spread of the outputs alone.
        paired : int, optional
            n; by default N.
        input_gram : array of shape (n, n)
            Gram matrix of the inputs.
        """
        check_how_many(self.cutoff, self.n_components)
        self._check_parameters()
        super().fit(kernel, outputs, paired)
        components = PrincipalComponents(cutoff=0.0).fit(kernel, self.outputs_, self.paired_)
        gram = like(self._checked(input_gram), components.dual_)
        xp = namespace(gram)
        # along principal components the spread of the outputs is diagonal
        sizes = self._sizes(components.values_ * (self.paired_ / count(self.outputs_)))
        rows = components.coordinates_[: self.paired_, :] / xp.sqrt(sizes)
        gain = rows.T @ self._smoothed(gram, rows)
        values, vectors = eigh(0.5 * (gain + gain.T))
        kept = self._how_many(values)
        self.values_ = xp.flip(values[-kept:], axis=0)
        turn, _ = xp.linalg.qr(xp.flip(vectors[:, -kept:], axis=1) / xp.sqrt(sizes)[:, None])
        self.dual_, self._offset = components.dual_ @ turn, components._offset @ turn
        self._rows, self._mean_norm = components.coordinates_ @ turn, components._mean_norm
        return self

    @property
    def coordinates_(self) -> Array:
        """V of the fitted outputs."""
        return self._rows

    def _smoothed(self, gram: Array, rows: Array) -> Array:
        """S applied to one row per input."""
        raise TypeError(f"{type(self).__name__} must define _smoothed(gram, rows)")

    def _sizes(self, spread: Array) -> Array:
        """The diagonal of M, given the squared length of each column of V over the paired outputs."""
        return namespace(spread).ones_like(spread)

    def _check_parameters(self) -> None:
        """Raise if a parameter of its own is out of range."""

    def _checked(self, input_gram: Any) -> Array:
        name, n = type(self).__name__, self.paired_
        if input_gram is None:
            raise ValueError(
                f"{name} looks at the inputs, and input_gram is None; expected the Gram matrix of the {n} inputs. "
                "DependencyEstimator passes it"
            )
        shape = tuple(input_gram.shape) if is_array(input_gram) else None
        if shape != (n, n):
            raise ValueError(f"input_gram has shape {shape} in {name}; expected ({n}, {n}), one row per paired output")
        gram = float64(input_gram)
        xp = namespace(gram)
        if float(xp.max(xp.abs(_centred(gram)))) <= n * float(xp.finfo(gram.dtype).eps) * float(xp.max(xp.abs(gram))):
            raise ValueError(
                f"all inputs are the same point under the input kernel, so {name} has nothing to look at; expected inputs that "
                "differ"
            )
        return gram

    def _how_many(self, values: Array) -> int:
        xp = namespace(values)
        rounding = values.shape[0] * float(xp.finfo(values.dtype).eps)
        largest = float(values[-1])
        if largest <= 0:
            raise ValueError(
                f"{type(self).__name__} finds no direction of the outputs that the inputs say anything about"
            )
        kept = int(xp.sum(xp.astype(values > max(float(self.cutoff), rounding) * largest, xp.int64)))
        return kept if self.n_components is None else min(kept, self.n_components)


class KernelPLS(InputAware):
    r"""Kernel partial least squares: output directions of largest covariance with the inputs.

    .. math:: \max_{\|w\| = \|u\| = 1} \mathrm{cov}\big(\langle w, \phi(x)\rangle, \langle u, \psi(y)\rangle\big), \qquad
        V^\top H k H\, V\, u = \sigma^2 u

    All directions come from one decomposition, each orthogonal to those before it (no deflation in between).

    Parameters
    ----------
    cutoff : float, default=0.01
        Directions whose σ² is below this share of the largest are dropped.
    n_components : int, optional
        Keep at most so many.

    Attributes
    ----------
    values_ : array
        σ², squared covariances times n², largest first.

    Notes
    -----
    Leave-one-out holds the directions at their fit on all pairs, and they have seen the inputs and the outputs of every pair, so
    it flatters more than with principal components; ``alpha="kfold"`` finds them anew in each fold. Distances are measured
    in the kept directions alone. The Gram matrices of all inputs and all outputs are made, with any solver.

    Examples
    --------
    What varies most need not be what the inputs tell:

    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> x = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> Y = np.hstack([x, [[9.0], [9.0], [-9.0], [-9.0]]])
    >>> found = KernelPLS(n_components=1).fit(Linear(), Y, input_gram=Linear()(x))
    >>> abs(found.coordinates_.T).round(6)
    array([[1., 1., 1., 1.]])
    """

    def __init__(self, cutoff: float = 0.01, n_components: int | None = None) -> None:
        self.cutoff = cutoff
        self.n_components = n_components

    def _smoothed(self, gram: Array, rows: Array) -> Array:
        return _centred(gram) @ rows


class KernelCCA(InputAware):
    r"""Regularised kernel canonical correlation: output directions best predicted from the inputs, however little they vary.

    .. math:: V^\top k' (k' + \epsilon_x I)^{-1} V\, u = \rho^2\, (V^\top V + \epsilon_y I)\, u, \qquad k' = H k H

    The span of the canonical directions is kept, in orthonormal coordinates.

    Parameters
    ----------
    cutoff : float, default=0.01
        Directions whose ρ² is below this share of the largest are dropped.
    n_components : int, optional
        Keep at most so many.
    regularization : float, default=0.1
        ε on both sides, as a share of the mean of ‖φ(x)‖², and of ‖ψ(y)‖², around their mean. Without any, n objects in
        a space of n dimensions correlate perfectly.

    Attributes
    ----------
    values_ : array
        ρ², squared regularised correlations, largest first.

    Notes
    -----
    Leave-one-out holds the directions, as for `KernelPLS`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> x = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> Y = np.hstack([x, [[9.0], [9.0], [-9.0], [-8.0]]])
    >>> found = KernelCCA(n_components=1, regularization=1e-6).fit(Linear(), Y, input_gram=Linear()(x))
    >>> bool(found.values_[0] > 0.999)
    True
    """

    def __init__(self, cutoff: float = 0.01, n_components: int | None = None, regularization: float = 0.1) -> None:
        self.cutoff = cutoff
        self.n_components = n_components
        self.regularization = regularization

    def _smoothed(self, gram: Array, rows: Array) -> Array:
        gram = _centred(gram)
        spread = float(namespace(gram).sum(namespace(gram).linalg.diagonal(gram))) / gram.shape[0]
        return _ridge_fit(gram, rows, float(self.regularization) * spread)

    def _sizes(self, spread: Array) -> Array:
        return spread + float(self.regularization) * float(namespace(spread).sum(spread)) / self.paired_

    def _check_parameters(self) -> None:
        _require_positive(self.regularization, "regularization")


class ReducedRank(InputAware):
    r"""Reduced-rank regression in the output's feature space: the directions in which ridge regression fits best.

    .. math:: \min_{\mathrm{rank}\,B \le c} \|V - k B\|_F^2 + \alpha\,\mathrm{tr}(B^\top k B), \qquad
        V^\top k (k + \alpha I)^{-1} V\, u = \mu\, u

    Regression onto these coordinates with the same α solves the problem on the left.

    Parameters
    ----------
    cutoff : float, default=0.01
        Directions whose μ is below this share of the largest are dropped.
    n_components : int, optional
        c; keep at most so many.
    alpha : float, default=1.0
        The ridge the directions are found with. Give the estimator the same for the least-squares problem above.

    Attributes
    ----------
    values_ : array
        μ, what each direction takes off the objective, largest first.

    Notes
    -----
    Leave-one-out holds the directions, as for `KernelPLS`. V are coordinates around the mean output, and k is not centred, as
    in `DependencyEstimator`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import DependencyEstimator
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(0, 3, 12)[:, None]
    >>> Y = np.hstack([np.sin(X), 2 * np.sin(X), np.cos(X)])
    >>> model = DependencyEstimator(Gaussian(1.0), Gaussian(2.0), embedding=ReducedRank(n_components=2, alpha=0.1), alpha=0.1)
    >>> model.fit(X, Y).embedding_.coordinates_.shape
    (12, 2)
    """

    def __init__(self, cutoff: float = 0.01, n_components: int | None = None, alpha: float = 1.0) -> None:
        self.cutoff = cutoff
        self.n_components = n_components
        self.alpha = alpha

    def _smoothed(self, gram: Array, rows: Array) -> Array:
        return _ridge_fit(gram, rows, float(self.alpha))

    def _check_parameters(self) -> None:
        _require_positive(self.alpha, "alpha")


def _ridge_fit(gram: Array, rows: Array, ridge: float) -> Array:
    """(k + ridge·I)⁻¹ k rows."""
    factor = cholesky(add_to_diagonal(namespace(gram).asarray(gram, copy=True), ridge))
    return solve_triangular(factor, solve_triangular(factor, gram @ rows), transpose=True)


def _centred(gram: Array) -> Array:
    xp = namespace(gram)
    means = xp.mean(gram, axis=0)
    return gram - means - means[:, None] + xp.mean(means)


def _require_positive(value: Any, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < float("inf"):
        raise ValueError(f"{name}={value!r}; expected a positive finite number")
