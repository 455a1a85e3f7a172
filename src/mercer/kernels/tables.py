"""A kernel on the rows of tables with columns of several kinds, and gaps."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from mercer.core.collections import is_missing
from mercer.core.validation import is_real
from mercer.kernels._sparse import translation
from mercer.kernels.algebra import Normalized
from mercer.kernels.base import Constraint, Prepared, row_blocks
from mercer.kernels.strings.base import Length, PartsKernel
from mercer.kernels.strings.ngrams import Spectrum
from mercer.kernels.vectors import ScaledByDistance
from mercer.structures.tables import CYCLES, Table

_QUANTILES = 1000
"""Values of a column from which its scale is learned."""

_LEAST = 1e-150
"""Range of a column up to which it is constant: numbers in smaller units overflow."""

_Block = Callable[[slice], np.ndarray]
"""Distances of some rows of one collection from all of another."""


@dataclass(eq=False, repr=False)
class Columns(ScaledByDistance):
    r"""Rows of a table compared column by column, with gaps; for frames of pandas and polars as they come.

    .. math:: k(x, z) = \exp\Big(-\sum_c w_c\, d_c(x_c, z_c) / s\Big) \quad\text{or}\quad
        k(x, z) = \sum_c w_c \exp(-d_c(x_c, z_c) / s)

    ========  =================================================================================================
    kind      distance :math:`d_c`
    ========  =================================================================================================
    number    :math:`|x - z|^p`, divided by its mean over pairs of training values
    category  0 for the same category, 1 for two; a category that training did not have is one more
    date      one half that of its number of days, one quarter each :math:`1 - \cos` of the days of the year and of the week
    text      1 − cosine of the counts of character n-grams; two texts without n-grams are equal
    ========  =================================================================================================

    A gap is a value of its own. Two gaps are equal; a gap and a category or a text are at distance 1; a gap among numbers
    stands at their median and is set apart by a constant, so that a gap and a number are on average as far apart as two
    numbers. Each :math:`d_c` is conditionally negative definite, so k is positive semi-definite (Schoenberg). A constant
    column of numbers has no scale and does not count. `Table` says which kind a column is of.

    Parameters
    ----------
    combination : {"product", "sum"}
        The first form, a product over columns, or the second.
    scale : float or "median"
        s. "median" is the median of :math:`\sum_c w_c d_c` over training rows (over 1000 of them if there are more).
    weights : dict of column to number, optional
        w, zero or more; columns it does not name do not count. By default all are equal and sum to 1, as in the distance of
        Gower (1971). `mercer.selection.align_columns` finds some.
    power : float
        p, above 0, at most 2: 1 for products of Laplacian, 2 for those of Gaussian kernels.
    ranks : bool
        Compare numbers and dates by their ranks among training values instead, for skewed columns.
    ngrams : int or (int, int)
        Length of the n-grams of text, or the shortest and the longest.
    kinds : dict of column to kind, optional
        Kinds of columns, "number", "category", "date", "text" or "ignored", where the rule of `Table` is wrong.
    learned : dict, optional
        Centres and units of the columns of numbers; filled in by `resolve`.

    Examples
    --------
    >>> table = {"age": [30.0, 40.0, None], "city": ["Oslo", "Bergen", "Oslo"]}
    >>> Columns(kinds={"city": "category"}, scale=1.0).resolve(table)(table).round(3)
    array([[1.   , 0.368, 0.607],
           [0.368, 1.   , 0.368],
           [0.607, 0.368, 1.   ]])
    """

    is_psd = True
    takes_tables = True
    constraints = ScaledByDistance.constraints | {
        "combination": Constraint(lambda value: value in ("product", "sum"), "'product' or 'sum'"),
        "power": Constraint(lambda p: is_real(p) and 0 < p <= 2, "a number above 0, at most 2"),
        "ngrams": PartsKernel.constraints["length"],
        "weights": Constraint(
            lambda w: w is None or (isinstance(w, dict) and any(w.values()) and all(map(_is_weight, w.values()))),
            "a dict of columns to finite numbers, zero or more and not all zero",
        ),
    }

    combination: str = "product"
    scale: float | str = "median"
    weights: dict[str, float] | None = None
    power: float = 1.0
    ranks: bool = False
    ngrams: Length = (1, 3)
    kinds: dict[str, str] | None = None
    learned: dict[str, dict[str, Any]] | None = None

    @property
    def is_resolved(self) -> bool:
        """True if the scale and the units of the columns are known."""
        return self._is_number and self.learned is not None

    def pointwise(self, x: Table, z: Table) -> float:
        """The kernel of two rows, tables of one row each."""
        return float(self(x, z)[0, 0])

    def key(self, x: Table) -> Hashable:
        """The values of the columns that count; a gap is a value."""
        row = ((name, x.columns[name].tolist()[0]) for name in x.used)
        return tuple((name, None if is_missing(value) else value) for name, value in row)

    def distances(self, X: Table) -> np.ndarray:
        """The weighted sum of the distances of the columns."""
        encoded = self._encode(X, "X")
        return self._added(encoded, encoded, lambda distance: distance)

    def _check(self, X: Any, name: str) -> Table:
        return Table.of(X, self.kinds, name) if self.learned is None else Table.like(X, self.kinds or {}, name)

    def _resolved(self, X: Any) -> Self:
        known = self
        if self.learned is None:
            unknown = [name for name in self.weights or {} if name not in X.used]
            self._require(not unknown, "weights", f"columns of the table that are not ignored, {list(X.used)}")
            numbers = [name for name, kind in X.kinds.items() if kind in ("number", "date")]
            learned = {name: _learned(X.columns[name], self.power, self.ranks) for name in numbers}
            known = type(self)(**self.get_params(deep=False) | {"kinds": dict(X.kinds), "learned": learned})
        return super(Columns, known)._resolved(X)

    def _encode(self, X: Table, name: str) -> list[_Column]:
        columns = []
        for column, kind in X.used.items():
            weight = 1.0 / len(X.used) if self.weights is None else float(self.weights.get(column, 0.0))
            if weight > 0:
                columns.append(_Column(weight, _PARTS[kind](self, X, column)))
        return columns

    def _matrix(self, X: list[_Column], Z: list[_Column] | None) -> np.ndarray:
        scale, other = float(self.scale), X if Z is None else Z
        if self.combination == "sum":
            return self._added(X, other, lambda distance: np.exp(distance / -scale))
        gram = self._added(X, other, lambda distance: distance)
        for rows in row_blocks(gram):
            gram[rows] = np.exp(gram[rows] / -scale)
        return gram

    def _diag(self, X: list[_Column]) -> np.ndarray:
        return np.full(len(X[0]), sum(column.weight for column in X) if self.combination == "sum" else 1.0)

    def _added(self, X: list[_Column], Z: list[_Column], form: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """The weighted sum over columns of a function of their distances."""
        total = np.zeros((len(X[0]), len(Z[0])))
        pairs = [(x.weight, x.against(z)) for x, z in zip(X, Z, strict=True)]
        for rows in row_blocks(total):
            for weight, blocks in pairs:
                distance = np.zeros((rows.stop - rows.start, total.shape[1]))
                for block in blocks:
                    distance += block(rows)
                total[rows] += weight * form(distance)
        return total


def _is_weight(value: Any) -> bool:
    return is_real(value) and 0 <= value < math.inf


def _learned(values: np.ndarray, power: float, ranks: bool) -> dict[str, Any]:
    """The centre and the unit of a column of numbers, the distance that sets gaps apart, and the ranks of its values."""
    known = np.sort(values[~np.isnan(values)])
    known = known[np.linspace(0, len(known) - 1, min(len(known), _QUANTILES)).round().astype(int)]
    found: dict[str, Any] = {"centre": 0.0, "unit": math.inf, "gap": 1.0}
    if len(known) == 0:
        return found
    if ranks:
        grid, counts = np.unique(known, return_counts=True)
        found |= {"grid": grid, "levels": (np.cumsum(counts) - 0.5 * counts) / len(known)}
        known = _leveled(known, found)
    found["centre"] = float(np.median(known))
    spread = float(known[-1] - known[0])
    if spread > _LEAST:
        places = (known - found["centre"]) / spread  # powers of it neither overflow nor vanish
        pairs = np.abs(places[:, None] - places) ** power
        mean = float(pairs.sum()) / (len(places) * (len(places) - 1))
        found |= {
            "unit": spread * mean ** (1.0 / power),
            "gap": max(0.0, 1.0 - float(np.mean(np.abs(places) ** power)) / mean),
        }
    return found


def _leveled(values: np.ndarray, learned: dict[str, Any]) -> np.ndarray:
    """Numbers as they are, or their ranks from 0 to 1."""
    return np.interp(values, learned["grid"], learned["levels"]) if "grid" in learned else values


class _Line(NamedTuple):
    """Points of a line at the distance |x − z|^power; `against` is None if all distances are zero."""

    values: np.ndarray
    power: float

    def against(self, other: _Line) -> _Block | None:
        if not (self.values.any() or other.values.any()):
            return None

        def block(rows: slice) -> np.ndarray:
            apart = np.abs(self.values[rows, None] - other.values)
            if self.power == 1:
                return apart
            return apart * apart if self.power == 2 else apart**self.power

        return block


class _Categories:
    """Categories as integers; a gap is one of them."""

    def __init__(self, values: np.ndarray) -> None:
        self.index: dict[Any, int] = {}
        self.values = np.asarray([self.index.setdefault(value, len(self.index)) for value in values])

    def against(self, other: _Categories) -> _Block:
        codes = translation(self.index, other.index)[self.values]
        return lambda rows: codes[rows, None] != other.values


class _Texts:
    """Texts prepared by a kernel; 0 for a text with n-grams, 1 for one without, 2 for a gap."""

    def __init__(self, values: np.ndarray, gaps: np.ndarray, length: Length) -> None:
        self.kernel = Normalized(Spectrum(length))
        self.texts: Prepared = self.kernel.prepare(np.where(gaps, "", values))
        self.values = np.where(gaps, 2, np.where(self.texts.norms > 0, 0, 1))

    def against(self, other: _Texts) -> _Block:
        distance = 1.0 - self.kernel(self.texts, None if other is self else other.texts)
        distance[(self.values[:, None] == other.values) & (self.values[:, None] > 0)] = 0.0
        return np.clip(distance, 0.0, None, out=distance).__getitem__


class _Column(NamedTuple):
    """A column as parts whose distances add up."""

    weight: float
    parts: list[Any]

    def against(self, other: _Column) -> list[_Block]:
        found = [part.against(twin) for part, twin in zip(self.parts, other.parts, strict=True)]
        return [block for block in found if block is not None]

    def __len__(self) -> int:
        return len(self.parts[0].values)


def _number(kernel: Columns, X: Table, column: str, share: float = 1.0) -> list[_Line]:
    """A column of numbers in its unit, and its gaps."""
    learned: dict[str, Any] = (kernel.learned or {})[column]
    gaps, power = X.gaps(column), float(kernel.power)
    values = _leveled(X.columns[column], learned)
    places = (np.where(gaps, learned["centre"], values) - learned["centre"]) / learned["unit"] * share ** (1 / power)
    # a gap in dates is at distance 1/4 by its cycles, and at another 1/4 by this
    return [_Line(places, power), _Line(gaps * (share * learned["gap"] + (1.0 - share) / 2), 1.0)]


def _date(kernel: Columns, X: Table, column: str) -> list[_Line]:
    """A column of days as numbers, and as points of circles: half of a squared distance is 1 − cosine."""
    days = X.columns[column]
    turns = [2.0 * np.pi * days / cycle for cycle in CYCLES.values()]
    points = [form(turn) for turn in turns for form in (np.cos, np.sin)]
    return _number(kernel, X, column, 0.5) + [_Line(np.nan_to_num(point) / math.sqrt(8.0), 2.0) for point in points]


_PARTS: dict[str, Callable[[Columns, Table, str], list[Any]]] = {
    "number": _number,
    "date": _date,
    "category": lambda kernel, X, column: [_Categories(X.columns[column])],
    "text": lambda kernel, X, column: [_Texts(X.columns[column], X.gaps(column), kernel.ngrams)],
}
"""The parts of a column of each kind."""
