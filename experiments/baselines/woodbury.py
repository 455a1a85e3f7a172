"""The low-rank solver of Kadri et al. as they wrote it: one system of size m₁m₂ by the Woodbury formula (their equation 15)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from mercer.core import memory
from mercer.core.arrays import Array, to_numpy
from mercer.core.columns import ColumnChoice
from mercer.operators import OperatorSpectrum
from mercer.solvers import Factorization, LowRank, RidgeProblem
from mercer.solvers.kernel_values import KernelBasis, PointMap


class Woodbury(LowRank):
    r"""Low-rank factors of both sides, joined in one system.

    With :math:`k = G G^\top` and :math:`C = W W^\top`, the Woodbury formula gives

    .. math:: Z = \tfrac{1}{\alpha}\,(V - G M W^\top), \qquad
        (\alpha I + W^\top W \otimes G^\top G)\,\mathrm{vec}(M) = \mathrm{vec}(G^\top V W),

    a system of size m₁m₂: O((m₁m₂)³) where `LowRank` takes two eigendecompositions of size m. Parameters are those of `LowRank`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.operators import Covariance
    >>> X = np.linspace(0, 1, 30)[:, None]
    >>> problem = RidgeProblem(Gaussian(1.0), X, np.hstack([X, X**2]), Covariance(), alpha=0.1)
    >>> one, other = (solver.factorize(problem).map(0.1).points(X) for solver in (Woodbury(tol=1e-10), LowRank(tol=1e-10)))
    >>> bool(np.allclose(one, other))
    True
    """

    def approximation(self, problem: RidgeProblem) -> WoodburySystem:  # type: ignore[override]
        """Factor the Gram matrix on few columns."""
        return WoodburySystem(problem, self)


class WoodburySystem(Factorization):
    """Factors of both sides, and their joint system for one alpha."""

    def __init__(self, problem: RidgeProblem, solver: LowRank) -> None:
        super().__init__(problem)
        choice = ColumnChoice(solver.rank, solver.tol, solver.pivots, solver.random_state)
        self.factor = choice.factor(problem.kernel, problem.inputs)
        self.residual, self.rank = self.factor.residual, self.factor.factor.shape[1]
        self.rows = to_numpy(problem.scaled(self.factor.factor))

    @cached_property
    def _spectrum(self) -> OperatorSpectrum | None:
        """C, with the low-rank Gram matrix wherever it looks at the inputs."""
        problem = self.problem
        if problem.operator.is_identity:
            return None
        assert problem.targets is not None
        return problem.operator_spectrum(problem.decompose_features(self.factor.factor), problem.targets)[0]

    def solve(self, right: Array, alpha: float) -> Array:
        """Return (GGᵀ + αI)⁻¹ times `right`, by the same formula with one direction."""
        inner = self.rows.T @ self.rows + alpha * np.eye(self.rows.shape[1])
        return (right - self.rows @ np.linalg.solve(inner, self.rows.T @ right)) / alpha

    def map(self, alpha: float) -> PointMap:
        """Return the map from inputs to points, in the same low-rank factor as training."""
        problem = self.problem
        values = np.ones(self._targets.shape[1]) if self._spectrum is None else to_numpy(self._spectrum.values)
        # V and W in the eigenvectors of C, where W is diagonal
        V, G = problem.centred(to_numpy(self._targets)), problem.centred(self.rows)
        W = np.diag(np.sqrt(np.maximum(values, 0.0)))
        size = G.shape[1] * W.shape[1]
        memory.require(size, size, 2, "the joint system of both factors", "use LowRank, or a smaller rank")
        system = np.kron(W.T @ W, G.T @ G)
        system[np.diag_indices(size)] += alpha
        M = np.linalg.solve(system, (G.T @ V @ W).ravel(order="F")).reshape(G.shape[1], -1, order="F")
        dual = ((V - G @ M @ W.T) / alpha) * values
        fitted = self.rows @ (self.rows.T @ dual)
        constant = problem.constant(V)
        level = None
        if constant is not None:
            level = self._unrotated((constant @ (to_numpy(self._targets) - fitted))[None, :])[0] / problem.total**0.5
        inside = to_numpy(self.factor.factor).T @ to_numpy(problem.scaled(self._unrotated(dual)))
        basis = KernelBasis.of(problem.kernel, problem.inputs, self.factor.pivots)
        return PointMap(basis, self.factor.on_pivots(inside), level)
