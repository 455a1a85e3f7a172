"""Partial trace kernels, and the entangled ones among them in the operator-sum form of the Choi–Kraus theorem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import Array, float64, is_array, like, namespace, zeros
from mercer.core.collections import Collection, take
from mercer.core.validation import check_choice
from mercer.kernels import FeatureMap, Kernel
from mercer.operators.blocks import full
from mercer.operators.features import fixed_features, kernel_of
from mercer.operators.valued import OperatorValuedKernel, check_list, output_matrix


def partial_trace(P: Array, outputs: int, over: str = "inputs") -> Array:
    r"""Return the partial trace of an operator on :math:`\mathcal{Y} \otimes \mathcal{K}`, rows and columns numbered l·N + a.

    Parameters
    ----------
    P : array (pN, pN)
        The operator.
    outputs : int
        p, the dimension of 𝒴.
    over : {"inputs", "outputs"}
        The index of the sum: "inputs" gives p×p, :math:`\sum_a P_{(l,a),(m,a)}`; "outputs" gives N×N.

    Examples
    --------
    >>> T, A = np.array([[2.0, 1.0], [1.0, 3.0]]), np.diag([1.0, 4.0, 5.0])
    >>> partial_trace(np.kron(T, A), outputs=2)  # T times the trace of A
    array([[20., 10.],
           [10., 30.]])
    """
    xp, N = namespace(P), check_multiple(P, "P", outputs)
    order = (0, 2, 1, 3) if check_choice(over, "over", ("inputs", "outputs")) == "inputs" else (1, 3, 0, 2)
    return xp.linalg.trace(xp.permute_dims(xp.reshape(P, (outputs, N, outputs, N)), order))


def check_multiple(matrix: Array, name: str, p: int) -> int:
    """Return the size of a square matrix over p; raise ValueError unless that is a whole number."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] % p:
        shape = tuple(matrix.shape)
        raise ValueError(f"{name} has shape {shape}; expected a square matrix whose size is a multiple of {p}")
    return matrix.shape[0] // p


class PartialTrace(OperatorValuedKernel):
    r"""Partial traces over input features of operators on outputs and features.

    .. math:: K(x, z) = \mathrm{tr}_\mathcal{K}(P_{x,z}), \qquad
        P_{x,z} = U \Bigl(\bigoplus_t \bigl[(T_t)_{lm}\,\phi_{t,l}(x)\,\phi_{t,m}(z)^\top\bigr]_{l,m=1}^p\Bigr) U^\top

    Sums of separable kernels have one φ for all outputs, :math:`T_t \otimes \phi_t(x)\phi_t(z)^\top` (Example 3 of the poster),
    transformable ones :math:`T = \mathbf{1}` and :math:`\phi_l = \phi \circ S_l` (Example 4), entangled ones a single term and U
    (Definition 2).

    Parameters
    ----------
    terms : sequence of (features, T)
        Features of the inputs (a kernel with a finite feature map, `Nystroem`, or a function of a collection) and a symmetric
        positive semi-definite matrix. A function may return (n, p, N): features for each output.
    mixing : array (pN, pN), optional
        U, rows and columns numbered l·N + a with N features in all; the identity by default.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> PartialTrace([(Linear(), np.eye(2))]).resolve([[1.0, 2.0]], 2).block([1.0, 2.0], [3.0, 4.0])
    array([[11.,  0.],
           [ 0., 11.]])
    """

    def __init__(self, terms: Sequence[tuple[Any, Any]], mixing: Any = None) -> None:
        self.terms = terms
        self.mixing = mixing

    @property
    def outputs(self) -> int:
        """p, the size of the matrices."""
        return len(self.terms[0][1])

    @property
    def is_resolved(self) -> bool:
        """True if the features are fixed."""
        return all(isinstance(features, FeatureMap) for features, _ in self.terms)

    def kernels(self) -> list[Kernel]:
        """Return the scalar kernels behind the features."""
        found = (kernel_of(features) for features, _ in self.terms)
        return [kernel for kernel in found if kernel is not None]

    def check_parameters(self) -> None:
        """Raise an error unless the terms are pairs of features and matrices of one size, and U is a matrix."""
        check_list(self.terms, "terms", "a list with at least one pair (features, T)")
        for i, term in enumerate(self.terms):
            if type(term) is not tuple or len(term) != 2:
                raise TypeError(f"terms[{i}] is {term!r:.60}; expected a pair (features, T)")
            if output_matrix(term[1], f"T of terms[{i}]").shape[0] != self.outputs:
                raise ValueError(f"T of terms[{i}] has {len(term[1])} rows; expected {self.outputs}, as in terms[0]")
        if self.mixing is not None and (not is_array(self.mixing) or self.mixing.ndim != 2):
            raise ValueError(f"mixing={self.mixing!r:.60}; expected a square matrix, or None for the identity")

    def feature_map(self, X: Collection) -> TracedFeatures:
        """Return the map to F(x), with the columns of U √T φ(x)."""
        features = [features for features, _ in self.terms]
        dimension = sum(each.dimension for each in features)
        size, shape = self.outputs * dimension, None if self.mixing is None else tuple(self.mixing.shape)
        if shape not in (None, (size, size)):
            raise ValueError(f"mixing has shape {shape}; expected {(size, size)}, outputs times features")
        roots = [square_root(full(output_matrix(T))) for _, T in self.terms]
        widths = [each.dimension if self.mixing is None else dimension for each in features]
        columns = sum(width * root.shape[1] for width, root in zip(widths, roots, strict=True))
        return TracedFeatures(features, roots, self.mixing, columns)

    def operator(self, x: Collection, z: Collection) -> Array:
        """Return P for two collections of one object each, pN×pN, by the definition."""
        p = self.outputs
        parts = [(per_output(features(x), p), per_output(features(z), p), T) for features, T in self.terms]
        N = sum(left.shape[2] for left, _, _ in parts)
        P, start = zeros((p, N, p, N), parts[0][0]), 0
        for left, right, T in parts:
            here = slice(start, start + left.shape[2])
            start = here.stop
            outer = left[0, :, :, None, None] * right[0, None, None, :, :]
            P[:, here, :, here] = outer * like(full(output_matrix(T)), outer)[:, None, :, None]
        P = namespace(P).reshape(P, (p * N, p * N))
        if self.mixing is None:
            return P
        U = float64(like(self.mixing, P))
        return U @ P @ U.T

    def _resolved(self, X: Collection, p: int) -> PartialTrace:
        terms = [(fixed_features(features, X), output_matrix(T)) for features, T in self.terms]
        found = PartialTrace(terms, self.mixing)
        found.feature_map(X)(take(X, slice(0, 1)))  # raises an error if parts do not fit together
        return found


