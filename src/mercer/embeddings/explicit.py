"""Coordinates from a finite feature map."""

from __future__ import annotations

from typing import Self

from mercer.core.arrays import Array, clip_spectrum, eigh, namespace
from mercer.core.collections import Collection, count
from mercer.embeddings.base import Embedding
from mercer.kernels.base import Kernel


class Features(Embedding):
    r"""Coordinates by the feature map of the kernel, :math:`v(y) = \phi(y)`.

    For vectors under a linear kernel, classes, label sets and positions. With d features everything costs O(n²d), with an
    implicit embedding O(n³).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Classes
    >>> Features().fit(Classes(), np.array([0, 1, 0])).coordinates_.shape
    (3, 2)
    """

    def fit(self, kernel: Kernel, outputs: Collection, paired: int | None = None) -> Self:
        """Take the feature map of the kernel; raise ValueError if it has none."""
        outputs = kernel.check(outputs, "outputs")
        found = kernel.feature_map(outputs)
        if found is None:
            raise ValueError(
                f"embedding=Features() needs an output kernel with a finite feature map, and {kernel!r} has none; "
                "use embedding='auto', or mercer.embeddings.PrincipalComponents()"
            )
        self.kernel_, self.outputs_, self.feature_map_ = kernel, outputs, found
        self.paired_ = count(outputs) if paired is None else paired
        self._rows = found(outputs)
        # Linear: the features are the vectors, so a point is already the answer
        self.coordinates_are_outputs = self._rows is outputs
        return self

    @property
    def coordinates_(self) -> Array:
        """The rows φ(y) of the fitted outputs."""
        return self._rows

    def transform(self, outputs: Collection) -> Array:
        """Return φ(y) of other outputs."""
        return self.feature_map_(outputs)

    def weights(self, points: Array) -> Array:
        """Return the weights of least norm, h V⁺."""
        xp = namespace(self._rows)
        values, vectors = eigh(self._rows.T @ self._rows)
        values = clip_spectrum(values, "the Gram matrix of the output features")
        kept = values > values.shape[0] * float(xp.finfo(values.dtype).eps) * float(values[-1])
        inverse = xp.where(kept, 1.0 / xp.where(kept, values, xp.ones_like(values)), xp.zeros_like(values))
        return ((points @ vectors) * inverse) @ (self._rows @ vectors).T


class FeaturesOf(Features):
    r"""Coordinates by the features of a kernel other than the output kernel, :math:`v(y) = \phi(y)`.

    For a decoder that needs the expectation of these features alone: with the identity operator, the weights on the training
    outputs do not depend on the output kernel, and neither does that expectation.

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
        """Take the feature map of the kernel of the embedding, and ignore the output kernel."""
        return super().fit(self.kernel, outputs, paired)
