"""Losses of sets: labels and masks, by how much of them is shared."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from mercer.core.arrays import Array, float64, namespace
from mercer.core.collections import Collection, as_vectors, is_numeric
from mercer.kernels.labels import LabelSets, require_alike
from mercer.losses.base import Loss
from mercer.losses.rows import alone, side_by_side


@dataclass(eq=False, repr=False)
class _Overlap(Loss):
    r"""One minus :math:`I / (I + a(|y| - I) + a(|\hat y| - I))` with :math:`I = |y \cap \hat y|`."""

    empty: float = 1.0
    penalty: ClassVar[float]
    """a, what a label in one set and not in the other counts."""

    def check_parameters(self) -> None:
        """A finite value for two empty sets."""
        if isinstance(self.empty, bool) or not isinstance(self.empty, Real) or not abs(self.empty) < np.inf:
            raise ValueError(
                f"empty={self.empty!r} in {type(self).__name__}; expected what two empty sets score, a finite number such as 1.0"
            )

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """The loss of two sets."""
        return float(self.paired(alone(y_true), alone(y_pred))[0])

    def paired(self, Y_true: Collection, Y_pred: Collection) -> Array:
        """The loss of each pair of sets."""
        A, B = self._sets(Y_true, Y_pred, paired=True)
        if is_numeric(A):
            xp = namespace(A)
            A, B = float64(A), float64(B)
            return self._loss(xp.sum(A * B, axis=1), xp.sum(A, axis=1), xp.sum(B, axis=1))
        both = np.asarray([float(len(set(a) & set(b))) for a, b in zip(A, B, strict=True)])
        return self._loss(both, LabelSets().diag(A), LabelSets().diag(B))

    def matrix(self, A: Collection, B: Collection) -> Array:
        """The loss of all pairs of sets."""
        A, B = self._sets(A, B, paired=False)
        kernel = LabelSets()
        return self._loss(kernel(A, B), kernel.diag(A)[:, None], kernel.diag(B)[None, :])

    def _sets(self, A: Collection, B: Collection, paired: bool) -> tuple[Collection, Collection]:
        self.check_parameters()
        A, B = LabelSets().check(A, "Y_true"), LabelSets().check(B, "Y_pred")
        require_alike(A, B, "Y_true", "Y_pred")
        return side_by_side(A, B, paired=paired)

    def _loss(self, both: Array, left: Array, right: Array) -> Array:
        xp = namespace(both)
        everything = both + self.penalty * (left + right - 2.0 * both)
        none = everything == 0
        share = both / xp.where(none, xp.ones_like(everything), everything)
        return 1.0 - xp.where(none, xp.full_like(share, float(self.empty)), share)


@dataclass(eq=False, repr=False)
class F1(_Overlap):
    r"""One minus the example F1 of two label sets, :math:`1 - 2|y \cap \hat y| / (|y| + |\hat y|)`.

    Named as the loss of an estimator of label sets, it chooses the ridge, and answers are decoded by the expected F1 exactly
    (`mercer.decoders.ExpectedF1`). Sets are written as for `mercer.kernels.LabelSets`: sets, or rows of 0 and 1.

    Parameters
    ----------
    empty : float, default=1.0
        The F1 of two empty sets.

    Examples
    --------
    >>> F1()({"sea", "sun"}, {"sun"})
    0.33333333333333337
    """

    penalty = 0.5


@dataclass(eq=False, repr=False)
class Jaccard(_Overlap):
    r"""One minus the Jaccard index of two label sets, :math:`1 - |y \cap \hat y| / |y \cup \hat y|`.

    Parameters
    ----------
    empty : float, default=1.0
        The index of two empty sets.

    Examples
    --------
    >>> Jaccard()({"sea", "sun"}, {"sun"})
    0.5
    """

    penalty = 1.0


@dataclass(eq=False, repr=False)
class IoU(Loss):
    r"""One minus intersection over union of two masks, :math:`1 - |y \cap \hat y| / |y \cup \hat y|`.

    A mask is an array of any shape; the pixels above `threshold` belong to it. Two empty masks agree.

    Parameters
    ----------
    threshold : float, default=0.5
        Above it, a pixel belongs to the mask.

    Examples
    --------
    >>> import numpy as np
    >>> IoU()(np.array([[1, 1], [0, 0]]), np.array([[0.9, 0.2], [0.7, 0.0]]))
    0.6666666666666667
    """

    threshold: float = 0.5

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """The loss of two masks."""
        return float(self.paired(alone(y_true), alone(y_pred))[0])

    def paired(self, Y_true: Collection, Y_pred: Collection) -> Array:
        """The loss of each pair of masks."""
        A, B = self._masks(Y_true, Y_pred, paired=True)
        xp = namespace(A)
        return _of_union(xp.sum(A * B, axis=1), xp.sum(A, axis=1), xp.sum(B, axis=1))

    def matrix(self, A: Collection, B: Collection) -> Array:
        """The loss of all pairs of masks."""
        A, B = self._masks(A, B, paired=False)
        xp = namespace(A)
        return _of_union(A @ B.T, xp.sum(A, axis=1)[:, None], xp.sum(B, axis=1)[None, :])

    def _masks(self, A: Collection, B: Collection, paired: bool) -> tuple[Array, Array]:
        shapes = {tuple(part.shape[1:]): None for part in (A, B) if is_numeric(part) and part.ndim > 2}
        A, B = as_vectors(A, "Y_true"), as_vectors(B, "Y_pred")
        if A.shape[1] != B.shape[1]:
            raise ValueError(
                f"the masks of Y_true have {A.shape[1]} pixels and those of Y_pred {B.shape[1]}; expected as many"
            )
        if len(shapes) > 1:
            own, other = shapes
            raise ValueError(f"the masks of Y_true have shape {own} and those of Y_pred {other}; expected one shape")
        A, B = side_by_side(A, B, paired=paired)
        return self._inside(A), self._inside(B)

    def _inside(self, images: Array) -> Array:
        xp = namespace(images)
        return xp.astype(images > self.threshold, xp.float64)


def _of_union(both: Array, left: Array, right: Array) -> Array:
    xp = namespace(both)
    union = left + right - both
    none = union == 0
    return xp.where(none, xp.zeros_like(union), 1.0 - both / xp.where(none, xp.ones_like(union), union))
