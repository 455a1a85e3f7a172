"""What an experiment is: a protocol cut into pieces, and how their outcomes become figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Piece:
    """One part of an experiment that stands alone (a fold, a seed): what is kept when a run is stopped."""

    key: str
    settings: dict[str, Any] = field(default_factory=dict)


Outcome = dict[str, Any]
"""What a piece found: plain values that JSON can hold."""


class Experiment:
    """A table or figure of a paper: its protocol, our figures and the paper's.

    A subclass sets `name`, `title`, `source` and `protocol`, and defines `pieces`, `run`, `rows` and, for pictures and further
    tables on the page, `blocks`. Every random draw takes its seed from the piece.
    """

    name: str
    title: str
    source: str
    """Which table or figure of which paper."""
    protocol: str
    """The protocol in a few sentences, with every reading of ours where the paper leaves something open."""
    digits: int = 4
    best: str = "min"
    """Whether the smallest or the largest figure is best."""

    def pieces(self, small: bool) -> list[Piece]:
        """The pieces of the full protocol, or of a small one that takes seconds."""
        raise TypeError(f"{type(self).__name__} must define pieces(small)")

    def run(self, piece: Piece) -> Outcome:
        """Do one piece."""
        raise TypeError(f"{type(self).__name__} must define run(piece)")

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """The figures, from the outcomes of all pieces in order."""
        raise TypeError(f"{type(self).__name__} must define rows(outcomes)")

    def parameters(self, small: bool) -> dict[str, Any]:
        """The settings of the protocol: grids, sizes, readings."""
        return {}

    def seeds(self, small: bool) -> list[int]:
        """Every seed used."""
        return []

    def blocks(self, rows: list[dict[str, Any]], outcomes: Sequence[Outcome]) -> Iterable[str]:
        """Further blocks of HTML for the page, after the table."""
        return []

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """What the figures say, in sentences computed from them; shown on the page and in the summary."""
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
    """A row with the mean of `values` and its standard error (None for a single value).

    Examples
    --------
    >>> mean_row([1.0, 3.0], "k-NN", "loss", paper=2.5)
    {'method': 'k-NN', 'metric': 'loss', 'value': 2.0, 'error': 1.0, 'paper': 2.5}
    """
    figures = np.asarray(list(values), dtype=float)
    error = float(figures.std(ddof=1) / np.sqrt(len(figures))) if len(figures) > 1 else None
    row: dict[str, Any] = {"method": method, "metric": metric, "value": float(figures.mean()), "error": error}
    if paper is not None:
        row["paper"] = paper
    if paper_error is not None:
        row["paper_error"] = paper_error
    return row | varies
