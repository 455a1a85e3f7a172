"""Exact solvers by an eigendecomposition, a Cholesky factor or explicit features."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.core.arrays import (
    Array,
    NumericalWarning,
    add_to_diagonal,
    cholesky,
    is_array,
    is_numpy_array,
    namespace,
    not_psd_message,
    solve_triangular,
    to_numpy,
)
from mercer.core.collections import Collection
from mercer.core.validation import check_choice
from mercer.kernels.features import FeatureMap
from mercer.solvers.base import Solver, register
from mercer.solvers.factorization import Factorization
from mercer.solvers.maps import FeatureBasis, KernelBasis, PointMap
from mercer.solvers.problem import RidgeProblem
from mercer.solvers.ridge_path import RidgePath

_MANY = 50_000
"""Pairs on a device from which conjugate gradients are faster than a factor, as ``bench scale --device cuda`` measures."""


class Exact(Solver):
    r"""Everything from :math:`k = U S U^\top`: any separable operator, all values of alpha, exact leave-one-out. O(n³).

    Parameters
    ----------
    penalty : {"function", "coefficients"}, default="function"
        "function" is kernel ridge regression, :math:`(k + \alpha I)^{-1}` (Weston NIPS 2002, Cortes, Kadri).
        "coefficients" penalises the sum of squared coefficients, :math:`(k^2 + \alpha I)^{-1} k` (Weston's technical
        report, eq. 6); leave-one-out then holds the basis of kernel functions fixed. Identity operator only.
    device : str, optional
        Where the algebra runs, through PyTorch: ``"cuda"``, ``"cpu"``. By default where the Gram matrix is.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> from mercer.solvers import RidgeProblem
    >>> problem = RidgeProblem(Linear(), np.eye(3), np.eye(3), fit_intercept=False)
    >>> Exact().factorize(problem).spectrum.values.tolist()
    [1.0, 1.0, 1.0]
    """

    makes_gram = True

    def __init__(self, penalty: str = "function", device: str | None = None) -> None:
        self.penalty = penalty
        self.device = device

    def supports(self, problem: RidgeProblem) -> str | None:
        """Return a reason for operators that are not separable, missing targets, and operators with the other penalty."""
        if self.penalty != "function":
            check_choice(self.penalty, "penalty", ("function", "coefficients"))
            if not problem.operator.is_identity:
                return f"penalty={self.penalty!r} goes with operator=Identity() only; use penalty='function'"
        return separable_only(problem)

    def reason(self, problem: RidgeProblem) -> str:
        """Return why this solver is chosen."""
        if problem.operator.is_identity:
            return "choosing alpha needs the whole path, which one eigendecomposition gives"
        return f"{type(problem.operator).__name__} couples the outputs, and eigendecompositions uncouple them exactly"

    def matrices(self, problem: RidgeProblem) -> float:
        """Return about three, or five of other libraries than NumPy, and more with many targets."""
        return problem.matrices(3.2 if is_numpy_array(problem.inputs) else 5.0)

    def factorize(self, problem: RidgeProblem) -> RidgePath:
        """Make the Gram matrix and decompose it."""
        return RidgePath.of(problem, problem.decomposed(self.device), problem.basis(), self.penalty)


def separable_only(problem: RidgeProblem, one_alpha: bool = False) -> str | None:
    """Return why a solver for k(x, z)·C, and with `one_alpha` for one alpha, does not solve the problem; None if it does."""
    if one_alpha and problem.alpha is None:
        return "it solves one alpha, and alpha is to be chosen; use solver='auto' or Exact()"
    if not problem.operator.separable:
        return f"{problem.operator!r} is not one kernel times one matrix; use Structured()"
    if problem.observed is not None:
        return "some outputs are missing; use Structured()"
    return None


class ExplicitFeatures(Solver):
    r"""Few explicit features, :math:`k = \Phi\Phi^\top`: O(n m²) where the Gram matrix costs O(n³). Exact.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> from mercer.solvers import RidgeProblem
    >>> X = np.random.default_rng(0).standard_normal((6, 2))
    >>> ExplicitFeatures().factorize(RidgeProblem(Linear(), X, X)).spectrum.vectors.shape
    (6, 2)
    """

    why = "{kernel!r} has few features: m×m in place of n×n"

    def supports(self, problem: RidgeProblem) -> str | None:
        """Return a reason for kernels that do not have fewer features than there are pairs."""
        if problem.targets is None:
            return "points are weights on all training outputs"
        against = separable_only(problem)
        found = self._features(problem) if against is None else None
        if found is None or not found.dimension < problem.size:
            return against or f"{problem.kernel!r} does not have fewer explicit features than there are pairs"
        return None

    def factorize(self, problem: RidgeProblem) -> RidgePath:
        """Decompose the m×m matrix of the features."""
        features = self._features(problem)
        assert features is not None
        spectrum = problem.decompose_features(features(problem.inputs))
        return RidgePath.of(problem, spectrum, FeatureBasis(features, features.dimension))

    def _features(self, problem: RidgeProblem) -> FeatureMap | None:
        # sparse features (n-grams, substructures) go through products of sparse rows
        return problem.kernel.feature_map(problem.inputs) if problem.kernel.takes_vectors else None


class Cholesky(Solver):
    r"""One alpha, identity operator: :math:`(k + \alpha I)^{-1}` by a Cholesky factor, in place. n³/3 operations.

    Parameters
    ----------
    device : str, optional
        Where the algebra runs, through PyTorch; by default where the Gram matrix is.

    Examples
    --------
    >>> Cholesky()
    Cholesky()
    """

    why = "one alpha with the identity operator needs one Cholesky factor"
    one_alpha = True
    makes_gram = True

    def __init__(self, device: str | None = None) -> None:
        self.device = device

    def supports(self, problem: RidgeProblem) -> str | None:
        """Return a reason for more than one alpha, operators other than the identity, and missing targets."""
        against = separable_only(problem, one_alpha=True)
        if against is not None or problem.operator.is_identity:
            return against
        return f"it is for the identity operator, and came with operator={problem.operator!r}; use solver='auto' or Exact()"

    def matrices(self, problem: RidgeProblem) -> float:
        """Return about one, and an inverse more if pairs are left out."""
        targets = 0.0 if problem.targets is None else 3.0 * problem.targets.shape[1] / problem.size
        return 1.2 + targets + 3.0 * problem.wants_left_out

    def too_large(self, problem: RidgeProblem) -> str | None:
        """Return a reason for as many vectors on a device as conjugate gradients solve in half the time."""
        there = is_array(problem.inputs) and not is_numpy_array(problem.inputs)
        waits = problem.wants_left_out or problem.targets is None
        if there and not waits and problem.size >= _MANY and problem.kernel.takes_vectors:
            return f"{self!r} takes longer than conjugate gradients from {_MANY} pairs on a device"
        return super().too_large(problem)

    def factorize(self, problem: RidgeProblem) -> CholeskyFactor:
        """Factor k + αI, in the memory of k."""
        assert problem.alpha is not None
        gram, alpha = problem.gram(self.matrices(problem), device=self.device), problem.alpha
        with suppress(np.linalg.LinAlgError):
            return CholeskyFactor(problem, cholesky(add_to_diagonal(gram, alpha)))
        values = np.linalg.eigvalsh(to_numpy(problem.gram()))
        rounding = 10 * problem.size * np.finfo(float).eps * values[-1]
        if values[0] > -rounding:
            warnings.warn(
                f"alpha={alpha:.3g} is lost in the rounding of the input Gram matrix, whose largest eigenvalue is "
                f"{values[-1]:.3g}; {rounding:.3g} was used. solver=Exact() works without it",
                NumericalWarning,
                stacklevel=3,
            )
            return CholeskyFactor(problem, cholesky(add_to_diagonal(problem.gram(device=self.device), rounding)))
        name = f"the input Gram matrix of {problem.kernel!r}, at alpha={alpha:g},"
        raise ValueError(not_psd_message(name, values[0], values[-1]))


class CholeskyFactor(Factorization):
    """The Cholesky factor of k + αI for the one alpha of a problem."""

    def __init__(self, problem: RidgeProblem, factor: Array) -> None:
        super().__init__(problem)
        self.factor = self.reference = factor

    def solve(self, right: Array, alpha: float) -> Array:
        """Return (k + αI)⁻¹ times `right`, by two triangular solves."""
        return solve_triangular(self.factor, solve_triangular(self.factor, right), transpose=True)

    def map(self, alpha: float) -> PointMap:
        """Return the map; if points are weights, one that solves for each input in place of an n×n inverse."""
        problem = self.problem
        if problem.targets is not None:
            return super().map(alpha)
        origin, q = None, problem.constant(self.factor)
        if q is not None:
            solved = self.solve(q[:, None], alpha)
            origin = problem.scaled(solved / float(q @ solved[:, 0]) / problem.total**0.5)[:, 0]
        basis = problem.basis()
        return PointMap(SolvedWeights(basis, problem, self.factor, origin, basis.columns), None, None)


@dataclass
class SolvedWeights:
    r"""Weights on the training outputs by triangular solves, :math:`w(x) = G^{-1} k_x + w_0\,(1 - 1^\top G^{-1} k_x)`.

    `factor` is the Cholesky factor of :math:`G = k + \alpha I`; `origin` is :math:`w_0 = G^{-1}1 / 1^\top G^{-1}1`, the
    weights of an input that is like no training input, or None without an intercept.
    """

    basis: KernelBasis
    problem: RidgeProblem
    factor: Array
    origin: Array | None
    columns: int

    def reduced(self) -> SolvedWeights:
        """Return the same without the training inputs and outputs, but for the inputs in the basis."""
        none: Any = ()
        return replace(self, problem=replace(self.problem, inputs=none, outputs=None, groups=None))

    def values(self, inputs: Collection, reference: Any = None) -> Array:
        """Return the weights of each input."""
        right = self.problem.scaled(self.basis.values(inputs, self.factor).T)
        found = self.problem.scaled(CholeskyFactor(self.problem, self.factor).solve(right, 0.0)).T
        if self.origin is None:
            return found
        return found + (1.0 - namespace(found).sum(found, axis=1))[:, None] * self.origin


register(Exact())
register(Cholesky())
register(ExplicitFeatures())
