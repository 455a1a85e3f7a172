"""Features of images (upright, blurred, histograms of gradients), and a kernel that allows for small moves.

Images are an array n × rows × columns. Every function treats each image by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

from mercer.core import memory
from mercer.core.arrays import Array, is_array, namespace, to_numpy
from mercer.core.collections import Collection
from mercer.core.validation import is_whole
from mercer.kernels.base import Kernel, Prepared
from mercer.kernels.moves import Move, moves, number_of_moves
from mercer.kernels.patches import as_pixels, check_shape
from mercer.kernels.vectors import VectorKernel


def as_images(images: Any, name: str = "images") -> np.ndarray:
    """`images` as an array n × rows × columns of finite doubles."""
    if not hasattr(images, "__dlpack__"):
        check_equal_sizes(images, name)
    found = np.asarray(to_numpy(images) if hasattr(images, "__dlpack__") else images, dtype=float)
    if found.ndim != 3 or min(found.shape) == 0:
        raise ValueError(
            f"{name} has shape {found.shape}; expected images × rows × columns. Reshape vectors of pixels with "
            ".reshape(-1, rows, columns)"
        )
    if not np.isfinite(found).all():
        raise ValueError(f"{name} contains NaN or infinity; expected finite pixels")
    return found


def check_equal_sizes(images: Any, name: str) -> None:
    """Raise ValueError at the first image that has another size than the first one."""
    shapes = [np.shape(to_numpy(image) if is_array(image) else image) for image in images]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ValueError(
                f"{name}[0] has {_size(shapes[0])} pixels and {name}[{i}] has {_size(shape)}; expected images of one size. "
                "Crop, pad or rescale them first"
            )


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


def deslanted(images: Any) -> np.ndarray:
    r"""Each image sheared upright: rows moved sideways until ink and height are uncorrelated.

    With m the ink of a pixel (its value above the darkest of the image), row r is moved by
    :math:`(r - \bar r)\,\mathrm{cov}_m(r, c) / \mathrm{var}_m(r)`, between pixels by linear interpolation. The centre of
    mass stays where it is; pixels from outside repeat the edge.

    Examples
    --------
    >>> slanted = np.pad(np.eye(3), 1)[None]
    >>> deslanted(slanted)[0].argmax(axis=1)[1:4].tolist()  # the columns of the ink
    [2, 2, 2]
    """
    images = as_images(images)
    count, rows, columns = images.shape
    ink = images - images.min(axis=(1, 2), keepdims=True)
    ink = ink / np.maximum(ink.sum(axis=(1, 2), keepdims=True), np.finfo(float).tiny)
    r, c = np.arange(rows, dtype=float), np.arange(columns, dtype=float)
    down = r - (ink.sum(axis=2) @ r)[:, None]
    across = c - (ink.sum(axis=1) @ c)[:, None]
    covariance = np.einsum("nrc,nr,nc->n", ink, down, across)
    spread = np.einsum("nrc,nr->n", ink, down**2)
    slant = np.divide(covariance, spread, out=np.zeros(count), where=spread > 1e-12)
    # where the pixel that ends up in column c comes from
    source = np.clip(c + (slant[:, None] * down)[:, :, None], 0, columns - 1)
    left = np.minimum(source.astype(int), max(columns - 2, 0))
    right = np.minimum(left + 1, columns - 1)
    share = source - left
    return (1 - share) * np.take_along_axis(images, left, 2) + share * np.take_along_axis(images, right, 2)


def blurred(images: Any, sigma: float) -> np.ndarray:
    """Each image smoothed by a Gaussian of `sigma` pixels; beyond the edge the edge is repeated.

    Examples
    --------
    >>> blurred(np.eye(3)[None], 1.0).shape
    (1, 3, 3)
    """
    # no smoothing along the first axis: images are not neighbours of each other
    return gaussian_filter(as_images(images), (0.0, sigma, sigma), mode="nearest")


def shifted(images: Any, down: int, right: int) -> np.ndarray:
    """Each image moved by whole pixels; pixels from outside repeat the edge.

    Examples
    --------
    >>> shifted(np.array([[[1.0, 2.0, 3.0]]]), 0, 1).tolist()
    [[[1.0, 1.0, 2.0]]]
    """
    return _moved(images, Move(down, right))


def turned(images: Any, degrees: float) -> np.ndarray:
    """Each image turned about its middle with the clock, interpolated linearly; the edge is repeated outwards.

    Examples
    --------
    >>> turned(np.array([[[1.0, 2.0], [3.0, 4.0]]]), 90.0).round(6).tolist()
    [[[3.0, 1.0], [4.0, 2.0]]]
    """
    return _moved(images, Move(degrees=float(degrees)))


def _moved(images: Any, move: Move) -> np.ndarray:
    images = as_images(images)
    return move.rows(images.reshape(len(images), -1), (images.shape[1], images.shape[2])).reshape(images.shape)


def gradient_histograms(images: Any, orientations: int = 8, cells: int = 4, power: float = 0.5) -> np.ndarray:
    r"""Histograms of the directions of edges in each part of an image, one row of unit length per image.

    The gradient of a pixel counts with its length, divided linearly between the two nearest of `orientations` directions and
    between the nearest of `cells` × `cells` overlapping parts. The sums are raised to `power`, so that a few strong edges do
    not outweigh the rest, and scaled to unit length.

    Parameters
    ----------
    images : array of shape (n, rows, columns)
        Images, at least 2 × 2 pixels.
    orientations : int
        Number of directions, at least 2.
    cells : int
        Parts along each side.
    power : float
        1 for the plain histogram, ½ for its square root.

    Returns
    -------
    array of shape (n, cells² · orientations)
        A row of zeros for an image without edges.

    Examples
    --------
    >>> step = np.array([[[0.0, 0.0, 1.0, 1.0]] * 4])
    >>> gradient_histograms(step, orientations=4, cells=1).tolist()  # all edges point right
    [[1.0, 0.0, 0.0, 0.0]]
    """
    images = as_images(images)
    if min(images.shape[1:]) < 2:
        raise ValueError(f"images has shape {images.shape}; expected at least 2 × 2 pixels, for gradients")
    if orientations < 2 or cells < 1 or not power > 0:
        raise ValueError(
            f"orientations={orientations!r}, cells={cells!r}, power={power!r}; expected at least 2, at least 1, above 0"
        )
    down, right = np.gradient(images, axis=(1, 2))
    place = np.arctan2(down, right) % (2 * np.pi) * (orientations / (2 * np.pi))
    distance = np.abs(place[..., None] - np.arange(orientations))
    near = np.clip(1.0 - np.minimum(distance, orientations - distance), 0.0, None)
    edges = near * np.hypot(down, right)[..., None]
    vertical, horizontal = (_overlapping(length, cells) for length in images.shape[1:])
    pooled = np.einsum("ar,nrco->naco", vertical, edges)
    pooled = np.einsum("bc,naco->nabo", horizontal, pooled).reshape(len(images), -1) ** power
    length = np.linalg.norm(pooled, axis=1, keepdims=True)
    return np.divide(pooled, length, out=np.zeros_like(pooled), where=length > 0)


def _overlapping(length: int, cells: int) -> np.ndarray:
    """Weights of `length` pixels in `cells` parts: 1 at the middle of a part, falling to 0 at the middle of the next."""
    width = length / cells
    middles = (np.arange(cells) + 0.5) * width - 0.5
    return np.clip(1.0 - np.abs(np.arange(length) - middles[:, None]) / width, 0.0, None)


@dataclass(eq=False, repr=False)
class Jittered(VectorKernel):
    r"""The mean of a kernel over small moves of both images, :math:`\frac{1}{S^2}\sum_{s,t} k(T_s x, T_t z)`.

    A kernel again, the inner product of the mean features over the moves. Images that differ by a shift or a turn are
    closer than under the kernel itself.

    Parameters
    ----------
    kernel : VectorKernel
        Compares images as vectors of pixels.
    shape : (rows, columns)
        Of an image.
    reach : int
        Shifts go from −reach to reach pixels in both directions, :math:`(2\,\mathrm{reach} + 1)^2` of them; at most the
        longer side of an image. Time grows with the square of the number of moves.
    rotations : sequence of float
        Angles in degrees beside 0, each with all shifts.
    match : {"mean", "best"}
        "best" takes the largest value over the moves in place of their mean, as jittered kernels were first written
        (DeCoste and Schölkopf 2002). That is symmetric but in general not positive semi-definite: estimators measure it and
        refuse it where it is not, and ``Jittered(..., match="best").clipped()`` takes its positive part.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> here, there = np.eye(9)[[4]], np.eye(9)[[5]]
    >>> kernel = Jittered(Gaussian(1.0), shape=(3, 3))
    >>> bool(kernel(here, there) / kernel.diag(here) > Gaussian(1.0)(here, there))
    True
    >>> Jittered(Gaussian(1.0), (3, 3), match="best")(here, there).item(), Jittered(Gaussian(1.0), (3, 3), match="best").is_psd
    (1.0, False)
    """

    kernel: Kernel
    shape: tuple[int, int]
    reach: int = 1
    rotations: tuple[float, ...] = ()
    match: str = "mean"

    @property
    def is_psd(self) -> bool:
        """True for the mean of a kernel that is positive semi-definite by construction."""
        return self.match == "mean" and self.kernel.is_psd

    def check_parameters(self) -> None:
        """Raise ValueError unless there is a shape, a reach of whole pixels, angles, and a known `match`."""
        sides = check_shape(self.shape, "Jittered")
        self._require(is_whole(self.reach) and self.reach >= 0, "reach", "a whole number of pixels, zero or more")
        self._require(self.match in ("mean", "best"), "match", "'mean', or 'best', which need not be a kernel")
        if self.reach > max(sides):
            raise ValueError(
                f"reach={self.reach!r} in Jittered, and images are {self.shape[0]} × {self.shape[1]} pixels; expected at most "
                "the longer side, beyond which every shift gives the same edge"
            )
        number_of_moves(self.reach, self.rotations)
        self.kernel.check_parameters()

    def _check(self, X: Collection, name: str) -> Array:
        return as_pixels(X, self.shape, name)

    def pointwise(self, x: Any, z: Any) -> float:
        """The mean, or the largest, over all pairs of moves of two images."""
        left, right = self._moved(x[None, :]), self._moved(z[None, :])
        values = [float(self.kernel.pointwise(a[0, :], b[0, :])) for a in left for b in right]
        return max(values) if self.match == "best" else float(np.mean(values))

    def _encode(self, X: Array, name: str) -> list[Prepared]:
        """The images after each move."""
        return self._each(self._moved(X))

    def _matrix(self, X: list[Prepared], Z: list[Prepared] | None) -> Array:
        grams = self._symmetric(X) if Z is None else (self.kernel(a, b) for a in X for b in Z)
        if self.match == "best":
            return reduce(lambda a, b: namespace(a).maximum(a, b), grams)
        return reduce(lambda a, b: a + b, grams) / len(X) ** 2

    def _symmetric(self, X: list[Prepared]) -> Iterator[Array]:
        """The Gram matrices of all pairs of moves, the transposed ones not calculated again."""
        for s, a in enumerate(X):
            yield self.kernel(a)
            for b in X[:s]:
                part = self.kernel(a, b)
                yield part
                yield part.T

    def _diag(self, X: list[Prepared]) -> Array:
        moved = [move.objects for move in X]
        alone = (self._each([images[i : i + 1, :] for images in moved]) for i in range(len(X[0])))
        return namespace(moved[0]).stack([self._matrix(image, None)[0, 0] for image in alone])

    def _each(self, moved: list[Array]) -> list[Prepared]:
        return [self.kernel.prepare(images, checked=self.kernel.form == "vectors") for images in moved]

    def _moved(self, X: Array) -> list[Array]:
        shape, number = (int(self.shape[0]), int(self.shape[1])), number_of_moves(self.reach, self.rotations)
        purpose = f"{X.shape[0]} images after {number} moves each under {self!r:.80}"
        memory.require(number * X.shape[0], X.shape[1], 1, purpose, "lower reach, or pass fewer rotations or images")
        return [move.rows(X, shape) for move in moves(self.reach, self.rotations)]
