"""The layers around an output kernel (factors, a mean, a cosine), which decoders look through."""

from __future__ import annotations

from typing import NamedTuple

from mercer.kernels.algebra import Normalized, Scaled
from mercer.kernels.base import Kernel
from mercer.kernels.centering import CenteredAt
from mercer.losses.base import KernelLoss, Loss


class Layers(NamedTuple):
    """A kernel without its factors, its mean and its cosine, and which of the last two it had."""

    core: Kernel
    normalized: bool
    centre: CenteredAt | None


def layers(kernel: Kernel) -> Layers:
    """Take a kernel apart; factors are removed at every level."""
    kernel = unscaled(kernel)
    centre = kernel if isinstance(kernel, CenteredAt) else None
    kernel = kernel if centre is None else unscaled(centre.kernel)
    if isinstance(kernel, Normalized):
        return Layers(unscaled(kernel.kernel), True, centre)
    return Layers(kernel, False, centre)


def unscaled(kernel: Kernel) -> Kernel:
    """The kernel inside its factors, which do not move the nearest object."""
    return _without_factors(kernel)[0]


def factor(kernel: Kernel) -> float:
    """The product of all factors around a kernel."""
    return _without_factors(kernel)[1]


def is_distance_of(loss: Loss, kernel: Kernel) -> bool:
    """Whether a loss is the squared distance of the kernel, with its factors or without."""
    return loss in (KernelLoss(kernel), KernelLoss(unscaled(kernel)))


def _without_factors(kernel: Kernel) -> tuple[Kernel, float]:
    product = 1.0
    while isinstance(kernel, Scaled):
        product, kernel = product * float(kernel.factor), kernel.kernel
    return kernel, product
