"""Joint kernels on pairs of images, which compare inputs around each pixel of the output."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import add

import numpy as np

from mercer.core import memory
from mercer.core.arrays import Array, exp, like, namespace, to_numpy
from mercer.core.collections import Collection
from mercer.core.validation import check_real
from mercer.kernels import Gaussian, Kernel, patches
from mercer.kernels.vectors import matched, median_of
from mercer.operators.joint import CoordinateJoint, Group

_SAMPLE = 100  # images whose windowed distances give a median: five thousand pairs at every pixel


@dataclass(eq=False, repr=False)
class PatchwiseJoint(CoordinateJoint):
    r"""Patches of the input image against patches of the output image at the same place (Weston et al. 2007).

    .. math:: J = \frac{1}{c} \sum_{p \in P} k_0(x_p, x'_p)\, \langle y_p, y'_p \rangle

    with c the number of patches a pixel lies in on average, so that sums with other joint kernels are weighted as written. A
    pixel is learned from the patches around it. Linear in y: the pre-image is in closed form.

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
    >>> from mercer.kernels import Linear
    >>> joint = PatchwiseJoint((2, 4), size=2, overlap=0, kernel=Linear())
    >>> x = np.arange(8.0)[None, :]
    >>> joint(x, np.ones((1, 8)))  # 4·(0² + 1² + 4² + 5²) + 4·(2² + 3² + 6² + 7²)
    array([[560.]])
    """

    shape: tuple[int, int]
    size: int = 10
    overlap: int = 5
    kernel: Kernel = field(default_factory=lambda: Gaussian(scale="median"))

    def resolve(self, X: Collection, Y: Collection) -> PatchwiseJoint:
        """Return the same with the kernel on patches resolved."""
        images = patches.as_pixels(X, self.shape, "X")
        kernel = patches.resolved_on_patches(self.kernel, self._grid(), images)
        return PatchwiseJoint(self.shape, self.size, self.overlap, kernel)

    def groups(self, X: Collection, X2: Collection | None, width: int) -> list[Group]:
        """Return the pixels that lie in the same patches, with the sum of k₀ over these patches divided by c."""
        grid, (rows, others) = self._grid(), _images(X, X2, self.shape, width)
        cut = patches.prepared_patches(self.kernel, grid, rows)
        other = None if others is None else patches.prepared_patches(self.kernel, grid, like(others, rows))
        grams = patches.grams_by_place(self.kernel, cut, other)
        average = len(grams) * self.size**2 / width
        return [
            Group(members, reduce(add, (grams[place] for place in places.tolist())) / average)
            for members, places in grid.cells
        ]

    def _grid(self) -> patches.PatchGrid:
        patches.check_patches(self.shape, self.size, self.overlap, type(self).__name__)
        return patches.patch_grid(*self.shape, self.size, self.overlap)


class WindowedJoint(CoordinateJoint):
    r"""Input images compared through a Gaussian window around each pixel of the output.

    .. math:: J = \sum_q \exp\Big(-\frac{1}{2 s^2} \sum_p g_{qp} (x_p - x'_p)^2\Big)\, y_q y'_q, \qquad
        g_{qp} \propto \exp\Big(-\frac{\|p - q\|^2}{2 w^2}\Big)

    with the weights g of each pixel q adding up to one. `PatchwiseJoint` is the same with hard edges. A pixel is learned from
    the pixels around it, so parts of several training images can be combined; in a sum with `TensorProductJoint`, from the
    whole image too. Linear in y: the pre-image is in closed form.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns of the images on both sides.
    width : float
        w, the standard deviation of the window in pixels.
    scale : float or "median"
        s. "median" is the median over pixels and pairs of training inputs of the root of the weighted sum.

    Examples
    --------
    >>> joint = WindowedJoint((1, 3), width=0.5, scale=1.0)
    >>> left, right = np.array([[0.0, 0.0, 0.0]]), np.array([[2.0, 0.0, 0.0]])
    >>> [group.gram.round(2).item() for group in joint.groups(left, right, 3)]  # only the first pixel is far
    [0.17, 0.81, 1.0]
    """

    def __init__(self, shape: tuple[int, int], width: float = 1.0, scale: float | str = "median") -> None:
        self.shape = shape
        self.width = width
        self.scale = scale

    def resolve(self, X: Collection, Y: Collection) -> WindowedJoint:
        """Return the same with the scale as a number."""
        self._check()
        if self.scale != "median":
            return self
        rows = patches.as_pixels(X, self.shape, "X")
        if rows.shape[0] > _SAMPLE:
            chosen = np.sort(np.random.default_rng(0).choice(rows.shape[0], _SAMPLE, replace=False))
            rows = like(to_numpy(rows)[chosen], rows)
        squares = to_numpy(self._squares(rows, rows))
        n = len(squares)
        distances = np.sqrt(squares[np.triu_indices(n, 1)]).ravel()
        return WindowedJoint(self.shape, self.width, median_of(distances, n, type(self).__name__))

    def groups(self, X: Collection, X2: Collection | None, width: int) -> list[Group]:
        """Return a group for each pixel."""
        self._check()
        if self.scale == "median":
            raise ValueError(f"{self!r} has a scale that is learned from data; call resolve(X, Y) first (fit does)")
        rows, others = _images(X, X2, self.shape, width)
        others = rows if others is None else matched(rows, others)
        n, m = rows.shape[0], others.shape[0]
        memory.require(n * m, width, 3, f"a Gram matrix of {self!r} for each pixel", "pass fewer or smaller images")
        grams = exp(self._squares(rows, others) * (-0.5 / float(self.scale) ** 2))
        grams = namespace(rows).permute_dims(grams, (2, 0, 1))
        return [Group(np.asarray([q]), grams[q, :, :]) for q in range(width)]

    def _squares(self, rows: Array, others: Array) -> Array:
        """Return the weighted sums of squared differences, n × m × pixels."""
        xp = namespace(rows)
        n, m = rows.shape[0], others.shape[0]
        down, across = (like(window(length, float(self.width)), rows) for length in self.shape)
        found = []
        for i in range(n):  # one image at a time keeps the temporary arrays small
            squares = xp.reshape((rows[i, :] - others) ** 2, (m, *self.shape))
            found.append(xp.reshape(xp.matmul(xp.matmul(down, squares), across.T), (m, -1)))
        return xp.stack(found)

    def _check(self) -> None:
        patches.check_shape(self.shape, type(self).__name__)
        check_real(self.width, "width", expected="a finite number above zero")
        if self.scale != "median":
            check_real(self.scale, "scale", expected="a finite number above zero, or 'median'")


def _images(X: Collection, X2: Collection | None, shape: tuple[int, int], width: int) -> tuple[Array, Array | None]:
    """Return inputs as rows of pixels; raise ValueError unless outputs have as many pixels."""
    rows = patches.as_pixels(X, shape, "X")
    if width != rows.shape[1]:
        raise ValueError(f"outputs have {width} pixels; expected {rows.shape[1]}, images of shape {shape}")
    return rows, None if X2 is None else patches.as_pixels(X2, shape, "X2")


def window(length: int, width: float) -> np.ndarray:
    """Return Gaussian weights of all pixels along one side around each of them; rows add up to one."""
    places = np.arange(length, dtype=float)
    weights = np.exp(-((places[:, None] - places) ** 2) / (2.0 * width**2))
    return weights / weights.sum(axis=1, keepdims=True)
