"""Conjugate gradients for positive definite systems given by their products, and preconditioners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

import numpy as np

from mercer.core.arrays import Array, clip_spectrum, eigh, like, namespace
from mercer.operators.blocks import full, times

LinearOperator = Callable[[Array], Array]
"""A symmetric map from an array to one of the same shape."""


@dataclass
class Solution:
    """The result of an iteration."""

    values: Array
    iterations: int
    residual: float
    """‖b − A x‖ / ‖b‖, computed from x."""
    converged: bool


def conjugate_gradient(
    apply: LinearOperator,
    right: Array,
    precondition: LinearOperator | None = None,
    tol: float = 1e-10,
    max_iter: int = 1000,
) -> Solution:
    r"""Solve :math:`A x = b` for a positive definite A given by its products, in the norm :math:`x^\top A x`.

    Parameters
    ----------
    apply : callable
        x ↦ A x, for arrays of the shape of `right`.
    right : array of any shape
        b.
    precondition : callable, optional
        r ↦ P⁻¹ r for a positive definite P close to A.
    tol : float
        Stop at ‖b − A x‖ ≤ tol·‖b‖.
    max_iter : int
        Most products with A.
    """
    xp = namespace(right)
    size = float(xp.sum(right * right)) ** 0.5
    x, iterations = iterate(apply, right, precondition or (lambda r: r), tol * size, max_iter)
    if iterations == 0:
        return Solution(x, 0, 0.0 if size == 0 else 1.0, size == 0)
    r = right - apply(x)
    residual = float(xp.sum(r * r)) ** 0.5 / size
    # rounding may have moved the residual of the recurrence away from the true one
    return Solution(x, iterations, residual, residual <= 10.0 * tol)


def iterate(
    apply: LinearOperator, right: Array, precondition: LinearOperator, target: Any, max_iter: int
) -> tuple[Array, int]:
    """Return x with ‖b − A x‖ ≤ target by the recurrence of conjugate gradients, and the number of products it took.

    With an array of targets, one for each column, columns are systems of their own that share their products.
    """
    xp, axis = namespace(right), 0 if getattr(target, "ndim", 0) else None

    def ratio(above: Array, below: Array) -> Array:
        positive = below > 0
        return xp.where(positive, above / xp.where(positive, below, xp.ones_like(below)), xp.zeros_like(below))

    x, r, direction, iterations = xp.zeros_like(right), right, xp.zeros_like(right), 0
    before = xp.zeros_like(xp.sum(right, axis=axis))
    while iterations < max_iter:
        running = xp.sqrt(xp.sum(r * r, axis=axis)) > target
        if not bool(xp.any(running)):
            break
        z = precondition(r)
        along = xp.where(running, xp.sum(r * z, axis=axis), xp.zeros_like(before))
        if not bool(xp.any(along > 0)):
            break
        direction = z + ratio(along, before) * direction
        product = apply(direction)
        step = ratio(along, xp.sum(direction * product, axis=axis))
        x, r, before, iterations = x + step * direction, r - step * product, along, iterations + 1
    return x, iterations


class SketchedPreconditioner:
    r"""An approximation of (A + αI)⁻¹ from products of A with random directions (Frangella, Tropp and Udell 2023).

    With the Nyström approximation :math:`A \approx U \Lambda U^\top` of rank ℓ,
    :math:`P^{-1} = (\lambda_\ell + \alpha)\,U(\Lambda + \alpha)^{-1}U^\top + I - UU^\top`.
    `apply` is x ↦ A x for a positive semi-definite A, and `reference` an array of the shape of x.
    """

    def __init__(self, apply: LinearOperator, reference: Array, rank: int) -> None:
        xp, shape, size = namespace(reference), reference.shape, int(np.prod(reference.shape))
        sketch = np.linalg.qr(np.random.default_rng(0).standard_normal((size, rank)))[0]
        directions = like(sketch, reference)
        columns = [apply(xp.reshape(directions[:, j], shape)) for j in range(rank)]
        products = xp.stack([xp.reshape(column, (-1,)) for column in columns], axis=1)
        # a shift at rounding level keeps the small matrix positive definite
        shift = float(xp.finfo(products.dtype).eps) * float(xp.linalg.matrix_norm(products)) * size**0.5
        inner = directions.T @ products
        values, vectors = xp.linalg.eigh(0.5 * (inner + inner.T))
        half = (products + shift * directions) @ (vectors / xp.sqrt(xp.clip(values + shift, shift or 1.0, None)))
        self.vectors, roots, _ = xp.linalg.svd(half, full_matrices=False)
        self.values = xp.clip(roots**2 - shift, 0.0, None)

    def __call__(self, residual: Array, alpha: float) -> Array:
        """Return P⁻¹ r."""
        xp = namespace(residual)
        flat = xp.reshape(residual, (-1,))
        inside = self.vectors.T @ flat
        weights = (float(self.values[-1]) + alpha) / (self.values + alpha) - 1.0
        return xp.reshape(flat + self.vectors @ (weights * inside), residual.shape)


class KroneckerPreconditioner:
    r"""An approximation of (Σ k_l ⊗ T_l + αI)⁻¹, exact for the nearest single product :math:`\bar k \otimes \bar T`.

    The nearest in the Frobenius norm (Van Loan and Pitsianis) is :math:`\bar k = \sum a_l k_l`, :math:`\bar T = \sum b_l T_l`,
    with weights that are not negative for positive semi-definite terms.
    """

    def __init__(self, grams: Sequence[Array], matrices: Sequence[Array]) -> None:
        square = [full(matrix) for matrix in matrices]
        a, b = nearest_weights(grams, square)
        values, self.left = eigh(sum(map(mul, a.tolist(), grams)))
        gains, self.right = eigh(sum(map(mul, b.tolist(), square)))
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
