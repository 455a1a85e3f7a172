"""Grayscale PNG files, from an array and the standard library."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np


def png(image: np.ndarray) -> bytes:
    r"""A PNG file with the pixels of `image`, a 2-D array of bytes (0 black, 255 white).

    Examples
    --------
    >>> png(np.zeros((8, 8), dtype=np.uint8))[:4]
    b'\x89PNG'
    """
    if image.ndim != 2 or image.dtype != np.uint8 or image.size == 0:
        raise ValueError(f"image has shape {image.shape} and dtype {image.dtype}; expected rows × columns of uint8")
    rows, columns = image.shape
    # each row starts with the number of its filter: 0, as it is
    scanlines = np.hstack([np.zeros((rows, 1), dtype=np.uint8), image])
    header = struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)  # 8 bits, gray, not interlaced
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(kind, content)
        for kind, content in (
            (b"IHDR", header),
            (b"IDAT", zlib.compress(scanlines.tobytes(), 9)),
            (b"IEND", b""),
        )
    )


def data_uri(image: np.ndarray, *, white: float = -1.0, black: float = 1.0) -> str:
    """`image` as the address of a PNG that contains itself, for a page that needs no other file.

    Values are mapped linearly from `white` to `black`, and cut off beyond them.
    """
    ink = np.clip((np.asarray(image, dtype=float) - white) / (black - white), 0.0, 1.0)
    pixels = np.rint(255 * (1 - ink)).astype(np.uint8)
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode()


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)
