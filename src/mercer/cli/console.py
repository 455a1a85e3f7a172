"""Sentences to the user, files to be written, and runs that are stopped."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Say = Callable[[str], None]
_OF_PARAMETERS = re.compile(r"\. [^.]*\bsample_weight\b[^.]*$")


class Stopped(Exception):
    """The user stopped a run; the message says what was kept."""


def say(sentence: str) -> None:
    """Write a sentence to standard error."""
    from mercer.io.lines import printable

    print(f"mercer: {printable(sentence)}", file=sys.stderr)


def print_json(content: Any) -> None:
    """Print one JSON document."""
    print(json.dumps(content, indent=2, ensure_ascii=False, default=_jsonable))


def check_output(output: Path, what: str, *read: str | Path) -> None:
    """Raise ValueError, before anything is computed, if `output` cannot be written or is one of the files read."""
    if output.is_dir():
        raise ValueError(f"-o {output} is a folder; expected a file for {what}")
    above = next(folder for folder in output.absolute().parents if folder.exists())
    if not above.is_dir():
        raise ValueError(f"-o {output}: {above.name} is a file; expected a folder to write {what} in")
    for path in map(Path, read):
        if output.exists() and path.exists() and output.samefile(path):
            raise ValueError(f"-o {output} is {path}, which is read; expected another file for {what}")


@contextmanager
def noted(tell: Say) -> Iterator[None]:
    """Report warnings as plain lines, each once, without advice about parameters that the command has not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        tell(f"note: {_OF_PARAMETERS.sub('', message)}")


def shortened(text: str, width: int) -> str:
    """Return text of at most `width` characters on one line.

    Examples
    --------
    >>> shortened("a long sentence", 7)
    'a long…'
    """
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def _jsonable(value: Any) -> Any:
    from mercer.io.cells import plain

    found = plain(value)
    return found if type(found) in (str, int, float, bool, list) else str(found)
