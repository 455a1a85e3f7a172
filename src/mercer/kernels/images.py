"""Images: small moves, virtual examples, features (upright, blurred, histograms of gradients), and a kernel over moves.

Images are an array n × rows × columns. Every function treats each image by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from mercer.core import memory
from mercer.core.arrays import Array, is_array, like, namespace, to_numpy
from mercer.core.collections import Collection, as_vectors, count, take
from mercer.core.validation import check_whole, is_real
from mercer.kernels.base import Constraint, Kernel, Prepared, whole
from mercer.kernels.patches import as_pixels, check_shape
from mercer.kernels.vectors import VectorKernel


def as_images(images: Any, name: str = "images") -> np.ndarray:
    """`images` as an array n × rows × columns of finite doubles."""
    shape = tuple(images.shape) if is_array(images) else (len(images), *np.shape(images[0] if len(images) else ()))
    if len(shape) != 3 or min(shape) == 0:
        raise ValueError(
            f"{name} has shape {shape}; expected images × rows × columns. Reshape vectors of pixels with "
            ".reshape(-1, rows, columns)"
        )
    return to_numpy(as_vectors(images, name)).reshape(shape)


@dataclass(frozen=True)
class Move:
    """A turn about the middle of the image (degrees, with the clock), then a shift by whole pixels, then a mirror.

    Pixels from outside repeat the edge. Between pixels a turned image is interpolated linearly.
    """

    down: int = 0
    right: int = 0
    degrees: float = 0.0
    mirror: bool = False

    def rows(self, X: Array, shape: tuple[int, int]) -> Array:
        """Images that are rows of pixels, moved; in the library they come from."""
        columns = X.T
        parts = [
            take(columns, places) * like(weights, X)[:, None] if weights is not None else take(columns, places)
            for places, weights in self._sources(shape)
        ]
        return sum(parts[1:], start=parts[0]).T

    def _sources(self, shape: tuple[int, int]) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """The pixels that each pixel of the moved image is made of, with their weights (None for a single pixel)."""
        height, width = shape
        r, c = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
        c = width - 1 - c if self.mirror else c
        r, c = np.clip(r - self.down, 0, height - 1), np.clip(c - self.right, 0, width - 1)
        if self.degrees == 0:
            return [((r * width + c).ravel(), None)]
        angle = np.deg2rad(self.degrees)
        y, x = r - (height - 1) / 2, c - (width - 1) / 2
        # rows grow downwards, so this turns with the clock
        r = np.clip(np.cos(angle) * y - np.sin(angle) * x + (height - 1) / 2, 0, height - 1).ravel()
        c = np.clip(np.sin(angle) * y + np.cos(angle) * x + (width - 1) / 2, 0, width - 1).ravel()
        top, left = np.floor(r).astype(int), np.floor(c).astype(int)
        found: list[tuple[np.ndarray, np.ndarray | None]] = []
        for row, share in ((top, 1 - (r - top)), (np.minimum(top + 1, height - 1), r - top)):
            for column, part in ((left, 1 - (c - left)), (np.minimum(left + 1, width - 1), c - left)):
                found.append((row * width + column, share * part))
        return found


def moves(reach: int = 1, rotations: Sequence[float] = (), mirror: bool = False) -> list[Move]:
    """All shifts of up to `reach` pixels, at each angle (0 first), plain and in a mirror; staying put comes first."""
    turns = _turns(reach, rotations)
    steps = sorted(range(-int(reach), int(reach) + 1), key=abs)
    sides = (False, True) if mirror else (False,)
    return [Move(down, right, turn, side) for side in sides for turn in turns for down in steps for right in steps]


def number_of_moves(reach: int = 1, rotations: Sequence[float] = (), mirror: bool = False) -> int:
    """The number of `moves`, without making them."""
    return (2 if mirror else 1) * len(_turns(reach, rotations)) * (2 * int(reach) + 1) ** 2


def _turns(reach: int, rotations: Sequence[float]) -> list[float]:
    """The angles, 0 first; raise ValueError for a reach or angles that make no sense."""
    check_whole(reach, "reach", 0, expected="a whole number of pixels, zero or more")
    angles = rotations if isinstance(rotations, Sequence | np.ndarray) else [None]
    if not all(is_real(angle) and np.isfinite(angle) for angle in angles):
        raise ValueError(f"rotations={rotations!r}; expected a list of angles in degrees, such as (-10, 10)")
    return [0.0, *(float(angle) for angle in angles if angle != 0)]


class VirtualExamples(NamedTuple):
    """Pairs as they are, then all of them after one move, after another, and so on."""

    inputs: Array
    outputs: Collection
    source: np.ndarray
    """The pair that each was made from: the `groups` that must not be split when choosing parameters."""


def virtual_examples(  # noqa: PLR0913
    X: Any, y: Any, *, reach: int = 1, rotations: Sequence[float] = (), mirror: bool = False, outputs_move: bool = False
) -> VirtualExamples:
    """Training pairs with moved copies of their images, for outputs that do not change when an image is moved a little.

    Parameters
    ----------
    X : array of shape (n, rows, columns)
        Input images.
    y : collection of n objects
        Outputs: the same for all copies of an image (a class, say), or images too.
    reach : int
        Largest shift in pixels, in both directions.
    rotations : sequence of float
        Angles in degrees, with the clock.
    mirror : bool
        Add all of these in a mirror.
    outputs_move : bool
        Move the outputs, images (n, rows, columns), along with the inputs: for maps between images of the same place.

    Returns
    -------
    VirtualExamples
        Choose parameters with its ``source`` as groups: leave-one-out would find copies of the pair that it leaves out.

    Examples
    --------
    >>> import numpy as np
    >>> many = virtual_examples(np.eye(3)[None], ["x"], reach=1)
    >>> many.inputs.shape, many.outputs[:2], many.source.tolist()
    ((9, 3, 3), ['x', 'x'], [0, 0, 0, 0, 0, 0, 0, 0, 0])
    """
    number, images = number_of_moves(reach, rotations, mirror), as_images(X, "X")
    n = images.shape[0]
    purpose, copies = f"{n} images after {number} moves each", 4 if outputs_move else 2
    memory.require(number * n, images[0].size, copies, purpose, "lower reach, or pass fewer rotations")
    every = moves(reach, rotations, mirror)
    if count(y) != n:
        raise ValueError(f"X has {n} images and y has {count(y)} objects; expected one output for each image")
    source = np.tile(np.arange(n), len(every))
    if outputs_move:
        outputs: Any = _moved(as_images(y, "y"), *every)
    elif is_array(y):
        outputs = take(y, source)
    else:
        listed = list(y)
        outputs = [listed[i] for i in source.tolist()]
    return VirtualExamples(_moved(images, *every), outputs, source)


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
    from scipy.ndimage import gaussian_filter

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


def _moved(images: Any, *moves: Move) -> np.ndarray:
    """The images after each move, one after the other."""
    images = as_images(images)
    rows, shape = images.reshape(len(images), -1), (images.shape[1], images.shape[2])
    return np.concatenate([to_numpy(move.rows(rows, shape)).reshape(images.shape) for move in moves])


def gradient_histograms(images: Any, orientations: int = 8, cells: int = 4, power: float = 0.5) -> np.ndarray:
    r"""Histograms of the directions of edges in each part of an image, one row of unit length per image.

    The gradient of a pixel counts with its length, divided linearly between the two nearest of `orientations` directions and
    between the nearest of `cells` × `cells` overlapping parts. The sums are raised to `power`, so that a few strong edges do
    not outweigh the rest, and scaled to unit length; an image without edges has a row of zeros.

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

    constraints = {
        "reach": whole(0),
        "match": Constraint(lambda match: match in ("mean", "best"), "'mean', or 'best', which need not be a kernel"),
    }

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
        super().check_parameters()
        sides = check_shape(self.shape, "Jittered")
        if self.reach > max(sides):
            raise ValueError(
                f"reach={self.reach!r} in Jittered, and images are {self.shape[0]} × {self.shape[1]} pixels; expected at most "
                "the longer side, beyond which every shift gives the same edge"
            )
        number_of_moves(self.reach, self.rotations)
        self.kernel.check_parameters()

    def _check(self, X: Any, name: str) -> Array:
        return as_pixels(X, self.shape, name)

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
