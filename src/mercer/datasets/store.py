"""Where the files of a data set come from, and the promise that they are the ones we mean.

A file is looked for in ``$MERCER_DATA``, then in the user's cache, which is filled by a download.
Wherever it comes from, its SHA-256 has to be the one written here.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from mercer.core.files import written_atomically


class ChecksumError(ValueError):
    """A file is not the one its name promises."""


@dataclass(frozen=True)
class Source:
    """What a file must contain (its SHA-256), and where it can be downloaded, if anywhere."""

    sha256: str
    url: str | None = None


_ESL = "https://hastie.su.domains/ElemStatLearn/datasets"
_DOWNLOADS = {f"usps/{name}": f"{_ESL}/{name}" for name in ("zip.train.gz", "zip.test.gz")}


def _sources() -> dict[str, Source]:
    """The files of ``SHA256SUMS``, a list that ``sha256sum --check`` reads too."""
    lines = Path(__file__).with_name("SHA256SUMS").read_text(encoding="utf-8").splitlines()
    pairs = (line.split(maxsplit=1) for line in lines)
    return {name: Source(digest, _DOWNLOADS.get(name)) for digest, name in pairs}


SOURCES: dict[str, Source] = _sources()
"""Every file the loaders know, by its path under ``$MERCER_DATA``."""


def fetch(name: str) -> Path:
    """The path of the file `name`, its checksum verified; downloaded if it has to be.

    Parameters
    ----------
    name : str
        A key of `mercer.datasets.store.SOURCES`, such as ``"usps/zip.train.gz"``. It is looked for
        in ``$MERCER_DATA``, then in the user's cache, then downloaded into the cache.

    Raises
    ------
    ChecksumError
        The file that was found or downloaded has another SHA-256 than the one pinned.
    FileNotFoundError
        The file is nowhere, and cannot be downloaded; the message says where to put it.
    """
    path = find(name)
    if path is not None:
        return path
    source, target = SOURCES[name], cache_folder() / name
    if source.url is None:
        raise FileNotFoundError(_missing(name, "nobody offers it for download"))
    try:
        _download(source.url, source.sha256, target)
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise FileNotFoundError(_missing(name, f"{source.url} could not be downloaded ({reason})")) from error
    return target


def find(name: str) -> Path | None:
    """The path of the file `name`, its checksum verified, if it is on this machine; else None."""
    if name not in SOURCES:
        raise ValueError(f"name is {name!r}; expected one of {', '.join(sorted(SOURCES))}")
    for folder in (data_folder(), cache_folder()):
        if folder is not None and (folder / name).is_file():
            _check(folder / name, SOURCES[name].sha256)
            return folder / name
    return None


def data_folder() -> Path | None:
    """The folder named by the environment variable MERCER_DATA; None where it is not set."""
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
    """Where downloads are kept: ``mercer`` in the user's cache folder."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "mercer"


def _download(url: str, sha256: str, target: Path) -> None:
    with urllib.request.urlopen(url, timeout=30) as response, written_atomically(target) as path:
        with path.open("wb") as file:
            shutil.copyfileobj(response, file)
        _check(path, sha256, said_of=url)


def _check(path: Path, expected: str, said_of: str | None = None) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise ChecksumError(
            f"{said_of or path} has SHA-256 {found}; expected {expected}. It was not used: "
            "replace it by the original file, or delete it to have it looked for elsewhere"
        )


def _missing(name: str, why: str) -> str:
    folder = data_folder()
    return (
        f"{name} is not in {'MERCER_DATA (not set)' if folder is None else folder} nor in "
        f"{cache_folder()}, and {why}. Put the file at FOLDER/{name} and set the environment "
        "variable MERCER_DATA=FOLDER"
    )
