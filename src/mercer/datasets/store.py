"""Locate data files, verify their SHA-256, and read them.

A file is looked for in ``$MERCER_DATA``, then in the user's cache, which is filled by a download. Its SHA-256 must be that of
the file ``SHA256SUMS`` beside this module, or of ``REBUILT256SUMS``: the same content as a recipe of the repository writes it
(``python -m experiments data``).
"""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np


class ChecksumError(ValueError):
    """A file does not have the SHA-256 pinned for its name."""


class Source(NamedTuple):
    """The SHA-256 of a file, its address if it can be downloaded, and the SHA-256 of the same content made by a recipe."""

    sha256: str
    url: str | None = None
    rebuilt: str | None = None

    @property
    def accepted(self) -> tuple[str, ...]:
        """The SHA-256 that a file may have."""
        return (self.sha256,) if self.rebuilt is None else (self.sha256, self.rebuilt)


class Table:
    """A dataclass whose fields are columns of one length, one row per object."""

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def take(self, rows: np.ndarray) -> Self:
        """Return the objects at `rows`."""
        return type(self)(*(column[rows] for column in vars(self).values()))


_ESL = "https://hastie.su.domains/ElemStatLearn/datasets"
_DOWNLOADS = {f"usps/{name}": f"{_ESL}/{name}" for name in ("zip.train.gz", "zip.test.gz")}


def _sums(file: str) -> dict[str, str]:
    lines = Path(__file__).with_name(file).read_text(encoding="utf-8").splitlines()
    return {name: sha256 for sha256, name in (line.split(maxsplit=1) for line in lines)}


_REBUILT = _sums("REBUILT256SUMS")
SOURCES = {name: Source(sum_, _DOWNLOADS.get(name), _REBUILT.get(name)) for name, sum_ in _sums("SHA256SUMS").items()}
"""All files of the data sets, by their paths under ``$MERCER_DATA``."""


def fetch(name: str) -> Path:
    """Return the path of a file, its checksum verified; download it if necessary.

    `name` is a key of `SOURCES`, such as ``"usps/zip.train.gz"``. Raises ChecksumError if the SHA-256 is not the pinned one,
    FileNotFoundError if there is no such file and it cannot be downloaded; the message says where to put it.
    """
    if (found := find(name)) is not None:
        return found
    source, target = SOURCES[name], cache_folder() / name
    if source.url is None:
        raise FileNotFoundError(_missing(name, "it cannot be downloaded"))
    _download(source, target, name)
    return target


def _download(source: Source, target: Path, name: str) -> None:
    """Download a file by pooch, which refuses one with another checksum and leaves nothing of it."""
    try:
        import pooch
    except ImportError as error:
        way = "downloading data sets needs pooch; run 'pip install mercer[data]'"
        raise ImportError(f"{way}, or set MERCER_DATA to a folder that holds {name}") from error
    try:
        pooch.retrieve(source.url, f"sha256:{source.sha256}", fname=target.name, path=target.parent)
    except ValueError as error:
        raise ChecksumError(f"{source.url} was not used: {error}; expected SHA-256 {source.sha256}") from error
    except OSError as error:  # the errors of requests are of this type too
        raise FileNotFoundError(_missing(name, f"{source.url} could not be downloaded ({error!s:.200})")) from error


def find(name: str) -> Path | None:
    """Return the path of a file, its checksum verified, if it is on this machine; else None."""
    if name not in SOURCES:
        raise ValueError(f"name is {name!r}; expected one of {', '.join(sorted(SOURCES))}")
    for folder in (data_folder(), cache_folder()):
        if folder is not None and (folder / name).is_file():
            _check(folder / name, SOURCES[name])
            return folder / name
    return None


def data_folder() -> Path | None:
    """Return the folder named by the environment variable MERCER_DATA; None if it is not set."""
    value = os.environ.get("MERCER_DATA")
    if not value:
        return None
    folder = Path(value).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(
            f"MERCER_DATA is {value!r}, which is not a folder; point it at the folder that holds "
            "usps/ and the other data sets, or unset it"
        )
    return folder


def cache_folder() -> Path:
    """Return the folder of downloads: ``mercer`` in the user's cache folder."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "mercer"


def read_arrays(name: str, shapes: Mapping[str, tuple[int, ...]]) -> list[np.ndarray]:
    """Read arrays of an ``.npz`` file; raise ValueError unless they have these shapes."""
    with np.load(fetch(name), allow_pickle=False) as arrays:
        found = {each: arrays[each] for each in shapes if each in arrays}
    held = {each: array.shape for each, array in found.items()}
    if held != shapes:
        raise ValueError(f"{name} holds {held}; expected {shapes}")
    return list(found.values())


def read_rows(name: str, expected: int, columns: str) -> list[list[str]]:
    """Read a compressed file of tab-separated rows; raise ValueError unless it has as many rows, with these columns."""
    with gzip.open(fetch(name), "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    if len(rows) != expected or any(len(row) != len(columns.split(", ")) for row in rows):
        raise ValueError(f"{name} holds {len(rows)} lines; expected {expected} of {columns}, separated by tabs")
    return rows


def _check(path: Path, source: Source, origin: str | None = None) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found not in source.accepted:
        raise ChecksumError(
            f"{origin or path} has SHA-256 {found}; expected {' or '.join(source.accepted)}. It was not used: "
            "replace it by the original file, or delete it to look for it elsewhere"
        )


def _missing(name: str, why: str) -> str:
    folder = data_folder()
    return (
        f"{name} is not in {'MERCER_DATA (not set)' if folder is None else folder} nor in "
        f"{cache_folder()}, and {why}. Put the file at FOLDER/{name} and set the environment "
        f"variable MERCER_DATA=FOLDER, or run 'python -m experiments data --get {name}' in a clone of the repository"
    )
