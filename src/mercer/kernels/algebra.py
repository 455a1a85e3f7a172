"""Kernels made of kernels: sums, products, multiples and cosines."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import Array, like, namespace, to_numpy
from mercer.core.collections import Collection
from mercer.kernels.base import POSITIVE, Kernel, Prepared, shown
from mercer.kernels.features import SideBySide, Stretched, UnitLength, inverse_lengths
from mercer.kernels.grams import fresh, row_blocks, squared_norms

_Both = tuple[Prepared, Prepared]
"""A collection as each of two kernels has prepared it."""


@dataclass(eq=False, repr=False)
class _Pair(Kernel):
    """A kernel made of two on the same objects."""

    left: Kernel
    right: Kernel

    @property
    def takes_sparse(self) -> bool:
        """True if both kernels take sparse rows."""
        return self.left.takes_sparse and self.right.takes_sparse

    @property
    def form(self) -> str | None:
        """The form of both, if it is one."""
        return self.left.form if self.left.form == self.right.form else None

    def check_parameters(self) -> None:
        """Raise TypeError if only one of the kernels takes Gram matrices."""
        if self.left.pairwise != self.right.pairwise:
            raise TypeError(f"{self!r} mixes a kernel on Gram matrices with one on objects; expected both of one kind")

    def key(self, x: Any) -> Hashable:
        """The keys of both kernels."""
        return self.left.key(x), self.right.key(x)

    def _check(self, X: Any, name: str) -> Collection:
        if self.form is None:
            self.right.check(X, name)
        return self.left.check(X, name)

    def _prepared(self, X: Collection, name: str, checked: bool) -> Prepared:
        left = self.left.prepare(X, name, checked=checked)
        right = self.right.prepare(X if self.form is None else left.objects, name, checked=self.form is not None)
        return Prepared(self, left.objects, (left, right))

    def shared_gram(self, X: Collection, known: dict[str, Any] | None = None) -> Array:
        """The Gram matrix, from those of both kernels."""
        left = self.left.shared_gram(X, known)
        return self._combine(left, like(self.right.shared_gram(X, known), left))

    def _combine(self, left: Array, right: Array) -> Array:
        """Values of both kernels as one, over the left ones."""
        raise TypeError(f"{type(self).__name__} must define _combine(left, right)")

    def _matrix(self, X: _Both, Z: _Both | None) -> Array:
        others = (None, None) if Z is None else Z
        gram = fresh(self.left(X[0], others[0]), X[0])
        return self._combine(gram, like(self.right(X[1], others[1]), gram))

    def _diag(self, X: _Both) -> Array:
        norms = self.left.diag(X[0])
        return self._combine(norms, like(X[1].norms, norms))


@dataclass(eq=False, repr=False)
class Sum(_Pair):
    r"""The sum of two kernels, :math:`k(x, z) = k_1(x, z) + k_2(x, z)`: their features side by side.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> 0.5 * Gaussian(scale=2) + Linear()
    0.5 * Gaussian(scale=2) + Linear()
    """

    def sees(self, X: Any) -> np.ndarray:
        """True where either kernel sees the object."""
        return self.left.sees(X) | self.right.sees(X)

    def feature_map(self, X: Any) -> SideBySide | None:
        """The two feature maps side by side, if both kernels have one."""
        left, right = self.left.feature_map(X), self.right.feature_map(X)
        return None if left is None or right is None else SideBySide(left, right)

    def _combine(self, left: Array, right: Array) -> Array:
        left += right
        return left

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{self.left!r} + {operand(self.right, Sum)}"


@dataclass(eq=False, repr=False)
class Product(_Pair):
    r"""The product of two kernels, :math:`k(x, z) = k_1(x, z)\, k_2(x, z)`: all products of their features.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> (Linear() + Gaussian(scale=1.0)) * Linear()
    (Linear() + Gaussian(scale=1.0)) * Linear()
    """

    def sees(self, X: Any) -> np.ndarray:
        """True where both kernels see the object."""
        return self.left.sees(X) & self.right.sees(X)

    def _combine(self, left: Array, right: Array) -> Array:
        left *= right
        return left

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{operand(self.left, Sum)} * {operand(self.right, Sum, Product, Scaled)}"


class Around(Kernel):
    """A kernel made of one other on the same objects; a collection is encoded as the other prepares it."""

    kernel: Kernel

    @property
    def takes_sparse(self) -> bool:
        """True if the kernel inside takes sparse rows."""
        return self.kernel.takes_sparse

    @property
    def form(self) -> str | None:
        """The form of the kernel inside."""
        return self.kernel.form

    def sees(self, X: Any) -> np.ndarray:
        """True where the kernel inside sees the object."""
        return self.kernel.sees(self.check(X))

    def key(self, x: Any) -> Hashable:
        """The key of the kernel inside."""
        return self.kernel.key(x)

    def _check(self, X: Any, name: str) -> Collection:
        return self.kernel.check(X, name)

    def _encode(self, X: Collection, name: str) -> Any:
        return self.kernel.prepare(X, name, checked=True)


@dataclass(eq=False, repr=False)
class Scaled(Around):
    r"""A multiple of a kernel, :math:`k(x, z) = c\, k_1(x, z)`.

    Parameters
    ----------
    factor : float
        c, above zero.
    kernel : Kernel

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (2 * Linear())([[1.0]], [[3.0]])
    array([[6.]])
    """

    constraints = {"factor": POSITIVE}

    factor: float
    kernel: Kernel

    def feature_map(self, X: Any) -> Stretched | None:
        """The features times √c, if the kernel has some."""
        inner = self.kernel.feature_map(X)
        return None if inner is None else Stretched(float(self.factor) ** 0.5, inner)

    def shared_gram(self, X: Collection, known: dict[str, Any] | None = None) -> Array:
        """The Gram matrix, over that of the kernel inside."""
        gram = self.kernel.shared_gram(X, known)
        gram *= float(self.factor)
        return gram

    def _matrix(self, X: Prepared, Z: Prepared | None) -> Array:
        gram = fresh(self.kernel(X, Z), X)
        gram *= float(self.factor)
        return gram

    def _diag(self, X: Prepared) -> Array:
        return float(self.factor) * X.norms

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{shown(self.factor)} * {operand(self.kernel, Sum, Product, Scaled)}"


@dataclass(eq=False, repr=False)
class Normalized(Around):
    r"""The cosine of a kernel, :math:`k(x, z) = k_1(x, z) / \sqrt{k_1(x, x)\, k_1(z, z)}`.

    An object whose norm is zero, :math:`k_1(x, x) = 0`, has no direction. Its similarity with everything is 0, with itself
    too, and `sees` is False for it.

    Examples
    --------
    >>> from mercer.kernels import Subsequence
    >>> Subsequence(length=3).normalized()(["abcd", "abc", "ab"]).round(3)
    array([[1.   , 0.632, 0.   ],
           [0.632, 1.   , 0.   ],
           [0.   , 0.   , 0.   ]])
    """

    kernel: Kernel

    def sees(self, X: Any) -> np.ndarray:
        """True where the kernel inside sees the object and its norm is not zero."""
        return self.kernel.sees(X) & (to_numpy(self.diag(X)) > 0)

    def feature_map(self, X: Any) -> UnitLength | None:
        """The features divided by their length, if the kernel has some."""
        inner = self.kernel.feature_map(X)
        return None if inner is None else UnitLength(self.kernel, inner)

    def _matrix(self, X: Prepared, Z: Prepared | None) -> Array:
        gram = fresh(self.kernel(X, Z), X)
        left, right = (like(inverse_lengths(norms, self.kernel), gram) for norms in squared_norms(X, Z, gram))
        for rows in row_blocks(gram):
            gram[rows, :] = gram[rows, :] * (left[rows, None] * right[None, :])
        return gram

    def _diag(self, X: Prepared) -> Array:
        return namespace(X.norms).astype(inverse_lengths(X.norms, self.kernel) > 0, X.norms.dtype)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{operand(self.kernel, Sum, Product, Scaled)}.normalized()"


def operand(kernel: Kernel, *weaker: type[Kernel]) -> str:
    """The kernel's repr, in parentheses where it would otherwise be read as something else."""
    return f"({kernel!r})" if isinstance(kernel, weaker) else repr(kernel)
