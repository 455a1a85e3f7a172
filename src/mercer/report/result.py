"""Records of experiments, their JSON form, and the environment they ran in."""

from __future__ import annotations

import json
import math
import os
import platform
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mercer._version import __version__
from mercer.core.files import written_atomically
from mercer.core.validation import is_real


def environment() -> dict[str, Any]:
    """Return the versions of Python and of libraries, the processor and its cores, and the platform."""
    versions = {"numpy": version("numpy"), "scipy": version("scipy"), "sklearn": version("scikit-learn")}
    machine = {"cpu": _cpu(), "cores": os.cpu_count() or 1, "platform": platform.platform()}
    return {"python": platform.python_version(), **versions, "mercer": __version__, **machine}


def _cpu() -> str:
    """Return the name of the processor; on Linux, `platform` only knows its architecture."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name" and value.strip():
                return value.strip()
    return platform.processor() or platform.machine() or "unknown"


@dataclass
class Result:
    """Results of an experiment, with everything needed to compute them again.

    Each row is one value: ``method``, ``metric``, ``value``, ``error`` (a standard deviation, or None), ``paper`` (the
    published value) where there is one, and further keys that tell the row from others. `parameters` holds the settings and
    what was chosen in training.

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
        kinds = {"experiment": str, "rows": list, "parameters": dict, "seeds": list, "environment": dict}
        for name, kind in kinds.items():
            _check_kind(name, getattr(self, name), kind)
        _check_number("seconds", self.seconds)
        for i, row in enumerate(self.rows):
            _check_row(row, f"rows[{i}]")

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the JSON text, and write it to `path` if one is given."""
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False, allow_nan=False, default=_plain)
        if path is not None:
            with written_atomically(path) as temporary:
                temporary.write_text(text + "\n", encoding="utf-8")
        return text

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Read a result from JSON text; raise ValueError if it is not a result."""
        try:
            content = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"not a result: the text is not JSON ({error})") from error
        _check_kind("not a result: the JSON text", content, dict)
        names = {entry.name for entry in fields(cls)}
        wrong = [f"missing {name}" for name in sorted(names - content.keys())]
        wrong += [f"unknown {name}" for name in sorted(content.keys() - names)]
        if wrong:
            raise ValueError(f"not a result: {', '.join(wrong)}; expected exactly {', '.join(sorted(names))}")
        return cls(**content)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Result:
        """Read a result from a JSON file."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error


def _check_row(row: Any, name: str) -> None:
    _check_kind(name, row, dict)
    missing = [key for key in ("method", "metric", "value", "error") if key not in row]
    if missing:
        lacks = f"{name} has no {' and no '.join(missing)}"
        raise ValueError(f"{lacks}; expected method, metric, value and error (which may be None)")
    for key in ("method", "metric"):
        _check_kind(f"{name}[{key!r}]", row[key], str)
    for key in ("value", "error", "paper"):
        if key == "value" or row.get(key) is not None:
            _check_number(f"{name}[{key!r}]", row[key])


def _check_kind(name: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise ValueError(f"{name} is {value!r:.60}; expected a {kind.__name__}")


def _check_number(name: str, value: Any) -> None:
    if not is_real(value) or math.isinf(value):
        raise ValueError(f"{name} is {value!r:.60}; expected a finite number")


def _plain(value: Any) -> Any:
    """Convert numbers and arrays of NumPy to those of Python, for JSON."""
    if not hasattr(value, "tolist"):
        found = f"{value!r:.60}, a {type(value).__name__}"
        raise TypeError(f"a result holds {found}; expected text, numbers, lists and dictionaries")
    return value.tolist()
