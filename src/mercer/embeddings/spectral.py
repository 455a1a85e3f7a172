"""Coordinates from the eigenvectors of the output Gram matrix: all of them, or Weston's principal components."""

from __future__ import annotations

from typing import Self

from mercer.core import memory
from mercer.core.arrays import Array, clip_spectrum, eigh, namespace
from mercer.core.collections import Collection, count
from mercer.core.validation import check_choice
from mercer.embeddings.base import Embedding
from mercer.embeddings.directions import Directions, check_how_many
from mercer.kernels.base import Kernel

_WAY_OUT = "fit on fewer outputs, or use embedding='auto' with solver=LowRank(rank=...)"


class _Eigen(Embedding):
    """Shared by the two: V = A D from the leading eigenvectors, `dual_` A = P D^{-1/2}."""

    orthogonal_ = True
    decomposes = True
    dual_: Array
    values_: Array

    def _decompose(self, gram: Array, relative_cutoff: float, most: int | None, norm: float) -> None:
        """Keep the leading eigenvectors of `gram`; `norm` is the size of ‖ψ(y)‖² before anything was subtracted."""
        xp = namespace(gram)
        values, vectors = eigh(gram)
        if float(values[-1]) <= values.shape[0] * float(xp.finfo(values.dtype).eps) * norm:
            raise ValueError(
                f"all outputs are the same point under {self.kernel_!r}, so there is nothing to learn; expected "
                "outputs that differ"
            )
        values = clip_spectrum(values, f"the output Gram matrix of {self.kernel_!r}")
        rounding = values.shape[0] * float(xp.finfo(values.dtype).eps)
        largest = float(values[-1])
        rank = int(xp.sum(xp.astype(values > max(relative_cutoff, rounding) * largest, xp.int64)))
        rank = rank if most is None else min(rank, most)
        # eigh sorts upwards; the last ones are the principal ones, largest first
        self.values_ = xp.flip(values[-rank:], axis=0)
        vectors = xp.flip(vectors[:, -rank:], axis=1)
        self.dual_ = vectors / xp.sqrt(self.values_)

    @property
    def coordinates_(self) -> Array:
        """V, one row per fitted output."""
        return self.dual_ * self.values_


def centred_gram(gram: Array, means: Array) -> Array:
    """Return H L H, given the column means of L."""
    return gram - means - means[:, None] + namespace(gram).mean(means)


class Spectral(_Eigen):
    r"""Exact coordinates, :math:`V = P D^{1/2}` from :math:`L = P D P^\top`; nothing is cut but rounding.

    Parameters
    ----------
    origin : {"zero", "mean"}, default="zero"
        "mean" measures coordinates from the mean output, :math:`L = H L H`: columns then sum to zero, as models with an
        intercept have it.

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

    @property
    def centred_(self) -> bool:  # type: ignore[override]
        """Whether the columns of V sum to zero."""
        return self.origin == "mean"

    def fit(self, kernel: Kernel, outputs: Collection, paired: int | None = None) -> Self:
        """Decompose the output Gram matrix."""
        check_choice(self.origin, "origin", ("zero", "mean"))
        super().fit(kernel, outputs, paired)
        memory.require(count(outputs), count(outputs), 4, "decomposing the output Gram matrix", _WAY_OUT)
        gram = kernel(outputs)
        xp = namespace(gram)
        norm = float(xp.max(xp.linalg.diagonal(gram)))
        if self.origin == "mean":
            means = xp.mean(gram, axis=0)
            gram, self._mean_norm = centred_gram(gram, means), float(xp.mean(means))
            self._decompose(gram, 0.0, None, norm)
            self._offset = means @ self.dual_
        else:
            self._decompose(gram, 0.0, None, norm)
        return self

    def transform(self, outputs: Collection) -> Array:
        """Return V⁺ l_y, exact against any combination of the fitted outputs."""
        rows = self.kernel_(outputs, self.outputs_) @ self.dual_
        return rows - self._offset if self.origin == "mean" else rows

    def norms(self, outputs: Collection) -> Array:
        """Return the squared distance of each output from the origin."""
        norms = self.kernel_.diag(outputs)
        if self.origin == "zero":
            return norms
        return norms - 2.0 * namespace(norms).mean(self.kernel_(outputs, self.outputs_), axis=1) + self._mean_norm

    def weights(self, points: Array) -> Array:
        """Return the weights of least norm, the mean output included where that is the origin."""
        weights = points @ self.dual_.T
        return weights + 1.0 / count(self.outputs_) if self.origin == "mean" else weights


class PrincipalComponents(_Eigen, Directions):
    r"""Weston's decomposition: kernel principal components of the outputs, :math:`L' = H L H`, the leading ones kept.

    Distances are measured in the kept coordinates alone, as in the paper: what an output has outside them does not count.

    Parameters
    ----------
    cutoff : float, default=0.01
        Components whose eigenvalue is below this share of the largest are dropped.
    n_components : int, optional
        Keep at most so many.
    origin : {"mean", "zero"}, default="mean"
        "mean" measures coordinates from the mean output, as kernel PCA usually does, so that the ridge shrinks towards the
        mean. "zero" is the projection as printed in the paper, :math:`\sum_i \alpha_i \ell(y_i, y)` without centring ℓ.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> Y = np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.1]])
    >>> PrincipalComponents(n_components=1).fit(Linear(), Y).coordinates_.shape
    (3, 1)
    """

    def __init__(self, cutoff: float = 0.01, n_components: int | None = None, origin: str = "mean") -> None:
        self.cutoff = cutoff
        self.n_components = n_components
        self.origin = origin

    def fit(self, kernel: Kernel, outputs: Collection, paired: int | None = None) -> Self:
        """Decompose the centred output Gram matrix."""
        self._check_parameters()
        super().fit(kernel, outputs, paired)
        memory.require(count(outputs), count(outputs), 4, "kernel PCA of the outputs", _WAY_OUT)
        gram = kernel(outputs)
        xp = namespace(gram)
        means, norm = xp.mean(gram, axis=0), float(xp.max(xp.linalg.diagonal(gram)))
        self._decompose(centred_gram(gram, means), self.cutoff, self.n_components, norm)
        # dual_ is orthogonal to 1, so centring l(y, ·) over its columns changes nothing; only the row means stay
        self._offset, self._mean_norm = means @ self.dual_, float(xp.mean(means))
        return self

    @property
    def coordinates_(self) -> Array:
        """V of the fitted outputs."""
        centred = self.dual_ * self.values_
        return centred if self.origin == "mean" else centred + self._offset

    @property
    def orthogonal_(self) -> bool:  # type: ignore[override]
        """Whether the columns of V are orthogonal; they then sum to zero too."""
        return self.origin == "mean"

    centred_ = orthogonal_

    def _check_parameters(self) -> None:
        check_how_many(self.cutoff, self.n_components)
        check_choice(self.origin, "origin", ("mean", "zero"))
