"""Which family an output kernel belongs to, whatever it is multiplied by."""

from __future__ import annotations

from mercer.kernels.algebra import Scaled
from mercer.kernels.base import Kernel
from mercer.kernels.centering import CenteredAt
from mercer.kernels.composition import GaussianOf
from mercer.kernels.vectors import Gaussian, Linear


def unscaled(kernel: Kernel) -> Kernel:
    """The kernel inside any scaling; the factor does not move the nearest object.

    Examples
    --------
    >>> unscaled(0.5 * Linear())
    Linear()
    """
    while isinstance(kernel, Scaled):
        kernel = kernel.kernel
    return kernel


def factor(kernel: Kernel) -> float:
    """What `unscaled` takes off: the product of all factors.

    Examples
    --------
    >>> factor(2.0 * (0.5 * Linear())), factor(Linear())
    (1.0, 1.0)
    """
    product = 1.0
    while isinstance(kernel, Scaled):
        product, kernel = product * float(kernel.factor), kernel.kernel
    return product


def is_linear(kernel: Kernel) -> bool:
    """Whether the kernel is the inner product of vectors, around the origin or around a mean.

    Examples
    --------
    >>> is_linear(2.0 * Linear()), is_linear(Gaussian(1.0))
    (True, False)
    """
    inner = unscaled(kernel)
    inner = unscaled(inner.kernel) if isinstance(inner, CenteredAt) else inner
    return isinstance(inner, Linear)


def as_gaussian(kernel: Kernel) -> Gaussian | None:
    """The Gaussian on vectors that the kernel is, up to a factor; None for any other kernel.

    Examples
    --------
    >>> as_gaussian(2.0 * Gaussian(3.0)), as_gaussian(Linear())
    (Gaussian(scale=3.0), None)
    """
    kernel = unscaled(kernel)
    if isinstance(kernel, GaussianOf) and kernel.kernel == Linear():
        return Gaussian(kernel.scale)
    return kernel if isinstance(kernel, Gaussian) else None
