"""Checks of data that is read in blocks and not held in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mercer.core import memory
from mercer.core.arrays import is_sparse, namespace, to_numpy
from mercer.core.blocks import RowBlocks, as_blocks, in_memory, is_mapped
from mercer.core.collections import LEAST, Collection, is_numeric, require_range
from mercer.core.files import written_atomically
from mercer.solvers.kernel_values import PointMap

DRAWN = 20_000
"""Inputs that kernels with a parameter learned from data see, and among which few pivots are chosen."""

PREDICTED = 2**15
"""Inputs that are predicted at a time."""

_COPIES = 4
"""Arrays of the size of a memory map from which on it is not read as a whole."""


def inputs_in_blocks(estimator: Any, X: Any) -> RowBlocks | None:
    """Return training inputs that are to be read in blocks; None for those in memory, or for memory maps that fit.

    A memory map is read in blocks by a solver that was named and can, and by ``solver="auto"`` if it does not fit in memory.
    """
    found, solver = as_blocks(X), getattr(estimator, "solver", None)
    if found is None:
        return None
    reads = getattr(estimator, "reads_blocks", False)
    if is_mapped(X):
        large = solver == "auto" and 8 * _COPIES * X.size > memory.available_bytes()
        return found if reads and (large or getattr(solver, "reads_blocks", False)) else None
    if not reads:
        raise TypeError(
            f"X is {X!r:.60}, which is read in blocks, and {estimator!r:.60} learns from inputs in memory; use "
            "DependencyEstimator(solver=LowRank(rank)), or pass an array"
        )
    return found


def outputs_in_memory(y: Any, name: str = "y") -> Any:
    """Return outputs that are read in blocks as a collection in memory; a memory map and all others as they are."""
    if is_mapped(y):
        return np.asarray(y)  # mapped as before, and a plain array in a saved model
    found = as_blocks(y, name)
    return y if found is None else in_memory(found)


@dataclass
class CheckedBlock:
    """A check of a block by the kernel of the inputs."""

    kernel: Any
    width: int | None = None
    """The number of features that are expected; None for any."""

    def __call__(self, block: Any) -> Collection:
        """Return the block as the collection the kernel takes."""
        name = "a block of X"
        checked = self.kernel.check(block, name)
        if self.kernel.takes_vectors and is_numeric(checked):
            require_range(checked, name, LEAST)
        if self.width is not None and checked.shape[1] != self.width:
            raise ValueError(f"{name} has {checked.shape[1]} features, and {self.width} were expected in all of them")
        return checked


def check_block_inputs(metadata: Any, X: RowBlocks, kernel: Any) -> tuple[RowBlocks, Collection]:
    """Return the inputs, each block checked when it is read, and a sample of them; set the number of features."""
    if kernel.pairwise:
        raise ValueError(
            f"X is read in blocks, and input_kernel={kernel!r} takes a Gram matrix; pass the objects and a kernel"
        )
    inputs = X.mapped(CheckedBlock(kernel))
    drawn = inputs.sample(DRAWN)[1]
    if drawn is None:
        raise ValueError("X is empty; expected at least one object")
    if kernel.takes_vectors and (is_numeric(drawn) or is_sparse(drawn)):
        metadata.n_features_in_ = drawn.shape[1]
        inputs = inputs.mapped(CheckedBlock(kernel, drawn.shape[1]), changes=False)
    return inputs, drawn


def new_inputs(estimator: Any, X: Any) -> RowBlocks | None:
    """Return inputs to predict that are read in blocks, each checked when it is read; None for those in memory."""
    found = as_blocks(X)
    if found is None or estimator.input_kernel_.pairwise:
        return None
    return found.mapped(CheckedBlock(estimator.input_kernel_, getattr(estimator, "n_features_in_", None)))


def written(parts: Iterator[Any], out: Any, rows: int) -> Any:
    """Write predictions, block by block, to an array, or to a ``.npy`` file that is there when all are written."""
    if isinstance(out, str | Path):
        if Path(out).suffix != ".npy":
            raise ValueError(f"out={str(out)!r}; expected an array, or the name of a .npy file")
        with written_atomically(Path(out)) as temporary:
            _fill(parts, None, rows, temporary)
        return np.load(out, mmap_mode="r")
    return _fill(parts, out, rows)


def _fill(parts: Iterator[Any], out: Any, rows: int, path: Path | None = None) -> Any:
    start = 0
    for part in parts:
        part = to_numpy(part) if hasattr(part, "dtype") else np.asarray(part)
        if part.dtype == object and path is not None:
            raise TypeError(
                "out is a file, and the predictions are objects; expected numbers. Iterate over predict_blocks(X)"
            )
        if path is not None and out is None:
            out = np.lib.format.open_memmap(path, "w+", part.dtype, (rows, *part.shape[1:]))
        if tuple(out.shape) != (rows, *part.shape[1:]):
            raise ValueError(
                f"out has shape {tuple(out.shape)}; expected {(rows, *part.shape[1:])}, a row for each input"
            )
        out[start : start + len(part)] = part
        start += len(part)
    if path is not None:
        out.flush()
    return out


def points_of_blocks(fitted: Any, blocks: RowBlocks) -> Any:
    """Return the points of all blocks as one array, by a fitted map of any kind."""
    if isinstance(fitted, PointMap):
        return fitted.points(blocks)
    found = list(blocks.each(fitted.points))
    return namespace(found[0]).concat(found)
