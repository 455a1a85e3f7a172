"""The parts of a recipe, and files that come out the same on every machine."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

Arrays = Mapping[str, np.ndarray]
Convert = Callable[[dict[str, Path]], bytes]
"""Takes the upstream files, by their names in the recipe, to the content of the result."""

_EPOCH = (1980, 1, 1, 0, 0, 0)


class Upstream(NamedTuple):
    """An upstream file: its address at a fixed revision, and its SHA-256 (None if only the result is pinned)."""

    url: str
    sha256: str | None = None


@dataclass(frozen=True)
class Recipe:
    """A data file, and how to make it.

    Attributes
    ----------
    name : str
        The path of the result under ``$MERCER_DATA``.
    licence : str
        The licence of the upstream files, or that none is stated.
    upstream : dict of Upstream
        The files it is made from, by name; empty if it cannot be made here.
    convert : callable
        The conversion; None if the upstream file is the result.
    by_hand : str
        How to get a file that has no recipe.
    """

    name: str
    licence: str
    upstream: Mapping[str, Upstream]
    convert: Convert | None = None
    by_hand: str = ""


def npz(arrays: Arrays) -> bytes:
    """Return an ``.npz`` file, not compressed and without dates, so that equal arrays give equal bytes.

    Examples
    --------
    >>> npz({"a": np.arange(3)}) == npz({"a": np.arange(3)})
    True
    """
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), content.getvalue())
    return stream.getvalue()


def gz(content: bytes) -> bytes:
    """Return a ``.gz`` file without a date or a name, and not compressed.

    Examples
    --------
    >>> gzip.decompress(gz(b"words"))
    b'words'
    """
    return gzip.compress(content, compresslevel=0, mtime=0)


def rewritten(path: Path) -> bytes:
    """Return a data file in the form in which a recipe would write the same content."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return npz({name: arrays[name] for name in arrays.files})
    return gz(gzip.decompress(path.read_bytes()))
