"""Choosing parameters inside the training data."""

from mercer.selection.alignment import alignment, choose_scale, cluster_target
from mercer.selection.ridge import GCV, KFold, LeaveOneOut, RidgeSelection

__all__ = ["GCV", "KFold", "LeaveOneOut", "RidgeSelection", "alignment", "choose_scale", "cluster_target"]
