"""Checks of a saved model, a zip archive of arrays and a schema, before anything in it is built.

After them, the time and the memory of loading grow no faster than the size of the file: nothing is inflated much, read twice or
visited twice.
"""

from __future__ import annotations

import json
import os
from io import BytesIO
from math import prod
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np

MOST_MEMBERS = 100_000
MOST_NODES = 2_000_000
MOST_SCHEMA = 2**28
INFLATION, SPARE = 100, 2**26
"""Sparse arrays, which are compressed, may take `INFLATION` times the bytes of the file and `SPARE` bytes more."""
_SCHEMA = "schema.json"
_DIRECTORY_ENTRY = 200  # most bytes of an entry of the directory, on average
_END, _END64, _LOCATOR64 = b"PK\5\6", b"PK\6\6", b"PK\6\7"
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_TYPE = ("__module__", "__class__", "__loader__")
_CALLED_BY_NONE = ("ObjectNode", "TupleNode", "TypeNode")
"""Loaders of skops that set the attributes of an object, and do not call its type with arguments from the file."""


def check_archive(file: IO[bytes]) -> None:
    """Raise ValueError if an archive claims more than its size allows, or shares parts that a saved model does not share."""
    size, inflated = file.seek(0, os.SEEK_END), 0
    with _opened(file) as archive:
        members = archive.infolist()
        stored = all(member.compress_type == ZIP_STORED for member in members)
        if not stored or sum(member.file_size for member in members) > size:
            raise ValueError("its parts are compressed, or overlap")
        _check_schema(archive)
        for member in members:
            with archive.open(member) as part:
                begin = part.read(4)
            if begin == b"\x93NUM":
                _check_array(archive, member)
            elif begin[:2] == b"PK":
                inner = BytesIO(archive.read(member))
                with _opened(inner) as arrays:
                    inflated += sum(array.file_size for array in arrays.infolist())
                    if inflated > INFLATION * size + SPARE:
                        raise ValueError(f"its sparse arrays inflate to {inflated / 2**20:.0f} MiB or more")
                    for array in arrays.infolist():
                        _check_array(arrays, array)


def _opened(file: IO[bytes]) -> ZipFile:
    """Open an archive if its directory, which is read at once, is of a modest size."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - 98))
    tail = file.read().rjust(98, b"\0")
    if tail[-22:-18] != _END:
        raise ValueError("it does not end as an archive does")
    directory = int.from_bytes(tail[-10:-6], "little")
    if tail[-42:-38] == _LOCATOR64 and tail[:4] == _END64:
        directory = int.from_bytes(tail[40:48], "little")
    if directory > _DIRECTORY_ENTRY * MOST_MEMBERS:
        raise ValueError(f"its directory has {directory} bytes; expected at most {MOST_MEMBERS} parts")
    archive = ZipFile(file)
    names = archive.namelist()
    if len(names) > MOST_MEMBERS or len(set(names)) < len(names):
        archive.close()
        raise ValueError(f"it has {len(names)} parts; expected at most {MOST_MEMBERS} of different names")
    return archive


def _check_array(archive: ZipFile, member: ZipInfo) -> None:
    """Raise ValueError unless an array has the size that its header states, and holds plain numbers or text."""
    with archive.open(member) as part:
        read = _HEADERS.get(np.lib.format.read_magic(part))
        if read is None:
            raise ValueError(f"{member.filename} is of an unknown version of NumPy's format")
        shape, _, dtype = read(part)
        left = member.file_size - part.tell()
    if dtype.hasobject or min(shape, default=0) < 0 or prod(shape) * max(dtype.itemsize, 1) != left:
        raise ValueError(f"{member.filename} has {left} bytes; its header states shape {shape} and dtype {dtype}")


def _check_schema(archive: ZipFile) -> None:
    """Raise ValueError for a schema that is too large, or that gives one number or one file to two different objects."""
    text = archive.read(_SCHEMA)
    nodes = text.count(b"{") + text.count(b"[")
    if len(text) > MOST_SCHEMA or nodes > MOST_NODES:
        raise ValueError(f"its schema has {len(text)} bytes and {nodes} parts; expected at most {MOST_NODES} parts")
    contents: dict[Any, int] = {}
    owners: dict[Any, Any] = {}

    def summary(node: dict[str, Any]) -> int:
        """A number that stands for the content of a node, whose parts are such numbers already."""
        identity = None
        if any(key in node for key in _TYPE):
            if any(type(node.get(key)) is not str for key in _TYPE):
                raise ValueError("its schema has an object without the name of its type")
            if node["__module__"].split(".")[0] == "mercer" and node["__loader__"] not in _CALLED_BY_NONE:
                raise ValueError(f"its schema builds a {node['__class__']:.60} by {node['__loader__']:.60}")
            identity = node.pop("__id__", None)
            if "file" in node and (not identity or owners.setdefault(node.pop("file"), identity) != identity):
                raise ValueError("its schema gives one file to several objects")
        found = hash(repr(node))
        # a model writes an object that occurs twice twice: one that is only named again would be visited again and again
        if identity is not None and contents.setdefault(identity, found) != found:
            raise ValueError(f"its schema gives the number {identity!r:.40} to two objects")
        return found

    json.loads(text, object_hook=summary)
