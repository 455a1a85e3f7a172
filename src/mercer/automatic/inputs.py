"""Menus of input kernels for each kind of input."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from mercer.core.arrays import to_numpy
from mercer.core.collections import Collection
from mercer.kernels import (
    Encoded,
    Encoding,
    Gaussian,
    GaussianOf,
    Kernel,
    LabelSets,
    Laplacian,
    Linear,
    Matern,
    NormalScores,
    Overlap,
    PartByPart,
    Peaks,
    Scaled,
    ShortestPath,
    Spectrum,
    Subsequence,
    SubsetTree,
    Subtree,
    TableRows,
    Tanimoto,
    WeisfeilerLehman,
    WordRows,
    ZScores,
)
from mercer.structures.graphs import label_of_nodes

WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Widths of kernels, in units of the median distance."""


@dataclass
class Family:
    """Kernels that differ in their width alone, the first tried at width 1.

    Attributes
    ----------
    name : str
        As in the leaderboard.
    make : callable
        Takes a width, in units of the median distance, to a resolved kernel.
    widths : tuple of float
        The widths that may be tried, in order; (1.0,) for a kernel without width.
    core : bool
        True for the few that are tried with ``effort="fast"``.
    components : bool
        True to choose alpha for principal components of outputs that are vectors.
    """

    name: str
    make: Callable[[float], Kernel]
    widths: tuple[float, ...] = WIDTHS
    core: bool = False
    components: bool = False


def source_kernel(kind: str, X: Any) -> Kernel:
    """Return the kernel that checks inputs of a kind."""
    if kind == "table":
        from mercer.kernels import Columns

        return Columns()
    makers: dict[str, Callable[[], Kernel]] = {
        "vectors": Linear, "images": Linear, "binary rows": Linear, "sets": LabelSets, "strings": lambda: Spectrum((1, 3)),
        "sequences": lambda: Spectrum((1, 2)), "trees": SubsetTree, "molecules": Tanimoto, "spectra": Peaks,
        "graphs": lambda: WeisfeilerLehman(node_label=label_of_nodes(X)),
        "lemmas with tags": lambda: PartByPart(Spectrum((1, 3)).normalized()),
    }  # fmt: skip
    return makers[kind]()


def families(kind: str, source: Kernel, inputs: Collection) -> list[Family]:
    """Return the menu for checked inputs of a kind, the most promising first."""
    if kind in ("vectors", "images"):
        return list(_of_vectors(inputs))
    if kind == "binary rows":
        return list(_of_binary_rows(inputs))
    if kind == "table":
        return list(_of_tables(source, inputs))
    return list(_of_objects(kind, inputs))


def _of_vectors(X: Any) -> Iterator[Family]:
    """Kernels on columns standardised, as normal scores, and as they are."""
    standard, ranks = ZScores().resolve(X), NormalScores().resolve(X)
    yield Family("linear", lambda width: Encoded(standard, Linear()), (1.0,), core=True)
    yield Family("linear, as they are", lambda width: Linear(), (1.0,))
    for name, kernel in ("", Encoded(standard, Linear())), (", as they are", Linear()):
        yield Family(f"linear{name}, components of outputs", _only(kernel), (1.0,), components=True)
    yield from _of_encoded(standard, "standardised", X)
    raw, spread = Scales(None, X), float(np.sum(np.var(to_numpy(X), axis=0)))
    yield Family("Gaussian, as they are", raw.maker(Gaussian), core=True)
    yield Family("Laplacian, as they are", raw.maker(Laplacian))
    yield Family("Laplacian + linear, as they are", raw.maker(Laplacian, 1.0 / spread if spread > 0 else 1.0))
    yield from _of_encoded(ranks, "normal scores", X)
    yield Family("linear, normal scores", lambda width: Encoded(ranks, Linear()), (1.0,))


def _of_encoded(encoding: Encoding, name: str, X: Any) -> Iterator[Family]:
    plain, core = Scales(encoding, X), name == "standardised"
    # linear kernels of as many columns have as large a part in a sum as bounded ones
    share = 1.0 / max(1, X.shape[1])
    yield Family(f"Laplacian, {name}", plain.maker(Laplacian), core=True)
    yield Family(f"Gaussian, {name}", plain.maker(Gaussian), core=core)
    yield Family(f"Matérn, {name}", plain.maker(Matern))
    yield Family(f"Laplacian + linear, {name}", plain.maker(Laplacian, share), core=core)
    yield Family(f"Gaussian + linear, {name}", plain.maker(Gaussian, share))


class Scales:
    """Kernels on encoded vectors, with widths in units of the median distance."""

    def __init__(self, encoding: Encoding | None, X: Any) -> None:
        self.encoding, self.X = encoding, X
        self.median = cache(self._median)

    def maker(self, family: Any, linear: float = 0.0) -> Callable[[float], Kernel]:
        """Return the kernels of a family, plus a linear one if it has a share."""

        def make(width: float) -> Kernel:
            kernel: Kernel = family(width * self.median(family))
            kernel = kernel + Scaled(linear, Linear()) if linear else kernel
            return kernel if self.encoding is None else Encoded(self.encoding, kernel)

        return make

    def _median(self, family: Any) -> float:
        rows = self.X if self.encoding is None else self.encoding(self.X)
        return float(family("median").resolve(rows).scale)


