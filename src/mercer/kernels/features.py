"""Finite feature maps: kernels whose φ(x) can be written down as a row of numbers."""

from __future__ import annotations

from mercer.arrays import Array
from mercer.objects import Objects


class FeatureMap:
    """A map from objects to rows of numbers; `dimension` columns, the same for every call.

    What a vocabulary taken from the training objects does not cover (a label never seen) is left out of the row. That
    is exact for the inner product with any combination of training objects, which is all that is ever asked.
    """

    dimension: int

    def __call__(self, X: Objects) -> Array:
        """The rows φ(x), one per object."""
        raise TypeError(f"{type(self).__name__} must define __call__(X)")
