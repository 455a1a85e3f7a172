"""Output directions that depend on the inputs: partial least squares, canonical correlation, reduced rank."""

from __future__ import annotations

from typing import Any, Self

from mercer.core.arrays import Array, add_to_diagonal, cholesky, eigh, float64, like, namespace, solve_triangular
from mercer.core.collections import Collection, count
from mercer.core.validation import check_real
from mercer.embeddings.directions import Directions, check_how_many, how_many
from mercer.embeddings.spectral import PrincipalComponents
from mercer.kernels.base import Kernel
from mercer.kernels.grams import centred


class InputAware(Directions):
    r"""Directions that the inputs can predict, :math:`\max_u\; u^\top V^\top S V u \,/\, u^\top M u`.

    V are coordinates of the centred outputs, S their prediction from the inputs (`_smoothed`), M the size of a direction
    (`_sizes`). The directions are made orthonormal in turn: the first c span the same space as the c best ones.
    """

    looks_at_inputs = True

    def __init__(self, cutoff: float = 0.01, n_components: int | None = None) -> None:
        self.cutoff = cutoff
        self.n_components = n_components

    def fit(self, kernel: Kernel, outputs: Collection, paired: int | None = None, input_gram: Any = None) -> Self:
        """Find the directions, given the Gram matrix of the inputs of the first `paired` outputs (by default all).

        Outputs without inputs count for the mean and the spread of the outputs alone.
        """
        check_how_many(self.cutoff, self.n_components)
        super().fit(kernel, outputs, paired)
        components = PrincipalComponents(cutoff=0.0).fit(kernel, self.outputs_, self.paired_)
        gram = like(self._checked(input_gram), components.dual_)
        xp = namespace(gram)
        # along principal components the spread of the outputs is diagonal
        sizes = self._sizes(components.values_ * (self.paired_ / count(self.outputs_)))
        rows = components.coordinates_[: self.paired_, :] / xp.sqrt(sizes)
        gain = rows.T @ self._smoothed(gram, rows)
        values, vectors = eigh(0.5 * (gain + gain.T))
        if float(values[-1]) <= 0:
            raise ValueError(f"{type(self).__name__} finds no direction of the outputs that the inputs can predict")
        kept = how_many(values, self.cutoff, self.n_components)
        self.values_ = xp.flip(values[-kept:], axis=0)
        turn, _ = xp.linalg.qr(xp.flip(vectors[:, -kept:], axis=1) / xp.sqrt(sizes)[:, None])
        self.dual_, self._offset = components.dual_ @ turn, components._offset @ turn
        self._rows, self._mean_norm = components.coordinates_ @ turn, components._mean_norm
        self._map, self._centre = components._map, components._centre
        self._directions = None if components._directions is None else components._directions @ turn
        return self

    @property
    def coordinates_(self) -> Array:
        """V of the fitted outputs."""
        return self._rows

    def _smoothed(self, gram: Array, rows: Array) -> Array:
        """Return S times one row per input."""
        raise TypeError(f"{type(self).__name__} must define _smoothed(gram, rows)")

    def _sizes(self, spread: Array) -> Array:
        """Return the diagonal of M, given the squared length of each column of V over the paired outputs."""
        return namespace(spread).ones_like(spread)

    def _checked(self, input_gram: Any) -> Array:
        name, n = type(self).__name__, self.paired_
        if input_gram is None:
            raise ValueError(f"{name} looks at the inputs, and input_gram is None; expected their Gram matrix")
        shape = tuple(getattr(input_gram, "shape", ()))
        if shape != (n, n):
            raise ValueError(f"input_gram has shape {shape} in {name}; expected ({n}, {n}), one row per paired output")
        gram = float64(input_gram)
        xp = namespace(gram)
        rounding = n * float(xp.finfo(gram.dtype).eps) * float(xp.max(xp.abs(gram)))
        if float(xp.max(xp.abs(centred(gram)))) <= rounding:
            raise ValueError(f"all inputs are the same point under the kernel; {name} expected inputs that differ")
        return gram


