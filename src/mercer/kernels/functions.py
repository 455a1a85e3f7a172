"""A kernel given as a plain function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mercer.kernels.base import Kernel


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
