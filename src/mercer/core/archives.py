"""Compression of a saved model, a zip archive of arrays and a schema, and checks before anything in it is built.

After them, the time and the memory of loading are bounded by the size of the file: nothing is inflated much, read or visited
twice.
"""

from __future__ import annotations

import json
import os
from io import BytesIO
from math import prod
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np

MOST_MEMBERS = 100_000
MOST_NODES = 2_000_000
MOST_SCHEMA, MOST_DEFLATED_SCHEMA = 2**28, 24 * 2**20
"""Most bytes of a schema, as it is stored and as it is compressed: parsing takes several times as much."""
INFLATION, SPARE = 100, 2**26
"""Compressed parts may take `INFLATION` times the bytes of the file and `SPARE` bytes more."""
_SCHEMA = "schema.json"
_DIRECTORY_ENTRY = 200  # most bytes of an entry of the directory, on average
_END, _END64, _LOCATOR64 = b"PK\5\6", b"PK\6\6", b"PK\6\7"
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_TYPE = ("__module__", "__class__", "__loader__")
_CALLED_BY_NONE = ("ObjectNode", "TupleNode", "TypeNode")
"""Loaders of skops that set the attributes of an object, and do not call its type with arguments from the file."""


def compressed(data: bytes) -> bytes:
    """Return an archive with a schema without spaces, and with all parts compressed that `check_archive` takes so."""
    with ZipFile(BytesIO(data)) as archive:
        parts = {member.filename: archive.read(member) for member in archive.infolist()}
    parts[_SCHEMA] = json.dumps(json.loads(parts[_SCHEMA]), separators=(",", ":")).encode()
    found = _packed(parts, ZIP_DEFLATED)
    inflated = sum(len(part) for part in parts.values())
    return found if inflated <= INFLATION * len(found) + SPARE else _packed(parts, ZIP_STORED)


def _packed(parts: dict[str, bytes], method: int) -> bytes:
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        for name, part in parts.items():
            large = name == _SCHEMA and len(part) > MOST_DEFLATED_SCHEMA
            archive.writestr(name, part, ZIP_STORED if large or part[:2] == b"PK" else method)
    return file.getvalue()


def check_archive(file: IO[bytes]) -> None:
    """Raise ValueError if an archive claims more than its size allows, or shares parts that a saved model does not share."""
    size = file.seek(0, os.SEEK_END)
    with _opened(file) as archive:
        members = archive.infolist()
        if sum(member.compress_size for member in members) > size:
            raise ValueError("its parts overlap")
        inflated = _check_inflation(members, size, 0, "parts")
        _check_schema(archive)
        for member in members:
            with archive.open(member) as part:
                begin = part.read(4)
            if begin == b"\x93NUM":
                _check_array(archive, member)
            elif begin[:2] == b"PK":
                inner = BytesIO(archive.read(member))
                with _opened(inner) as arrays:
                    inflated = _check_inflation(arrays.infolist(), size, inflated, "sparse arrays")
                    for array in arrays.infolist():
                        _check_array(arrays, array)


def _check_inflation(members: list[ZipInfo], size: int, before: int, what: str) -> int:
    """Return the bytes of all parts so far; raise ValueError if they are too many, or a part is compressed in another way."""
    for member in members:
        stored = member.compress_type == ZIP_STORED
        if not stored and member.compress_type != ZIP_DEFLATED:
            raise ValueError(f"{member.filename:.60} is compressed by an unknown method")
        if stored and member.file_size != member.compress_size:
            raise ValueError(f"{member.filename:.60} is stored, and has two sizes")
    inflated = before + sum(member.file_size for member in members)
    if inflated > INFLATION * size + SPARE:
        raise ValueError(f"its {what} inflate to {inflated / 2**20:.0f} MiB or more")
    return inflated


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
    member = archive.getinfo(_SCHEMA)
    most = MOST_SCHEMA if member.compress_type == ZIP_STORED else MOST_DEFLATED_SCHEMA
    if member.file_size > most:
        raise ValueError(f"its schema has {member.file_size} bytes; expected at most {most}")
    text = archive.read(member)
    nodes = text.count(b"{") + text.count(b"[")
    if nodes > MOST_NODES:
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
