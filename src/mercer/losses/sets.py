"""Losses of label sets and masks, by the share they have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mercer.core.arrays import Array, float64, namespace
from mercer.core.collections import Collection, as_vectors, is_numeric
from mercer.core.validation import check_real
from mercer.kernels.labels import LabelSets, require_alike
from mercer.losses.base import Loss, broadcast, require_same_width, row_products, side_by_side


@dataclass(eq=False, repr=False)
class _Overlap(Loss):
    r"""One minus :math:`I / (I + a(|y| - I) + a(|\hat y| - I))` with :math:`I = |y \cap \hat y|`."""

    outputs = "label sets: sets, or rows of 0 and 1"
    penalty: ClassVar[float]
    """a, the weight of a label that is in one of the sets only."""
    empty: float = 1.0

    def compute(self, Y_true: Collection, Y_pred: Collection, paired: bool) -> Array:
        """Losses of sets."""
        self.check_parameters()
        kernel = LabelSets()
        A, B = kernel.check(Y_true, "Y_true"), kernel.check(Y_pred, "Y_pred")
        require_alike(A, B, "Y_true", "Y_pred")
        A, B = side_by_side(A, B, paired=paired)
        if not paired:
            both = kernel(A, B)
        elif is_numeric(A):
            both = row_products(float64(A), float64(B), paired)
        else:
            both = np.asarray([float(len(set(a) & set(b))) for a, b in zip(A, B, strict=True)])
        left, right = broadcast(kernel.diag(A), kernel.diag(B), paired)
        return 1.0 - _share(both, both + self.penalty * (left + right - 2.0 * both), float(self.empty))

    def check_parameters(self) -> None:
        """Raise ValueError unless the value for two empty sets is a finite number."""
        expected = f"the score of two empty sets in {type(self).__name__}, a finite number such as 1.0"
        check_real(self.empty, "empty", -math.inf, expected=expected)


@dataclass(eq=False, repr=False)
class F1(_Overlap):
    r"""One minus the example F1 of two label sets, :math:`1 - 2|y \cap \hat y| / (|y| + |\hat y|)`.

    Sets are written as for `mercer.kernels.LabelSets`. An estimator with this loss decodes by the expected F1 exactly
    (`mercer.decoders.ExpectedF1`).

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
    >>> IoU()(np.array([[1, 1], [0, 0]]), np.array([[0.9, 0.2], [0.7, 0.0]]))
    0.6666666666666667
    """

    outputs = "masks: arrays of numbers of one shape"
    threshold: float = 0.5

    def compute(self, Y_true: Collection, Y_pred: Collection, paired: bool) -> Array:
        """Losses of masks."""
        shapes = {tuple(part.shape[1:]): None for part in (Y_true, Y_pred) if is_numeric(part) and part.ndim > 2}
        A, B = as_vectors(Y_true, "Y_true"), as_vectors(Y_pred, "Y_pred")
        require_same_width(A, B, "pixels per mask")
        if len(shapes) > 1:
            own, other = shapes
            raise ValueError(f"the masks of Y_true have shape {own} and those of Y_pred {other}; expected one shape")
        A, B = side_by_side(A, B, paired=paired)
        xp = namespace(A)
        A, B = (xp.astype(each > self.threshold, xp.float64) for each in (A, B))
        both = row_products(A, B, paired)
        left, right = broadcast(xp.sum(A, axis=1), xp.sum(B, axis=1), paired)
        return 1.0 - _share(both, left + right - both, 1.0)


def _share(part: Array, whole: Array, empty: float) -> Array:
    """The ratio of a part to the whole; `empty` where the whole is zero."""
    xp = namespace(part)
    none = whole == 0
    share = part / xp.where(none, xp.ones_like(whole), whole)
    return xp.where(none, xp.full_like(share, empty), share)
