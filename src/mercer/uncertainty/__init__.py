"""Uncertainty of predictions: conformal sets, intervals, probabilities, abstention, doubts, explanations."""

from mercer.uncertainty.answers import Carrier, Explanation
from mercer.uncertainty.conformal import Calibration
from mercer.uncertainty.doubt_scale import DoubtScale
from mercer.uncertainty.doubts import Doubts
from mercer.uncertainty.prediction_set import PredictionSet
from mercer.uncertainty.probabilities import ProbabilityMap, RiskCoverage
from mercer.uncertainty.regions import Ellipsoids, Intervals

__all__ = [
    "Calibration",
    "Carrier",
    "DoubtScale",
    "Doubts",
    "Ellipsoids",
    "Explanation",
    "Intervals",
    "PredictionSet",
    "ProbabilityMap",
    "RiskCoverage",
]
