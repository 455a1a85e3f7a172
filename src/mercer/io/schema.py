"""The columns of a file that are inputs and outputs, their types, and the collections they make."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np

from mercer.core.collections import is_missing
from mercer.io.cells import parsed
from mercer.io.records import BadRecord, Records
from mercer.io.types import READ, TYPES, Mistake, type_of
from mercer.structures.tables import Table

SETS = ("sets", "label sets")
"""Kinds of inputs and outputs that are sets, in which an empty cell has no labels."""
_PAIRS = "lemmas with tags"


@dataclass(frozen=True)
class Asked:
    """Columns, types and kinds that the user names."""

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    groups: str | None = None
    types: dict[str, str] = field(default_factory=dict)
    input_kind: str = "auto"
    output_kind: str = "auto"

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are named."""
        return (*self.inputs, *self.outputs, *([self.groups] if self.groups else []), *self.types)


@dataclass
class Schema:
    """The columns of a model, and the form of its inputs.

    Attributes
    ----------
    inputs, outputs : lists of str
        Names of columns.
    types : dict of str to str
        The type of each: number, date, category, text or object.
    form : str
        "rows" of numbers, "table" of mixed columns, "objects" of one column, or "pairs" of two.
    input_kind, output_kind : str
        Kinds as in `mercer.AutoEstimator`.
    header : bool
        False if the columns had no names, and are found by their position.
    kinds : dict of str to str
        Kinds of the columns of a table.
    """

    inputs: list[str]
    outputs: list[str]
    types: dict[str, str]
    form: str = "objects"
    input_kind: str = "auto"
    output_kind: str = "auto"
    header: bool = True
    kinds: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Records, asked: Asked, path: str = "the file") -> Schema:
        """Choose the columns: those that were named, those of the format, or the two that there are."""
        outputs = _named(asked.outputs, records, path) or list(records.outputs)
        groups = _named((asked.groups,), records, path) if asked.groups else []
        inputs = _named(asked.inputs, records, path)
        if not inputs and asked.outputs and not records.inputs:
            inputs = [name for name in records.columns if name not in (*outputs, *groups)]
        inputs = inputs or [name for name in records.inputs if name not in outputs]
        inputs = inputs or [name for name in records.columns if name not in (*outputs, *groups)][: 1 if outputs else 0]
        if not inputs or not outputs:
            columns = ", ".join(records.columns)
            raise ValueError(
                f"{path} has the columns {columns}; name those to learn from and the one to learn by --input and --output"
                f"{_other_separator(records)}"
            )
        twice = [name for name in inputs if name in outputs]
        if twice:
            raise ValueError(f"the column {twice[0]!r} is input and output; expected one of them")
        for name, kind in asked.types.items():
            _named((name,), records, path)
            if kind not in TYPES:
                raise ValueError(f"--type {name}={kind}; expected one of {', '.join(TYPES)}")
        types = {n: asked.types.get(n) or type_of(records.columns[n], records.typed) for n in (*inputs, *outputs)}
        odd = next((name for name in outputs if types[name] != "number"), None)
        if len(outputs) > 1 and odd is not None:
            raise ValueError(
                f"the output {odd!r} is of {types[odd]}; expected numbers in all of several outputs, or one output"
            )
        kinds: Any = [asked.input_kind, asked.output_kind]
        for side, names in enumerate((inputs, outputs)):
            if kinds[side] == "auto" and names[0] in records.kinds:
                kinds[side] = records.kinds[names[0]]
            elif kinds[side] == "auto" and len(names) == 1 and are_label_lists(records.columns[names[0]]):
                kinds[side] = SETS[side]
        found = cls(inputs, outputs, types, _form(inputs, types, kinds[0], records), kinds[0], kinds[1], records.header)
        if found.form == "table" and found.input_kind == "auto":
            found.input_kind = "table"
        return found

    @property
    def described(self) -> str:
        """The columns with their types."""
        sides = (", ".join(f"{name} ({self.types[name]})" for name in side) for side in (self.inputs, self.outputs))
        return "learns {1} from {0}".format(*sides)

    def placed(self, records: Records, path: str) -> Records:
        """Return records whose columns have the names of this schema; columns without names are found by position."""
        missing = [name for name in self.inputs if name not in records.columns]
        if not missing:
            return records
        if (self.header and records.header) or len(records.columns) < len(self.inputs):
            _named(tuple(self.inputs), records, path)
        if self.header:
            found = "columns are taken by position, and the first row for a record"
            cure = "If that row names the columns, let it use the names of training"
            warnings.warn(f"{path} has no column {missing[0]!r}: {found}. {cure}", UserWarning, stacklevel=2)
        old = list(records.columns)
        renamed = dict(zip(old, [*self.inputs, *self.outputs], strict=False))
        records.columns = {renamed.get(name, name): values for name, values in records.columns.items()}
        return records

    def read_inputs(self, records: Records) -> tuple[dict[str, list[Any]], dict[int, BadRecord]]:
        """Return the values of the input columns, and the records that cannot be used."""
        return self._read(records, self.inputs, self.form == "table", self.input_kind)

    def read_outputs(self, records: Records) -> tuple[dict[str, list[Any]], dict[int, BadRecord]]:
        """Return the values of the output columns, and the records that cannot be used."""
        return self._read(records, self.outputs, False, self.output_kind)

    def _read(
        self, records: Records, names: list[str], gaps: bool, kind: str
    ) -> tuple[dict[str, list[Any]], dict[int, BadRecord]]:
        bad: dict[int, BadRecord] = {}
        found: dict[str, list[Any]] = {}
        for name in names:
            type_, values = self.types[name], records.columns[name]
            read = READ.get(type_, lambda value: value)
            column = found[name] = []
            for i, value in enumerate(values):
                try:
                    cell = read(value)
                    if cell is None and kind in SETS and not records.typed:
                        cell = ""  # no labels
                    if is_missing(cell) and not gaps:
                        raise Mistake("an empty cell; expected a value")
                    column.append(parsed(cell, kind) if type_ in ("text", "object") else cell)
                except Mistake as mistake:
                    column.append(None)
                    bad.setdefault(i, BadRecord(records.where(i, name), str(mistake)))
            self._check_shapes(records, name, column, bad)
        return found, bad

    def _check_shapes(self, records: Records, name: str, column: list[Any], bad: dict[int, BadRecord]) -> None:
        """Note the arrays and lists of numbers that do not have the shape of the first one."""
        shapes = {i: np.shape(value) for i, value in enumerate(column) if _is_numbers(value)}
        if not shapes:
            return
        first = next(iter(shapes.values()))
        for i, shape in shapes.items():
            if shape != first:
                reason = f"{'×'.join(map(str, shape))} numbers; expected {'×'.join(map(str, first))} as the first has"
                bad.setdefault(i, BadRecord(records.where(i, name), reason))

    def as_inputs(self, values: dict[str, list[Any]]) -> Any:
        """Return X for an estimator."""
        if self.form == "rows":
            return np.column_stack([np.asarray(values[name], dtype=float) for name in self.inputs])
        if self.form == "table":
            known = self.kinds or {n: _KINDS[self.types[n]] for n in self.inputs if self.types[n] in _KINDS}
            columns = {name: values[name] for name in self.inputs}
            return Table.like(columns, known) if self.kinds else Table.of(columns, known)
        if self.form == "pairs":
            return list(zip(*(values[name] for name in self.inputs), strict=True))
        return _stacked(values[self.inputs[0]])

    def as_outputs(self, values: dict[str, list[Any]]) -> Any:
        """Return y for an estimator."""
        if len(self.outputs) == 1:
            return _stacked(values[self.outputs[0]])
        return np.column_stack([np.asarray(values[name]) for name in self.outputs])


