"""Types of columns, found in their cells."""

from __future__ import annotations

import datetime
import math
import re
import sys
from collections.abc import Callable
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from mercer.core.collections import is_missing

GAPS = frozenset(["", "na", "n/a", "nan", "null", "none", "-", "?"])
"""Words for a gap in a column of numbers, dates or truth values; in a column of text only an empty cell is one."""
TYPES = ("number", "text", "category", "date")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf(inity)?|nan)", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
_COMMA = re.compile(r"[+-]?\d+(,\d+)?")
_OTHER_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1(\d{4}|\d\d)")
_TRUTH = ("true", "false")
_MOSTLY = 0.9  # share of numbers from which the other cells of a column are taken for mistakes
_FEWEST = 10  # numbers for that


class Mistake(ValueError):
    """A cell that does not have the type of its column."""


def is_number(text: str) -> bool:
    """Return True for the text of a number, infinity and NaN too.

    Examples
    --------
    >>> [is_number(text) for text in ("1e-3", " 7 ", "inf", "x1", "")]
    [True, True, True, False, False]
    """
    return _NUMBER.fullmatch(text.strip()) is not None


def number(value: Any) -> float | int | None:
    """Return a cell as a number, whole if it is; None for a gap. Raise `Mistake` for anything else.

    Examples
    --------
    >>> number("3"), number(" 2.5 "), number("NA")
    (3, 2.5, None)
    """
    if is_missing(value) or (isinstance(value, str) and value.strip().lower() in GAPS):
        return None
    if isinstance(value, str) and is_number(value):
        text = value.strip()
        value = int(text) if re.fullmatch(r"[+-]?\d{1,15}", text) else float(text)
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise Mistake(f"{value!r:.40}; expected a number")
    too_large = isinstance(value, int) and abs(value) > sys.float_info.max  # isfinite would overflow
    if too_large or not math.isfinite(value):
        raise Mistake(f"{value!r:.40}; expected a finite number, or an empty cell for a gap")
    return int(value) if isinstance(value, Integral) else float(value)


def date(value: Any) -> Any:
    """Return a cell as a date or a time; None for a gap. Raise `Mistake` for anything else."""
    if is_missing(value) or (isinstance(value, str) and value.strip().lower() in GAPS):
        return None
    if isinstance(value, datetime.date):
        return value
    try:
        return datetime.datetime.fromisoformat(str(value).strip())
    except ValueError as error:
        raise Mistake(f"{value!r:.40}; expected a date such as 2026-01-31") from error


def text(value: Any) -> Any:
    """Return a cell as it is; None for a gap."""
    return None if is_missing(value) or (isinstance(value, str) and not value.strip()) else value


def category(value: Any) -> str | None:
    """Return a cell as the name of a category; None for a gap."""
    found = text(value)
    if found is None:
        return None
    name = str(found)
    return name.lower() if name.lower() in _TRUTH else name


READ: dict[str, Callable[[Any], Any]] = {"number": number, "date": date, "text": text, "category": category}
"""Functions that read a cell of each type."""


def type_of(values: list[Any], typed: bool) -> str:
    """Return the type of a column: number, date, category (truth values), text, or object.

    Cells of text are numbers, dates or truth values if all of them are but for gaps; numbers also if nine of ten are, and ten
    at least. Cells that have types keep them, but text may be dates.

    Examples
    --------
    >>> type_of(["1", "", "2.5"], typed=False), type_of(["a", "1"], typed=False), type_of(["2026-01-31"], typed=True)
    ('number', 'text', 'date')
    """
    present = [value for value in values if not is_missing(value)]
    if any(isinstance(value, bool) for value in present) and all(isinstance(value, bool) for value in present):
        return "category"
    if all(isinstance(value, str) for value in present):
        return _type_of_text(present, typed)
    if all(isinstance(value, Real | Decimal) for value in present):
        return "number"
    if all(isinstance(value, datetime.date) for value in present):
        return "date"
    numbers = sum(
        is_number(value) if isinstance(value, str) else isinstance(value, Real | Decimal) for value in present
    )
    simple = sum(isinstance(value, str | Real | Decimal) for value in present)
    return "object" if simple < len(present) else "number" if _mostly(numbers, len(present)) else "text"


def hint(values: list[Any]) -> str | None:
    """Return how to write the cells of a column of text that look like numbers or dates of another form; None for others.

    Examples
    --------
    >>> hint(["308,03", "1,5", ""])
    'numbers with a decimal comma; write 308.03'
    >>> hint(["01.07.2025"]), hint(["one", "two"])
    ('dates; write them as 2025-07-31', None)
    """
    cells = [value.strip() for value in values if isinstance(value, str) and value.strip().lower() not in GAPS]
    if cells and all(_COMMA.fullmatch(cell) for cell in cells):
        return f"numbers with a decimal comma; write {cells[0].replace(',', '.')}"
    if cells and all(_OTHER_DATE.fullmatch(cell) for cell in cells):
        return "dates; write them as 2025-07-31"
    return None


def _type_of_text(present: list[str], typed: bool) -> str:
    cells = [cell.strip() for cell in present if cell.strip().lower() not in GAPS]
    if not cells:
        return "text"
    if all(_DATE.fullmatch(cell) for cell in cells):
        return "date"
    if typed:
        return "text"
    if all(cell.lower() in _TRUTH for cell in cells):
        return "category"
    numbers = sum(map(is_number, cells))
    return "number" if numbers == len(cells) or _mostly(numbers, len(cells)) else "text"


def _mostly(numbers: int, cells: int) -> bool:
    """True if the other cells are taken for mistakes."""
    return numbers >= _FEWEST and numbers >= _MOSTLY * cells
