"""Entangled kernels, in the operator-sum form of the Choi–Kraus theorem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import Array, float64, is_array, like, namespace
from mercer.core.collections import Collection
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap
from mercer.operators.blocks import full
from mercer.operators.features import fixed_features, kernel_of
from mercer.operators.partial_trace import square_root
from mercer.operators.valued import OperatorValuedKernel, output_matrix


class Entangled(OperatorValuedKernel):
    r"""Inputs and outputs mixed by r matrices, :math:`K(x, z) = \sum_{s=1}^r M_s\,\phi(x)\phi(z)^\top M_s^\top`.

    This is Theorem 1 of the poster. The Gram matrix is :math:`BB^\top` with :math:`B = (\Phi^\top \otimes I_p)\,Q`, np×r,
    and nothing larger is ever made.

    Parameters
    ----------
    features : kernel with a finite feature map, Nystroem, FeatureMap or callable
        φ, with m features.
    Q : array (m·p, r)
        Column s holds the p×m matrix :math:`M_s`, its columns one below the other: row a·p + l is :math:`(M_s)_{la}`.
        The rank r is between 1 and m·p.
    outputs : int, optional
        p. Where the features are not fixed yet, only this (or `resolve`) tells how the rows of Q are shared out.

    Examples
    --------
    >>> import numpy as np
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
        r"""Definition 2, :math:`K(x, z) = \mathrm{tr}_\mathcal{K}(U (T \otimes \phi(x)\phi(z)^\top) U^\top)`, in Kraus form.

        Parameters
        ----------
        features : as above
            φ, with N features.
        U : array (pN, pN)
            Rows and columns numbered l·N + a. Where U is a Kronecker product A ⊗ B the kernel is separable.
        T : array (p, p) or (p,)
            Symmetric and positive semi-definite.
        """
        root = square_root(full(output_matrix(T)))
        p, rank = root.shape
        U = float64(U if is_array(U) else np.asarray(U, dtype=float))
        if U.ndim != 2 or U.shape[0] != U.shape[1] or U.shape[0] % p:
            raise ValueError(
                f"U has shape {tuple(U.shape)}; expected a square matrix whose size is a multiple of {p}, the size of T"
            )
        xp, N = namespace(U), U.shape[0] // p
        # M_{sa}[l, b] = Σ_m U[(l, a), (m, b)] t_s[m]
        mixed = xp.tensordot(xp.reshape(U, (p, N, p, N)), like(root, U), axes=([2], [0]))
        return cls(features, xp.reshape(xp.permute_dims(mixed, (2, 0, 3, 1)), (N * p, rank * N)), p)

    def kernels(self) -> list[Kernel]:
        """The scalar kernel behind the features, where there is one."""
        kernel = kernel_of(self.features)
        return [] if kernel is None else [kernel]

    @property
    def is_resolved(self) -> bool:
        """Whether the features are fixed and the number of outputs known."""
        return isinstance(self.features, FeatureMap) and self.outputs is not None

    def check_parameters(self) -> None:
        """Q is a finite matrix of rank between 1 and its number of rows."""
        Q = self.Q
        if not is_array(Q) or Q.ndim != 2:
            what = tuple(Q.shape) if is_array(Q) else repr(Q)[:60]
            raise ValueError(
                f"Q is {what}; expected a matrix with m·p rows and one column for each of the r Kraus matrices"
            )
        if not 1 <= Q.shape[1] <= Q.shape[0]:
            raise ValueError(
                f"Q has shape {tuple(Q.shape)}, rank {Q.shape[1]}; expected a rank between 1 and {Q.shape[0]}, its number of "
                "rows (m·p): more Kraus matrices are never needed"
            )
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
        """F(x) with columns M_s φ(x)."""
        assert self.outputs is not None
        return KrausFeatures(self.features, self.Q, self.outputs, self.Q.shape[1])

    def _resolved(self, X: Collection, p: int) -> Entangled:
        if self.outputs is not None and self.outputs != p:
            raise ValueError(f"y has {p} columns and {self!r} is for {self.outputs} outputs; expected as many of each")
        features = fixed_features(self.features, X)
        if self.Q.shape[0] != p * features.dimension:
            raise ValueError(
                f"Q has {self.Q.shape[0]} rows; expected {p * features.dimension}, for {features.dimension} features and "
                f"{p} outputs"
            )
        return Entangled(features, self.Q, p)

    def _block(self, x: Collection, z: Collection) -> Array:
        left, right = (float64(self.features(each))[0, :] for each in (x, z))
        M = like(self.kraus, left)
        return (M @ left).T @ (M @ right)


@dataclass
class KrausFeatures(FeatureMap):
    """F(x) of an entangled kernel, p×r."""

    features: FeatureMap
    Q: Array
    outputs: int
    dimension: int

    def __call__(self, X: Collection) -> Array:
        """(n, p, r)."""
        rows = float64(self.features(X))
        xp, Q = namespace(rows), float64(like(self.Q, rows))
        mixed = rows @ xp.reshape(Q, (rows.shape[1], self.outputs * self.dimension))
        return xp.reshape(mixed, (rows.shape[0], self.outputs, self.dimension))
