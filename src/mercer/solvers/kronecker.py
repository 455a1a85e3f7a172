"""Sums of Kronecker products: when they are diagonal in one basis, and which single product is nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer.core.arrays import Array, clip_spectrum, eigh, like, namespace, to_numpy
from mercer.operators.blocks import full, times

_WEIGHTS = (1.0, 2.0**0.5 - 1.0, 3.0**0.5 - 1.0, 5.0**0.5 - 2.0, 7.0**0.5 - 2.0)
"""Of the matrices whose combination is decomposed; no small whole-number relation between them makes eigenvalues collide."""


@dataclass
class CommonBasis:
    """Matrices that are diagonal in one orthonormal basis, A_l = Q diag(values[l]) Qᵀ; no vectors where Q = I."""

    vectors: Array | None
    values: Array

    def into(self, rows: Array) -> Array:
        """Rows in the basis."""
        return rows if self.vectors is None else rows @ self.vectors

    def out_of(self, rows: Array) -> Array:
        """Rows as they were."""
        return rows if self.vectors is None else rows @ self.vectors.T


def common_basis(matrices: Sequence[Array]) -> CommonBasis | None:
    """One orthonormal basis in which all symmetric `matrices` are diagonal, to rounding; None where there is none.

    There is one exactly when they commute. Vectors stand for diagonal matrices.

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
    combined = [weight * matrix for weight, matrix in zip(weights, square, strict=True)]
    _, vectors = eigh(sum(combined[1:], start=combined[0]))
    rows = []
    for matrix, size in zip(square, sizes, strict=True):
        turned = vectors.T @ (matrix @ vectors)
        values = xp.linalg.diagonal(turned)
        if float(xp.linalg.matrix_norm(turned - full(values))) > _rounding(matrix) * size:
            return None
        rows.append(xp.asarray(values, copy=True))
    return CommonBasis(vectors, xp.stack(rows))


def _rounding(matrix: Array) -> float:
    return 64.0 * matrix.shape[0] * float(namespace(matrix).finfo(matrix.dtype).eps)


def _seem_to_commute(matrices: Sequence[Array]) -> bool:
    """A look at A(Bv) − B(Av) for one random v, which costs four products and settles most cases."""
    xp, n = namespace(matrices[0]), matrices[0].shape[0]
    v = like(np.random.default_rng(0).standard_normal((n, 1)), matrices[0])
    reference = matrices[0]
    for matrix in matrices[1:]:
        gap = reference @ (matrix @ v) - matrix @ (reference @ v)
        # measured against what the products could be, since they may well be zero
        size = float(xp.linalg.matrix_norm(reference)) * float(xp.linalg.matrix_norm(matrix)) * n**0.5
        if float(xp.max(xp.abs(gap))) > _rounding(matrix) * size:
            return False
    return True


@dataclass
class Pencil:
    r"""Two terms as one: :math:`c_1 k_1 + c_2 k_2 + \alpha I = g\,A + (\mu\,k + \alpha I)` in every output direction."""

    gains: Array
    """g, one for each output direction."""
    matrix: Array
    """A."""
    shift: Array | None
    """μ k, positive semi-definite; None for zero."""


def pencil(values: Array, grams: Sequence[Array]) -> Pencil | None:
    r"""The pencil two terms with common output directions make, where they make one.

    The n×n systems :math:`c_{1a} k_1 + c_{2a} k_2 + \alpha I` of all directions a share a decomposition exactly when the
    three numbers :math:`(c_{1a}, c_{2a}, \alpha)` lie in a plane, that is when :math:`T_2 = \mu I + \nu T_1` or the same
    with the two exchanged: one of them a multiple of the identity, of the other, or "the rest" :math:`I - T_1`.
    """
    for first, second in ((0, 1), (1, 0)):
        c, d = to_numpy(values[first, :]), to_numpy(values[second, :])
        spread = float(c.max() - c.min())
        slope = 0.0 if spread <= 1e-12 * float(np.abs(c).max()) else float((d[c.argmax()] - d[c.argmin()]) / spread)
        level = float(d[c.argmax()] - slope * c.max())
        size = float(max(np.abs(d).max(), abs(slope) * np.abs(c).max()))
        if np.abs(d - slope * c - level).max() > 1e-12 * size:
            continue
        if level < -1e-12 * size:
            continue  # the other way round μ is positive, since T₁ and T₂ are
        combined = grams[first] + slope * grams[second]
        shift = None if abs(level) <= 1e-12 * size else level * grams[second]
        return Pencil(values[first, :], combined, shift)
    return None


class KroneckerPreconditioner:
    r"""(Σ k_l ⊗ T_l + αI)⁻¹, roughly: exact for the nearest single product :math:`\bar k \otimes \bar T`.

    The nearest in the Frobenius norm (Van Loan and Pitsianis) is :math:`\bar k = \sum a_l k_l`, :math:`\bar T = \sum b_l T_l`;
    with positive semi-definite terms the weights are not negative, so both are positive semi-definite too.
    """

    def __init__(self, grams: Sequence[Array], matrices: Sequence[Array]) -> None:
        square = [full(matrix) for matrix in matrices]
        a, b = nearest_weights(grams, square)
        k = sum((float(w) * gram for w, gram in zip(a[1:], grams[1:], strict=True)), start=float(a[0]) * grams[0])
        T = sum((float(w) * each for w, each in zip(b[1:], square[1:], strict=True)), start=float(b[0]) * square[0])
        values, self.left = eigh(k)
        gains, self.right = eigh(T)
        self.values = clip_spectrum(values, "the input side of the Kronecker preconditioner")
        self.gains = clip_spectrum(gains, "the output side of the Kronecker preconditioner")

    def __call__(self, residual: Array, alpha: float) -> Array:
        """P⁻¹ R."""
        inside = self.left.T @ times(residual, self.right)
        return self.left @ (inside / (self.values[:, None] * self.gains + alpha)) @ self.right.T


def nearest_weights(grams: Sequence[Array], matrices: Sequence[Array]) -> tuple[np.ndarray, np.ndarray]:
    """Weights a, b with (Σ a_l k_l) ⊗ (Σ b_l T_l) nearest to Σ k_l ⊗ T_l: the leading singular pair of a rank-L matrix."""
    inputs, outputs = (
        np.asarray([[float(namespace(A).sum(A * B)) for B in side] for A in side]) for side in (grams, matrices)
    )
    # Σ vec(k_l) vec(T_l)ᵀ maps Σ b_l T_l to Σ (outputs b)_l k_l, and back by `inputs`
    values, vectors = np.linalg.eig(outputs @ inputs)
    a = np.abs(np.real(vectors[:, np.argmax(np.real(values))]))
    norm = float(a @ inputs @ a)
    b = inputs @ a / norm if norm > 0 else np.ones(len(a))
    # the singular value belongs to the product: ⟨Σ k⊗T, k̄⊗T̄⟩ = ‖k̄‖²‖T̄‖² holds with this scaling
    return (a, b) if norm > 0 else (np.zeros(len(a)), b)