@dataclass
class TracedFeatures(FeatureMap):
    """Features (n, p, dimension) of a partial trace kernel: one column for each feature and each column of √T."""

    features: list[FeatureMap]
    roots: list[Array]
    mixing: Array | None
    dimension: int

    def __call__(self, X: Collection) -> Array:
        """Return F(x) of each object."""
        p = self.roots[0].shape[0]
        rows = [per_output(features(X), p) for features in self.features]
        xp, shape = namespace(rows[0]), (rows[0].shape[0], p, sum(each.shape[2] for each in rows))
        columns, start = [], 0
        for each, root in zip(rows, self.roots, strict=True):
            here = slice(start, start + each.shape[2])
            start = here.stop
            for s in range(root.shape[1]):
                part = each * like(root, each)[:, s][None, :, None]
                if self.mixing is not None:
                    wide = zeros(shape, each)
                    wide[:, :, here] = part
                    part = xp.reshape(xp.reshape(wide, (shape[0], -1)) @ float64(like(self.mixing, each)).T, shape)
                columns.append(part)
        return xp.concat(columns, axis=2)


def per_output(rows: Array, p: int) -> Array:
    """Return features as (n, p, N); shared ones, (n, N), are repeated for every output."""
    rows = float64(rows)
    if rows.ndim == 3:
        if rows.shape[1] != p:
            raise ValueError(f"features gave {rows.shape[1]} rows for each object; expected {p}, one for each output")
        return rows
    return namespace(rows).broadcast_to(rows[:, None, :], (rows.shape[0], p, rows.shape[1]))


def square_root(matrix: Array) -> Array:
    """Return R with R Rᵀ = `matrix`, one column for each eigenvalue above rounding."""
    xp = namespace(matrix)
    values, vectors = xp.linalg.eigh(matrix)
    rounding = values.shape[0] * float(xp.finfo(values.dtype).eps) * max(float(values[-1]), 0.0)
    dropped = min(int(xp.sum(xp.astype(values <= rounding, xp.int64))), values.shape[0] - 1)
    return vectors[:, dropped:] * xp.sqrt(xp.clip(values[dropped:], 0.0, None))


