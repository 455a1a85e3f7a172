"""What to compare images by: upright, blurred, as histograms of gradients, and whatever place they are in.

Images are an array n × rows × columns. Every function treats each image by itself, so the order and the company of the
images never matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

from mercer.arrays import Array, namespace, to_numpy
from mercer.kernels.base import Kernel
from mercer.kernels.vectors import VectorKernel
from mercer.objects import Objects, take


def as_images(images: Any, name: str = "images") -> np.ndarray:
    """`images` as an array n × rows × columns of finite doubles."""
    found = np.asarray(to_numpy(images) if hasattr(images, "__dlpack__") else images, dtype=float)
    if found.ndim != 3 or min(found.shape) == 0:
        raise ValueError(
            f"{name} has shape {found.shape}; expected images × rows × columns. Reshape vectors of pixels with "
            ".reshape(-1, rows, columns)"
        )
    if not np.isfinite(found).all():
        raise ValueError(f"{name} contains NaN or infinity; expected finite pixels")
    return found


def deslanted(images: Any) -> np.ndarray:
    r"""Each image sheared upright: rows moved sideways until ink and height are uncorrelated.

    With m the ink of a pixel (its value above the darkest of the image), row r is moved by
    :math:`(r - \bar r)\,\mathrm{cov}_m(r, c) / \mathrm{var}_m(r)`, between pixels by linear interpolation. The centre of
    mass stays where it is; what comes in from outside repeats the edge.

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
    """Each image moved by whole pixels; what comes in from outside repeats the edge.

    Examples
    --------
    >>> shifted(np.array([[[1.0, 2.0, 3.0]]]), 0, 1).tolist()
    [[[1.0, 1.0, 2.0]]]
    """
    images = as_images(images)
    sources = _sources((images.shape[1], images.shape[2]), down, right)
    return images.reshape(len(images), -1)[:, sources].reshape(images.shape)


def _sources(shape: tuple[int, int], down: int, right: int) -> np.ndarray:
    """Which pixel each pixel of a moved image comes from, as positions in the vector of pixels."""
    rows, columns = shape
    r = np.clip(np.arange(rows) - down, 0, rows - 1)
    c = np.clip(np.arange(columns) - right, 0, columns - 1)
    return (r[:, None] * columns + c).ravel()


def gradient_histograms(images: Any, orientations: int = 8, cells: int = 4, power: float = 0.5) -> np.ndarray:
    r"""How much edge of each direction there is in each part of an image, one row of unit length per image.

    The gradient of a pixel counts with its length, shared linearly between the two nearest of `orientations` directions
    around the circle and between the nearest of `cells` × `cells` overlapping parts; the sums are raised to `power`,
    which keeps a few strong edges from drowning the rest, and scaled to unit length.

    Parameters
    ----------
    images : array of shape (n, rows, columns)
        Images, at least 2 × 2 pixels.
    orientations : int
        Directions told apart, at least 2.
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
    r"""The mean of a kernel over small shifts of both images, :math:`\frac{1}{S^2}\sum_{s,t} k(T_s x, T_t z)`.

    A kernel again, the inner product of the mean features over the shifts. Images that differ by a shift are closer than
    under the kernel itself.

    Parameters
    ----------
    kernel : VectorKernel
        Compares images as vectors of pixels.
    shape : (rows, columns)
        Of an image.
    reach : int
        Shifts go from −reach to reach pixels in both directions, :math:`S = (2\,\mathrm{reach} + 1)^2` of them.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> here, there = np.eye(9)[[4]], np.eye(9)[[5]]
    >>> kernel = Jittered(Gaussian(1.0), shape=(3, 3))
    >>> bool(kernel(here, there) / kernel.diag(here) > Gaussian(1.0)(here, there))
    True
    """

    kernel: Kernel
    shape: tuple[int, int]
    reach: int = 1

    def check_parameters(self) -> None:
        """A shape, and a reach of whole pixels."""
        if len(self.shape) != 2 or min(self.shape) < 1:
            raise ValueError(f"shape={self.shape!r} in Jittered; expected (rows, columns)")
        if isinstance(self.reach, bool) or not isinstance(self.reach, int | np.integer) or self.reach < 0:
            raise ValueError(f"reach={self.reach!r} in Jittered; expected a whole number of pixels, zero or more")
        self.kernel.check_parameters()

    def check(self, X: Objects, name: str = "X") -> Array:
        """`X` as rows of pixels, as many as the shape has."""
        vectors = super().check(X, name)
        if vectors.shape[1] != self.shape[0] * self.shape[1]:
            raise ValueError(
                f"{name} has {vectors.shape[1]} pixels per image; expected {self.shape[0]} × {self.shape[1]}, "
                "the shape given to Jittered"
            )
        return vectors

    def pointwise(self, x: Any, z: Any) -> float:
        """The mean over all pairs of shifts of two images."""
        left, right = self._moved(x[None, :]), self._moved(z[None, :])
        return float(np.mean([self.kernel.pointwise(a[0, :], b[0, :]) for a in left for b in right]))

    def _matrix(self, X: Array, Z: Array | None) -> Array:
        left = self._moved(X)
        if Z is not None:
            right = self._moved(Z)
            return sum(self.kernel(a, b) for a in left for b in right) / len(left) ** 2
        total = sum(self.kernel(a) for a in left)
        for s, a in enumerate(left):
            for b in left[:s]:
                part = self.kernel(a, b)
                total = total + part + part.T
        return total / len(left) ** 2

    def _diag(self, X: Array) -> Array:
        return namespace(X).stack([self._matrix(X[i : i + 1, :], None)[0, 0] for i in range(X.shape[0])])

    def _moved(self, X: Array) -> list[Array]:
        steps, shape = range(-self.reach, self.reach + 1), (int(self.shape[0]), int(self.shape[1]))
        return [take(X.T, _sources(shape, down, right)).T for down in steps for right in steps]
