"""Sums of Kronecker products: a common basis of the terms, and the nearest single product."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from mercer.core.arrays import Array, clip_spectrum, eigh, like, namespace, to_numpy
from mercer.operators.blocks import full, times

_WEIGHTS = (1.0, 2.0**0.5 - 1.0, 3.0**0.5 - 1.0, 5.0**0.5 - 2.0, 7.0**0.5 - 2.0)
"""Weights of the matrices whose sum is decomposed, without small whole-number relations that make eigenvalues collide."""


@dataclass
class CommonBasis:
    """Matrices A_l = Q diag(values[l]) Qᵀ that are diagonal in one orthonormal basis; `vectors` is None for Q = I."""

    vectors: Array | None
    values: Array

    def into(self, rows: Array) -> Array:
        """Return rows in the basis."""
        return rows if self.vectors is None else rows @ self.vectors

    def out_of(self, rows: Array) -> Array:
        """Return rows of the basis in the original coordinates."""
        return rows if self.vectors is None else rows @ self.vectors.T


def common_basis(matrices: Sequence[Array]) -> CommonBasis | None:
    """Return the orthonormal basis in which symmetric `matrices` are diagonal to rounding; None unless they commute.

    Vectors stand for diagonal matrices.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> common_basis([A, np.ones(2)]).values.round(12)
    array([[1., 3.],
           [1., 1.]])
    >>> common_basis([A, np.array([1.0, 2.0])]) is None
    True
    """
    xp = namespace(matrices[0])
    if all(matrix.ndim == 1 for matrix in matrices):
        return CommonBasis(None, xp.stack(list(matrices)))
    square = [full(matrix) for matrix in matrices]
    if not _seem_to_commute(square):
        return None
    sizes = [max(float(xp.linalg.matrix_norm(matrix)), np.finfo(float).tiny) for matrix in square]
    weights = [_WEIGHTS[l % len(_WEIGHTS)] * (1.0 + l // len(_WEIGHTS)) / size for l, size in enumerate(sizes)]
    _, vectors = eigh(combined(weights, square))
    rows = []
    for matrix, size in zip(square, sizes, strict=True):
        turned = vectors.T @ (matrix @ vectors)
        values = xp.linalg.diagonal(turned)
        if float(xp.linalg.matrix_norm(turned - full(values))) > _rounding(matrix) * size:
            return None
        rows.append(xp.asarray(values, copy=True))
    return CommonBasis(vectors, xp.stack(rows))


def combined(weights: Iterable[float], matrices: Iterable[Array]) -> Array:
    """Return the sum of matrices times weights."""
    return reduce(add, (float(weight) * matrix for weight, matrix in zip(weights, matrices, strict=True)))


def _rounding(matrix: Array) -> float:
    return 64.0 * matrix.shape[0] * float(namespace(matrix).finfo(matrix.dtype).eps)


def _seem_to_commute(matrices: Sequence[Array]) -> bool:
    """True if A(Bv) = B(Av) to rounding for one random v, a necessary condition at little cost."""
    first, xp, n = matrices[0], namespace(matrices[0]), matrices[0].shape[0]
    v = like(np.random.default_rng(0).standard_normal((n, 1)), first)
    for matrix in matrices[1:]:
        gap = first @ (matrix @ v) - matrix @ (first @ v)
        # relative to a bound on the products, which may be zero
        size = float(xp.linalg.matrix_norm(first)) * float(xp.linalg.matrix_norm(matrix)) * n**0.5
        if float(xp.max(xp.abs(gap))) > _rounding(matrix) * size:
            return False
    return True


@dataclass
class Pencil:
    r"""Two terms as one: :math:`c_1 k_1 + c_2 k_2 + \alpha I = g\,A + (\mu\,k + \alpha I)` in every output direction."""

    gains: Array  # g, one for each output direction
    matrix: Array  # A
    shift: Array | None  # μ k, positive semi-definite; None for zero


def pencil(values: Array, grams: Sequence[Array]) -> Pencil | None:
    r"""Return the pencil of two terms with common output directions; None if they have none.

    The n×n systems :math:`c_{1a} k_1 + c_{2a} k_2 + \alpha I` of all directions a share a decomposition if and only if the
    numbers :math:`(c_{1a}, c_{2a}, \alpha)` lie in a plane: :math:`T_2 = \mu I + \nu T_1`, or the two exchanged.
    """
    for first, second in ((0, 1), (1, 0)):
        c, d = to_numpy(values[first, :]), to_numpy(values[second, :])
        spread = float(c.max() - c.min())
        slope = 0.0 if spread <= 1e-12 * float(np.abs(c).max()) else float((d[c.argmax()] - d[c.argmin()]) / spread)
        level = float(d[c.argmax()] - slope * c.max())
        size = float(max(np.abs(d).max(), abs(slope) * np.abs(c).max()))
        # a negative level is positive for the two exchanged, since T₁ and T₂ are positive semi-definite
        if np.abs(d - slope * c - level).max() > 1e-12 * size or level < -1e-12 * size:
            continue
        combined = grams[first] + slope * grams[second]
        shift = None if abs(level) <= 1e-12 * size else level * grams[second]
        return Pencil(values[first, :], combined, shift)
    return None


class KroneckerPreconditioner:
    r"""An approximation of (Σ k_l ⊗ T_l + αI)⁻¹, exact for the nearest single product :math:`\bar k \otimes \bar T`.

    The nearest in the Frobenius norm (Van Loan and Pitsianis) is :math:`\bar k = \sum a_l k_l`, :math:`\bar T = \sum b_l T_l`,
    with weights that are not negative for positive semi-definite terms.
    """

    def __init__(self, grams: Sequence[Array], matrices: Sequence[Array]) -> None:
        square = [full(matrix) for matrix in matrices]
        a, b = nearest_weights(grams, square)
        values, self.left = eigh(combined(a, grams))
        gains, self.right = eigh(combined(b, square))
        self.values = clip_spectrum(values, "the input side of the Kronecker preconditioner")
        self.gains = clip_spectrum(gains, "the output side of the Kronecker preconditioner")

    def __call__(self, residual: Array, alpha: float) -> Array:
        """Return P⁻¹ R."""
        inside = self.left.T @ times(residual, self.right)
        return self.left @ (inside / (self.values[:, None] * self.gains + alpha)) @ self.right.T


def nearest_weights(grams: Sequence[Array], matrices: Sequence[Array]) -> tuple[np.ndarray, np.ndarray]:
    """Return a and b with (Σ a_l k_l) ⊗ (Σ b_l T_l) nearest to Σ k_l ⊗ T_l, the leading singular pair of a matrix of rank L."""
    inputs, outputs = (
        np.asarray([[float(namespace(A).sum(A * B)) for B in side] for A in side]) for side in (grams, matrices)
    )
    # Σ vec(k_l) vec(T_l)ᵀ maps Σ b_l T_l to Σ (outputs b)_l k_l, and back by `inputs`
    values, vectors = np.linalg.eig(outputs @ inputs)
    a = np.abs(np.real(vectors[:, np.argmax(np.real(values))]))
    norm = float(a @ inputs @ a)
    # with this scaling ⟨Σ k⊗T, k̄⊗T̄⟩ = ‖k̄‖²‖T̄‖²
    return (a, inputs @ a / norm) if norm > 0 else (np.zeros(len(a)), np.ones(len(a)))
