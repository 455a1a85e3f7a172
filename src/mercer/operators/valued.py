"""What an operator-valued kernel is: p×p blocks K(x, z), for outputs that are vectors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, float64, is_array, namespace, to_numpy
from mercer.core.collections import Collection, as_objects, as_vectors
from mercer.kernels.base import Kernel, shown
from mercer.kernels.features import FeatureMap
from mercer.operators.base import Operator
from mercer.operators.blocks import BlockOperator, FactoredBlocks
from mercer.operators.joint import JointKernel


class OperatorValuedKernel(Operator):
    r"""A similarity of inputs that says how outputs go with each other.

    .. math:: K(x, z) \in \mathbb{R}^{p \times p}, \qquad K(x, z) = K(z, x)^\top, \qquad
        \sum_{ij} c_i^\top K(x_i, x_j)\, c_j \ge 0

    Like scalar kernels, these hold parameters and no data. A new one defines `outputs`, `kernels`, `_resolved`,
    `_block` (one pair, from the definition) and `_gram` (all pairs, as a map that never forms np×np numbers) or
    `feature_map`; `mercer.testing.check_operator_valued_kernel` holds these to each other.
    """

    # -- what a new kernel defines ------------------------------------------------------------------

    @property
    def outputs(self) -> int | None:
        """p, where the parameters tell it."""
        raise TypeError(f"{type(self).__name__} must define outputs")

    def kernels(self) -> list[Kernel]:
        """The scalar kernels inside; they say what inputs may be."""
        return []

    def _resolved(self, X: Collection, p: int) -> Self:
        raise TypeError(f"{type(self).__name__} must define _resolved(X, p)")

    def _block(self, x: Collection, z: Collection) -> Array:
        """K(x, z) for two collections of one object each."""
        raise TypeError(f"{type(self).__name__} must define _block(x, z)")

    def _gram(self, X: Collection, Z: Collection | None) -> BlockOperator:
        features = self.feature_map(X if Z is None else Z)
        if features is None:
            raise TypeError(f"{type(self).__name__} must define _gram(X, Z) or feature_map(X)")
        left = features(X)
        return FactoredBlocks(left, left if Z is None else features(Z))

    def feature_map(self, X: Collection) -> FeatureMap | None:
        """A finite map F, n objects to (n, p, r), with K(x, z) = F(x) F(z)ᵀ for z in `X`; None where there is none."""
        return None

    def check_parameters(self) -> None:
        """Raise if a parameter is out of its range; scalar kernels see to their own."""

    # -- what a user calls --------------------------------------------------------------------------

    def resolve(self, X: Collection, p: int) -> Self:
        """A kernel for p outputs with everything that depends on data (a median scale, features) fixed from `X`."""
        self.check_parameters()
        resolved = self._resolved(self.check(X, "X"), int(p))
        if resolved.outputs != p:
            raise ValueError(
                f"y has {p} columns and {self!r} is for {resolved.outputs} outputs; expected as many of each"
            )
        return resolved

    def gram(self, X: Collection, Z: Collection | None = None) -> BlockOperator:
        """The blocks between the objects of `X`, or between `X` and `Z`, as a map from coefficients to values."""
        self._ready()
        return self._gram(self.check(X, "X"), None if Z is None else self.check(Z, "Z"))

    def __call__(self, X: Collection, Z: Collection | None = None) -> Array:
        """All blocks, (n, m, p, p). For small problems: `gram` applies them without forming them."""
        blocks = self.gram(X, Z)
        xp = namespace(blocks.reference)
        dense = xp.reshape(blocks.dense(), (blocks.rows, blocks.outputs, blocks.columns, blocks.outputs))
        return xp.permute_dims(dense, (0, 2, 1, 3))

    def block(self, x: Any, z: Any) -> Array:
        """K(x, z) for two objects, p×p."""
        self._ready()
        x, z = (_single(each) for each in (x, z))
        return self._block(self.check(x, "x"), self.check(z, "z"))

    def joint(self) -> ValuedJoint:
        """The scalar kernel on pairs it induces, ((x, y), (x', y')) ↦ yᵀ K(x, x') y'."""
        return ValuedJoint(self)

    # -- what inputs may be -------------------------------------------------------------------------

    @property
    def pairwise(self) -> bool:
        """Whether a collection of inputs is itself a Gram matrix."""
        return any(kernel.pairwise for kernel in self.kernels())

    @property
    def takes_vectors(self) -> bool:
        """Whether inputs are rows of a numeric array."""
        kernels = self.kernels()
        return not kernels or any(kernel.takes_vectors for kernel in kernels)

    @property
    def is_resolved(self) -> bool:
        """Whether the kernel can be evaluated as it stands."""
        return self.outputs is not None and all(kernel.is_resolved for kernel in self.kernels())

    def check(self, X: Collection, name: str = "X") -> Collection:
        """`X` as the collection the scalar kernels work on; vectors where there are none."""
        kernels = self.kernels()
        if not kernels:
            return as_vectors(X, name)
        for kernel in kernels[1:]:
            kernel.check(X, name)
        return kernels[0].check(X, name)

    def _ready(self) -> None:
        self.check_parameters()
        if not self.is_resolved:
            raise ValueError(
                f"{self!r} has a parameter that is learned from data, or does not know how many outputs there are; call "
                "kernel.resolve(X, p) first (OperatorValuedRidge does that in fit, and keeps the result as kernel_)"
            )

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        arguments = (f"{name}={_shown(getattr(self, name))}" for name in self._get_param_names_in_order())
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _get_param_names_in_order(self) -> list[str]:
        code = type(self).__init__.__code__
        return list(code.co_varnames[1 : code.co_argcount])


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
        """The kernel resolved on the inputs, for as many outputs as `Y` has columns."""
        return ValuedJoint(self.kernel.resolve(X, as_vectors(Y, "Y").shape[1]))

    def blocks(self, X: Collection, X2: Collection | None, width: int) -> Array:
        """K(x, x'), dense."""
        if self.kernel.outputs != width:
            raise ValueError(f"width={width!r}; expected {self.kernel.outputs}, the outputs of {self.kernel!r}")
        return self.kernel(X, X2)

    def _matrix(self, X: Collection, Y: Collection, X2: Collection | None, Y2: Collection | None) -> Array:
        rows = as_vectors(Y, "Y")
        return self.kernel.gram(X, X2).joint(rows, rows if Y2 is None else as_vectors(Y2, "Y2"))


def output_matrix(T: Any, name: str = "T") -> Array:
    """`T` as a symmetric positive semi-definite array in doubles, (p, p), or (p,) for a diagonal; else an error."""
    matrix = T if is_array(T) else np.asarray(T, dtype=float)
    if matrix.ndim not in (1, 2) or matrix.shape[0] == 0 or (matrix.ndim == 2 and matrix.shape[0] != matrix.shape[1]):
        raise ValueError(
            f"{name} has shape {tuple(matrix.shape)}; expected a square matrix with a row for each output, or a vector "
            "for a diagonal one"
        )
    matrix = float64(matrix)
    xp = namespace(matrix)
    if not bool(xp.all(xp.isfinite(matrix))):
        raise ValueError(f"{name} contains NaN or infinity; expected finite numbers")
    if matrix.ndim == 2:
        asymmetry, largest = float(xp.max(xp.abs(matrix - matrix.T))), float(xp.max(xp.abs(matrix)))
        if asymmetry > 1e-8 * largest:
            raise ValueError(
                f"{name} is not symmetric: it differs from its transpose by up to {asymmetry:.3g}; expected a symmetric "
                f"matrix, such as ({name} + {name}.T) / 2"
            )
        matrix = 0.5 * (matrix + matrix.T)
    values = np.sort(to_numpy(matrix)) if matrix.ndim == 1 else np.linalg.eigvalsh(to_numpy(matrix))
    lowest, highest = float(values[0]), float(values[-1])
    if lowest < -1e-8 * max(highest, 0.0):
        raise ValueError(
            f"{name} is not positive semi-definite: its smallest eigenvalue is {lowest:.6g} (the largest is {highest:.6g}). "
            "Clip its negative eigenvalues, or add to its diagonal"
        )
    return matrix


def _single(each: Any) -> Collection:
    """One object as a collection of one."""
    if is_array(each) and each.ndim > 0:
        return each[None, ...]
    if isinstance(each, list | tuple) and all(isinstance(entry, int | float) for entry in each):
        return np.asarray(each, dtype=float)[None, :]
    return as_objects([each])


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        inside = ", ".join(map(_shown, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return shown(value)
