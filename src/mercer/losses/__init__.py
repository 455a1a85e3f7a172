"""What a prediction is scored on: pass one of these, or any function of two objects, as `loss=`."""

from mercer.losses.base import CallableLoss, KernelLoss, Loss, resolve_loss
from mercer.losses.ready import EditDistance, Hamming, SquaredError, ZeroOne

__all__ = [
    "CallableLoss",
    "EditDistance",
    "Hamming",
    "KernelLoss",
    "Loss",
    "SquaredError",
    "ZeroOne",
    "resolve_loss",
]
