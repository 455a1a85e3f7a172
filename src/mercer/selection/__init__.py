"""Choosing parameters inside the training data."""

from mercer.selection.alignment import alignment, choose_scale, cluster_target
from mercer.selection.alpha import GCV, KFold, LeaveOneOut, RidgeSelection
from mercer.selection.combination import Combination, align_columns, align_weights, combine

__all__ = [
    "GCV",
    "Combination",
    "KFold",
    "LeaveOneOut",
    "RidgeSelection",
    "align_columns",
    "align_weights",
    "alignment",
    "choose_scale",
    "cluster_target",
    "combine",
]
