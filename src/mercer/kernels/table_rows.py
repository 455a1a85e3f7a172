"""Kernels on vectors, for tables that are encoded as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mercer.core.arrays import Array
from mercer.kernels.base import Kernel, Prepared
from mercer.kernels.features import FeatureMap
from mercer.structures.table_encoder import TableEncoder
from mercer.structures.tables import Table


@dataclass(eq=False, repr=False)
class TableRows(Kernel):
    r"""A kernel on vectors of the rows of a table as numbers, :math:`k(x, z) = k_1(e(x), e(z))`.

    The encoder e writes categories as indicators, gaps as medians beside an indicator, and hashes text
    (`mercer.structures.table_encoder.TableEncoder`); it is fitted by `resolve`.

    Parameters
    ----------
    kernel : Kernel
        A kernel on vectors, such as ``Encoded(ZScores(), Gaussian("median"))``.
    encoder : TableEncoder, optional
        The encoder, fitted.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> table = {"age": [30.0, 40.0, None]}
    >>> TableRows(Linear()).resolve(table)(table)[0].tolist()
    [900.0, 1200.0, 1050.0]
    """

    takes_tables = True

    kernel: Kernel
    encoder: Any = None

    @property
    def is_resolved(self) -> bool:
        """True if the encoder and the kernel inside are known."""
        return self.encoder is not None and self.kernel.is_resolved

    @property
    def takes_vectors(self) -> bool:
        """False: objects are rows of a table."""
        return False

    def feature_map(self, X: Any) -> TableFeatures | None:
        """The features of the encoded rows, if the kernel has some."""
        if self.encoder is None:
            return None
        inner = self.kernel.feature_map(self.encoder.transform(self.check(X)))
        return None if inner is None else TableFeatures(self.encoder, inner, inner.dimension)

    def shared_gram(self, X: Any, known: dict[str, Any] | None = None) -> Array:
        """The Gram matrix; the encoded table is kept for other kernels on it."""
        own = {} if known is None else known.setdefault("encoded table", {})
        if "rows" not in own:
            own["rows"] = self.encoder.transform(X)
        return self.kernel.shared_gram(own["rows"], own)

    def _check(self, X: Any, name: str) -> Table:
        return Table.of(X, None, name) if self.encoder is None else Table.like(X, self.encoder.kinds_, name)

    def _encode(self, X: Table, name: str) -> Prepared:
        return self.kernel.prepare(self.encoder.transform(X), name)

    def _resolve(self, X: Table) -> TableRows:
        encoder = TableEncoder(kinds=dict(X.kinds)).fit(X) if self.encoder is None else self.encoder
        return TableRows(self.kernel.resolve(encoder.transform(X)), encoder)

    def _matrix(self, X: Prepared, Z: Prepared | None) -> Array:
        return self.kernel(X, Z)

    def _diag(self, X: Prepared) -> Array:
        return X.norms


@dataclass
class TableFeatures(FeatureMap):
    """Features of encoded rows."""

    encoder: TableEncoder
    map: FeatureMap
    dimension: int

    def __call__(self, X: Any) -> Array:
        """The features of each row."""
        return self.map(self.encoder.transform(X))
