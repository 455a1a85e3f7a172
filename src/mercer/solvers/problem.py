"""The ridge problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.core import memory
from mercer.core.arrays import Array, clip_spectrum, eigh, like, namespace, on_device, to_numpy
from mercer.core.blocks import is_blocks
from mercer.core.collections import Collection, count
from mercer.core.gram_eigh import GramEigh
from mercer.kernels.base import Kernel
from mercer.kernels.grams import row_blocks
from mercer.operators.base import Operator, OperatorSpectrum, Outputs
from mercer.operators.identity import Identity
from mercer.solvers.gram_checks import WAY_OUT, check_gram, gram_matrix
from mercer.solvers.kernel_products import gram_on
from mercer.solvers.maps import BlockBasis, KernelBasis

if TYPE_CHECKING:
    pass


_DRAWN = 20_000  # inputs in blocks that are drawn for a mean


@dataclass
class RidgeProblem:
    r"""The one ridge problem of the library.

    .. math:: \min_{h, b} \sum_i w_i \|h(x_i) + b - v_i\|^2 + \alpha \|h\|_K^2, \qquad K(x, z) = k(x, z)\, C

    for a separable operator C, and with the operator's own K(x, z) for any other.

    Parameters
    ----------
    kernel : Kernel
        k, resolved.
    inputs : collection
        The n training inputs, checked; in memory, or in blocks (`mercer.core.blocks.RowBlocks`).
    targets : array (n, r), optional
        V; None for the n×n identity, whose points are weights on the training outputs.
    operator : Operator
        C, or an operator-valued kernel that is resolved.
    alpha : float, optional
        The one value of alpha to solve for; None if it is to be chosen.
    fit_intercept : bool
        True for a b, which is not penalised.
    sample_weight : array (n,), optional
        w > 0; None for all ones.
    groups : int array (n,), optional
        The group of each pair, 0, 1, …; a group is left out as one.
    observed : boolean array (n, r), optional
        The targets that are known; None for all.
    outputs : array (N, r), optional
        Coordinates of all outputs, the paired ones first, for operators learned from them.
    orthogonal : bool
        True if the columns of `outputs` are orthogonal and, with an intercept, sum to zero.
    wants_left_out : bool
        True if left-out points will be asked for.
    """

    kernel: Kernel
    inputs: Collection
    targets: Array | None = None
    operator: Operator = field(default_factory=Identity)
    alpha: float | None = None
    fit_intercept: bool = True
    sample_weight: np.ndarray | None = None
    groups: np.ndarray | None = None
    observed: np.ndarray | None = None
    outputs: Array | None = None
    orthogonal: bool = False
    wants_left_out: bool = False

    @cached_property
    def prepared(self) -> Any:
        """The inputs, encoded once for the Gram matrix and for predictions."""
        return self.kernel.prepare(self.inputs, checked=True)

    def basis(self) -> Any:
        """Return the kernel values of new inputs, by which predictions are made."""
        if is_blocks(self.inputs):
            return BlockBasis(self.kernel, self.inputs)
        return KernelBasis.of(self.kernel, self.prepared)

    @property
    def in_blocks(self) -> bool:
        """True if the inputs are read in blocks and are not in memory."""
        return is_blocks(self.inputs)

    @cached_property
    def mean_norm(self) -> float:
        """The mean of k(x, x) over the inputs, or over a sample of those in blocks."""
        some = self.inputs.sample(_DRAWN)[1] if is_blocks(self.inputs) else self.inputs
        return float(np.mean(to_numpy(self.kernel.diag(some))))

    @property
    def size(self) -> int:
        """The number of pairs, n."""
        return count(self.inputs)

    def matrices(self, own: float, each: float = 6.0) -> float:
        """Return the number of n×n matrices of a fit that holds `own` of them, and `each` arrays of the size of the targets.

        ``python -m experiments bench core`` measures them.
        """
        return own + each * (0.7 if self.targets is None else self.targets.shape[1] / self.size)

    @cached_property
    def roots(self) -> np.ndarray | None:
        """Square roots of the sample weights; None if all are one."""
        return None if self.sample_weight is None else np.sqrt(np.asarray(self.sample_weight, dtype=float))

    @cached_property
    def total(self) -> float:
        """The sum of the sample weights."""
        return float(self.size) if self.sample_weight is None else float(np.sum(self.sample_weight))

    def scaled(self, rows: Array) -> Array:
        """Return √w times the rows, one for each pair."""
        return rows if self.roots is None else rows * like(self.roots, rows)[:, None]

    def unscaled(self, rows: Array) -> Array:
        """Return the rows divided by √w."""
        return rows if self.roots is None else rows / like(self.roots, rows)[:, None]

    def constant(self, reference: Array) -> Array | None:
        """Return the unit vector along √w, which is not penalised; None without an intercept."""
        if not self.fit_intercept:
            return None
        ones = np.ones(self.size) if self.roots is None else self.roots
        return like(ones / np.sqrt(self.total), reference)

    def centred(self, rows: Array) -> Array:
        """Return scaled rows without their part along the constant; as they are without an intercept."""
        constant = self.constant(rows)
        return rows if constant is None else rows - constant[:, None] * (constant @ rows)

    def mean(self, rows: Array) -> Array:
        """Return the weighted mean of rows that are not scaled."""
        if self.sample_weight is None:
            return namespace(rows).mean(rows, axis=0)
        return (like(np.asarray(self.sample_weight, dtype=float), rows) @ rows) / self.total

    @property
    def members(self) -> list[np.ndarray] | None:
        """Positions of the pairs of each group; None if pairs are left out one by one."""
        if self.groups is None:
            return None
        return [np.flatnonzero(self.groups == group) for group in range(int(self.groups.max()) + 1)]

    def gram(self, matrices: float = 3.0, *, decomposed: bool = False, device: str | None = None) -> Array:
        """Return √w k √w as an array that may be overwritten; `matrices` of its size have to fit in memory.

        With `decomposed` a negative eigenvalue is not looked for, since the decomposition will show it.
        """
        # what is orthogonal to the constant does not show every negative eigenvalue
        seen = decomposed and not self.fit_intercept
        if device is not None and not self.kernel.pairwise and not hasattr(self.inputs, "device"):
            memory.require_near(device, (self.size, self.size, matrices), "the exact fit (input kernel)", WAY_OUT)
            gram = gram_on(device, self.kernel, self.inputs)
            check_gram(gram, self.kernel, "input", decomposed=seen)
            return self.scale_gram(gram)
        gram = gram_matrix(self.kernel, self.prepared, "input", matrices, decomposed=seen)
        # a precomputed one may be the user's own matrix
        gram = namespace(gram).asarray(gram, copy=True) if self.kernel.pairwise else gram
        return self.scale_gram(on_device(gram, device))

    def scale_gram(self, gram: Array) -> Array:
        """Multiply a Gram matrix of the inputs by √w on both sides, in place."""
        if self.roots is not None:
            roots = like(self.roots, gram)
            for rows in row_blocks(gram):
                gram[rows, :] = gram[rows, :] * roots[rows, None] * roots
        return gram

    def decomposed(self, device: str | None = None) -> GramEigh:
        """Decompose the scaled Gram matrix, orthogonal to the constant."""
        gram = self.gram(self.matrices(3.2), decomposed=True, device=device)
        return self.decompose(gram, f"the input Gram matrix of {self.kernel!r}")

    def decompose_features(self, rows: Array) -> GramEigh:
        """Decompose the scaled Gram matrix of explicit features of the inputs, orthogonal to the constant."""
        constant = self.constant(rows)
        return GramEigh.of_features(self.scaled(rows), constant, None if constant is None else self.mean(rows))

    def decompose(self, gram: Array, name: str) -> GramEigh:
        """Decompose a scaled Gram matrix of the inputs, which is overwritten."""
        mean = None
        if self.fit_intercept:
            gram, mean = self.centre_gram(gram, lift=True)
        values, vectors = eigh(gram)
        xp, values = namespace(values), clip_spectrum(values, name)
        # eigenvalues that are noise would be fitted by a smaller alpha
        noise = 8.0 * float(xp.finfo(values.dtype).eps) * float(values[-1])
        values = xp.where(values > noise, values, xp.zeros_like(values))
        if mean is not None:
            # the last eigenvector is the constant; its eigenvalue is of the size of k before the constant was taken off
            values, vectors = values[:-1], vectors[:, :-1]
        return GramEigh(vectors, values, vectors, constant=self.constant(vectors), mean=mean)

    def centre_gram(self, gram: Array, lift: bool = False) -> tuple[Array, Array]:
        """Make a scaled Gram matrix orthogonal to the constant, in place, and return it with the mean kernel values.

        With `lift` the constant becomes the eigenvector of the largest eigenvalue.
        """
        xp, q = namespace(gram), self.constant(gram)
        assert q is not None
        along = gram @ q
        level = float(q @ along)
        half = along - 0.5 * level * q
        squares = 0.0
        for rows in row_blocks(gram):
            squares += float(xp.sum(gram[rows, :] * gram[rows, :]))
            gram[rows, :] = gram[rows, :] - q[rows, None] * half - half[rows, None] * q
        if lift:
            top = squares**0.5 or 1.0
            for rows in row_blocks(gram):
                gram[rows, :] += (2.0 * top) * q[rows, None] * q
        mean = along / self.total**0.5
        return gram, mean if self.roots is None else mean / like(self.roots, mean)

    def operator_outputs(self, inputs: Any, reference: Array) -> Outputs:
        """Return the outputs an operator is resolved from, in the library and on the device of `reference`."""
        rows = self.targets if self.outputs is None else self.outputs
        if rows is None:
            raise ValueError(f"operator={self.operator!r} needs an embedding with coordinates")
        rows, n = like(rows, reference), self.size
        total, roots = self.total + rows.shape[0] - n, np.ones(rows.shape[0])
        if self.roots is not None:
            roots[:n] = self.roots
            rows = rows * like(roots, rows)[:, None]
        if self.fit_intercept and not self.orthogonal:
            constant = like(roots / np.sqrt(total), rows)
            rows = rows - constant[:, None] * (constant @ rows)
        weighted = None if self.roots is None else like(roots, rows)
        return Outputs(rows, n, self.orthogonal and weighted is None, inputs, total, weighted)

    def operator_spectrum(self, inputs: Any, reference: Array) -> tuple[OperatorSpectrum | None, Array | None]:
        """Return the eigendecomposition of C (None for the identity), and UᵀV if that took it."""
        if self.operator.is_identity:
            return None, None
        outputs = self.operator_outputs(inputs, reference)
        spectrum = self.operator.spectrum(outputs)
        return spectrum, vars(outputs).get("inside")
