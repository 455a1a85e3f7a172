"""Images compared patch by patch at the same place."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from mercer.core.arrays import Array, cached_property, namespace
from mercer.core.collections import as_vectors
from mercer.core.validation import is_whole
from mercer.kernels.base import Kernel, Prepared
from mercer.kernels.vectors import Gaussian, VectorKernel


@dataclass(frozen=True)
class PatchGrid:
    """Square patches that cover an image, `overlap` pixels shared by neighbours; the last ones lie flush with the edge."""

    shape: tuple[int, int]
    size: int
    overlap: int

    @property
    def corners(self) -> list[tuple[int, int]]:
        """Row and column of the upper left pixel of each patch."""
        rows, columns = (self._starts(length) for length in self.shape)
        return [(row, column) for row in rows for column in columns]

    def cut(self, X: Array) -> list[Array]:
        """The patches of each image (a row of `X`): one array of flattened patches for each place."""
        xp = namespace(X)
        images = xp.reshape(X, (X.shape[0], *self.shape))
        size = self.size
        return [
            xp.reshape(images[:, row : row + size, column : column + size], (X.shape[0], size * size))
            for row, column in self.corners
        ]

    def covers(self) -> np.ndarray:
        """True for each patch (row) and each pixel (column) that lies in it."""
        found = np.zeros((len(self.corners), *self.shape), dtype=bool)
        for patch, (row, column) in zip(found, self.corners, strict=True):
            patch[row : row + self.size, column : column + self.size] = True
        return found.reshape(len(found), -1)

    @cached_property
    def cells(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Pixels that lie in the same patches, and these patches."""
        kinds, members = np.unique(self.covers(), axis=1, return_inverse=True)
        return [
            (np.flatnonzero(members.ravel() == number), np.flatnonzero(kind)) for number, kind in enumerate(kinds.T)
        ]

    def _starts(self, length: int) -> list[int]:
        last = length - self.size
        return sorted({*range(0, last + 1, self.size - self.overlap), last})


@dataclass(eq=False, repr=False)
class Patches(VectorKernel):
    r"""The mean similarity of patches at the same place, :math:`k(x, z) = \frac{1}{|P|} \sum_{p \in P} k_0(x_p, z_p)`.

    Unlike a kernel on whole images, it finds two images similar even if part of one is hidden.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns of an image; images are rows of ``rows × columns`` numbers, or have these two axes.
    size : int
        Pixels along the side of a patch.
    overlap : int
        Pixels that neighbouring patches share; less than `size`.
    kernel : Kernel
        k₀, a kernel on vectors. A "median" scale is the median distance of patches, from any place.

    Examples
    --------
    >>> import numpy as np
    >>> images = np.zeros((2, 4, 4))
    >>> images[1, :2, :2] = 1.0
    >>> Patches((4, 4), size=2, overlap=0, kernel=Gaussian(0.1))(images).round(3)
    array([[1.  , 0.75],
           [0.75, 1.  ]])
    """

    shape: tuple[int, int]
    size: int = 10
    overlap: int = 5
    kernel: Kernel = field(default_factory=lambda: Gaussian(scale="median"))

    @property
    def grid(self) -> PatchGrid:
        """The places of the patches."""
        rows, columns = self.shape
        return patch_grid(rows, columns, self.size, self.overlap)

    def check_parameters(self) -> None:
        """Raise an error unless the patches fit into the image and `kernel` takes vectors."""
        check_patches(self.shape, self.size, self.overlap, type(self).__name__)
        on_vectors = getattr(self.kernel, "takes_vectors", False)
        self._require(on_vectors, "kernel", "a kernel on vectors, such as Gaussian()", TypeError)
        self.kernel.check_parameters()

    def _check(self, X: Any, name: str) -> Array:
        return as_pixels(X, self.shape, name)

    def _resolve(self, X: Array) -> Patches:
        return Patches(self.shape, self.size, self.overlap, resolved_on_patches(self.kernel, self.grid, X))

    def _encode(self, X: Array, name: str) -> list[Prepared]:
        return prepared_patches(self.kernel, self.grid, X)

    def _matrix(self, X: list[Prepared], Z: list[Prepared] | None) -> Array:
        grams = grams_by_place(self.kernel, X, Z)
        return sum(grams[1:], start=grams[0]) / len(grams)

    def _diag(self, X: list[Prepared]) -> Array:
        norms = [patch.norms for patch in X]
        return sum(norms[1:], start=norms[0]) / len(norms)


@cache
def patch_grid(rows: int, columns: int, size: int, overlap: int) -> PatchGrid:
    """The grid of these numbers, made once."""
    return PatchGrid((rows, columns), size, overlap)


def grams_by_place(kernel: Kernel, X: list[Prepared], Z: list[Prepared] | None) -> list[Array]:
    """One Gram matrix for each place."""
    return [kernel(patch, None if Z is None else Z[place]) for place, patch in enumerate(X)]


def prepared_patches(kernel: Kernel, grid: PatchGrid, X: Array) -> list[Prepared]:
    """The patches of checked images at each place."""
    return [kernel.prepare(patch, checked=kernel.form == "vectors") for patch in grid.cut(X)]


def resolved_on_patches(kernel: Kernel, grid: PatchGrid, X: Array) -> Kernel:
    """`kernel` with a median scale taken from the patches of all images."""
    return kernel if kernel.is_resolved else kernel.resolve(namespace(X).concat(grid.cut(X)))


def check_patches(shape: Any, size: Any, overlap: Any, owner: str) -> None:
    """Raise ValueError unless patches of this size and overlap cover an image of this shape."""
    sides = check_shape(shape, owner)
    if not is_whole(size) or not 1 <= size <= min(sides):
        raise ValueError(
            f"size={size!r} in {owner}; expected a whole number from 1 to {min(sides)}, the shorter side of the image"
        )
    if not is_whole(overlap) or not 0 <= overlap < size:
        raise ValueError(f"overlap={overlap!r} in {owner}; expected a whole number from 0 to size - 1 = {size - 1}")


def check_shape(shape: Any, owner: str) -> tuple[int, int]:
    """`shape` as rows and columns; raise ValueError unless it is two whole numbers."""
    sides = tuple(shape) if isinstance(shape, tuple | list) else ()
    if len(sides) != 2 or not all(is_whole(side) and side >= 1 for side in sides):
        raise ValueError(f"shape={shape!r} in {owner}; expected the rows and columns of an image, such as (30, 32)")
    return int(sides[0]), int(sides[1])


def as_pixels(X: Any, shape: tuple[int, int], name: str) -> Array:
    """`X` as one row of pixels per image; raise ValueError unless the images have the given shape."""
    found = tuple(X.shape[1:]) if hasattr(X, "shape") and len(X.shape) == 3 else tuple(shape)
    if found != tuple(shape):
        raise ValueError(
            f"{name} holds images of {found[0]} × {found[1]} pixels; expected {shape[0]} × {shape[1]}, the shape given"
        )
    vectors, (rows, columns) = as_vectors(X, name), shape
    if vectors.shape[1] != rows * columns:
        raise ValueError(
            f"{name} has {vectors.shape[1]} pixels per image; expected {rows} × {columns} = {rows * columns}. Give the shape "
            "of your images"
        )
    return vectors