class KernelPLS(InputAware):
    r"""Kernel partial least squares: output directions of largest covariance with the inputs.

    .. math:: \max_{\|w\| = \|u\| = 1} \mathrm{cov}\big(\langle w, \phi(x)\rangle, \langle u, \psi(y)\rangle\big), \qquad
        V^\top H k H\, V\, u = \sigma^2 u

    All directions come from one decomposition, each orthogonal to those before it, without deflation. Distances are measured in
    the kept directions alone. The Gram matrices of all inputs and all outputs are computed, with any solver.

    Leave-one-out keeps the directions of the fit on all pairs, which depend on the inputs and outputs of every pair: it is more
    optimistic than with principal components. ``alpha="kfold"`` finds them anew in each fold.

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

    Examples
    --------
    The direction of largest variance need not be the one that the inputs predict:

    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> x = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> Y = np.hstack([x, [[9.0], [9.0], [-9.0], [-9.0]]])
    >>> found = KernelPLS(n_components=1).fit(Linear(), Y, input_gram=Linear()(x))
    >>> abs(found.coordinates_.T).round(6)
    array([[1., 1., 1., 1.]])
    """

    def _smoothed(self, gram: Array, rows: Array) -> Array:
        return centred(gram) @ rows


class KernelCCA(InputAware):
    r"""Regularised kernel canonical correlation: output directions of largest correlation with the inputs.

    .. math:: V^\top k' (k' + \epsilon_x I)^{-1} V\, u = \rho^2\, (V^\top V + \epsilon_y I)\, u, \qquad k' = H k H

    The span of the canonical directions is kept, in orthonormal coordinates. Leave-one-out keeps them, as for `KernelPLS`.

    Parameters
    ----------
    cutoff, n_components : float, int
        As for `KernelPLS`, by ρ².
    regularization : float, default=0.1
        ε on both sides, as a share of the mean of ‖φ(x)‖², and of ‖ψ(y)‖², around their mean. With zero, n objects in a space
        of n dimensions correlate perfectly.

    Attributes
    ----------
    values_ : array
        ρ², squared regularised correlations, largest first.

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
        super().__init__(cutoff, n_components)
        self.regularization = regularization

    def _smoothed(self, gram: Array, rows: Array) -> Array:
        gram = centred(gram)
        spread = float(namespace(gram).sum(namespace(gram).linalg.diagonal(gram))) / gram.shape[0]
        return _ridge_fit(gram, rows, float(self.regularization) * spread)

    def _sizes(self, spread: Array) -> Array:
        share = check_real(self.regularization, "regularization")
        return spread + share * float(namespace(spread).sum(spread)) / self.paired_


class ReducedRank(InputAware):
    r"""Reduced-rank regression in the output feature space: the directions in which ridge regression fits best.

    .. math:: \min_{\mathrm{rank}\,B \le c} \|V - k B\|_F^2 + \alpha\,\mathrm{tr}(B^\top k B), \qquad
        V^\top k (k + \alpha I)^{-1} V\, u = \mu\, u

    Ridge regression onto these coordinates with the same α solves the problem on the left. V are coordinates around the mean
    output, and k is not centred. Leave-one-out keeps the directions, as for `KernelPLS`.

    Parameters
    ----------
    cutoff, n_components : float, int
        As for `KernelPLS`, by μ; c is the number that is kept.
    alpha : float, default=1.0
        α of the problem above. Give the estimator the same value to solve it.

    Attributes
    ----------
    values_ : array
        μ, the decrease of the objective by each direction, largest first.

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
        super().__init__(cutoff, n_components)
        self.alpha = alpha

    def _smoothed(self, gram: Array, rows: Array) -> Array:
        return _ridge_fit(gram, rows, check_real(self.alpha, "alpha"))


def _ridge_fit(gram: Array, rows: Array, alpha: float) -> Array:
    """Return (k + alpha·I)⁻¹ k rows."""
    factor = cholesky(add_to_diagonal(namespace(gram).asarray(gram, copy=True), alpha))
    return solve_triangular(factor, solve_triangular(factor, gram @ rows), transpose=True)
