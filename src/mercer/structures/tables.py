"""Tables: rows of numbers, categories, dates and text with gaps, read from frames of pandas, polars and others."""

from __future__ import annotations

import datetime
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from numbers import Real
from typing import Any, Self

import numpy as np

from mercer.core.collections import is_missing, reject_non_collection

KINDS = ("number", "category", "date", "text", "ignored")
"""Kinds of columns."""

_FEW = 20
"""Number of distinct strings that are categories in any table; in a long one it is a tenth of the rows."""

CYCLES = {"year": 365.2425, "week": 7.0}
"""Days after which dates come round."""

_DAY = np.timedelta64(1, "D")


class Table:
    """Rows of named columns, each of one kind; a checked collection that is sliced like an array.

    ==========  =======================================================================  ==========================
    kind        columns                                                                  stored as
    ==========  =======================================================================  ==========================
    number      numbers, durations (in days)                                             doubles, NaN for a gap
    date        dates and times (UTC)                                                    days since 1970, NaN for a gap
    category    booleans, categorical columns, strings with few distinct values          strings, None for a gap
    text        other strings                                                            strings, None for a gap
    ignored     columns without any value (with a warning)                               None
    ==========  =======================================================================  ==========================

    The type of a column decides; columns of Python objects are read by their content, and mixed ones as strings. Strings have
    few distinct values if these are at most half as many as the values, and at most 20 or a tenth of the rows. None, NaN, NaT
    and NA are gaps; an empty string is a value.

    Parameters
    ----------
    columns : dict of str to array
        The columns in the form of their kinds. `Table.of` makes it from a frame.
    kinds : dict of str to str
        The kind of each column.

    Examples
    --------
    >>> table = Table.of({"age": [31, None, 45], "member": [True, False, True], "note": ["tall", "new here", None]})
    >>> table
    Table of 3 rows: age (number), member (category), note (text)
    >>> table[1]
    Table(age=nan, member='False', note='new here')
    """

    def __init__(self, columns: dict[str, np.ndarray], kinds: dict[str, str]) -> None:
        self.columns = columns
        self.kinds = kinds

    @classmethod
    def of(cls, frame: Any, kinds: Mapping[str, str] | None = None, name: str = "X") -> Table:
        """Read a frame, a dict of columns or a 2-D array; `kinds` names the kinds of columns for which the rule is wrong."""
        given = dict(kinds or {})
        if isinstance(frame, Table) and given.items() <= frame.kinds.items():
            return frame
        read, known = _columns_of(frame, name)
        check_kinds(given, read, name)
        found = known | given
        doubtful = [column for column in read if column not in given and found.get(column) != "ignored"]
        empty = [column for column in doubtful if _gaps(read[column]).all()]
        if len(empty) == len(read):
            raise ValueError(f"{name} has no value in any of its columns {empty}; expected numbers, categories or text")
        if empty:
            warnings.warn(f"{name} has no value in the columns {empty}, which are ignored", UserWarning, stacklevel=2)
        kinds = {c: "ignored" if c in empty else found.get(c) or _kind(v, f"{name}[{c!r}]") for c, v in read.items()}
        return cls({c: _converted(v, kinds[c], f"{name}[{c!r}]") for c, v in read.items()}, kinds)

    @classmethod
    def like(cls, frame: Any, kinds: Mapping[str, str], name: str = "X") -> Table:
        """Read a frame whose columns and kinds are known; they may come in another order."""
        if isinstance(frame, Table) and frame.kinds == kinds and list(frame.kinds) == list(kinds):
            return frame
        read, _ = _columns_of(frame, name)
        missing, more = ([c for c in a if c not in b] for a, b in ((kinds, read), (read, kinds)))
        if missing or more:
            found = [f"lacks the columns {missing}"] * bool(missing)
            found += [f"has columns that training did not have: {more}"] * bool(more)
            raise ValueError(f"{name} {' and '.join(found)}; expected the columns of training, {list(kinds)}")
        return cls({c: _converted(read[c], kind, f"{name}[{c!r}]") for c, kind in kinds.items()}, dict(kinds))

    @property
    def used(self) -> dict[str, str]:
        """The kinds of the columns that are not ignored."""
        return {name: kind for name, kind in self.kinds.items() if kind != "ignored"}

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self), len(self.columns)

    def gaps(self, name: str) -> np.ndarray:
        """True for each row without a value in a column."""
        return _gaps(self.columns[name])

    def concatenate(self, other: Table) -> Self:
        """Return the rows of two tables as one."""
        other = Table.like(other, self.kinds, "the other table")
        return type(self)({c: np.concatenate([v, other.columns[c]]) for c, v in self.columns.items()}, self.kinds)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Self:
        rows = index if isinstance(index, slice) or np.ndim(index) else [index]
        return type(self)({name: column[rows] for name, column in self.columns.items()}, self.kinds)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table) or self.kinds != other.kinds or len(self) != len(other):
            return False
        pairs = [(column, other.columns[name]) for name, column in self.columns.items()]
        return all(np.array_equal(a, b, equal_nan=a.dtype == b.dtype == float) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if len(self) == 1:
            return f"Table({', '.join(f'{name}={column.tolist()[0]!r}' for name, column in self.columns.items())})"
        return f"Table of {len(self)} rows: {', '.join(f'{name} ({kind})' for name, kind in self.kinds.items())}"


def check_kinds(kinds: Any, columns: Any, name: str) -> None:
    """Raise ValueError unless `kinds` gives kinds to some of the columns."""
    for column, kind in kinds.items():
        if kind not in KINDS:
            raise ValueError(f"kinds={{{column!r}: {kind!r}}}; expected one of {', '.join(map(repr, KINDS))}")
        if column not in columns:
            raise ValueError(f"kinds names the column {column!r}, which {name} lacks; it has {list(columns)}")


def _columns_of(frame: Any, name: str) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Columns as arrays of doubles, of times or of objects with None for gaps, and the kinds that their types tell."""
    if isinstance(frame, Table):
        return frame.columns, frame.kinds
    known: dict[str, str] = {}
    pairs: list[tuple[Any, Any]]
    if isinstance(frame, Mapping):
        pairs = [(column, _plain(values)) for column, values in frame.items()]
    elif hasattr(frame, "columns") or hasattr(frame, "column_names"):
        names = list(getattr(frame, "column_names", frame.columns))
        require_distinct(names, name)
        series = list(_narwhals().from_native(frame, eager_only=True).iter_columns())
        known = {str(c): "category" for c, one in zip(names, series, strict=True) if _is_categorical(one.dtype)}
        pairs = [(column, _typed(one)) for column, one in zip(names, series, strict=True)]
    else:
        reject_non_collection(frame, name)
        rows = np.asarray(frame)
        if rows.ndim != 2 or rows.dtype.kind == "c":
            raise ValueError(
                f"{name} is a {type(frame).__name__} of shape {rows.shape} and dtype {rows.dtype}; expected a table: a frame of "
                "pandas or polars, or a 2D array. Complex data not supported. Reshape your data with array.reshape(-1, 1) if it "
                "is a single column, or array.reshape(1, -1) if it is a single row"
            )
        pairs = [(f"x{j}", _plain(rows[:, j])) for j in range(rows.shape[1])]
    require_distinct([str(column) for column, _ in pairs], name)
    lengths = {len(values) for _, values in pairs}
    if len(lengths) > 1:
        raise ValueError(f"{name} has columns of {sorted(lengths)} values; expected columns of one length")
    if lengths in (set(), {0}):
        shape = (max(lengths, default=0), len(pairs))
        raise ValueError(
            f"{name} has {len(pairs)} feature(s) (shape={shape}) while a minimum of 1 is required. Pass a table "
            "with rows and columns"
        )
    return {str(column): values for column, values in pairs}, known


def require_distinct(names: list[Any], name: str) -> None:
    """Raise ValueError for names of columns that occur more than once."""
    twice = sorted(str(column) for column, times in Counter(names).items() if times > 1)
    if twice:
        raise ValueError(f"{name} has several columns called {', '.join(twice)}; expected distinct names. Rename them")


def _narwhals() -> Any:
    try:
        import narwhals
    except ImportError as error:
        raise ImportError("frames as tables need narwhals; run 'pip install mercer[tables]'") from error
    return narwhals


def _is_categorical(dtype: Any) -> bool:
    return isinstance(dtype, _narwhals().Categorical | _narwhals().Enum)


def _typed(series: Any) -> np.ndarray:
    """A column of a frame: doubles, times, or objects."""
    nw = _narwhals()
    if series.dtype.is_numeric():
        return series.cast(nw.Float64).to_numpy().astype(float)
    if isinstance(series.dtype, nw.Duration):
        return series.to_numpy() / _DAY
    if isinstance(series.dtype, nw.Datetime | nw.Date):
        if getattr(series.dtype, "time_zone", None):
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return series.cast(nw.Datetime("us")).to_numpy()
    return _plain(series.to_list())


def _plain(values: Any) -> np.ndarray:
    """A list or an array of any type; objects have None for gaps."""
    if hasattr(values, "dtype") and values.dtype.kind in "iufM":
        return values if values.dtype.kind == "M" else values.astype(float)
    items = values.tolist() if hasattr(values, "tolist") else list(values)
    return np.fromiter((None if is_missing(item) else item for item in items), dtype=object, count=len(items))


def _gaps(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f":
        return np.isnan(values)
    return np.isnat(values) if values.dtype.kind == "M" else np.asarray([value is None for value in values])


def _kind(values: np.ndarray, where: str) -> str:
    """The kind of a column with at least one value, by its type, or else by its content."""
    if values.dtype != object:
        return "date" if values.dtype.kind == "M" else "number"
    present = values[~_gaps(values)].tolist()
    types = set(map(type, present))
    if types <= {bool, np.bool_}:
        return "category"
    if all(issubclass(each, Real | Decimal) for each in types):
        return "number"
    if all(issubclass(each, datetime.date | np.datetime64) for each in types):
        return "date"
    for each in types:
        if issubclass(each, list | tuple | dict | set | frozenset | np.ndarray):
            wanted = "numbers, dates, categories or text. argument must be a string or a number"
            raise TypeError(f"{where} holds a {each.__name__}; expected {wanted}")
    distinct = len(set(map(_label, present)))
    return "category" if distinct <= min(len(present) / 2, max(_FEW, len(values) / 10)) else "text"


def _converted(values: np.ndarray, kind: str, where: str) -> np.ndarray:
    """The column in the form of its kind."""
    gaps = _gaps(values)
    if kind == "ignored":
        return np.full(len(values), None, dtype=object)
    if kind in ("category", "text"):
        written = [None if gap else _label(value) for gap, value in zip(gaps, values.tolist(), strict=True)]
        return np.fromiter(written, dtype=object, count=len(written))
    if values.dtype.kind == "M":
        return (values - np.datetime64(0, "D")) / _DAY
    numbers = np.full(len(values), np.nan) if values.dtype == object else values
    read = float if kind == "number" else _days
    for i in np.flatnonzero(~gaps) if values.dtype == object else ():
        try:
            numbers[i] = read(values[i])
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{where} holds {values[i]!r:.40} in row {i}; expected a {kind}, as its kind says"
            ) from error
    if np.isinf(numbers).any():
        raise ValueError(f"{where} holds infinity in row {int(np.argmax(np.isinf(numbers)))}; expected finite numbers")
    return numbers


def _days(value: Any) -> float:
    """A date, a time, its text, or a number of days, as days since 1970."""
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return float((np.datetime64(value, "us") - np.datetime64(0, "D")) / _DAY)


def _label(value: Any) -> str:
    """A category as a string; 1 and 1.0 are the same, as a column of whole numbers with gaps is one of doubles."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)
