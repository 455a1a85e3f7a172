"""Outputs whose feature map is finite and known."""

from __future__ import annotations

from typing import Self

from mercer.core.arrays import Array, clip_spectrum, eigh, namespace
from mercer.core.collections import Collection
from mercer.embeddings.base import Embedding
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap


class Features(Embedding):
    r"""Coordinates by the kernel's own feature map, :math:`v(y) = \phi(y)`.

    Vectors under a linear kernel, indicators for classes, label sets and positions: with d features, everything costs
    O(n²d) where an implicit embedding costs O(n³).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Classes
    >>> Features().fit(Classes(), np.array([0, 1, 0])).coordinates_.shape
    (3, 2)
    """

    feature_map_: FeatureMap

    def fit(self, kernel: Kernel, outputs: Collection, paired: int | None = None) -> Self:
        """Take the feature map from the kernel; an error if it has none."""
        super().fit(kernel, outputs, paired)
        found = kernel.feature_map(outputs)
        if found is None:
            raise ValueError(
                f"embedding=Features() needs an output kernel with a finite feature map, and {kernel!r} has none; "
                "use embedding='auto', or mercer.embeddings.PrincipalComponents()"
            )
        self.feature_map_ = found
        self._rows = found(self.outputs_)
        # Linear: the features are the vectors, so a point is already the answer
        self.coordinates_are_outputs = self._rows is self.outputs_
        return self

    @property
    def coordinates_(self) -> Array:
        """φ(y) of the fitted outputs."""
        return self._rows

    def transform(self, outputs: Collection) -> Array:
        """φ(y) of other outputs."""
        return self.feature_map_(outputs)

    def weights(self, points: Array) -> Array:
        """The weights of least norm, h V⁺."""
        xp = namespace(self._rows)
        values, vectors = eigh(self._rows.T @ self._rows)
        values = clip_spectrum(values, "the Gram matrix of the output features")
        kept = values > values.shape[0] * float(xp.finfo(values.dtype).eps) * float(values[-1])
        inverse = xp.where(kept, 1.0 / xp.where(kept, values, xp.ones_like(values)), xp.zeros_like(values))
        return ((points @ vectors) * inverse) @ (self._rows @ vectors).T


class FeaturesOf(Features):
    r"""Coordinates by the features of a kernel other than the output kernel, :math:`v(y) = \phi(y)`.

    For a decoder that looks at the expectation of these features and at nothing else: with the identity operator, the
    weights on the training outputs do not depend on the output kernel, and neither does that expectation.

    Parameters
    ----------
    kernel : Kernel
        Resolved, with a finite feature map.

    Examples
    --------
    >>> from mercer.kernels import LabelsBySize, LabelSets
    >>> found = FeaturesOf(LabelsBySize()).fit(LabelSets(), [{"sea"}, {"sea", "sun"}])
    >>> found.coordinates_
    array([[1., 0., 0.],
           [0., 1., 1.]])
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def fit(self, kernel: Kernel, outputs: Collection, paired: int | None = None) -> Self:
        """Take the feature map from the kernel of the embedding; the output kernel is not looked at."""
        return super().fit(self.kernel, outputs, paired)
