"""Ridge regression, for any operator and any solver."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np

from mercer.core import memory
from mercer.core.arrays import Array, is_numpy_array, like, namespace, to_numpy
from mercer.core.blocks import Unread
from mercer.core.collections import Collection, count, is_blocks, take
from mercer.core.validation import check_instance
from mercer.embeddings.base import Embedding
from mercer.embeddings.implicit import Implicit
from mercer.embeddings.pivoted import Pivoted
from mercer.embeddings.spectral import PrincipalComponents, Spectral
from mercer.kernels.base import Kernel
from mercer.kernels.precomputed import Precomputed
from mercer.learners.base import Learner, LearningProblem, enough_folds, left_out_by_folds
from mercer.learners.variances import ridge_variances
from mercer.operators.base import Operator
from mercer.operators.identity import Identity
from mercer.selection.alpha import SelectionProblem, copies_together, ridge_selection, warn_if_lost
from mercer.selection.folds import KFold
from mercer.solvers import Auto, Factorization, PointMap, RidgePath, RidgeProblem, Solver
from mercer.solvers.base import on_device_of
from mercer.solvers.kernel_values import gram_matrix, sub_inputs

_RANK = 2000
"""Columns of the factor of the outputs where n×n matrices do not fit."""


PAIRS_EACH = 10
"""Pairs for each coordinate of outputs from which coordinates have an alpha of their own."""
_CLEAR = 1.5
"""Standard errors by which an alpha of its own has to be better for a principal component of the outputs."""

DECADES = np.arange(-7.0, 3.01, 0.5)
"""Powers of ten of alpha, times the mean eigenvalue, for squared distances."""


@dataclass
class Ridge(Learner):
    r"""Kernel ridge regression onto the coordinates of outputs.

    .. math:: \min_{h, b} \sum_i w_i \|h(x_i) + b - \psi(y_i)\|^2 + \alpha \|h\|^2_K

    Parameters
    ----------
    operator : Operator
        K, the interaction of output features.
    alpha : float, {"loo", "kfold", "gcv"} or a rule from `mercer.selection`
        The weight of the norm.
    solver : "auto" or Solver
        The solver of the system.
    fit_intercept : bool
        True for a b, which is not penalised.

    Examples
    --------
    >>> Ridge(alpha=0.1).has_weights
    True
    """

    operator: Operator = field(default_factory=Identity)
    alpha: Any = "loo"
    solver: Any = "auto"
    fit_intercept: bool = True
    device: str | None = None
    """Where the algebra runs, through PyTorch; None for where the inputs are."""
    keep_dual: bool = False
    """True for the dual coefficients and the intercept among the attributes of the fit."""

    @property
    def has_weights(self) -> bool:  # type: ignore[override]
        """True for the identity operator."""
        return self.operator.is_identity

    def preferred_embedding(self, kernel: Kernel, outputs: Collection) -> tuple[Embedding, str] | None:
        """Return the embedding that the solver or the operator calls for."""
        if not self.operator.separable:
            embedding = PrincipalComponents(n_components=self.operator.outputs)
            return embedding, "an operator-valued kernel acts on coordinates"
        found = self._solver().output_embedding()
        if found is not None:
            return found, f"{type(self.solver).__name__} makes no n×n matrix of the outputs either"
        n = count(outputs)
        needed = 8 * n * n * (1.2 if self.operator.is_identity and ridge_selection(self.alpha) is None else 7.5)
        if self.solver == "auto" and needed > 8 * memory.SMALL and needed > memory.available_bytes(outputs):
            return Pivoted(_RANK), f"{n}×{n} matrices do not fit in memory"
        if self.operator.is_identity:
            return Implicit(), "the identity operator needs no coordinates"
        needs = f"{type(self.operator).__name__} needs coordinates"
        if self.operator.wants_orthogonal or not is_numpy_array(outputs):
            origin = "mean" if self.fit_intercept else "zero"
            return Spectral(origin), f"{needs}, and eigenvectors give exact ones"
        return Pivoted(tol=0.0), f"{needs}, and a whole Cholesky factor gives exact ones at the least cost"

    def fit(self, problem: LearningProblem) -> FittedRidge:
        """Solve for one alpha, or choose it first."""
        rule = ridge_selection(self.alpha)
        problem = copies_together(problem, rule)
        ridge = self._ridge_problem(problem, None if rule is not None else float(self.alpha))
        solver, reason = self._solver().choose(ridge)
        factorization = solver.factorize(ridge)
        alpha, alphas, path = ridge.alpha, None, None
        exact = getattr(factorization, "exact", True)
        if alpha is not None and not solver.one_alpha and isinstance(ridge.kernel, Kernel):  # others warn themselves
            warn_if_lost(alpha, ridge.mean_norm)
        if rule is not None:
            if not exact and problem.observed is None:
                rule = KFold(min(5, ridge.size), rule.alphas)  # an iteration has no exact leave-one-out
            whole = factorization.for_choosing_alpha or factorization
            fixed = self.operator.is_identity and problem.embedding.fixed and whole.residual == 0.0
            closed_form = fixed and getattr(whole, "penalty", None) == "function"
            refit = _Refit(self, problem, solver)
            alpha, alphas, path = rule.select(SelectionProblem(whole, problem.criterion, refit, closed_form))
        assert alpha is not None
        found = factorization.map(alpha)
        solver.report(factorization, problem.embedding)
        attributes = {
            "alpha_": alpha,
            "alphas_": alphas,
            "loo_path_": path,
            "operator_": self.operator,
            "solver_": solver,
            "solver_reason_": factorization.reason or reason,
            "residual_": factorization.residual,
        }
        if self.keep_dual:
            attributes |= _dual_attributes(factorization, found, alpha)
        left_out = factorization.left_out_points(alpha) if problem.decoder.needs_left_out_points and exact else None
        weighs = self.has_weights and problem.embedding.fixed and problem.observed is None and not ridge.in_blocks
        held = None if exact else (self, problem.held())
        parts = (found.basis, found.coefficients, found.intercept)
        return FittedRidge(*parts, ridge, solver, alpha, attributes, weighs, left_out, held)

    def _solver(self) -> Solver:
        if self.solver == "auto":
            return Auto(device=self.device)
        expected = "'auto' or a solver from mercer.solvers, such as Exact()"
        solver = check_instance(self.solver, "solver", Solver, expected=expected)
        return solver if self.device is None else on_device_of(solver, self.device)

    def _ridge_problem(self, problem: LearningProblem, alpha: float | None) -> RidgeProblem:
        targets, embedding = problem.targets, problem.embedding
        operator, kernel = self.operator, problem.kernel
        if targets is None and not operator.is_identity:
            raise ValueError(
                f"operator={operator!r} acts on coordinates, which embedding={embedding!r} does not have; use "
                "embedding=PrincipalComponents(n_components=...), or embedding='auto'"
            )
        if targets is not None and operator.has_kernels:
            if operator.outputs not in (None, targets.shape[1]):
                raise ValueError(
                    f"operator={operator!r} is for {operator.outputs} outputs, and {embedding!r} gives outputs "
                    f"{targets.shape[1]} coordinates; expected as many, such as embedding=PrincipalComponents(cutoff=1e-12, "
                    f"n_components={operator.outputs})"
                )
            operator = operator.resolve(problem.inputs, targets.shape[1])
            kernel = next(iter(operator.kernels()), kernel)
        more = not (operator.is_identity or problem.partial) and count(embedding.outputs_) > problem.size
        whole = embedding.coordinates_ if more else None
        orthogonal = embedding.orthogonal_ and not problem.partial and (embedding.centred_ or not self.fit_intercept)
        pairs = (problem.sample_weight, problem.groups, problem.observed, whole, orthogonal)
        needs = problem.decoder.needs_left_out_points
        return RidgeProblem(kernel, problem.inputs, targets, operator, alpha, self.fit_intercept, *pairs, needs)


def _dual_attributes(factorization: Factorization, found: PointMap, alpha: float) -> dict[str, Any]:
    """The dual coefficients, the intercept and the result of an iteration."""
    problem, solution = factorization.problem, getattr(factorization, "solution", None)
    assert problem.targets is not None
    zero = namespace(problem.targets).zeros_like(problem.targets[0, :])
    return {
        "kernel_": problem.operator,
        "dual_coef_": factorization.dual(alpha),
        "intercept_": zero if found.intercept is None else found.intercept,
        "n_iter_": 1 if solution is None else solution.iterations,
        "residual_": 0.0 if solution is None else solution.residual,
    }


@dataclass
class FittedRidge(PointMap):
    """A solved ridge regression."""

    ridge: RidgeProblem
    solver: Solver
    alpha: float
    attributes: dict[str, Any]
    leaves_out_by_weights: bool = False
    """True if h₋ᵢ(x) = h(x) − wᵢ(x) (ψ(yᵢ) − h₋ᵢ(xᵢ)) for every input x, with weights w on the training outputs."""
    left_out: Array | None = None
    """The left-out points, if the fit needed them."""
    held: tuple[Ridge, LearningProblem] | None = None
    """The learner and the problem to fit on folds, if pairs cannot be left out exactly."""

    def __getstate__(self) -> dict[str, Any]:
        # training inputs in blocks are not copied, and are not needed to predict
        unread: Any = Unread(self.ridge.size)
        held = replace(self.ridge, inputs=unread) if self.ridge.in_blocks else self.ridge
        return vars(self) | {"ridge": held}

    @property
    def groups(self) -> np.ndarray | None:
        """The group of each training pair; None if pairs are left out one by one."""
        return self.ridge.groups

    def left_out_points(self) -> Array:
        """Return the point of each pair from the fit without it, NaN for missing outputs; by folds for iterations."""
        return self.points_without(self.groups) if self.left_out is None else self.left_out

    def points_without(self, groups: np.ndarray | None) -> Array:
        """Return the point of each pair from the fit without its group, or without it alone."""
        if self.held is None:
            ridge = self.ridge if groups is self.groups else replace(self.ridge, groups=groups)
            found = self.solver.factorize(ridge).left_out_points(self.alpha)
            missing = None if self.ridge.observed is None else like(~self.ridge.observed, found)
            return found if missing is None else namespace(found).where(missing, float("nan"), found)
        learner, problem = self.held
        return left_out_by_folds(replace(learner, alpha=self.alpha).fit, replace(problem, groups=groups))

    def weights(self, inputs: Collection) -> Array | None:
        """Return (k + αI)⁻¹k_x and the share of the intercept; None for operators and learned coordinates."""
        if not self.leaves_out_by_weights:
            return None
        if self.ridge.targets is None:
            return self.points(inputs)
        # predicting takes coordinates alone; weights take the factor of k again
        return self.solver.factorize(self.ridge).weights(inputs, self.alpha)

    def reduced(self) -> PointMap:
        """Return the basis, the coefficients and the intercept."""
        basis = self.basis.reduced() if hasattr(self.basis, "reduced") else self.basis
        return PointMap(basis, self.coefficients, self.intercept)

    def variances(self, inputs: Collection) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the variances of outputs at new inputs and at those left out, over that of the noise; None for iterations."""
        exact = self.held is None and self.attributes.get("residual_", 0.0) == 0.0
        return ridge_variances(self.ridge, self.alpha, inputs) if exact else None


