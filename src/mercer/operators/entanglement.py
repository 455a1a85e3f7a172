"""Measures of entanglement: by how much an operator-valued kernel is not separable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.core.arrays import to_numpy
from mercer.core.collections import Collection
from mercer.core.memory import require
from mercer.core.validation import check_instance
from mercer.operators.valued import OperatorValuedKernel

_ROUNDING = 1e-10  # share of the largest value below which a singular value is rounding


@dataclass(frozen=True)
class Entanglement:
    r"""Measures of a kernel on given inputs; all are 0 (`realignment` at most 1, ranks 1) for a separable kernel.

    Attributes
    ----------
    product_distance : float
        Distance of the Gram matrix to the nearest k ⊗ T, relative to its norm: 0 if the kernel is `Separable` here.
    asymmetry : float
        Distance to the nearest Gram matrix whose blocks K(x, z) are symmetric, relative to its norm. Sums of separable kernels
        have symmetric blocks, so no `SumOfSeparable` is nearer.
    negativity : float
        Sum of the negative eigenvalues of the partial transpose, without the sign, at trace one.
    realignment : float
        Sum of the singular values of the realigned matrix at trace one; above 1 only for an entangled kernel.
    schmidt_values : array
        Shares of the operator Schmidt decomposition :math:`G = \sum_i \sigma_i\, A_i \otimes T_i`, largest first; their squares
        sum to one.
    kraus_rank : int
        Rank of the Gram matrix: the number of matrices :math:`M_s` that the Choi–Kraus form needs on these inputs.
    effective_rank : float
        exp of the entropy of the eigenvalues of the Gram matrix: the number of matrices of equal weight with that entropy.
    output_matrix : array (p, p)
        T of the nearest k ⊗ T, with a mean diagonal of one.
    """

    product_distance: float
    asymmetry: float
    negativity: float
    realignment: float
    schmidt_values: np.ndarray
    kraus_rank: int
    effective_rank: float
    output_matrix: np.ndarray

    @property
    def schmidt_rank(self) -> int:
        """The number of terms A ⊗ T of the Gram matrix."""
        return int(np.sum(self.schmidt_values > np.sqrt(_ROUNDING)))

    @property
    def is_separable(self) -> bool:
        """True if the kernel is k(x, z)·T on these inputs, up to rounding."""
        return self.schmidt_rank == 1

    @property
    def is_entangled(self) -> bool:
        """True if the kernel is provably not a sum of separable kernels on these inputs; False is no proof that it is one."""
        tolerance = np.sqrt(_ROUNDING)
        return bool(max(self.asymmetry, self.negativity, self.realignment - 1.0) > tolerance)


def entanglement(kernel: OperatorValuedKernel, X: Collection) -> Entanglement:
    r"""Measure by how much an operator-valued kernel is not separable.

    The Gram matrix :math:`G` of the blocks K(x, z), at trace one, is read as a state of inputs and outputs. The kernel is
    separable on `X` if :math:`G = k \otimes T` (Definition 2 of Huusari and Kadri, with U a Kronecker product), and a sum of
    separable kernels if :math:`G = \sum_i k_i \otimes T_i` with positive semi-definite parts. The first is decided by
    the operator Schmidt decomposition. Deciding the second is NP-hard; symmetry of the blocks, the partial transpose (Peres) and
    realignment (Chen and Wu) are necessary.

    Parameters
    ----------
    kernel : OperatorValuedKernel
        A resolved kernel, such as `EntangledRidge.kernel_`.
    X : collection
        Inputs. The cost grows with the cube of the number of inputs times the number of output directions in use.

    Returns
    -------
    Entanglement
        The measures, which do not depend on the scale of the kernel or on rotations of features and outputs.

    References
    ----------
    A. Peres, Physical Review Letters 77 (1996); K. Chen and L.-A. Wu, Quantum Information and Computation 3 (2003); C. Van Loan
    and N. Pitsianis, Approximation with Kronecker products (1993).

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> from mercer.operators import Separable, Transformable
    >>> X = np.array([[1.0], [2.0], [-0.5]])
    >>> entanglement(Separable(Linear(), [[2.0, 1.0], [1.0, 2.0]]), X).is_separable
    True
    >>> example_1 = entanglement(Transformable(Linear(), [lambda X: X, lambda X: X**2]), X)  # of the poster
    >>> example_1.is_separable, example_1.is_entangled, example_1.kraus_rank
    (False, True, 1)
    """
    check_instance(
        kernel, "kernel", OperatorValuedKernel, expected="an operator-valued kernel, such as EntangledRidge.kernel_"
    )
    factor = _factor(kernel, X)
    total = float(np.sum(factor**2))
    if total == 0:
        raise ValueError("the kernel is zero on X; expected inputs on which it is not")
    factor = factor / np.sqrt(total)
    inputs, outputs = _span(factor, 0), _span(factor, 1)
    small = np.einsum("ia,lb,ilr->abr", inputs, outputs, factor)
    n, p, _ = small.shape
    require(n * p, n * p, 5, "measuring entanglement", "pass fewer inputs")
    flat = small.reshape(n * p, -1)
    gram = flat @ flat.T
    blocks = gram.reshape(n, p, n, p)
    realigned = blocks.transpose(0, 2, 1, 3).reshape(n * n, p * p)
    _, values, right = np.linalg.svd(realigned, full_matrices=False)
    transposed = blocks.transpose(0, 3, 2, 1).reshape(n * p, n * p)
    spectrum = np.linalg.eigvalsh(gram)
    shares = spectrum[spectrum > _ROUNDING * spectrum[-1]]
    norm = float(np.linalg.norm(gram))
    T = outputs @ right[0].reshape(p, p) @ outputs.T
    return Entanglement(
        product_distance=float(np.sqrt(np.sum(values[1:] ** 2)) / norm),
        asymmetry=float(np.linalg.norm(gram - transposed) / (2.0 * norm)),
        negativity=float(-np.sum(np.minimum(np.linalg.eigvalsh(transposed), 0.0))),
        realignment=float(np.sum(values)),
        schmidt_values=values / norm,
        kraus_rank=len(shares),
        effective_rank=float(np.exp(-np.sum(shares * np.log(shares)))),
        output_matrix=T * (len(T) / np.trace(T)),
    )


def _factor(kernel: OperatorValuedKernel, X: Collection) -> np.ndarray:
    """Return F, (n, p, r), with G = F Fᵀ over its first two indices."""
    gram = kernel.gram(X)
    features = kernel.feature_map(kernel.check(X))
    if features is not None:
        return to_numpy(features(kernel.check(X)))
    size = gram.rows * gram.outputs
    require(size, size, 3, "measuring entanglement", "pass fewer inputs")
    values, vectors = np.linalg.eigh(to_numpy(gram.dense()))
    return (vectors * np.sqrt(np.maximum(values, 0.0))).reshape(gram.rows, gram.outputs, size)


def _span(factor: np.ndarray, axis: int) -> np.ndarray:
    """Return orthonormal columns that span the factor along an axis: outputs of a curve over many days use few directions."""
    unfolded = np.moveaxis(factor, axis, 0).reshape(factor.shape[axis], -1)
    left, lengths, _ = np.linalg.svd(unfolded, full_matrices=False)
    return left[:, lengths > 1e-12 * lengths[0]]
