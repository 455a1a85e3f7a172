"""From a loss to a model: kinds of objects are recognised, a menu of learners is tried, and the good ones are mixed."""

from mercer.automatic.estimator import AutoEstimator
from mercer.automatic.kinds import INPUTS, OUTPUTS, Kind
from mercer.automatic.leaderboard import Entry, Leaderboard

__all__ = ["INPUTS", "OUTPUTS", "AutoEstimator", "Entry", "Kind", "Leaderboard"]
