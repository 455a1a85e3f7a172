"""A joint kernel on pairs of images that looks at the input through a soft window around each output pixel."""

from __future__ import annotations

from numbers import Real

import numpy as np

from mercer.core import memory
from mercer.core.arrays import Array, exp, like, namespace, to_numpy
from mercer.core.collections import Collection, as_vectors
from mercer.kernels._scales import median_of
from mercer.kernels.patches import check_pixels, check_shape
from mercer.kernels.vectors import matched
from mercer.operators.joint import CoordinateJoint, Group

_SAMPLE = 100
"""Images whose windowed distances are looked at for a median: five thousand pairs at every pixel."""


class WindowedJoint(CoordinateJoint):
    r"""Inputs compared around each pixel of the output, the pixels near to it counting most.

    .. math:: J = \sum_q \exp\Big(-\frac{1}{2 s^2} \sum_p g_{qp} (x_p - x'_p)^2\Big)\, y_q y'_q, \qquad
        g_{qp} \propto \exp\Big(-\frac{\|p - q\|^2}{2 w^2}\Big)

    with the weights g of each pixel q adding up to one. `PatchwiseJoint` is the same with hard edges. What is learned about a
    pixel comes from what is seen around it, so parts of several training images can be put together; in a sum with
    `TensorProductJoint`, from the whole image too. Linear in y: the pre-image is in closed form.

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
    >>> import numpy as np
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
        """The scale as a number."""
        self._check()
        if not isinstance(self.scale, str):
            return self
        rows = self._images(X, "X")
        if rows.shape[0] > _SAMPLE:
            chosen = np.sort(np.random.default_rng(0).choice(rows.shape[0], _SAMPLE, replace=False))
            rows = like(to_numpy(rows)[chosen], rows)
        squares = to_numpy(self._squares(rows, rows))
        n = len(squares)
        distances = np.sqrt(squares[np.triu_indices(n, 1)]).ravel()
        return WindowedJoint(self.shape, self.width, median_of(distances, n, type(self).__name__))

    def groups(self, X: Collection, X2: Collection | None, width: int) -> list[Group]:
        """Each pixel for itself."""
        self._check()
        if isinstance(self.scale, str):
            raise ValueError(f"{self!r} has a scale that is learned from data; call resolve(X, Y) first (fit does)")
        rows = self._images(X, "X")
        others = rows if X2 is None else matched(rows, self._images(X2, "X2"))
        pixels = self.shape[0] * self.shape[1]
        if width != pixels:
            raise ValueError(f"outputs have {width} pixels; expected {pixels}, images of shape {self.shape}")
        n, m = rows.shape[0], others.shape[0]
        memory.require(n * m, pixels, 3, f"a Gram matrix of {self!r} for each pixel", "pass fewer or smaller images")
        xp = namespace(rows)
        grams = exp(self._squares(rows, others) * (-0.5 / float(self.scale) ** 2))
        grams = xp.permute_dims(grams, (2, 0, 1))
        return [Group(np.asarray([q]), grams[q, :, :]) for q in range(pixels)]

    def _squares(self, rows: Array, others: Array) -> Array:
        """The weighted sums of squared differences, n × m × pixels."""
        xp = namespace(rows)
        n, m = rows.shape[0], others.shape[0]
        down, across = (like(window(length, float(self.width)), rows) for length in self.shape)
        found = []
        for i in range(n):  # one image at a time keeps the temporary arrays small
            squares = xp.reshape((rows[i, :] - others) ** 2, (m, *self.shape))
            found.append(xp.reshape(xp.matmul(xp.matmul(down, squares), across.T), (m, -1)))
        return xp.stack(found)

    def _images(self, X: Collection, name: str) -> Array:
        rows = as_vectors(X, name)
        check_pixels(rows, self.shape, name)
        return rows

    def _check(self) -> None:
        check_shape(self.shape, type(self).__name__)
        for name, value in (("width", self.width), ("scale", self.scale)):
            if name == "scale" and value == "median":
                continue
            if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
                other = ", or 'median'" if name == "scale" else ""
                raise ValueError(
                    f"{name}={value!r} in {type(self).__name__}; expected a finite number above zero{other}"
                )


def window(length: int, width: float) -> np.ndarray:
    """Gaussian weights of all pixels along one side around each of them, rows adding up to one."""
    places = np.arange(length, dtype=float)
    weights = np.exp(-((places[:, None] - places) ** 2) / (2.0 * width**2))
    return weights / weights.sum(axis=1, keepdims=True)
