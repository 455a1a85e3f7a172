"""Rows of files, read block by block: ``.npy`` arrays and Parquet tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from mercer.core.blocks import ArrayBlocks, Batches, RowBlocks

_BATCH = 2**14
"""Rows of a Parquet file that are read at a time."""


def open_rows(path: str | Path, columns: Sequence[str] | str | None = None, name: str = "X") -> RowBlocks:
    """Open a file of rows that are read block by block, in bounded memory.

    Parameters
    ----------
    path : path
        A ``.npy`` file, one row per object along its first axis, or a ``.parquet`` file or folder.
    columns : sequence of str or str, optional
        The columns of a Parquet table, by default all of them. One name, not a list, gives the objects of that column, such as
        strings; a list of names gives rows of numbers, or frames if a column does not hold numbers.
    name : str
        The argument the rows stand for, for errors.

    Examples
    --------
    >>> import tempfile
    >>> from mercer import DependencyEstimator
    >>> from mercer.kernels import Gaussian
    >>> from mercer.solvers import LowRank
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/X.npy", X)
    ...     rows = open_rows(f"{folder}/X.npy")
    ...     model = DependencyEstimator(Gaussian(3.0), solver=LowRank(20), alpha=0.1).fit(rows, X[:, 0])
    >>> model.predict(X[:2]).shape
    (2,)
    """
    file = Path(path)
    if not file.exists():
        raise FileNotFoundError(f"path={str(path)!r}; there is no such file")
    if file.suffix == ".npy":
        if columns is not None:
            raise ValueError(f"columns={columns!r} are for Parquet files, and {file.name} is an array; leave them out")
        return ArrayBlocks(_mapped(file), name)
    if file.suffix == ".parquet" or file.is_dir():
        return ParquetRows(file, columns, name)
    raise ValueError(f"path={str(path)!r}; expected a .npy or .parquet file. Read others by mercer.io.Batches")


def _mapped(file: Path) -> np.ndarray:
    """A memory map of an array of numbers, one row per object."""
    try:
        array = np.lib.format.open_memmap(file, mode="r")
    except (ValueError, EOFError, SyntaxError, TokenError, OverflowError) as error:  # NumPy parses the header as Python
        raise ValueError(
            f"{file.name} cannot be mapped ({error}); expected an array of numbers written by numpy.save"
        ) from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{file.name} has dtype {array.dtype}; expected numbers")
    if array.ndim < 1 or 0 in array.shape:
        raise ValueError(f"{file.name} has shape {array.shape}; expected at least one row and one column")
    return array


class ParquetRows(RowBlocks):
    """The rows of a Parquet file or folder; see `open_rows`."""

    def __init__(self, path: Path, columns: Sequence[str] | str | None = None, name: str = "X") -> None:
        self.path, self.name, self.single = path, name, isinstance(columns, str)
        self.columns: Any = [columns] if self.single else columns
        dataset = self._dataset()
        missing = [each for each in self.columns or () if each not in dataset.schema.names]
        if missing:
            held = ", ".join(map(repr, dataset.schema.names[:10]))
            raise ValueError(f"columns={columns!r}; {path.name} has no column {missing[0]!r}. It has {held}")
        with self._readable():
            self.size = dataset.count_rows()

    def _dataset(self) -> Any:
        try:
            import pyarrow.dataset
        except ImportError as error:
            raise ImportError("Parquet files need pyarrow; run 'pip install mercer[tables]'") from error
        with self._readable():
            return pyarrow.dataset.dataset(self.path, format="parquet")

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            raise ValueError(f"{self.path.name} is not a Parquet table, or is damaged ({error!s:.200})") from error

    def read(self) -> Iterator[Any]:
        """Yield batches of rows, in the order of the file."""
        import pyarrow

        batches = iter(self._dataset().to_batches(columns=self.columns, batch_size=_BATCH))
        while True:
            with self._readable():
                batch = next(batches, None)
            if batch is None:
                return
            if not batch.num_rows:
                continue
            if self.single:
                yield np.fromiter(batch.column(0).to_pylist(), dtype=object, count=batch.num_rows)
            elif all(_is_number(field.type, pyarrow.types) for field in batch.schema):
                yield np.stack([np.asarray(column, dtype=float) for column in batch.columns], axis=1)
            else:
                yield batch.to_pandas()


def _is_number(kind: Any, types: Any) -> bool:
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)


def pairs_of(factory: Any) -> tuple[Batches, Batches]:
    """Return inputs and outputs in blocks, from a function that returns an iterable of batches (X, y).

    Each of the two reads the batches for itself.

    Examples
    --------
    >>> X, y = pairs_of(lambda: ((np.full((2, 3), i), np.full(2, i)) for i in range(4)))
    >>> len(X), len(y)
    (8, 8)
    """
    Batches(factory, "X and y")  # an iterator is refused
    return Batches(_Side(factory, 0), "X"), Batches(_Side(factory, 1), "y")


class _Side:
    """The inputs or the outputs of batches of pairs."""

    def __init__(self, factory: Any, side: int) -> None:
        self.factory, self.side = factory, side

    def __call__(self) -> Iterator[Any]:
        for number, batch in enumerate(self.factory() if callable(self.factory) else self.factory):
            if not (isinstance(batch, tuple | list) and len(batch) == 2):
                raise TypeError(f"batch {number} is {batch!r:.40}; expected a pair (X, y)")
            yield batch[self.side]