@dataclass
class LearnedRidge(FittedRidge):
    """A ridge under a kernel that its learner found in the same pairs: pairs are left out by folds, each with its own kernel."""

    learner: Any = None
    problem: Any = None
    n_splits: int | None = None
    """The number of folds; None for `enough_folds`."""

    def left_out_points(self) -> Array:
        """Return the point of each pair from a kernel and a ridge learned without its fold."""
        return self.points_without(self.groups)

    def points_without(self, groups: np.ndarray | None) -> Array:
        """Return the point of each pair from a kernel and a ridge learned without its group, and others of its fold."""
        problem = replace(self.problem, groups=groups)
        return left_out_by_folds(self.learner.fit, problem, self.n_splits or enough_folds(problem.size))


def best_of_each(path: RidgePath, ridge: RidgeProblem, solver: Solver, components: bool = False) -> FittedRidge:
    """Return the ridge with the alpha of least left-out squared error for each coordinate, from one decomposition.

    With `components` there is one alpha for all principal components of the outputs, except those for which another one leaves
    out clearly better. `alpha` of the result is the geometric mean.
    """
    grid, targets = 10.0**DECADES * (path.scale or 1.0), to_numpy(ridge.targets)
    weight = np.ones(len(targets)) if ridge.sample_weight is None else ridge.sample_weight / ridge.sample_weight.mean()
    mean = np.average(targets, axis=0, weights=weight)
    axes = np.linalg.svd(np.sqrt(weight)[:, None] * (targets - mean), full_matrices=False)[2].T if components else None

    def squares(alpha: float) -> np.ndarray:
        left = to_numpy(path.left_out_points(alpha)) - targets
        return weight[:, None] * (left if axes is None else left @ axes) ** 2

    if components:
        chosen = _clearly_best(np.stack([squares(alpha) for alpha in grid.tolist()]))
    else:
        errors = np.stack([squares(alpha).mean(axis=0) for alpha in grid.tolist()])
        if len(targets) < PAIRS_EACH * targets.shape[1]:
            # too few pairs to tell coordinates apart: all share one alpha
            errors = np.repeat(errors.mean(axis=1, keepdims=True), targets.shape[1], axis=1)
        chosen = _largest_of_least(errors)
    points, parts, intercept = np.zeros(targets.shape), [], np.zeros(targets.shape[1])
    for i in np.unique(chosen):
        found, level = path.coefficients(float(grid[i]))
        left, own = to_numpy(path.left_out_points(float(grid[i]))), chosen == i
        if axes is None:
            points[:, own], intercept[own] = left[:, own], to_numpy(level)[own]
            parts.append(to_numpy(found) * own)
        else:
            onto = axes[:, own] @ axes[:, own].T
            points, intercept = points + (left - mean) @ onto, intercept + (to_numpy(level) - mean) @ onto
            parts.append(to_numpy(found) @ onto)
    if axes is not None:
        points, intercept = points + mean, intercept + mean
    alpha, shared = float(np.exp(np.mean(np.log(grid[chosen])))), len(parts) == 1
    return FittedRidge(path.basis, sum(parts), intercept, ridge, solver, alpha, {"alpha_": alpha}, shared, points)


