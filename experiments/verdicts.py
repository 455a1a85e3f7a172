"""Verdicts on published values, by one rule.

A published value is compared with the closest of the readings in which it was measured. It is *matched* if the two differ by no
more than two standard errors of their difference, or by half a unit of the last digit shown; *beaten* if ours is better by more
than that, *not reached* if it is worse by more, and it *differs* if neither is better. An experiment may give a measured reason
for a value that is not reached, which is then *explained*, or *refuted* where the measurement contradicts the paper. Where a
paper prints a standard deviation over folds, its standard error is that over the root of their number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from typing import Any

from experiments.experiment import Experiment

MATCHED, BEATEN, SHORT, DIFFERS = "matched", "beaten", "not reached", "differs"
MARKS = {MATCHED: "=", BEATEN: "+", SHORT: "−", DIFFERS: "≠"}
"""Signs for cells of tables."""
KINDS = {MATCHED: "matched", BEATEN: "beaten", SHORT: "short", DIFFERS: "differs"}
"""Styles of cells of tables."""

_SIZE = 2.0  # standard errors within which two values are the same
_FIXED = ("method", "metric", "value", "error", "paper", "paper_error")


@dataclass(frozen=True)
class Published:
    """A value of a paper, and our measurement that is closest to it."""

    method: str
    what: str
    """Metric and setting."""
    reading: str
    paper: float
    row: dict[str, Any]
    verdict: str
    reason: str = ""


def verdict(row: dict[str, Any], best: str | None, digits: int, folds: int = 1) -> str:
    """Return the verdict on a row with a published value; its printed error is a standard deviation over `folds`, if several.

    Examples
    --------
    >>> verdict({"value": 0.68, "error": 0.01, "paper": 0.676, "paper_error": 0.03}, "min", 4)
    'matched'
    >>> verdict({"value": 0.95, "error": 0.01, "paper": 0.90}, "max", 3)
    'beaten'
    >>> row = {"value": 0.79, "error": 0.01, "paper": 0.84, "paper_error": 0.05}
    >>> verdict(row, "max", 3), verdict(row, "max", 3, folds=10)
    ('matched', 'not reached')
    """
    gap = row["value"] - row["paper"]
    error = hypot(row["error"] or 0.0, (row.get("paper_error") or 0.0) / sqrt(folds))
    if abs(gap) <= max(_SIZE * error, 0.5 * 10.0**-digits):
        return MATCHED
    if best is None:
        return DIFFERS
    return BEATEN if (gap < 0) == (best == "min") else SHORT


def judged(experiment: Experiment, row: dict[str, Any]) -> str:
    """Return the verdict on a row of an experiment with a published value."""
    return verdict(row, experiment.published_sense(row), experiment.digits, experiment.paper_folds(row))


def published(experiment: Experiment, rows: Sequence[dict[str, Any]]) -> list[Published]:
    """Return the published values among `rows`, each with the closest of our readings.

    A setting under which the same values were published for all of its choices is a reading, and so are methods and metrics
    that the experiment says were published under another name.
    """
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    with_paper = [(row, *_published_as(experiment, row)) for row in rows if "paper" in row]
    for row, method, metric in with_paper:
        alike = [own for own, *name in with_paper if name == [method, metric]]
        named = tuple((key, row[key]) for key in _settings(alike) if key in row and not _is_reading(key, alike))
        groups.setdefault((method, metric, named, row["paper"]), []).append(row)
    found = []
    for (method, metric, named, paper), own in groups.items():
        row = min(own, key=lambda each: abs(each["value"] - each["paper"]))
        said = judged(experiment, row)
        word, why = (experiment.reason(row, rows) if said == SHORT else None) or (said, "")
        what = ", ".join([metric, *(_told(key, value) for key, value in named)])
        others = [name for name in (row["method"], row["metric"]) if name not in (method, metric)]
        readings = [("", name) for name in others] + [
            (key, row[key]) for key in _settings(own) if key not in dict(named) and row.get(key) not in (None, "")
        ]
        found.append(Published(method, what, ", ".join(_told(*each) for each in readings), paper, row, word, why))
    return found


def _published_as(experiment: Experiment, row: dict[str, Any]) -> tuple[str, str]:
    return tuple(experiment.published_as.get(row[key], row[key]) for key in ("method", "metric"))


def _settings(rows: Iterable[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row if key not in _FIXED))


def _is_reading(key: str, rows: Sequence[dict[str, Any]]) -> bool:
    papers: dict[Any, set[float]] = {}
    for row in rows:
        papers.setdefault(row.get(key), set()).add(row["paper"])
    return len({frozenset(values) for values in papers.values()}) == 1


def _told(key: str, value: Any) -> str:
    return value if isinstance(value, str) else f"{key} = {value:g}"
