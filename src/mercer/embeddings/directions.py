"""Coordinates along directions of the feature space, given by weights on the fitted outputs."""

from __future__ import annotations

from typing import Any

from mercer.core.arrays import Array, namespace
from mercer.core.collections import Collection, count, is_numeric
from mercer.core.validation import check_real, check_whole
from mercer.embeddings.base import Embedding
from mercer.kernels.features import FeatureMap


class DualEmbedding(Embedding):
    r"""Coordinates along directions :math:`u_c = \sum_i A_{ic}\,\psi(y_i)`, from zero or from the mean output.

    Fitting sets `dual_`, the matrix A, `_offset`, the coordinates of the mean output, and `_mean_norm`, its squared norm. Vectors
    with finite features are measured from the mean of these (`_centre`): kernel values of outputs far from zero, such as y + 1e8,
    would cancel.
    """

    origin: str
    dual_: Array
    _offset: Array
    _mean_norm: float
    _map: FeatureMap | None = None
    _centre: Array | None = None
    _directions: Array | None = None

    def _centre_features(self) -> Array | None:
        """Find the mean of the features of the fitted outputs; return the features around it, or None if there are none."""
        found = self.kernel_.feature_map(self.outputs_) if self.kernel_.takes_vectors else None
        if found is None or not is_numeric(self.outputs_):
            return None
        rows = found(self.outputs_)
        self._map, self._centre = found, namespace(rows).mean(rows, axis=0)
        return rows - self._centre

    def _around_centre(self, outputs: Collection) -> Array:
        assert self._map is not None
        return self._map(outputs) - self._centre

    def transform(self, outputs: Collection) -> Array:
        """Return the projections of outputs on the directions."""
        if self._directions is not None:
            found = self._around_centre(outputs) @ self._directions
            return found if self.origin == "mean" else found + self._offset
        projected = self.kernel_(outputs, self.outputs_) @ self.dual_
        return projected - self._offset if self.origin == "mean" else projected

    def norms(self, outputs: Collection) -> Array:
        """Return the squared distance of each output from the origin."""
        if self.origin == "mean" and self._directions is not None:
            rows = self._around_centre(outputs)
            return namespace(rows).sum(rows * rows, axis=1)
        norms = self.kernel_.diag(outputs)
        if self.origin == "zero":
            return norms
        return norms - 2.0 * namespace(norms).mean(self.kernel_(outputs, self.outputs_), axis=1) + self._mean_norm

    def weights(self, points: Array) -> Array:
        """Return the weights of least norm, including those of the mean output if that is the origin."""
        weights = points @ self.dual_.T
        return weights + 1.0 / count(self.outputs_) if self.origin == "mean" else weights


class Directions(DualEmbedding):
    """Coordinates along a few orthonormal directions learned from data; distances are measured in these alone."""

    fixed = False
    origin: str = "mean"

    def norms(self, outputs: Collection) -> Array:
        """Return squared norms within the kept directions."""
        rows = self.transform(outputs)
        return namespace(rows).sum(rows * rows, axis=1)

    def outside(self, outputs: Collection) -> Array:
        """Return the squared distance from the origin without its part in the kept directions."""
        whole = super().norms(outputs)
        return namespace(whole).clip(whole - self.norms(outputs), 0.0, None)


def check_how_many(cutoff: Any, n_components: Any) -> None:
    """Raise ValueError unless the two are valid as a number of directions to keep."""
    share = "a share of the largest eigenvalue, 0 ≤ cutoff < 1"
    check_real(cutoff, "cutoff", 0, 1, closed="left", expected=share)
    if n_components is not None:
        check_whole(n_components, "n_components", expected="a positive whole number, or None for no limit")


def how_many(values: Array, cutoff: float, n_components: int | None, norm: float = 0.0) -> int:
    """Return the number of ascending eigenvalues above a share of the largest, and above rounding beside `norm`."""
    xp, largest = namespace(values), float(values[-1])
    rounding = values.shape[0] * float(xp.finfo(values.dtype).eps) * max(largest, norm)
    kept = int(xp.sum(xp.astype(values > max(float(cutoff) * largest, rounding), xp.int64)))
    return kept if n_components is None else min(kept, n_components)