class Entangled(OperatorValuedKernel):
    r"""Inputs and outputs mixed by r matrices, :math:`K(x, z) = \sum_{s=1}^r M_s\,\phi(x)\phi(z)^\top M_s^\top`.

    This is Theorem 1 of the poster. The Gram matrix is :math:`BB^\top` with :math:`B = (\Phi^\top \otimes I_p)\,Q`, np×r,
    and nothing larger is ever formed.

    Parameters
    ----------
    features : kernel with a finite feature map, Nystroem, FeatureMap or callable
        φ, with m features.
    Q : array (m·p, r)
        Column s holds the p×m matrix :math:`M_s` column by column: row a·p + l is :math:`(M_s)_{la}`. The rank r is from 1
        to m·p.
    outputs : int, optional
        p; by default set by `resolve`.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> M = np.array([[1.0, 0.0], [1.0, 1.0]])  # p = 2 outputs, m = 2 features, r = 1
    >>> kernel = Entangled(Linear(), M.T.reshape(4, 1)).resolve([[1.0, 2.0]], 2)
    >>> kernel.block([1.0, 2.0], [3.0, 4.0])  # M x (M z)ᵀ
    array([[ 3.,  7.],
           [ 9., 21.]])
    """

    outputs: int | None = None

    def __init__(self, features: Any, Q: Any, outputs: int | None = None) -> None:
        self.features = features
        self.Q = Q
        self.outputs = outputs

    @classmethod
    def from_operators(cls, features: Any, U: Array, T: Any) -> Entangled:
        r"""Return the kernel of Definition 2, :math:`\mathrm{tr}_\mathcal{K}(U (T \otimes \phi(x)\phi(z)^\top) U^\top)`.

        φ has N features. Rows and columns of U, pN×pN, are numbered l·N + a; if U is a Kronecker product A ⊗ B, the kernel is
        separable. T is p×p (or a diagonal), symmetric and positive semi-definite.
        """
        root = square_root(full(output_matrix(T)))
        p, rank = root.shape
        U = float64(U if is_array(U) else np.asarray(U, dtype=float))
        N = check_multiple(U, "U", p)
        xp = namespace(U)
        # M_{sa}[l, b] = Σ_m U[(l, a), (m, b)] t_s[m]
        mixed = xp.tensordot(xp.reshape(U, (p, N, p, N)), like(root, U), axes=([2], [0]))
        return cls(features, xp.reshape(xp.permute_dims(mixed, (2, 0, 3, 1)), (N * p, rank * N)), p)

    def kernels(self) -> list[Kernel]:
        """Return the scalar kernel behind the features, if there is one."""
        return [kernel for kernel in [kernel_of(self.features)] if kernel is not None]

    @property
    def is_resolved(self) -> bool:
        """True if the features are fixed and the number of outputs is known."""
        return isinstance(self.features, FeatureMap) and self.outputs is not None

    def check_parameters(self) -> None:
        """Raise ValueError unless Q is a finite matrix of rank between 1 and its number of rows."""
        Q = self.Q
        if not is_array(Q) or Q.ndim != 2:
            found = tuple(Q.shape) if is_array(Q) else repr(Q)[:60]
            raise ValueError(f"Q is {found}; expected a matrix with m·p rows and a column for each Kraus matrix")
        if not 1 <= Q.shape[1] <= Q.shape[0]:
            raise ValueError(f"Q has rank {Q.shape[1]}; expected a rank between 1 and {Q.shape[0]}, its number of rows")
        if not bool(namespace(Q).all(namespace(Q).isfinite(Q))):
            raise ValueError("Q contains NaN or infinity; expected finite numbers")

    @property
    def kraus(self) -> Array:
        """The matrices M_s, (r, p, m)."""
        p = self.outputs
        if p is None:
            raise ValueError("the number of outputs is not known yet; call kernel.resolve(X, p) first")
        Q = float64(self.Q)
        xp = namespace(Q)
        return xp.permute_dims(xp.reshape(Q, (Q.shape[0] // p, p, Q.shape[1])), (2, 1, 0))

    def feature_map(self, X: Collection) -> KrausFeatures:
        """Return the map to F(x) with columns M_s φ(x)."""
        assert self.outputs is not None
        return KrausFeatures(self.features, self.Q, self.outputs, self.Q.shape[1])

    def _resolved(self, X: Collection, p: int) -> Entangled:
        features = fixed_features(self.features, X)
        m, rows = features.dimension, self.Q.shape[0]
        if rows != p * m:
            raise ValueError(f"Q has {rows} rows; expected {p * m}, for {m} features and {p} outputs")
        return Entangled(features, self.Q, p)


@dataclass
class KrausFeatures(FeatureMap):
    """Features (n, p, r) of an entangled kernel."""

    features: FeatureMap
    Q: Array
    outputs: int
    dimension: int

    def __call__(self, X: Collection) -> Array:
        """Return F(x) of each object."""
        rows = float64(self.features(X))
        xp, Q = namespace(rows), float64(like(self.Q, rows))
        mixed = rows @ xp.reshape(Q, (rows.shape[1], self.outputs * self.dimension))
        return xp.reshape(mixed, (rows.shape[0], self.outputs, self.dimension))
