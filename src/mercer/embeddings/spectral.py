"""Coordinates from the eigenvectors of the output Gram matrix: all of them, or Weston's principal components."""

from __future__ import annotations

from typing import Self

from mercer.core import memory
from mercer.core.arrays import Array, clip_spectrum, eigh, namespace
from mercer.core.collections import Collection, count
from mercer.core.validation import check_choice
from mercer.embeddings.directions import Directions, DualEmbedding, check_how_many, how_many
from mercer.kernels.base import Kernel
from mercer.kernels.grams import centred

_WAY_OUT = "fit on fewer outputs, or use embedding='auto' with solver=LowRank(rank=...)"


class _Eigen(DualEmbedding):
    """Coordinates V = A D along the leading eigenvectors P of the Gram matrix, with A = P D^{-1/2}."""

    orthogonal_ = True
    decomposes = True
    cutoff: float = 0.0
    n_components: int | None = None
    always_centres = False

    def fit(self, kernel: Kernel, outputs: Collection, paired: int | None = None) -> Self:
        """Decompose the output Gram matrix."""
        check_how_many(self.cutoff, self.n_components)
        check_choice(self.origin, "origin", ("mean", "zero"))
        super().fit(kernel, outputs, paired)
        self._map = self._centre = self._directions = None
        n = count(self.outputs_)
        memory.require(n, n, 4, "decomposing the output Gram matrix", _WAY_OUT)
        centres = self.origin == "mean" or self.always_centres
        rows = self._centre_features() if centres else None
        gram = kernel(self.outputs_) if rows is None else rows @ rows.T
        xp = namespace(gram)
        means, norm = xp.mean(gram, axis=0), float(xp.max(xp.linalg.diagonal(gram)))
        if rows is not None:
            # features, and not their products, are rounded in units of their distance from zero
            norm = max(norm, float(xp.finfo(gram.dtype).eps) * float(xp.max(kernel.diag(self.outputs_))))
        elif centres:
            gram = centred(gram)
        values, vectors = eigh(gram)
        if float(values[-1]) <= n * float(xp.finfo(values.dtype).eps) * norm:
            raise ValueError(f"all outputs are the same point under {kernel!r}; expected outputs that differ")
        values = clip_spectrum(values, f"the output Gram matrix of {kernel!r}", scale=norm)
        rank = how_many(values, self.cutoff, self.n_components, norm)
        # eigh sorts in ascending order
        self.values_ = xp.flip(values[-rank:], axis=0)
        self.dual_ = xp.flip(vectors[:, -rank:], axis=1) / xp.sqrt(self.values_)
        if centres:
            # orthogonal to the constant but for rounding, which a large mean would show
            self.dual_ = self.dual_ - xp.mean(self.dual_, axis=0)
        # the columns of a centred dual_ are orthogonal to 1, so only the row means of l(y, ·) remain to be subtracted
        self._offset, self._mean_norm = means @ self.dual_, float(xp.mean(means))
        if rows is not None and self._centre is not None:
            self._directions = rows.T @ self.dual_
            self._offset = self._centre @ self._directions
        return self

    @property
    def coordinates_(self) -> Array:
        """V, one row per fitted output."""
        return self.dual_ * self.values_

    @property
    def centred_(self) -> bool:  # type: ignore[override]
        """True if the columns of V sum to zero."""
        return self.origin == "mean"


class Spectral(_Eigen):
    r"""Exact coordinates, :math:`V = P D^{1/2}` from :math:`L = P D P^\top`; only rounding is cut.

    Parameters
    ----------
    origin : {"zero", "mean"}, default="zero"
        "mean" measures coordinates from the mean output, :math:`L = H L H`: their columns sum to zero, as for models with an
        intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> Y = np.array([[0.0], [1.0], [3.0]])
    >>> V = Spectral().fit(Gaussian(1.0), Y).coordinates_
    >>> bool(np.allclose(V @ V.T, Gaussian(1.0)(Y)))
    True
    """

    def __init__(self, origin: str = "zero") -> None:
        self.origin = origin


class PrincipalComponents(_Eigen, Directions):
    r"""Weston's decomposition: the leading kernel principal components of the outputs, :math:`L' = H L H`.

    Distances are measured in the kept coordinates alone, as in the paper: the part of an output outside them does not count.

    Parameters
    ----------
    cutoff : float, default=0.01
        Components whose eigenvalue is below this share of the largest are dropped.
    n_components : int, optional
        Keep at most so many.
    origin : {"mean", "zero"}, default="mean"
        "mean" measures coordinates from the mean output, as kernel PCA usually does, so that ridge regression shrinks towards
        the mean. "zero" is the projection as printed in the paper, :math:`\sum_i \alpha_i \ell(y_i, y)` without centring ℓ.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> Y = np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.1]])
    >>> PrincipalComponents(n_components=1).fit(Linear(), Y).coordinates_.shape
    (3, 1)
    """

    always_centres = True

    def __init__(self, cutoff: float = 0.01, n_components: int | None = None, origin: str = "mean") -> None:
        self.cutoff = cutoff
        self.n_components = n_components
        self.origin = origin

    @property
    def coordinates_(self) -> Array:
        """V of the fitted outputs."""
        centred = super().coordinates_
        return centred if self.origin == "mean" else centred + self._offset

    @property
    def orthogonal_(self) -> bool:  # type: ignore[override]
        """True if the columns of V are orthogonal, that is, centred."""
        return self.origin == "mean"
