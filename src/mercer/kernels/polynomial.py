"""The polynomial kernel on vectors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from mercer.core.arrays import Array, namespace
from mercer.core.validation import is_real
from mercer.kernels.base import POSITIVE, Constraint, row_blocks, whole
from mercer.kernels.vectors import RowKernel, alike


@dataclass(eq=False, repr=False)
class Polynomial(RowKernel):
    r"""Products of up to `degree` features, :math:`k(x, z) = (\gamma\, x \cdot z + c)^d`.

    Parameters
    ----------
    degree : int
        d, at least 1.
    coef0 : float
        c, not negative: the weight of the lower degrees. With 0 only products of exactly `degree` features count.
    gamma : float
        γ, above zero.

    Examples
    --------
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    is_psd = True
    constraints = {
        "degree": whole(1),
        "coef0": Constraint(lambda c: is_real(c) and 0 <= c < math.inf, "a finite number, zero or more"),
        "gamma": POSITIVE,
    }

    degree: int = 3
    coef0: float = 1.0
    gamma: float = 1.0

    def pointwise(self, x: Any, z: Any) -> float:
        """The polynomial of the inner product."""
        return (self.gamma * float(namespace(x).sum(x * z)) + self.coef0) ** self.degree

    def _matrix(self, X: Any, Z: Any) -> Array:
        X, Z = alike(X, Z)
        gram = X.products(Z)
        for rows in row_blocks(gram):
            gram[rows, :] = self._power(gram[rows, :])
        return gram

    def _diag(self, X: Any) -> Array:
        return self._power(X.squared_lengths)

    def _power(self, products: Array) -> Array:
        base = float(self.gamma) * products + float(self.coef0)
        power = base
        for _ in range(int(self.degree) - 1):  # several times faster than a general power
            power = power * base
        return power
