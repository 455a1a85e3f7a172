"""Atomic writing of files."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EDQUOT, EFBIG, EIO, ENOSPC
from pathlib import Path

_WRITE_ERRORS = (ENOSPC, EDQUOT, EFBIG, EIO)
"""Errors of a write that carry no file name."""


@contextmanager
def naming_file(path: str | os.PathLike[str], temporary: Path | None = None) -> Iterator[None]:
    """Name `path` in errors of a full disk, and in those that would name `temporary`."""
    try:
        yield
    except OSError as error:
        unnamed = error.filename is None and error.errno in _WRITE_ERRORS
        if unnamed or (temporary is not None and error.filename == str(temporary)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


@contextmanager
def written_atomically(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` when the block ends, and is deleted when it raises.

    Missing folders are created. Links are followed and the permissions of an existing file are kept. A device or a pipe is
    written directly.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with naming_file(path):
            yield target
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # in the same folder, because a rename is only atomic within one file system
    temporary = target.with_name(f".mercer-{uuid.uuid4().hex}")
    try:
        with naming_file(path, temporary):
            yield temporary
            if target.exists():
                shutil.copymode(target, temporary)
            os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