def are_label_lists(values: list[Any]) -> bool:
    """Return True for lists of text without repetition, which are sets rather than sequences unless all have the same labels.

    Examples
    --------
    >>> are_label_lists([["sun", "sea"], [], ["sea"]]), are_label_lists([["a", "b", "a"], ["b"]])
    (True, False)
    >>> are_label_lists([["a", "b"], ["b", "a"]])  # the order is all that differs
    False
    """
    lists = [value for value in values if not is_missing(value)]
    if not all(type(value) is list and all(type(item) is str for item in value) for value in lists):
        return False
    sets = [frozenset(value) for value in lists]
    return len(set(sets)) > 1 and all(len(own) == len(value) for own, value in zip(sets, lists, strict=True))


_KINDS = {"number": "number", "date": "date", "category": "category"}


def _form(inputs: list[str], types: dict[str, str], kind: str, records: Records) -> str:
    if kind == _PAIRS and len(inputs) == 2:
        return "pairs"
    if len(inputs) == 1 and types[inputs[0]] in ("text", "object") and kind != "table":
        return "objects"
    objects = [name for name in inputs if types[name] == "object"]
    if objects:
        raise ValueError(f"the column {objects[0]!r} holds lists or other objects; it can only be the one input")
    numbers = all(types[name] == "number" for name in inputs)
    gaps = numbers and any(READ["number"](v) is None for n in inputs for v in records.columns[n] if _readable(v))
    return "rows" if numbers and not gaps and kind != "table" else "table"


def _readable(value: Any) -> bool:
    try:
        READ["number"](value)
    except Mistake:
        return False
    return True


def _is_numbers(value: Any) -> bool:
    return isinstance(value, np.ndarray) or (type(value) is list and all(isinstance(v, int | float) for v in value))


def _stacked(values: list[Any]) -> Any:
    """Numbers, or rows or arrays of numbers, as an array; other objects as a list."""
    if values and all(_is_numbers(value) or type(value) in (int, float) for value in values):
        return np.asarray(values)
    return values


def _named(names: Sequence[str], records: Records, path: str) -> list[str]:
    """The names as they are in the file; a whole number that is not a name is a position from 1."""
    found, known = [], list(records.columns)
    parts = [part for name in names for part in ([name] if name in records.columns else name.split(","))]
    for name in parts:
        if name not in records.columns and name.isdigit() and 1 <= int(name) <= len(known):
            found.append(known[int(name) - 1])
        elif name in records.columns:
            found.append(name)
        else:
            near = get_close_matches(name, known, 1)
            meant = f" (did you mean {near[0]!r}?)" if near else ""
            meant += f"; it has {', '.join(known)}{_other_separator(records)}"
            raise ValueError(f"{path} has no column {name!r}{meant}")
    return found


def _other_separator(records: Records) -> str:
    """Advice about a single column of text whose first line holds commas or semicolons."""
    if records.typed or len(records.columns) > 1:
        return ""
    ((name, values),) = records.columns.items()
    first = name if records.header else str(next(iter(values), ""))
    found = next((word for sign, word in ((",", "commas"), (";", "semicolons"), ("|", "bars")) if sign in first), None)
    return f". If columns are separated by {found}, name the file .csv, or pass --format csv" if found else ""
