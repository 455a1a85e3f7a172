"""Max-margin learning with joint kernels: structured support vector machines, and the joint kernel maps of Weston et al. 2007."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer.core import memory
from mercer.core.arrays import Array, like, to_numpy
from mercer.core.collections import Collection, distinct, take
from mercer.core.validation import check_choice, check_instance, check_real, check_whole
from mercer.embeddings import Features, Implicit, Spectral
from mercer.embeddings.base import Embedding
from mercer.kernels.base import Kernel
from mercer.kernels.vectors import Linear
from mercer.learners.base import Learner, LearningProblem, left_out_by_folds
from mercer.operators.joint import CoordinateJoint, InducedJoint, JointKernel
from mercer.solvers.kernel_values import gram_matrix


@dataclass
class MaxMargin(Learner):
    r"""Score the true output of each pair above all other training outputs, by a margin.

    .. math:: \min_W \tfrac12 \|W\|^2 + C \sum_i \max_y \bigl[m(y_i, y) + s(x_i, y) - s(x_i, y_i)\bigr], \qquad
        s(x, y) = \langle W, \Phi(x, y)\rangle - \tfrac12 \|\psi(y)\|^2

    Φ is the feature map of a joint kernel, and candidates y are the distinct training outputs; :math:`m = 0` for
    :math:`y_i` itself. A large s is a small distance of ψ(y) to a point h(x), so that decoders and candidates of new outputs work
    as for every learner. Training is block-coordinate Frank–Wolfe on the dual (Lacoste-Julien et al. 2013) with
    pairwise steps and exact line searches; a pass looks at each pair and all K candidates once, at O(n K) for a pair.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the violations.
    margin : {"loss", "epsilon"}, default="loss"
        "loss" is the margin-rescaled structured support vector machine (M3N, Taskar et al. 2004; Tsochantaridis et al. 2005):
        m is the loss of the estimator, or the squared distance of the output kernel if it has none. "epsilon" is the
        program of joint kernel maps: :math:`m = \varepsilon^2/4` for outputs further than ε from the true one, and no
        constraint for those that are nearer.
    epsilon : float, default=0.1
        ε, a distance in the output feature space.
    joint_kernel : JointKernel, optional
        Similarity of pairs; by default the product of the two kernels of the estimator. `InducedJoint` has an operator between
        outputs; a `CoordinateJoint`, such as `PatchwiseJoint`, a kernel for each output coordinate.
    tol : float, default=0.01
        Stop when the duality gap is below this share of the objective.
    max_passes : int, default=200
        Most passes over the pairs; a `ConvergenceWarning` is raised if the gap is still larger.
    random_state : int, default=0
        Seed of the order of the pairs.

    Notes
    -----
    The program is solved in the feature space of the output kernel itself. With ``embedding=PrincipalComponents()`` it is that of
    the components kept, measured from the mean output, and ``objective_`` is another number.

    Name the loss in the estimator and pass ``decoder=Candidates()``: the margin has taken the loss into account, and the best
    score is the answer. Attributes of the fitted estimator: ``gap_``, ``objective_`` and ``n_iter_``.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> from mercer.decoders import Candidates
    >>> from mercer.kernels import Subsequence
    >>> kernel = Subsequence(length=2).normalized()
    >>> model = DependencyEstimator(kernel, kernel, regressor=MaxMargin(C=10.0), decoder=Candidates())
    >>> model.fit(["aab", "bba", "abb"], ["xxy", "yyx", "xyy"]).predict(["aaab"])
    array(['xxy'], dtype=object)
    """

    C: float = 1.0
    margin: str = "loss"
    epsilon: float = 0.1
    joint_kernel: JointKernel | None = None
    tol: float = 0.01
    max_passes: int = 200
    random_state: int = 0
    fit_intercept: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("C", "epsilon", "tol"):
            check_real(getattr(self, name), name)
        check_choice(self.margin, "margin", ("loss", "epsilon"))
        check_whole(self.max_passes, "max_passes")
        if self.joint_kernel is not None:
            expected = "None, InducedJoint(...) or a CoordinateJoint such as PatchwiseJoint(shape)"
            check_instance(self.joint_kernel, "joint_kernel", (InducedJoint, CoordinateJoint), expected=expected)

    def preferred_embedding(self, kernel: Kernel, outputs: Collection) -> tuple[Embedding, str] | None:
        """Return coordinates in which products are those of the output kernel, so that the program is the one stated."""
        joint = self.joint_kernel
        if isinstance(joint, CoordinateJoint):
            return Features(), f"{joint!r:.60} has a kernel for each output coordinate"
        if joint is None or joint.operator.is_identity:
            return Implicit(), "margins and scores are products of the output kernel"
        return Spectral(), f"{joint!r:.60} acts on coordinates, and all of them count"

    def fit(self, problem: LearningProblem) -> FittedMaxMargin:
        """Find the coefficients of pairs and candidates."""
        first, group = distinct(problem.outputs, problem.embedding.kernel_.key)
        dual = _Dual(self, problem, first, group)
        gap, objective, passes = dual.ascend(self)
        parts = [
            (coordinates, dual.beta @ points) for coordinates, points in zip(dual.coordinates, dual.points, strict=True)
        ]
        attributes = {"gap_": gap, "objective_": objective, "n_iter_": passes}
        return FittedMaxMargin(self, problem.held(), first, dual.beta, parts, attributes)


class _Dual:
    """The dual problem: weights of the candidates for each pair, and the scores they give.

    W is a combination of the pairs' features, and all products are sums of input Gram matrices times candidate Gram matrices, one
    term for each group of output coordinates that share a kernel.
    """

    def __init__(self, learner: MaxMargin, problem: LearningProblem, first: np.ndarray, group: np.ndarray) -> None:
        n, K = problem.size, len(first)
        memory.require(n, max(n, K), 4, f"scores of {n} pairs and {K} candidates", "learn from fewer pairs")
        candidates, kernel = take(problem.outputs, first), problem.embedding.kernel_
        targets = None if problem.targets is None else to_numpy(problem.targets)
        in_coordinates = targets is not None and problem.embedding.euclidean
        rows = np.eye(n)[first] if targets is None else targets[first]
        self.coordinates: list[np.ndarray | None]
        self.grams, self.points, self.coordinates = _terms(learner, problem, rows)
        if in_coordinates:
            own = rows @ rows.T
            self.products = [
                points @ (rows if at is None else rows[:, at]).T
                for points, at in zip(self.points, self.coordinates, strict=True)
            ]
        else:
            own = to_numpy(kernel(candidates))
            self.products = [own]
        self.group, self.beta = group, np.zeros((n, K))
        norms = np.diag(own)
        distances = np.maximum(norms[:, None] + norms - 2.0 * own, 0.0)
        self.margins = _margins(learner, problem, candidates, distances)[group] + 0.5 * (norms[group][:, None] - norms)
        # the truth itself violates nothing
        self.margins[np.arange(n), group] = 0.0
        self.scores = np.zeros((n, K))
        weight = np.ones(n) if problem.sample_weight is None else np.asarray(problem.sample_weight, dtype=float)
        self.bounds = learner.C * weight
        self.alpha = np.zeros((n, K))
        self.alpha[np.arange(n), group] = 1.0

    def ascend(self, learner: MaxMargin) -> tuple[float, float, int]:
        """Run passes until the duality gap is small; return the gap, the objective and the number of passes."""
        rng = np.random.default_rng(learner.random_state)
        n, passes = len(self.beta), 0
        gap, objective = self._gap()
        while gap > learner.tol * objective and passes < learner.max_passes:
            for i in rng.permutation(n):
                self._step(int(i))
            passes += 1
            gap, objective = self._gap()
        if gap > learner.tol * objective:
            warnings.warn(
                f"after {passes} passes the duality gap is {gap / objective:.2g} of the objective, and tol={learner.tol!r}; "
                "raise max_passes, or lower C",
                ConvergenceWarning,
                stacklevel=4,
            )
        return gap, objective, passes

    def _step(self, i: int) -> None:
        """Move weight of one pair from its least violation in use to its worst one, as far as the dual grows."""
        values = self.margins[i] + self.scores[i]
        worst, least = int(np.argmax(values)), int(np.argmin(np.where(self.alpha[i] > 0, values, np.inf)))
        slope = float(values[worst] - values[least])
        if slope <= 0.0:
            return
        bound, most = self.bounds[i], self.alpha[i, least]
        moved = [bound * (product[least] - product[worst]) for product in self.products]
        curvature = sum(
            gram[i, i] * bound * float(each[least] - each[worst]) for gram, each in zip(self.grams, moved, strict=True)
        )
        size = most if curvature * most <= bound * slope else bound * slope / curvature
        # all of it, without what rounding would leave
        self.alpha[i, least] = 0.0 if size == most else most - size
        self.alpha[i, worst] += size
        self.beta[i, least] += size * bound
        self.beta[i, worst] -= size * bound
        for gram, each in zip(self.grams, moved, strict=True):
            self.scores += size * gram[:, i][:, None] * each

    def _gap(self) -> tuple[float, float]:
        """Return the duality gap and the objective."""
        rows = np.arange(len(self.beta))
        norm = float(np.sum(self.beta * self.scores))
        violations = np.max(self.margins + self.scores - self.scores[rows, self.group][:, None], axis=1)
        objective = 0.5 * norm + float(self.bounds @ violations)
        allowed = np.where(self.alpha > 0, self.margins, 0.0)
        dual = -0.5 * norm + float(self.bounds @ np.sum(self.alpha * allowed, axis=1))
        return max(objective - dual, 0.0), max(objective, np.finfo(float).tiny)


def _terms(
    learner: MaxMargin, problem: LearningProblem, rows: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray], list[Any]]:
    """Return the input Gram matrix, the points of the candidates and the coordinates (None for all) of each term."""
    joint = learner.joint_kernel
    if isinstance(joint, CoordinateJoint):
        targets = problem.require_targets(learner)
        if getattr(joint, "output_kernel", Linear()) != Linear() or problem.embedding.kernel_ != Linear():
            raise ValueError(
                f"joint_kernel={joint!r:.60} is linear in output vectors and output_kernel={problem.embedding.kernel_!r:.60}; "
                "expected output_kernel=Linear(), or joint_kernel=None for the product of two kernels"
            )
        groups = joint.resolve(problem.inputs, targets).groups(problem.inputs, None, rows.shape[1])
        return (
            [to_numpy(gram) for _, gram in groups],
            [rows[:, at] for at, _ in groups],
            [np.asarray(at) for at, _ in groups],
        )
    gram = to_numpy(gram_matrix(problem.kernel, problem.inputs, "input", 3))
    if joint is None or joint.operator.is_identity:
        return [gram], [rows], [None]
    if joint.output_kernel != problem.embedding.kernel_ or joint.input_kernel != problem.kernel:
        raise ValueError(
            f"joint_kernel={joint!r:.80} has other kernels than the estimator, {problem.kernel!r:.40} and "
            f"{problem.embedding.kernel_!r:.40}; expected the same two"
        )
    targets = problem.require_targets(learner)
    ridge = replace(problem.ridge(targets, False), operator=joint.operator)
    matrix = to_numpy(joint.operator.matrix(ridge.operator_outputs(ridge.decomposed(), targets)))
    return [gram], [rows * matrix if matrix.ndim == 1 else rows @ matrix], [None]


def _margins(learner: MaxMargin, problem: LearningProblem, candidates: Collection, distances: np.ndarray) -> np.ndarray:
    """Return m(y, y') of all candidates; minus infinity where there is no constraint."""
    if learner.margin == "epsilon":
        return np.where(distances > learner.epsilon**2, 0.25 * learner.epsilon**2, -np.inf)
    loss = problem.decoder.loss_
    return distances if loss is None else to_numpy(loss.matrix(candidates, candidates))


@dataclass
class FittedMaxMargin:
    """Coefficients of pairs and candidates."""

    learner: MaxMargin
    problem: LearningProblem
    first: np.ndarray
    beta: np.ndarray
    parts: list[tuple[np.ndarray | None, np.ndarray]]
    attributes: dict[str, Any]

    def points(self, inputs: Collection) -> Array:
        """Return h(x) with ⟨h(x), ψ(y)⟩ = ⟨W, Φ(x, y)⟩."""
        joint = self.learner.joint_kernel
        if isinstance(joint, CoordinateJoint):
            fixed: Any = joint.resolve(self.problem.inputs, self.problem.require_targets(self.learner))
            width = sum(len(at) for at, _ in self.parts if at is not None)
            groups = fixed.groups(inputs, self.problem.inputs, width)
            found = np.zeros((len(groups[0].gram), width))
            for (at, gram), (_, coefficients) in zip(groups, self.parts, strict=True):
                found[:, at] = to_numpy(gram) @ coefficients
            return like(found, groups[0].gram)
        values = self.problem.kernel(inputs, self.problem.inputs)
        return values @ like(self.parts[0][1], values)

    def left_out_points(self) -> Array:
        """Return the point of each pair from the fit without its fold."""
        return left_out_by_folds(self.learner.fit, self.problem)

    def weights(self, inputs: Collection) -> Array | None:
        """Return weights on the first of equal training outputs; None if an operator or coordinates act on them."""
        joint = self.learner.joint_kernel
        if joint is not None and not (isinstance(joint, InducedJoint) and joint.operator.is_identity):
            return None
        values = to_numpy(self.problem.kernel(inputs, self.problem.inputs)) @ self.beta
        found = np.zeros((len(values), self.problem.size))
        found[:, self.first] = values
        return found
