"""Kernels by the share in common, of labels or of features, and by labels and size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import Array, float64, is_array, like, namespace, to_numpy
from mercer.kernels.algebra import Around
from mercer.kernels.base import POSITIVE, Kernel, Prepared
from mercer.kernels.features import FeatureMap
from mercer.kernels.grams import squared_norms
from mercer.kernels.labels import LabelIndicators, LabelSets


class _OnLabelSets(Around):
    """A kernel of the number of labels in common and the sizes of two sets."""

    kernel = LabelSets()


@dataclass(eq=False, repr=False)
class Overlap(_OnLabelSets):
    r"""The share of labels in common, :math:`k(A, B) = I / (I + a(|A| - I) + a(|B| - I))`, :math:`I = |A \cap B|`.

    ``penalty=0.5`` is F1 (Dice), ``penalty=1`` is Jaccard. Two empty sets are the same, k = 1; an empty set has nothing in common
    with any other. Positive semi-definite from a = ½ upwards (Gower and Legendre 1986). Objects are written as for `LabelSets`.

    Parameters
    ----------
    penalty : float, default=0.5
        a, the weight of a label in one set and not in the other.

    Examples
    --------
    >>> Overlap()([{"sea", "sun"}, {"sun"}, set()]).round(3)
    array([[1.   , 0.667, 0.   ],
           [0.667, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """

    constraints = {"penalty": POSITIVE._replace(expected="a number above zero, 0.5 for F1 or 1 for Jaccard")}

    penalty: float = 0.5

    @property
    def is_psd(self) -> bool:
        """True from a = ½ upwards."""
        return self.penalty >= 0.5

    def _matrix(self, X: Prepared, Z: Prepared | None) -> Array:
        return _share(LabelSets(), X, Z, self.penalty)

    def _diag(self, X: Prepared) -> Array:
        return namespace(X.norms).ones_like(X.norms)


@dataclass(eq=False, repr=False)
class OverlapOf(Around):
    r"""The share of features in common, :math:`k(x, z) = c / (c + a(k_1(x, x) - c) + a(k_1(z, z) - c))`, :math:`c = k_1(x, z)`.

    This is `Overlap` of any kernel; a = 1 is the Tanimoto kernel (Ralaivola et al. 2005). Two objects of norm zero are the same,
    k = 1. Positive semi-definite from a = ½ upwards if the kernel inside is.

    Parameters
    ----------
    kernel : Kernel
        k₁, such as `Linear` for rows of weights.
    penalty : float, default=1.0
        a, the weight of what one object has and the other has not.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> OverlapOf(Linear())([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """

    constraints = {"penalty": POSITIVE}

    kernel: Kernel
    penalty: float = 1.0

    @property
    def is_psd(self) -> bool:
        """As for the kernel inside, from a = ½ upwards."""
        return self.penalty >= 0.5 and self.kernel.is_psd

    def _matrix(self, X: Prepared, Z: Prepared | None) -> Array:
        return _share(self.kernel, X, Z, self.penalty)

    def _diag(self, X: Prepared) -> Array:
        return namespace(X.norms).ones_like(X.norms)


def _share(kernel: Kernel, X: Prepared, Z: Prepared | None, penalty: float) -> Array:
    """The share of a kernel's value in the values of both objects with themselves."""
    both = kernel(X, Z)
    left, right = (like(norms, both) for norms in squared_norms(X, Z, both))
    xp = namespace(both)
    union = both + penalty * (left[:, None] + right[None, :] - 2.0 * both)
    empty = union == 0
    return xp.where(empty, xp.ones_like(both), both / xp.where(empty, xp.ones_like(both), union))


@dataclass(eq=False, repr=False)
class LabelsBySize(_OnLabelSets):
    r"""Labels in common of sets of one size, :math:`k(A, B) = |A \cap B|\,[|A| = |B|]`; 1 for two empty sets.

    It has a feature for each label and each size, 1 if the set has both. The expected F1 of an answer depends on their
    expectation alone: `mercer.decoders.ExpectedF1`.

    Examples
    --------
    >>> LabelsBySize()([{"sea", "sun"}, {"sun"}, {"sky", "sea"}])
    array([[2., 0., 1.],
           [0., 1., 0.],
           [1., 0., 2.]])
    """

    is_psd = True

    def _matrix(self, X: Prepared, Z: Prepared | None) -> Array:
        both, left, right = LabelSets()(X, Z), X.norms, (X if Z is None else Z).norms
        xp = namespace(both)
        alike = left[:, None] == right[None, :]
        empty = alike & (left[:, None] == 0)
        return xp.where(empty, xp.ones_like(both), xp.where(alike, both, xp.zeros_like(both)))

    def _diag(self, X: Prepared) -> Array:
        return namespace(X.norms).clip(X.norms, 1.0, None)

    def feature_map(self, X: Any) -> SizedIndicators:
        """One column for each label and size that occur together in `X`."""
        X = self.check(X)
        indicators = LabelSets().feature_map(X)
        rows = to_numpy(indicators(X)) > 0
        sizes = rows.sum(axis=1)
        pairs = [
            (s, int(label))
            for s in np.unique(sizes[sizes > 0])
            for label in np.flatnonzero(rows[sizes == s].any(axis=0))
        ]
        sized = np.asarray(pairs, dtype=np.intp).reshape(-1, 2)
        return SizedIndicators(indicators, sized[:, 1], sized[:, 0], bool((sizes == 0).any()))


@dataclass
class SizedIndicators(FeatureMap):
    """A one in the column of each label of the set and the size of the set; the last column is for the empty set."""

    indicators: LabelIndicators
    label: np.ndarray
    """The label of each column, as a column of `indicators`."""
    size: np.ndarray
    """The size of each column."""
    with_empty: bool

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """One column per label and size, and one for the empty set."""
        return len(self.label) + self.with_empty

    def __call__(self, X: Any) -> Array:
        """The indicator rows."""
        X = LabelSets().check(X)
        rows = to_numpy(self.indicators(X))
        # labels without a column count towards the size
        sizes = to_numpy(LabelSets().diag(X))
        features = rows[:, self.label] * (sizes[:, None] == self.size)
        if self.with_empty:
            features = np.column_stack([features, sizes == 0])
        return float64(like(features, X)) if is_array(X) and X.dtype != object else features
