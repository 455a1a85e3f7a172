"""Conjugate gradients for positive definite systems given by their products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer.core.arrays import Array, like, namespace

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

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> found = conjugate_gradient(lambda x: A @ x, np.array([3.0, 4.0]))
    >>> found.values.round(10), found.iterations, found.converged
    (array([1., 1.]), 2, True)
    """
    xp = namespace(right)

    def dot(a: Array, b: Array) -> float:
        return float(xp.sum(a * b))

    target = tol * dot(right, right) ** 0.5
    x, r = xp.zeros_like(right), right
    direction, before, iterations = xp.zeros_like(right), 1.0, 0
    while dot(r, r) ** 0.5 > target and iterations < max_iter and before > 0:
        z = r if precondition is None else precondition(r)
        along = dot(r, z)
        direction = z + (along / before) * direction
        product = apply(direction)
        step = along / dot(direction, product)
        x, r, before = x + step * direction, r - step * product, along
        iterations += 1
    if iterations == 0:
        return Solution(x, 0, 0.0 if target == 0 else 1.0, target == 0)
    r = right - apply(x)
    residual = (dot(r, r) / dot(right, right)) ** 0.5
    # rounding may have moved the residual of the recurrence away from the true one
    return Solution(x, iterations, residual, residual <= 10.0 * tol)


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
