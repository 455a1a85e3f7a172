"""Partial trace kernels: the class that contains separable, transformable and entangled ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mercer.core.arrays import Array, float64, is_array, like, namespace, zeros
from mercer.core.collections import Collection, take
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap
from mercer.operators.blocks import full
from mercer.operators.features import fixed_features, kernel_of
from mercer.operators.valued import OperatorValuedKernel, output_matrix


def partial_trace(P: Array, outputs: int, over: str = "inputs") -> Array:
    r"""The partial trace of an operator on :math:`\mathcal{Y} \otimes \mathcal{K}`, rows and columns numbered l·N + a.

    Parameters
    ----------
    P : array (pN, pN)
        The operator.
    outputs : int
        p, the dimension of 𝒴.
    over : {"inputs", "outputs"}
        What is summed over: "inputs" gives p×p, :math:`\sum_a P_{(l,a),(m,a)}`; "outputs" gives N×N.

    Examples
    --------
    >>> import numpy as np
    >>> T, A = np.array([[2.0, 1.0], [1.0, 3.0]]), np.diag([1.0, 4.0, 5.0])
    >>> partial_trace(np.kron(T, A), outputs=2)  # T times the trace of A
    array([[20., 10.],
           [10., 30.]])
    """
    xp = namespace(P)
    if P.ndim != 2 or P.shape[0] != P.shape[1] or P.shape[0] % outputs:
        raise ValueError(
            f"P has shape {tuple(P.shape)}; expected a square matrix of a multiple of outputs={outputs} rows"
        )
    if over not in ("inputs", "outputs"):
        raise ValueError(f"over={over!r}; expected 'inputs' or 'outputs'")
    blocks = xp.reshape(P, (outputs, P.shape[0] // outputs, outputs, P.shape[0] // outputs))
    order = (0, 2, 1, 3) if over == "inputs" else (1, 3, 0, 2)
    return xp.linalg.trace(xp.permute_dims(blocks, order))


class PartialTrace(OperatorValuedKernel):
    r"""The partial trace over input features of an operator on outputs and features.

    .. math:: K(x, z) = \mathrm{tr}_\mathcal{K}(P_{x,z}), \qquad
        P_{x,z} = U \Bigl(\bigoplus_t \bigl[(T_t)_{lm}\,\phi_{t,l}(x)\,\phi_{t,m}(z)^\top\bigr]_{l,m=1}^p\Bigr) U^\top

    Every choice is a kernel, and the smaller classes are among them: one φ for all outputs gives
    :math:`T_t \otimes \phi_t(x)\phi_t(z)^\top`, sums of separable kernels (Example 3 of the poster); :math:`T = \mathbf{1}`
    with :math:`\phi_l = \phi \circ S_l` transformable ones (Example 4); one term with U entangled ones (Definition 2).

    Parameters
    ----------
    terms : sequence of (features, T)
        Features of the inputs (a kernel with a finite feature map, `Nystroem`, or a function of a collection) and a
        symmetric positive semi-definite matrix. A function may give (n, p, N): features for each output.
    mixing : array (pN, pN), optional
        U, rows and columns numbered l·N + a with N features in all; the identity by default.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> PartialTrace([(Linear(), np.eye(2))]).resolve([[1.0, 2.0]], 2).block([1.0, 2.0], [3.0, 4.0])
    array([[11.,  0.],
           [ 0., 11.]])
    """

    def __init__(self, terms: Sequence[tuple[Any, Any]], mixing: Any = None) -> None:
        self.terms = terms
        self.mixing = mixing

    @property
    def outputs(self) -> int | None:
        """p, the size of the matrices."""
        return len(self.terms[0][1])

    @property
    def is_resolved(self) -> bool:
        """Whether the features are fixed."""
        return all(isinstance(features, FeatureMap) for features, _ in self.terms)

    def kernels(self) -> list[Kernel]:
        """The scalar kernels behind the features."""
        found = (kernel_of(features) for features, _ in self.terms)
        return [kernel for kernel in found if kernel is not None]

    def check_parameters(self) -> None:
        """Pairs of features and matrices, the matrices of one size; U a square matrix."""
        if not isinstance(self.terms, list | tuple) or len(self.terms) == 0:
            raise ValueError(f"terms={self.terms!r:.60}; expected a list with at least one pair (features, T)")
        for i, term in enumerate(self.terms):
            if not isinstance(term, tuple) or len(term) != 2:
                raise TypeError(f"terms[{i}] is {term!r:.60}; expected a pair (features, T)")
            if output_matrix(term[1], f"T of terms[{i}]").shape[0] != self.outputs:
                raise ValueError(
                    f"T of terms[{i}] has {len(term[1])} rows and that of terms[0] {self.outputs}; expected one size"
                )
        if self.mixing is not None and (not is_array(self.mixing) or self.mixing.ndim != 2):
            raise ValueError(f"mixing={self.mixing!r:.60}; expected a square matrix, or None for the identity")

    def feature_map(self, X: Collection) -> TracedFeatures:
        """F(x) with the columns of U √T φ(x)."""
        p, dimension = self.outputs, sum(features.dimension for features, _ in self.terms)
        assert p is not None
        if self.mixing is not None and tuple(self.mixing.shape) != (p * dimension,) * 2:
            raise ValueError(
                f"mixing has shape {tuple(self.mixing.shape)}; expected {(p * dimension,) * 2}, for {p} outputs and "
                f"{dimension} features"
            )
        roots = [square_root(full(output_matrix(T))) for _, T in self.terms]
        columns = [features.dimension * root.shape[1] for (features, _), root in zip(self.terms, roots, strict=True)]
        if self.mixing is not None:
            columns = [dimension * root.shape[1] for root in roots]
        return TracedFeatures([features for features, _ in self.terms], roots, self.mixing, sum(columns))

    def operator(self, x: Collection, z: Collection) -> Array:
        """P for two collections of one object each, pN×pN: the definition, written out."""
        p = self.outputs
        assert p is not None
        parts = [(per_output(features(x), p), per_output(features(z), p), T) for features, T in self.terms]
        N = sum(left.shape[2] for left, _, _ in parts)
        xp = namespace(parts[0][0])
        P, start = zeros((p, N, p, N), parts[0][0]), 0
        for left, right, T in parts:
            here = slice(start, start + left.shape[2])
            start = here.stop
            outer = left[0, :, :, None, None] * right[0, None, None, :, :]
            P[:, here, :, here] = outer * like(full(output_matrix(T)), outer)[:, None, :, None]
        P = xp.reshape(P, (p * N, p * N))
        if self.mixing is None:
            return P
        U = float64(like(self.mixing, P))
        return U @ P @ U.T

    def _resolved(self, X: Collection, p: int) -> PartialTrace:
        terms = [(fixed_features(features, X), output_matrix(T)) for features, T in self.terms]
        found = PartialTrace(terms, self.mixing)
        found.feature_map(X)(take(X, slice(0, 1)))  # what does not fit together is told now
        return found

    def _block(self, x: Collection, z: Collection) -> Array:
        assert self.outputs is not None
        return partial_trace(self.operator(x, z), self.outputs)


@dataclass
class TracedFeatures(FeatureMap):
    """F(x) of a partial trace kernel: one column for each feature and each column of √T."""

    features: list[FeatureMap]
    roots: list[Array]
    mixing: Array | None
    dimension: int

    def __call__(self, X: Collection) -> Array:
        """(n, p, dimension)."""
        p = self.roots[0].shape[0]
        rows = [per_output(features(X), p) for features in self.features]
        reference = rows[0]
        xp, n = namespace(reference), reference.shape[0]
        widths = [each.shape[2] for each in rows]
        columns, start = [], 0
        for each, root, width in zip(rows, self.roots, widths, strict=True):
            root = like(root, reference)
            for s in range(root.shape[1]):
                part = each * root[:, s][None, :, None]
                if self.mixing is not None:
                    wide = zeros((n, p, sum(widths)), reference)
                    wide[:, :, start : start + width] = part
                    mixed = xp.reshape(wide, (n, -1)) @ float64(like(self.mixing, reference)).T
                    part = xp.reshape(mixed, (n, p, sum(widths)))
                columns.append(part)
            start += width
        return xp.concat(columns, axis=2)


def per_output(rows: Array, p: int) -> Array:
    """Features as (n, p, N): shared ones, (n, N), are the same for every output."""
    rows = float64(rows)
    if rows.ndim == 3:
        if rows.shape[1] != p:
            raise ValueError(f"features gave {rows.shape[1]} rows for each object; expected {p}, one for each output")
        return rows
    return namespace(rows).broadcast_to(rows[:, None, :], (rows.shape[0], p, rows.shape[1]))


def square_root(matrix: Array) -> Array:
    """R with R Rᵀ = `matrix`, one column for each eigenvalue above rounding."""
    xp = namespace(matrix)
    values, vectors = xp.linalg.eigh(matrix)
    rounding = values.shape[0] * float(xp.finfo(values.dtype).eps) * max(float(values[-1]), 0.0)
    dropped = min(int(xp.sum(xp.astype(values <= rounding, xp.int64))), values.shape[0] - 1)
    return vectors[:, dropped:] * xp.sqrt(xp.clip(values[dropped:], 0.0, None))