def _of_binary_rows(X: Any) -> Iterator[Family]:
    """Kernels on words: shares in common, and cosines of rows weighted by rarity."""
    words = WordRows().resolve(X)
    values = X.data if sparse.issparse(X) else X
    binary = bool(np.all((values == 0) | (values == 1)))
    of_words = Scales(words, X)
    if binary:
        jaccard = Overlap(1.0)
        yield Family("Jaccard", lambda width: jaccard, (1.0,), core=True)
        yield Family("Jaccard + Gaussian of words", lambda width: jaccard + of_words.maker(Gaussian)(width), core=True)
        # rows that share much count for more than in the sum, and those without a rare word in common for less
        yield Family("Jaccard × Gaussian of words", lambda width: jaccard * of_words.maker(Gaussian)(width))
    yield Family("Gaussian of words", of_words.maker(Gaussian), core=True)
    yield Family("cosine of words", lambda width: Encoded(words, Linear()), (1.0,))
    yield Family("linear", lambda width: Linear(), (1.0,))
    if not sparse.issparse(X):
        yield Family("Gaussian, standardised", Scales(ZScores().resolve(X), X).maker(Gaussian))


def _of_tables(source: Any, X: Any) -> Iterator[Family]:
    """Kernels on mixed columns, by product and by sum, and those on vectors of the table as numbers."""
    for ranks, name in ((False, "as they are"), (True, "as ranks")):
        for power, shape in ((1.0, "Laplacians"), (2.0, "Gaussians")):
            base = type(source)(ranks=ranks, power=power, kinds=dict(X.kinds)).resolve(X, checked=True)
            yield Family(f"product of {shape}, columns {name}", _rescaled(base, float(base.scale)), core=power == 1.0)
        added = type(source)(**base.get_params(deep=False) | {"power": 1.0, "combination": "sum", "learned": None})
        yield Family(f"sum of Laplacians, columns {name}", _rescaled(added.resolve(X, checked=True), 0.5))
    encoder = table_encoder(X)
    for family in _of_vectors(encoder.transform(X)):
        yield Family(f"{family.name}, encoded", _on_rows(family.make, encoder), family.widths, family.core)


def table_encoder(table: Any) -> Any:
    """Return the encoder of a table as numbers, fitted."""
    from mercer.structures.table_encoder import TableEncoder

    return TableEncoder(kinds=dict(table.kinds)).fit(table)


def _on_rows(make: Callable[[float], Kernel], encoder: Any) -> Callable[[float], Kernel]:
    return lambda width: TableRows(make(width), encoder)


def _only(kernel: Kernel) -> Callable[[float], Kernel]:
    return lambda width: kernel


def _rescaled(kernel: Kernel, unit: float) -> Callable[[float], Kernel]:
    """Kernels with the scale at multiples of a unit."""
    parameters = kernel.get_params(deep=False)
    return lambda width: type(kernel)(**parameters | {"scale": width * unit})


def _of_objects(kind: str, X: Collection) -> Iterator[Family]:
    """The kernels that fit, each alone and inside a Gaussian."""
    label = label_of_nodes(X) if kind == "graphs" else None
    kernels: dict[str, list[Kernel]] = {
        "strings": [
            Spectrum((1, 3)), Subsequence(2), Spectrum(2), Subsequence(3), Subsequence(2, decay=0.1), Spectrum((1, 5)),
        ],
        "sequences": [Spectrum((1, 2)), Subsequence(2, decay=0.5), Spectrum(1), Spectrum((1, 3))],
        "sets": [Overlap(1.0), LabelSets(), Overlap(0.5)],
        "trees": [SubsetTree(), Subtree(), SubsetTree(decay=0.2)],
        "graphs": [
            WeisfeilerLehman(node_label=label), ShortestPath(node_label=label), WeisfeilerLehman(rounds=1, node_label=label),
        ],
        "molecules": [Tanimoto(), Tanimoto(radius=3), Tanimoto(radius=1)],
        "spectra": [Peaks()],
        "lemmas with tags": [PartByPart(Spectrum((1, 3)).normalized())],
    }  # fmt: skip
    for i, kernel in enumerate(kernels[kind]):
        cosine = kernel.normalized().resolve(X, checked=True)
        yield Family(f"{cosine!r}", _only(cosine), (1.0,), core=i < 2)
        if len(X) > 1:
            typical = GaussianOf(cosine, "median").resolve(X, checked=True)
            yield Family(f"Gaussian of {cosine!r}", _rescaled(typical, float(typical.scale)), core=i == 0)
