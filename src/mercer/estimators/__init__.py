"""scikit-learn estimators: glue over the parts."""

from mercer.estimators.base import ObjectEstimator
from mercer.estimators.dependency import DependencyEstimator
from mercer.estimators.neighbors import NeighborsEstimator

__all__ = ["DependencyEstimator", "NeighborsEstimator", "ObjectEstimator"]
