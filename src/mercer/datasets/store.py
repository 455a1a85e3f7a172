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

from mercer.files import written_atomically


class ChecksumError(ValueError):
    """A file is not the one its name promises."""


@dataclass(frozen=True)
class Source:
    """What a file must contain (its SHA-256), and where it can be downloaded, if anywhere."""

    sha256: str
    url: str | None = None


_ESL = "https://hastie.su.domains/ElemStatLearn/datasets"

SOURCES: dict[str, Source] = {
    "canadian_weather/canadian_weather.npz": Source("3fbe2492240c7de80937da7b0a091d9a8fa6b5a5df470238742f0503590ec1f6"),
    "cmu_faces/cmu_faces_half.npz": Source("5af50de58002b8f175e7ba01222233ba72c9ec3950fa829dd3b5a51db03ee181"),
    "cmu_faces/cmu_faces_quarter.npz": Source("00c036cd6684dfc5e871b7f9cbe5dab96f3767b88d32b4cadf67e13d27c8a205"),
    "functional/gait.npz": Source("e1f4646b74f4f7f4a66abf99dc4092198b788cbd1217d0499df03a50ba20d77d"),
    "ocr_letters/ocr_letters.npz": Source("3451882cea2edef52131f399554c479872195b8cdd836d246aa4d99268b20398"),
    "usps/usps.npz": Source("f17cf15079b780450143df3698e90b5c27ea85cc6bd68cb78ba3d88079efdd52"),
    "usps/zip.train.gz": Source(
        "66ebf231ab51f2cf6ac1a892d0f98ccffee1079d7a5db638c1f11f366046ca16", f"{_ESL}/zip.train.gz"
    ),
    "usps/zip.test.gz": Source(
        "8dacc3c6e136af6c3488de9e5113a7daf140c8c2f1f0b61c54ee02f03f1a962f", f"{_ESL}/zip.test.gz"
    ),
}
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
