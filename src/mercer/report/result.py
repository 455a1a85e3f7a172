"""The record of an experiment, and its JSON form."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, field, fields
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from mercer.core.files import written_atomically
from mercer.report.environment import environment


@dataclass
class Result:
    """What an experiment found, with everything needed to compute it again.

    Parameters
    ----------
    experiment : str
        Its name.
    rows : list of dict
        One figure each: ``method``, ``metric``, ``value``, ``error`` (a standard deviation, or
        None), the paper's figure as ``paper`` where there is one, and whatever the row varies.
    parameters : dict
        The settings, and what was chosen along the way.
    seeds : list of int
        Every seed that was used.
    environment : dict
        Versions and machine, by default those of this process.
    seconds : float
        How long it took.

    Examples
    --------
    >>> row = {"method": "identity", "metric": "loss", "value": 0.5, "error": 0.1, "n": 20}
    >>> result = Result("toy", [row], seeds=[0], seconds=1.5)
    >>> Result.from_json(result.to_json()) == result
    True
    """

    experiment: str
    rows: list[dict[str, Any]]
    parameters: dict[str, Any] = field(default_factory=dict)
    seeds: list[int] = field(default_factory=list)
    environment: dict[str, Any] = field(default_factory=environment)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        _require("experiment", self.experiment, str)
        _require("rows", self.rows, list)
        _require("parameters", self.parameters, dict)
        _require("seeds", self.seeds, list)
        _require("environment", self.environment, dict)
        _number("seconds", self.seconds)
        for i, row in enumerate(self.rows):
            _check_row(row, f"rows[{i}]")

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The JSON text; written to `path` as well where one is given (in full or not at all)."""
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False, allow_nan=False, default=_plain)
        if path is not None:
            with written_atomically(path) as temporary:
                temporary.write_text(text + "\n", encoding="utf-8")
        return text

    @classmethod
    def from_json(cls, text: str) -> Result:
        """The result a JSON text describes, or an error that names what is wrong with it."""
        try:
            content = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"not a result: the text is not JSON ({error})") from error
        if not isinstance(content, dict):
            raise ValueError(f"not a result: got a JSON {type(content).__name__}; expected an object")
        names = {entry.name for entry in fields(cls)}
        missing, unknown = sorted(names - content.keys()), sorted(content.keys() - names)
        if missing or unknown:
            raise ValueError(
                f"not a result: {_listed('missing', missing)}{_listed('unknown', unknown)}"
                f"expected exactly {', '.join(sorted(names))}"
            )
        return cls(**content)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Result:
        """The result in the JSON file at `path`."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error


def _check_row(row: Any, name: str) -> None:
    _require(name, row, dict)
    missing = [key for key in ("method", "metric", "value", "error") if key not in row]
    if missing:
        raise ValueError(
            f"{name} has no {' and no '.join(missing)}; expected method, metric, value and error "
            "(None where there is none)"
        )
    _require(f"{name}['method']", row["method"], str)
    _require(f"{name}['metric']", row["metric"], str)
    _number(f"{name}['value']", row["value"])
    for key in ("error", "paper"):
        if row.get(key) is not None:
            _number(f"{name}[{key!r}]", row[key])


def _require(name: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise ValueError(f"{name} is {value!r:.60}; expected a {kind.__name__}")


def _number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{name} is {value!r:.60}; expected a finite number")


def _listed(word: str, names: list[str]) -> str:
    return f"{word} {', '.join(names)}; " if names else ""


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's, which is all that JSON knows."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(
        f"a result holds {value!r:.60}, a {type(value).__name__}; expected text, numbers, lists and dictionaries"
    )
