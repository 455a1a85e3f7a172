"""The members of an automatic mixture, best first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A member.

    Attributes
    ----------
    learner, kernel : str
        The learner, and its input kernel.
    alpha : float or None
        The weight of the norm of a ridge; of several coordinates their geometric mean.
    loss, error : float
        Mean left-out loss, and its standard error.
    seconds : float
        Time it took.
    weight : float
        Its weight in the mixture, of several coordinates their mean.
    """

    learner: str
    kernel: str
    alpha: float | None
    loss: float
    error: float
    seconds: float
    weight: float


@dataclass(frozen=True)
class Leaderboard:
    """A table of members, best first; `rows` are entries, and ``str`` writes the table.

    Examples
    --------
    >>> print(Leaderboard([Entry("ridge", "linear", 0.1, 0.52, 0.03, 0.2, 1.0)]))
    learner  kernel  alpha  left-out loss  seconds  weight
    ridge    linear    0.1    0.52 ± 0.03      0.2   1.000
    """

    rows: list[Entry]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.rows)

    def __getitem__(self, index: int) -> Entry:
        return self.rows[index]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as dicts, as data frames are made of."""
        return [asdict(row) for row in self.rows]

    def _cells(self) -> list[list[str]]:
        head = ["learner", "kernel", "alpha", "left-out loss", "seconds", "weight"]
        return [head, *([
            row.learner, row.kernel, "" if row.alpha is None else f"{row.alpha:.3g}", f"{row.loss:.4g} ± {row.error:.2g}",
            f"{row.seconds:.1f}", f"{row.weight:.3f}",
        ] for row in self.rows)]  # fmt: skip

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(len(row[j]) for row in cells) for j in range(6)]
        aligned = [
            [
                cell.ljust(width) if j < 2 else cell.rjust(width)
                for j, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            for row in cells
        ]
        return "\n".join("  ".join(row).rstrip() for row in aligned)

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        written = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
        heads = "".join(f"<th>{cell}</th>" for cell in head)
        return f"<table><tr>{heads}</tr>" + "".join(f"<tr>{row}</tr>" for row in written) + "</table>"