def _largest_of_least(errors: np.ndarray) -> np.ndarray:
    """The row of the least error in each column, of equal errors the last."""
    return len(errors) - 1 - np.argmin(errors[::-1], axis=0)


def _clearly_best(squares: np.ndarray) -> np.ndarray:
    """The alpha of each component, from squares (alphas, pairs, components): that of all unless another is clearly better."""
    together = int(_largest_of_least(squares.sum(axis=(1, 2))[:, None])[0])
    gains = squares[together] - squares
    clear = gains.mean(axis=1) - _CLEAR * gains.std(axis=1, ddof=1) / np.sqrt(squares.shape[1])
    clear[together] = 0.0
    best = _largest_of_least(-clear)
    return np.where(clear.max(axis=0) > 0.0, best, together)


class _Refit:
    """The refit on the training part of a fold; folds of one process share the Gram matrix of all inputs."""

    def __init__(self, learner: Ridge, problem: LearningProblem, solver: Solver) -> None:
        self.learner, self.problem, self.makes_gram = learner, problem, solver.makes_gram
        # the blocks of inputs are already tasks of their own
        self.one_by_one = is_blocks(problem.inputs)
        self._source: LearningProblem | None = None
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state | {"_lock": Lock()}

    def source(self) -> LearningProblem:
        """Return the problem with the Gram matrix of its inputs, where the solver makes one."""
        problem = self.problem
        with self._lock:  # folds that run side by side wait for the one Gram matrix
            shares = self.makes_gram and not problem.kernel.pairwise and not self.learner.operator.kernels()
            if self._source is None and shares:
                gram = gram_matrix(problem.kernel, problem.inputs, "input", 3)
                self._source = replace(problem, kernel=Precomputed(), inputs=gram)
        return self._source or problem

    def __call__(self, train: np.ndarray, held_out: np.ndarray) -> Any:
        """Return the points of the held-out inputs for an alpha, the embedding, the decoder and the held-out outputs."""
        learner, source = self.learner, self.source()
        part = source.refitted(train)
        ridge = learner._ridge_problem(part, None)
        chosen = learner._solver().for_part(ridge.size).choose(ridge).part
        factorization = chosen.factorize(ridge)
        factorization = factorization.for_choosing_alpha or factorization
        queries = sub_inputs(source.kernel, source.inputs, held_out, train)

        def points(alpha: float) -> Array:
            return factorization.map(alpha).points(queries)

        return points, part.embedding, part.decoder, take(self.problem.outputs, held_out)
