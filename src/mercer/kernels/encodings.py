"""Encodings of vectors, learned from the training vectors, and kernels of encoded vectors."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, is_sparse, like, to_numpy
from mercer.core.collections import Collection, as_vectors
from mercer.kernels.base import Kernel, Prepared, same, shown
from mercer.kernels.features import FeatureMap
from mercer.kernels.vectors import Linear, VectorKernel

_FURTHEST = 4.0  # normal scores beyond this are the same


class Encoding(BaseEstimator):
    """A map of vectors to vectors, with statistics that `resolve` takes from the training vectors.

    Encodings are values, as kernels are: `resolve` returns a new one. A new encoding is a dataclass with `resolve` and
    `__call__`, whose statistics are fields that are None until they are known.
    """

    takes_sparse: ClassVar[bool] = False
    """True if sparse vectors stay sparse."""

    def resolve(self, X: Any) -> Self:
        """Return the encoding with the statistics of `X`."""
        raise TypeError(f"{type(self).__name__} must define resolve(X)")

    def __call__(self, X: Any) -> Any:
        """Return the encoded vectors."""
        raise TypeError(f"{type(self).__name__} must define __call__(X)")

    @property
    def is_resolved(self) -> bool:
        """True if the statistics are known."""
        return all(value is not None for value in vars(self).values())

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and same(vars(self), vars(other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        known = (f"{name}={shown(value)}" for name, value in vars(self).items() if value is not None)
        return f"{type(self).__name__}({', '.join(known)})"


@dataclass(eq=False, repr=False)
class ZScores(Encoding):
    r"""Columns with mean 0 and variance 1, :math:`(x_j - \mu_j) / \sigma_j`; constant columns become 0.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [3.0, 5.0]])
    >>> ZScores().resolve(X)(X).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """

    mean: Any = None
    scale: Any = None

    def resolve(self, X: Any) -> ZScores:
        """Take the mean and the deviation of each column."""
        rows = to_numpy(X)
        largest = np.abs(rows).max(axis=0)
        # of size 1, by a power of two: squares of numbers in any unit neither overflow nor vanish
        power = 2.0 ** np.clip(np.frexp(largest)[1], -1000, 1000)
        rows = rows / power
        scale = rows.std(axis=0)
        return ZScores(rows.mean(axis=0) * power, np.where(scale > 1e-12 * largest / power, scale * power, np.inf))

    def __call__(self, X: Any) -> Any:
        """Return the scores."""
        return (X - like(self.mean, X)) / like(self.scale, X)

    def inverse(self, scores: Array) -> Array:
        """Return the vectors with these scores."""
        return scores * like(np.where(np.isinf(self.scale), 0.0, self.scale), scores) + like(self.mean, scores)


@dataclass(eq=False, repr=False)
class NormalScores(Encoding):
    r"""The normal quantile of the rank of each entry in its column, :math:`\Phi^{-1}(r / (n + 1))`, scaled to variance 1.

    Equal entries share their mean rank. Entries beyond the training values share one score, half a rank further out. The scores
    do not change if a column is replaced by an increasing function of it.

    Examples
    --------
    >>> X = np.array([[1.0], [10.0], [1000.0]])
    >>> NormalScores().resolve(X)(X).round(3).ravel().tolist()
    [-1.225, 0.0, 1.225]
    """

    ordered: Any = None
    scale: Any = None

    def resolve(self, X: Any) -> NormalScores:
        """Sort each column."""
        ordered = np.sort(to_numpy(X), axis=0)
        deviation = to_numpy(NormalScores(ordered, np.ones(ordered.shape[1]))(X)).std(axis=0)
        return NormalScores(ordered, np.where(deviation > 1e-12, deviation, np.inf))

    def __call__(self, X: Any) -> Any:
        """Return the scores."""
        rows, n = to_numpy(X), len(self.ordered)
        ranks = np.empty(rows.shape)
        for j, column in enumerate(self.ordered.T):
            sides = np.searchsorted(column, rows[:, j], "left") + np.searchsorted(column, rows[:, j], "right")
            ranks[:, j] = 0.5 * (sides + 1.0)
        scores = ndtri(np.clip(ranks / (n + 1.0), 0.5 / (n + 1.0), (n + 0.5) / (n + 1.0)))
        return like(np.clip(scores, -_FURTHEST, _FURTHEST) / self.scale, X)


@dataclass(eq=False, repr=False)
class Projected(Encoding):
    r"""Encoded vectors times a matrix, :math:`e(x) A`, whose distances are those of the metric :math:`A A^\top`.

    Examples
    --------
    >>> Projected(ZScores(np.zeros(2), np.ones(2)), np.array([[2.0], [0.0]]))(np.array([[1.0, 5.0]])).tolist()
    [[2.0]]
    """

    encoding: Encoding
    matrix: Any

    @property
    def is_resolved(self) -> bool:
        """True if the statistics of the encoding inside are known."""
        return self.encoding.is_resolved

    def resolve(self, X: Any) -> Projected:
        """Resolve the encoding inside."""
        return Projected(self.encoding.resolve(X), self.matrix)

    def __call__(self, X: Any) -> Any:
        """Return the projected rows."""
        encoded = self.encoding(X)
        return encoded @ like(self.matrix, encoded)


@dataclass(eq=False, repr=False)
class WordRows(Encoding):
    r"""Rows of counts weighted by rarity, of length 1: :math:`x_j \sqrt{\log((n + 1) / n_j)}`, with :math:`n_j` rows that have j.

    Empty rows stay empty. Sparse rows stay sparse.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    >>> WordRows().resolve(X)(X).round(3).tolist()
    [[0.577, 0.816], [1.0, 0.0], [0.0, 0.0]]
    """

    takes_sparse = True
    factors: Any = None

    def resolve(self, X: Any) -> WordRows:
        """Count the rows that have each column."""
        rows = X if is_sparse(X) else to_numpy(X)
        having = np.asarray((rows != 0).sum(axis=0)).ravel()
        return WordRows(np.sqrt(np.log((1.0 + rows.shape[0]) / np.maximum(having, 1))))

    def __call__(self, X: Any) -> Any:
        """Return the weighted rows."""
        if is_sparse(X):
            weighted = sparse.csr_array(X @ sparse.diags_array(self.factors))
            lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
            return sparse.csr_array(sparse.diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ weighted)
        rows = to_numpy(X) * self.factors
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return like(rows / np.where(lengths > 0, lengths, 1.0), X)


@dataclass(eq=False, repr=False)
class Encoded(VectorKernel):
    r"""A kernel of encoded vectors, :math:`k(x, z) = k_1(e(x), e(z))`.

    Parameters
    ----------
    encoding : Encoding
        e: `ZScores`, `NormalScores`, `WordRows`.
    kernel : Kernel
        A kernel on vectors, resolved from the encoded training vectors.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> X = np.array([[0.0, 0.0], [1.0, 1000.0], [2.0, 0.0]])
    >>> Encoded(ZScores(), Gaussian(1.0)).resolve(X)(X).round(3)[0].tolist()
    [1.0, 0.05, 0.05]
    """

    encoding: Encoding
    kernel: Kernel

    @property
    def takes_sparse(self) -> bool:
        """True if the encoding and the kernel inside take sparse vectors."""
        return self.encoding.takes_sparse and self.kernel.takes_sparse

    @property
    def form(self) -> str | None:
        """Vectors, dense or of both kinds."""
        return "vectors" if self.takes_sparse else "dense vectors"

    @property
    def is_resolved(self) -> bool:
        """True if the statistics of the encoding and the kernel inside are known."""
        return self.encoding.is_resolved and self.kernel.is_resolved

    def sees(self, X: Any) -> np.ndarray:
        """True where the kernel inside sees the encoded object."""
        return self.kernel.sees(self.encoding(self.check(X)))

    def key(self, x: Any) -> Hashable:
        """The key of the kernel inside."""
        return self.kernel.key(x)

    def feature_map(self, X: Any) -> EncodedFeatures | None:
        """The features of encoded vectors, if the kernel has some."""
        encoding = self.encoding if self.encoding.is_resolved else self.encoding.resolve(self.check(X))
        inner = self.kernel.feature_map(encoding(self.check(X)))
        return None if inner is None else EncodedFeatures(encoding, inner, inner.dimension)

    def shared_gram(self, X: Collection, known: dict[str, Any] | None = None) -> Array:
        """The Gram matrix; encoded vectors are kept for other kernels with the same encoding."""
        known = {} if known is None else known
        own = known.setdefault(f"{type(self.encoding).__name__} rows", {"encoding": self.encoding})
        if own["encoding"] is not self.encoding and own["encoding"] != self.encoding:
            own = {}  # the same with other statistics
        if "rows" not in own:
            own["rows"] = self.encoding(X)
        return self.kernel.shared_gram(own["rows"], own)

    def _check(self, X: Any, name: str) -> Any:
        return self.kernel.check(X, name) if self.takes_sparse or not is_sparse(X) else as_vectors(X, name)

    def _encode(self, X: Collection, name: str) -> Prepared:
        return self.kernel.prepare(self.encoding(X), name, checked=True)

    def _resolve(self, X: Any) -> Encoded:
        encoding = self.encoding if self.encoding.is_resolved else self.encoding.resolve(X)
        return Encoded(encoding, self.kernel.resolve(encoding(X), checked=True))

    def _matrix(self, X: Prepared, Z: Prepared | None) -> Array:
        return self.kernel(X, Z)

    def _diag(self, X: Prepared) -> Array:
        return X.norms

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"Encoded({self.encoding!r}, {self.kernel!r})"


@dataclass
class EncodedFeatures(FeatureMap):
    """Features of encoded vectors."""

    encoding: Encoding
    map: FeatureMap
    dimension: int

    def __call__(self, X: Any) -> Array:
        """The features of each vector."""
        return self.map(self.encoding(X))


def standardized_linear(X: Array) -> Encoded:
    """The inner product of z-scores of `X`, in which every column counts as much.

    Examples
    --------
    >>> standardized_linear(np.array([[1.0, 10.0], [3.0, 30.0]]))([[2.0, 20.0], [3.0, 30.0]]).tolist()
    [[0.0, 0.0], [0.0, 2.0]]
    """
    return Encoded(ZScores().resolve(X), Linear())
