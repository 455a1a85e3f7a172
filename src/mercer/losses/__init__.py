"""What a prediction is scored on: pass one of these, or any function of two objects, as `loss=`."""

from mercer.losses.base import CallableLoss, KernelLoss, Loss, resolve_loss
from mercer.losses.costs import CostMatrix, WeightedEditDistance
from mercer.losses.orders import Kendall, RocAuc, TopK
from mercer.losses.ready import EditDistance, Hamming, SquaredError, ZeroOne
from mercer.losses.sets import F1, IoU, Jaccard

__all__ = [
    "F1",
    "CallableLoss",
    "CostMatrix",
    "EditDistance",
    "Hamming",
    "IoU",
    "Jaccard",
    "Kendall",
    "KernelLoss",
    "Loss",
    "RocAuc",
    "SquaredError",
    "TopK",
    "WeightedEditDistance",
    "ZeroOne",
    "resolve_loss",
]
