"""Experiment: a protocol cut into pieces, and rows of scores from their outcomes."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mercer.report import Table


@dataclass(frozen=True)
class Piece:
    """Part of an experiment that runs alone (a fold, a seed); finished pieces are kept when a run is stopped."""

    key: str
    settings: dict[str, Any] = field(default_factory=dict)


Outcome = dict[str, Any]
"""Outcome of a piece: values that JSON can hold."""


class Experiment:
    """Table or figure of a paper: its protocol, our scores and the paper's.

    A subclass sets `name`, `title`, `source` and `protocol`, and defines `pieces`, `run`, `rows` and, for pictures and further
    tables on the page, `blocks`. Every random draw takes its seed from the piece.
    """

    name: str
    title: str
    source: str
    """The table or figure, and its paper."""
    protocol: str
    """The protocol in a few sentences, with our choice wherever the paper leaves one open."""
    digits: int = 4
    best: str = "min"
    """Whether the smallest (min) or the largest (max) score is best."""

    without_best: tuple[str, ...] = (
        "difference",
        "out of reach",
        "coverage",
        "trace left out",
        "test digits",
        "alignment",
    )
    """Beginnings of metrics whose values are neither better nor worse."""
    senses: dict[str, str] = {
        **dict.fromkeys(("below", "top-", "τ", "F1", "accuracy", "right", "exactly right", "labelled", "%"), "max"),
        **dict.fromkeys(("CPU seconds", "set size", "empty sets", "wrong"), "min"),
    }
    """Metrics, by their beginnings, with the best whatever `best` is."""

    apart: tuple[str, ...] = ()
    """Settings whose values have tables of their own, because scores under different ones do not compare."""

    bounds: tuple[str, ...] = ()
    """Rows in the place of a method that are a bound or a ratio: never marked as the best."""

    published_as: dict[str, str] = {}
    """Methods and metrics that are readings of another one, whose published value they are compared with."""

    def sense(self, metric: str) -> str | None:
        """Return "min" or "max" for the best value of a metric; None if none is better."""
        if metric.startswith(self.without_best):
            return None
        return next((best for start, best in self.senses.items() if metric.startswith(start)), self.best)

    def published_sense(self, row: dict[str, Any]) -> str | None:
        """Return the sense in which a row can be better than the published value; None if they may not be the same quantity."""
        return self.sense(row["metric"])

    def paper_folds(self, row: dict[str, Any]) -> int:
        """Return the number of folds whose standard deviation a paper prints after ±; 1 where it prints a standard error."""
        return 1

    def reason(self, row: dict[str, Any], rows: Sequence[dict[str, Any]]) -> tuple[str, str] | None:
        """Return "explained" or "refuted" and a reason measured in `rows`, for a value that is not reached; None for none."""
        return None

    def pieces(self, small: bool) -> list[Piece]:
        """Return the pieces of the full protocol, or of a small one that takes seconds."""
        raise TypeError(f"{type(self).__name__} must define pieces(small)")

    def run(self, piece: Piece) -> Outcome:
        """Run one piece."""
        raise TypeError(f"{type(self).__name__} must define run(piece)")

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return the scores, from the outcomes of all pieces in order."""
        raise TypeError(f"{type(self).__name__} must define rows(outcomes)")

    def code(self, piece: Piece) -> Sequence[Path]:
        """Return the files whose code, with all it imports, computes a piece; a change of it makes the piece run again."""
        return [Path(inspect.getfile(type(self)))]

    def keeps(self, outcome: Outcome) -> bool:
        """Return False for the outcome of a finished piece that should be computed again."""
        return True

    def parameters(self, small: bool) -> dict[str, Any]:
        """Return the settings of the protocol: grids, sizes, choices."""
        return {}

    def seeds(self, small: bool) -> list[int]:
        """Return every seed used."""
        return []

    def blocks(self, rows: list[dict[str, Any]], outcomes: Sequence[Outcome]) -> Iterable[str]:
        """Return further blocks of HTML for the page, after the table."""
        return []

    def examples(self, outcomes: Sequence[Outcome]) -> list[Table]:
        """Return tables of objects, such as words predicted wrong; the result keeps them, and every page shows them."""
        return []

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Return sentences about the scores, computed from them; shown on the page and in the summary."""
        return []


def mean_row(
    values: Iterable[float],
    method: str,
    metric: str,
    *,
    paper: float | None = None,
    paper_error: float | None = None,
    **varies: Any,
) -> dict[str, Any]:
    """Make a row with the mean of `values` and its standard error (None for a single value).

    Examples
    --------
    >>> mean_row([1.0, 3.0], "k-NN", "loss", paper=2.5)
    {'method': 'k-NN', 'metric': 'loss', 'value': 2.0, 'error': 1.0, 'paper': 2.5}
    """
    scores = np.asarray(list(values), dtype=float)
    error = float(scores.std(ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else None
    row: dict[str, Any] = {"method": method, "metric": metric, "value": float(scores.mean()), "error": error}
    if paper is not None:
        row["paper"] = paper
    if paper_error is not None:
        row["paper_error"] = paper_error
    return row | varies
