"""Choosing parameters inside the training data."""

from mercer.selection.alignment import alignment, choose_scale, cluster_target
from mercer.selection.alpha import LeaveOneOut, RidgeSelection
from mercer.selection.combination import Combination, align_columns, align_weights, combine
from mercer.selection.folds import GCV, KFold

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
