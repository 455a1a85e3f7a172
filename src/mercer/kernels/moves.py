"""Images shifted, turned or mirrored, and virtual examples made from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mercer.core import memory
from mercer.core.arrays import Array, is_array, like, to_numpy
from mercer.core.collections import Collection, count, take
from mercer.core.validation import check_whole, is_real


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
    """All shifts of up to `reach` pixels, at each angle (0 first), plain and in a mirror; staying put comes first.

    Examples
    --------
    >>> len(moves(1)), len(moves(1, rotations=(-10, 10))), moves(0, mirror=True)[1].mirror
    (9, 27, True)
    """
    turns = _turns(reach, rotations)
    steps = sorted(range(-int(reach), int(reach) + 1), key=abs)
    sides = (False, True) if mirror else (False,)
    return [Move(down, right, turn, side) for side in sides for turn in turns for down in steps for right in steps]


def number_of_moves(reach: int = 1, rotations: Sequence[float] = (), mirror: bool = False) -> int:
    """The number of `moves`, without making them.

    Examples
    --------
    >>> number_of_moves(1, rotations=(-10, 10)), number_of_moves(10**9)
    (27, 4000000004000000001)
    """
    return (2 if mirror else 1) * len(_turns(reach, rotations)) * (2 * int(reach) + 1) ** 2


def _turns(reach: int, rotations: Sequence[float]) -> list[float]:
    """The angles, 0 first; raise ValueError for a reach or angles that make no sense."""
    check_whole(reach, "reach", 0, expected="a whole number of pixels, zero or more")
    angles = rotations if isinstance(rotations, Sequence | np.ndarray) else [None]
    if not all(is_real(angle) and np.isfinite(angle) for angle in angles):
        raise ValueError(f"rotations={rotations!r}; expected a list of angles in degrees, such as (-10, 10)")
    return [0.0, *(float(angle) for angle in angles if angle != 0)]


class VirtualExamples(NamedTuple):
    """Pairs and moved copies of them: first all pairs as they are, then all of them after one move, and so on."""

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
        ``inputs``, ``outputs`` and ``source``. Choose parameters with ``source`` as groups (`JointKernelMap.fit`'s `groups`,
        scikit-learn's `GroupKFold`): plain leave-one-out would find a copy of what it left out among what it kept.

    Examples
    --------
    >>> import numpy as np
    >>> many = virtual_examples(np.eye(3)[None], ["x"], reach=1)
    >>> many.inputs.shape, many.outputs[:2], many.source.tolist()
    ((9, 3, 3), ['x', 'x'], [0, 0, 0, 0, 0, 0, 0, 0, 0])
    """
    number, images = number_of_moves(reach, rotations, mirror), _images(X, "X")
    n = images.shape[0]
    purpose, copies = f"{n} images after {number} moves each", 4 if outputs_move else 2
    memory.require(number * n, images[0].size, copies, purpose, "lower reach, or pass fewer rotations")
    every = moves(reach, rotations, mirror)
    if count(y) != n:
        raise ValueError(f"X has {n} images and y has {count(y)} objects; expected one output for each image")
    source = np.tile(np.arange(n), len(every))
    if outputs_move:
        outputs: Collection = _moved(_images(y, "y"), every)
    elif is_array(y):
        outputs = take(y, source)
    else:
        listed = list(y)
        outputs = [listed[i] for i in source.tolist()]
    return VirtualExamples(_moved(images, every), outputs, source)


def _moved(images: np.ndarray, every: list[Move]) -> np.ndarray:
    n, height, width = images.shape
    flat = images.reshape(n, -1)
    return np.concatenate([move.rows(flat, (height, width)).reshape(images.shape) for move in every])


def _images(images: Any, name: str) -> np.ndarray:
    from mercer.kernels.images import as_images

    return as_images(to_numpy(images) if is_array(images) else images, name)
