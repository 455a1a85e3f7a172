"""Losses: the scores of predictions. Pass one of these, or any function of two objects, as `loss=`.

| file | losses | outputs |
|---|---|---|
| `base` | `KernelLoss`, `CallableLoss`, `resolve_loss` | objects of any kind |
| `classes` | `ZeroOne`, `CostMatrix` | classes; objects that are equal or not |
| `vectors` | `SquaredError` | vectors |
| `sequences` | `Hamming`, `EditDistance`, `WeightedEditDistance` | strings and other sequences |
| `sets` | `F1`, `Jaccard`, `IoU` | label sets and masks |
| `rankings` | `Kendall`, `RocAuc`, `TopK` | rankings, and scores that rank labels |
"""

from mercer.losses.base import CallableLoss, KernelLoss, Loss, resolve_loss
from mercer.losses.classes import CostMatrix, ZeroOne
from mercer.losses.rankings import Kendall, RocAuc, TopK
from mercer.losses.sequences import EditDistance, Hamming, WeightedEditDistance
from mercer.losses.sets import F1, IoU, Jaccard
from mercer.losses.vectors import SquaredError

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
