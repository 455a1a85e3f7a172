"""Sparse random sketches of a Gram matrix (p-sparsified sketches of El Ahmad, Brogat-Motte, Laforgue and d'Alché-Buc)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, clip_spectrum, eigh, is_numpy_array, like, namespace, to_numpy
from mercer.core.collections import Collection, count, take
from mercer.core.validation import check_choice, check_real, check_whole

_NUMBERS = 2**24
"""Kernel values held at a time."""


@dataclass
class SketchedFactor:
    r"""The factor of a Gram matrix on a sketch S, :math:`k \approx G G^\top` with :math:`G = k S^\top (S k S^\top)^{-1/2}`.

    `pivots` are the objects with an entry in S, and `mixing` (pivots × m) is :math:`S^\top (S k S^\top)^{-1/2}` on them.
    """

    pivots: np.ndarray
    factor: Array
    residual: float
    """Share of the trace of the Gram matrix that the factor leaves out."""
    mixing: Array

    def on_pivots_alone(self) -> SketchedFactor:
        """Return the same map without the rows of the objects."""
        return replace(self, factor=self.factor[:0, :])

    def extend(self, columns: Array) -> Array:
        """Return rows of G for objects with kernel values `columns` (m × pivots) against the pivots."""
        return columns @ like(self.mixing, columns)

    def on_pivots(self, coefficients: Array) -> Array:
        """Return coefficients on kernel values against the pivots, from coefficients on the columns of G."""
        return like(self.mixing, coefficients) @ coefficients

    def transposed(self, products: Array) -> Array:
        """Return Gᵀ V from kᵀ V, the products of the kernel values against the pivots (pivots × columns of V)."""
        return like(self.mixing, products).T @ products

    steady = False
    """Products of features are added up as such: a sketch may mix columns that are nearly alike."""

    def values_of(self, features: Array) -> Array:
        """Return kernel values against the pivots that have these features, those of least norm."""
        return like(np.linalg.pinv(to_numpy(self.mixing)).T, features) @ features


class SparseSketch(BaseEstimator):
    r"""Random combinations of a few objects each, for ``LowRank(rank, pivots=SparseSketch())``.

    An entry of the sketch is zero but with probability `density`; each of the `rank` rows mixes density·n objects on average.

    Parameters
    ----------
    entries : {"rademacher", "gaussian"}, default="rademacher"
        Entries that are not zero: signs, or normal numbers.
    density : float, optional
        p; by default 20 / n, as in the paper.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> found = SparseSketch().factor(Gaussian(1.0), X, 12, 0)
    >>> bool(found.residual < 1e-6)
    True
    """

    def __init__(self, entries: str = "rademacher", density: float | None = None) -> None:
        self.entries = entries
        self.density = density

    def factor(self, kernel: Any, objects: Collection, rank: int | None, random_state: int) -> SketchedFactor:
        """Return the factor of the Gram matrix of `objects`; kernel values are made a block of columns at a time."""
        rank = check_whole(rank, "rank", expected="a positive whole number, the rows of the sketch")
        objects = kernel.check(objects)
        n = count(objects)
        whole, columns = self._draw(rank, n, random_state)
        prepared = kernel.prepare(objects, checked=True)
        gram = kernel(prepared) if kernel.pairwise else None
        rows: Any = 0.0
        step = max(1, _NUMBERS // n)
        for start in range(0, len(columns), step):
            some = columns[start : start + step]
            block = (
                kernel(kernel.prepare(take(objects, some), checked=True), prepared)
                if gram is None
                else take(gram.T, some)
            )
            rows = rows + _product(whole[:, some], block)
        sketch = whole[:, columns]
        inner = _product(sketch, take(rows.T, columns))
        values, vectors = eigh(0.5 * (inner + inner.T))
        xp, name = namespace(values), f"a sketch of the Gram matrix of {kernel!r}"
        rounding = n * float(xp.finfo(values.dtype).eps) * float(values[-1])
        kept = int(xp.sum(xp.astype(clip_spectrum(values, name) > rounding, xp.int64)))
        if not kept:
            raise ValueError(f"every object has norm zero under {kernel!r}; expected at least one with k(x, x) > 0")
        mixing = vectors[:, -kept:] / xp.sqrt(values[-kept:])
        made, norms = rows.T @ mixing, to_numpy(kernel.diag(prepared))
        left = np.clip(norms - to_numpy(xp.sum(made * made, axis=1)), 0.0, None)
        mixing = _product(sparse.csr_array(sketch.T), mixing)
        return SketchedFactor(columns, made, float(left.sum() / norms.sum()), mixing)

    def _draw(self, rank: int, n: int, random_state: int) -> tuple[sparse.csc_array, np.ndarray]:
        """S (rank × n), and its columns that are not zero."""
        check_choice(self.entries, "entries", ("rademacher", "gaussian"))
        density = min(1.0, 20.0 / n) if self.density is None else self.density
        check_real(density, "density", 0, 1, closed="right", expected="a share of the objects, 0 < density ≤ 1")
        random = np.random.default_rng(random_state)
        each = np.maximum(random.binomial(n, density, rank), 1)
        columns = np.concatenate([random.choice(n, size, replace=False) for size in each])
        signs = random.choice([-1.0, 1.0], len(columns))
        entries = signs if self.entries == "rademacher" else random.standard_normal(len(columns))
        entries = entries / np.sqrt(rank * density)
        drawn = sparse.csc_array((entries, (np.repeat(np.arange(rank), each), columns)), shape=(rank, n))
        return drawn, np.unique(columns)


def _product(sketch: sparse.sparray, block: Array) -> Array:
    """A sparse matrix times an array of any library."""
    return sketch @ block if is_numpy_array(block) else like(sketch.toarray(), block) @ block
