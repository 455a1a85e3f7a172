"""Coordinates along directions of the feature space, given by weights on the fitted outputs."""

from __future__ import annotations

from typing import Any

from mercer.core.arrays import Array, namespace
from mercer.core.collections import Collection, count
from mercer.core.validation import check_real, check_whole
from mercer.embeddings.base import Embedding


class DualEmbedding(Embedding):
    r"""Coordinates along directions :math:`u_c = \sum_i A_{ic}\,\psi(y_i)`, from zero or from the mean output.

    Fitting sets `dual_`, the matrix A, `_offset`, the coordinates of the mean output, and `_mean_norm`, its squared norm.
    """

    origin: str
    dual_: Array
    _offset: Array
    _mean_norm: float

    def transform(self, outputs: Collection) -> Array:
        """Return the projections of outputs on the directions."""
        projected = self.kernel_(outputs, self.outputs_) @ self.dual_
        return projected - self._offset if self.origin == "mean" else projected

    def norms(self, outputs: Collection) -> Array:
        """Return the squared distance of each output from the origin."""
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
