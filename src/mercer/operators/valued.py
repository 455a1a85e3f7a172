"""Operator-valued kernels: p×p blocks K(x, z), for outputs that are vectors."""

from __future__ import annotations

import inspect
from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, float64, is_array, namespace, to_numpy
from mercer.core.collections import Collection, as_objects, as_vectors, reject_non_collection
from mercer.core.validation import is_real
from mercer.kernels.base import shown
from mercer.kernels.features import FeatureMap
from mercer.operators.base import Operator
from mercer.operators.blocks import BlockOperator, FactoredBlocks
from mercer.operators.joint import JointKernel


class OperatorValuedKernel(Operator):
    r"""A kernel with a p×p matrix for each pair of inputs, one row and one column per output.

    .. math:: K(x, z) \in \mathbb{R}^{p \times p}, \qquad K(x, z) = K(z, x)^\top, \qquad
        \sum_{ij} c_i^\top K(x_i, x_j)\, c_j \ge 0

    Like scalar kernels, these hold parameters and no data. A new one defines `outputs`, `kernels`, `_resolved`, and `_gram` (all
    pairs, as a map that never forms np×np numbers) or `feature_map`. `mercer.testing.check_operator_valued_kernel` checks it.
    """

    has_kernels = True

    # -- defined by a new kernel --------------------------------------------------------------------

    @property
    def outputs(self) -> int | None:
        """p, if the parameters determine it."""
        raise TypeError(f"{type(self).__name__} must define outputs")

    def _resolved(self, X: Collection, p: int) -> Self:
        raise TypeError(f"{type(self).__name__} must define _resolved(X, p)")

    def _gram(self, X: Collection, Z: Collection | None) -> BlockOperator:
        features = self.feature_map(X if Z is None else Z)
        if features is None:
            raise TypeError(f"{type(self).__name__} must define _gram(X, Z) or feature_map(X)")
        return FactoredBlocks.of(features, X, Z)

    def feature_map(self, X: Collection) -> FeatureMap | None:
        """Return a finite map F, n objects to (n, p, r), with K(x, z) = F(x) F(z)ᵀ for z in `X`; None if there is none."""
        return None

    def check_parameters(self) -> None:
        """Raise an error if a parameter is out of its range."""
        for kernel in self.kernels():
            kernel.check_parameters()

    # -- called by a user ---------------------------------------------------------------------------

    def resolve(self, X: Collection, p: int) -> Self:
        """Return the kernel for p outputs, with everything that depends on data (a median scale) fixed from `X`."""
        self.check_parameters()
        X = self.check(X, "X")
        resolved = self if self.outputs not in (None, p) else self._resolved(X, int(p))
        if resolved.outputs != p:
            raise ValueError(f"y has {p} columns and {self!r} is for {resolved.outputs} outputs; expected the same")
        return resolved

    def gram(self, X: Collection, Z: Collection | None = None) -> BlockOperator:
        """Return the blocks between the objects of `X`, or between `X` and `Z`, as a map from coefficients to values."""
        self._require_resolved()
        return self._gram(self.check(X, "X"), None if Z is None else self.check(Z, "Z"))

    def __call__(self, X: Collection, Z: Collection | None = None) -> Array:
        """Return all blocks, (n, m, p, p). For small problems: `gram` applies them without forming them."""
        blocks = self.gram(X, Z)
        xp = namespace(blocks.reference)
        dense = xp.reshape(blocks.dense(), (blocks.rows, blocks.outputs, blocks.columns, blocks.outputs))
        return xp.permute_dims(dense, (0, 2, 1, 3))

    def block(self, x: Any, z: Any) -> Array:
        """Return K(x, z) for two objects, p×p."""
        self._require_resolved()
        return self._gram(self.check(_single(x), "x"), self.check(_single(z), "z")).dense()

    def joint(self) -> ValuedJoint:
        """Return the scalar kernel on pairs ((x, y), (x', y')) ↦ yᵀ K(x, x') y'."""
        return ValuedJoint(self)

    @property
    def pairwise(self) -> bool:
        """True if a collection of inputs is itself a Gram matrix."""
        return any(kernel.pairwise for kernel in self.kernels())

    @property
    def takes_vectors(self) -> bool:
        """True if inputs are rows of a numeric array."""
        kernels = self.kernels()
        return not kernels or any(kernel.takes_vectors for kernel in kernels)

    @property
    def takes_tables(self) -> bool:
        """True if inputs are rows of a table."""
        return any(kernel.takes_tables for kernel in self.kernels())

    @property
    def takes_sparse(self) -> bool:
        """True if inputs may be sparse rows."""
        kernels = self.kernels()
        return bool(kernels) and all(kernel.takes_sparse for kernel in kernels)

    @property
    def is_resolved(self) -> bool:
        """True if the kernel can be evaluated as it stands."""
        return self.outputs is not None and all(kernel.is_resolved for kernel in self.kernels())

    def check(self, X: Collection, name: str = "X") -> Collection:
        """Return `X` as the collection the scalar kernels work on; as vectors if there is no such kernel."""
        if not self.takes_sparse:
            reject_non_collection(X, name)
        checked = [kernel.check(X, name) for kernel in self.kernels()]
        return checked[0] if checked else as_vectors(X, name)

    def _require_resolved(self) -> None:
        self.check_parameters()
        if not self.is_resolved:
            raise ValueError(f"{self!r} is not resolved; call kernel.resolve(X, p) first (estimators do that in fit)")

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        arguments = (f"{name}={_shown(getattr(self, name))}" for name in inspect.signature(type(self)).parameters)
        return f"{type(self).__name__}({', '.join(arguments)})"


