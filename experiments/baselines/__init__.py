"""Methods the papers compare with."""

from experiments.baselines.chain import MaxMarginChain
from experiments.baselines.constrained import ConstrainedRidge
from experiments.baselines.hopfield import HopfieldNet

__all__ = ["ConstrainedRidge", "HopfieldNet", "MaxMarginChain"]
