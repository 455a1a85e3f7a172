"""Gram matrices that are made tile by tile: their products with arrays, and copies on a device."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from mercer.core.arrays import Array, is_array, is_numpy_array, like, namespace, on_device
from mercer.core.collections import Collection, count, is_blocks, take
from mercer.kernels.base import Kernel

_EDGE, _LAUNCHED_EDGE = 1024, 8192
"""Objects on each side of a tile, and for libraries that may run on a device, where each operation costs a launch."""


@dataclass
class Tile:
    """The share of the kernel values between two blocks of inputs in a product."""

    kernel: Kernel

    def __call__(self, own: Any, other: Any, rows: Array, others: Array) -> tuple[Array, Array]:
        """Return what the tile adds to the rows of its own block and to those of the other."""
        left = self.kernel.prepare(own, checked=True)
        right = None if other is None else self.kernel.prepare(other, checked=True)
        values = like(self.kernel(left, right), rows)
        return values @ others, values.T @ rows


class KernelProducts:
    """The map V ↦ k V for the Gram matrix k of `inputs`, in the memory of a few tiles.

    A tile serves both triangles of k, so half of its entries are computed. Tiles of kernels on NumPy vectors are divided among
    threads; kernels on other objects have threads of their own. With `single`, kernel values of vectors and their products are
    in single precision, and are added up in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).standard_normal((3000, 2))
    >>> bool(np.allclose(KernelProducts(Gaussian(1.0), X)(X), Gaussian(1.0)(X) @ X))
    True
    """

    def __init__(self, kernel: Kernel, inputs: Collection, single: bool = False) -> None:
        self.kernel, self.blocks, self.single = kernel, inputs if is_blocks(inputs) else None, single
        if self.blocks is not None:
            return
        n = count(inputs)
        if single:
            vectors: Any = inputs
            inputs = namespace(vectors).astype(vectors, namespace(vectors).float32)
        plain = is_numpy_array(inputs)
        # a Gram matrix that the user holds is one tile
        edge = n if kernel.pairwise else _EDGE if plain else _LAUNCHED_EDGE
        self.parts = [slice(start, min(start + edge, n)) for start in range(0, n, edge)]
        self.tiles = [kernel.prepare(take(inputs, part), checked=True) for part in self.parts]
        self.threaded = plain and kernel.takes_vectors and len(self.parts) > 1

    def __call__(self, rows: Array) -> Array:
        """Return k times `rows`."""
        if self.blocks is not None:
            return self.blocks.tiles(Tile(self.kernel), rows, most=_LAUNCHED_EDGE)
        if not self.threaded:
            return self._every(0, 1, rows)
        from numba import get_num_threads

        workers = get_num_threads()
        # sums of a fixed order, so that one machine gives one answer
        with threadpool_limits(1, "blas"), ThreadPoolExecutor(workers) as pool:
            parts: Any = pool.map(lambda worker: self._every(worker, workers, rows), range(workers))
            return sum(parts)

    def _every(self, first: int, step: int, rows: Array) -> Array:
        """The share of the product that is due to every `step`-th row of tiles from `first`."""
        xp = namespace(rows)
        found: Any = xp.zeros_like(rows)
        rows = xp.astype(rows, xp.float32) if self.single else rows
        for i in range(first, len(self.parts), step):
            part = self.parts[i]
            own = like(self.kernel(self.tiles[i]), rows)
            found[part, :] += own @ rows[part, :]
            for other, tile in zip(self.parts[:i], self.tiles, strict=False):
                values = like(self.kernel(self.tiles[i], tile), rows)
                found[part, :] += values @ rows[other, :]
                found[other, :] += values.T @ rows[part, :]
        return found


def serves_single(kernel: Kernel, inputs: Collection) -> bool:
    """Return True for vectors in double precision and in memory, whose products are about twice as fast in single precision.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, Spectrum
    >>> serves_single(Gaussian(1.0), np.zeros((3, 2))), serves_single(Spectrum(2), ["ab"])
    (True, False)
    """
    if is_blocks(inputs) or kernel.pairwise or not (kernel.takes_vectors and is_array(inputs)):
        return False
    vectors: Any = inputs
    return vectors.ndim == 2 and vectors.dtype == namespace(vectors).float64


def gram_on(device: str, kernel: Kernel, inputs: Collection) -> Any:
    """Return the Gram matrix as a tensor on a device, from tiles made on the host while others travel.

    The host holds a few tiles and never the whole matrix.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> gram_on("cpu", Spectrum(1), ["ab", "b"]).tolist()
    [[2.0, 1.0], [1.0, 1.0]]
    """
    n = count(inputs)
    parts = [slice(start, min(start + _EDGE, n)) for start in range(0, n, _EDGE)]
    tiles = [kernel.prepare(take(inputs, part), checked=True) for part in parts]
    found = on_device(kernel(tiles[0]), device).new_empty((n, n))
    for i, part in enumerate(parts):
        for j, other in enumerate(parts[: i + 1]):
            values = kernel(tiles[i]) if i == j else kernel(tiles[i], tiles[j])
            found[part, other] = sent = on_device(values, device)
            if i != j:
                found[other, part] = sent.T
    return found