class ValuedJoint(JointKernel):
    r"""The joint kernel of an operator-valued kernel on vector outputs, :math:`J = y^\top K(x, x')\, y'`.

    Parameters
    ----------
    kernel : OperatorValuedKernel
        K.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> from mercer.operators import Separable
    >>> joint = Separable(Linear(), [[2.0, 1.0], [1.0, 2.0]]).joint()
    >>> joint([[3.0]], [[1.0, 0.0]], [[1.0]], [[0.0, 1.0]])
    array([[3.]])
    """

    def __init__(self, kernel: OperatorValuedKernel) -> None:
        self.kernel = kernel

    def resolve(self, X: Collection, Y: Collection) -> ValuedJoint:
        """Return the kernel resolved on the inputs, for as many outputs as `Y` has columns."""
        return ValuedJoint(self.kernel.resolve(X, as_vectors(Y, "Y").shape[1]))

    def blocks(self, X: Collection, X2: Collection | None, width: int) -> Array:
        """Return K(x, x'), dense."""
        if self.kernel.outputs != width:
            raise ValueError(f"width={width!r}; expected {self.kernel.outputs}, the outputs of {self.kernel!r}")
        return self.kernel(X, X2)

    def _matrix(self, X: Collection, Y: Collection, X2: Collection | None, Y2: Collection | None) -> Array:
        rows = as_vectors(Y, "Y")
        return self.kernel.gram(X, X2).joint(rows, rows if Y2 is None else as_vectors(Y2, "Y2"))


def output_matrix(T: Any, name: str = "T") -> Array:
    """Return `T` as doubles, (p, p), or (p,) for a diagonal; raise ValueError unless it is positive semi-definite."""
    matrix = T if is_array(T) else np.asarray(T, dtype=float)
    if matrix.ndim not in (1, 2) or matrix.shape[0] == 0 or (matrix.ndim == 2 and matrix.shape[0] != matrix.shape[1]):
        shape = tuple(matrix.shape)
        raise ValueError(f"{name} has shape {shape}; expected a square matrix, or a vector for a diagonal one")
    matrix = float64(matrix)
    xp = namespace(matrix)
    if not bool(xp.all(xp.isfinite(matrix))):
        raise ValueError(f"{name} contains NaN or infinity; expected finite numbers")
    if matrix.ndim == 2:
        asymmetry, largest = float(xp.max(xp.abs(matrix - matrix.T))), float(xp.max(xp.abs(matrix)))
        if asymmetry > 1e-8 * largest:
            raise ValueError(f"{name} is not symmetric, by up to {asymmetry:.3g}; expected ({name} + {name}.T) / 2")
        matrix = 0.5 * (matrix + matrix.T)
    values = np.sort(to_numpy(matrix)) if matrix.ndim == 1 else np.linalg.eigvalsh(to_numpy(matrix))
    lowest, highest = float(values[0]), float(values[-1])
    if lowest < -1e-8 * max(highest, 0.0):
        raise ValueError(
            f"{name} is not positive semi-definite: its smallest eigenvalue is {lowest:.6g} (the largest is {highest:.6g}). "
            "Clip its negative eigenvalues, or add to its diagonal"
        )
    return matrix


def check_list(value: Any, name: str, expected: str) -> None:
    """Raise ValueError unless `value` is a list or tuple with at least one entry."""
    if type(value) not in (list, tuple) or len(value) == 0:
        raise ValueError(f"{name}={value!r:.60}; expected {expected}")


def _single(x: Any) -> Collection:
    """Return a collection of one object."""
    if is_array(x) and x.ndim > 0:
        return x[None, ...]
    return np.asarray([x], dtype=float) if type(x) in (list, tuple) and all(map(is_real, x)) else as_objects([x])


def _shown(value: Any) -> str:
    kinds: dict[type, str] = {list: "[]", tuple: "()"}
    brackets = kinds.get(type(value), "")
    return brackets[0] + ", ".join(map(_shown, value)) + brackets[1] if brackets else shown(value)
