"""A kernel given as a plain function."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from mercer.arrays import is_array
from mercer.kernels.base import Kernel
from mercer.objects import Objects

_ASYMMETRY = 1e-8


@dataclass(eq=False, repr=False)
class FromFunction(Kernel):
    r"""Any function of two objects as a kernel, :math:`k(x, z) = f(x, z)`.

    The function is called once per pair, on objects as they stand in the collection. A Gram matrix
    takes one call for each unordered pair, and one more per object to see that the function is
    symmetric. Whether it is positive semi-definite is measured by the estimators.

    Parameters
    ----------
    function : callable
        ``function(x, z)``, a finite number, the same for (z, x).

    Examples
    --------
    >>> FromFunction(lambda x, z: min(len(x), len(z)))(["a", "bcd"])
    array([[1., 1.],
           [1., 3.]])
    """

    function: Callable[[Any, Any], float]

    @property
    def is_psd(self) -> bool:
        """False: nothing is known about the function."""
        return False

    def check_parameters(self) -> None:
        """The function can be called."""
        if not callable(self.function):
            raise TypeError(f"function={self.function!r:.60} in FromFunction; expected a callable function(x, z)")

    def pointwise(self, x: Any, z: Any) -> float:
        """The function's value."""
        return self.function(x, z)

    def _matrix(self, X: Objects, Z: Objects | None) -> np.ndarray:
        if Z is not None:
            pairs = [[self._value(X, Z, i, j, "Z") for j in range(len(Z))] for i in range(len(X))]
            return np.asarray(pairs)
        gram = np.empty((len(X), len(X)))
        for i in range(len(X)):
            for j in range(i + 1):
                gram[i, j] = gram[j, i] = self._value(X, X, i, j, "X")
        self._require_symmetric(X, gram)
        return gram

    def _diag(self, X: Objects) -> np.ndarray:
        return np.asarray([self._value(X, X, i, i, "X") for i in range(len(X))])

    def _value(self, X: Objects, Z: Objects, i: int, j: int, name: str) -> float:
        result: Any = self.function(X[i], Z[j])
        value = result.item() if is_array(result) and result.ndim == 0 else result
        if isinstance(value, Real) and math.isfinite(value):
            return float(value)
        raise ValueError(
            f"{self!r} returned {result!r:.60} for X[{i}] = {X[i]!r:.40} and {name}[{j}] = "
            f"{Z[j]!r:.40}; expected a finite real number for every pair"
        )

    def _require_symmetric(self, X: Objects, gram: np.ndarray) -> None:
        # half of the matrix was copied from the other half; each object is tried in the other order
        # with one other
        others = np.random.default_rng(0).permutation(len(X))
        for i, j in enumerate(others):
            low, high = sorted((i, int(j)))
            swapped = self._value(X, X, low, high, "X")
            if abs(swapped - gram[low, high]) > _ASYMMETRY * max(abs(swapped), abs(gram[low, high])):
                raise ValueError(
                    f"{self!r} is not symmetric: it gives {gram[low, high]:.6g} for (X[{high}], "
                    f"X[{low}]) and {swapped:.6g} for (X[{low}], X[{high}]); expected the same "
                    "value. Use (f(x, z) + f(z, x)) / 2 if that is what you mean"
                )
