"""The patch-wise joint kernel on pairs of images."""

from __future__ import annotations

from mercer.core.arrays import Array
from mercer.core.collections import Collection, as_vectors
from mercer.kernels import Gaussian
from mercer.kernels.base import Kernel
from mercer.kernels.patches import (
    PatchGrid,
    check_patches,
    check_pixels,
    patch_grams,
    patch_grid,
    resolved_on_patches,
)
from mercer.operators.joint import CoordinateJoint, Group


class PatchwiseJoint(CoordinateJoint):
    r"""Patches of the input image against patches of the output image at the same place (Weston et al. 2007).

    .. math:: J = \frac{1}{c} \sum_{p \in P} k_0(x_p, x'_p)\, \langle y_p, y'_p \rangle

    with c the number of patches a pixel lies in on average, so that weights in a sum with other joint kernels mean what
    they say. What is learned about a pixel comes from the patches around it. Linear in y: the pre-image is in closed form.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns of the images on both sides.
    size, overlap : int
        The patches, as in `mercer.kernels.Patches`.
    kernel : Kernel, default=Gaussian(scale="median")
        k₀, on patches.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> joint = PatchwiseJoint((2, 4), size=2, overlap=0, kernel=Linear())
    >>> x = np.arange(8.0)[None, :]
    >>> joint(x, np.ones((1, 8)))  # 4·(0² + 1² + 4² + 5²) + 4·(2² + 3² + 6² + 7²)
    array([[560.]])
    """

    def __init__(
        self,
        shape: tuple[int, int],
        size: int = 10,
        overlap: int = 5,
        kernel: Kernel = Gaussian(scale="median"),  # noqa: B008
    ) -> None:
        self.shape = shape
        self.size = size
        self.overlap = overlap
        self.kernel = kernel

    def resolve(self, X: Collection, Y: Collection) -> PatchwiseJoint:
        """The kernel on patches resolved."""
        kernel = resolved_on_patches(self.kernel, self._grid(), self._images(X, "X"))
        return PatchwiseJoint(self.shape, self.size, self.overlap, kernel)

    def groups(self, X: Collection, X2: Collection | None, width: int) -> list[Group]:
        """Pixels that lie in the same patches, with the sum of k₀ over these patches divided by c."""
        grid, rows = self._grid(), self._images(X, "X")
        pixels = self.shape[0] * self.shape[1]
        if width != pixels:
            raise ValueError(f"outputs have {width} pixels; expected {pixels}, images of shape {self.shape}")
        grams = patch_grams(self.kernel, grid, rows, None if X2 is None else self._images(X2, "X2"))
        average = len(grams) * self.size**2 / pixels
        found = []
        for members, patches in grid.cells:
            own = [grams[patch] for patch in patches.tolist()]
            found.append(Group(members, sum(own[1:], start=own[0]) / average))
        return found

    def _grid(self) -> PatchGrid:
        check_patches(self.shape, self.size, self.overlap, type(self).__name__)
        return patch_grid(*self.shape, self.size, self.overlap)

    def _images(self, X: Collection, name: str) -> Array:
        rows = as_vectors(X, name)
        check_pixels(rows, self.shape, name)
        return rows
