"""Joint kernel maps: regression with a similarity of input-output pairs (Weston et al. 2007), by least squares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.core import memory
from mercer.core.arrays import Array, like, namespace
from mercer.core.collections import Collection, take
from mercer.core.validation import check_instance
from mercer.embeddings.base import Embedding
from mercer.kernels.base import Kernel
from mercer.kernels.vectors import Linear
from mercer.learners.base import Learner, LearningProblem
from mercer.learners.ridge import FittedRidge, Ridge
from mercer.operators.identity import Identity
from mercer.operators.joint import CoordinateJoint, InducedJoint, TensorProductJoint
from mercer.selection.alpha import copies_together, leave_one_out_only
from mercer.solvers.base import RidgeProblem
from mercer.solvers.ridge_path import RidgePath


@dataclass
class JointMap(Learner):
    """One ridge regression for each group of output coordinates that share a kernel, all with the same alpha.

    The parameters are those of `mercer.estimators.JointKernelMap`.

    Examples
    --------
    >>> JointMap(alpha=0.1)
    JointMap(joint_kernel=TensorProductJoint(), alpha=0.1, fit_intercept=True)
    """

    joint_kernel: CoordinateJoint = TensorProductJoint()  # noqa: RUF009 - joint kernels are values
    alpha: Any = "loo"
    fit_intercept: bool = True

    def __post_init__(self) -> None:
        expected = "one that is linear in the outputs, such as PatchwiseJoint(shape); use InducedMap for others"
        joint = check_instance(self.joint_kernel, "joint_kernel", CoordinateJoint, expected=expected)
        if is_product(joint):
            raise ValueError(f"joint_kernel={joint!r} is not linear in the outputs; use InducedMap(joint_kernel)")

    def fit(self, problem: LearningProblem) -> FittedJointMap:
        """Decompose the Gram matrix of each group, choose alpha and solve."""
        problem = copies_together(problem, leave_one_out_only(self.alpha))
        targets = problem.require_targets(self)
        joint = self.joint_kernel.resolve(problem.inputs, targets)
        ridge = problem.ridge(targets, self.fit_intercept)
        paths = _GroupPaths(joint, ridge)
        attributes = problem.choose_alpha(self.alpha, paths) | {"joint_kernel_": joint}
        alpha = attributes["alpha_"]
        coefficients = [each.coefficients(alpha) for each in paths.paths]
        return FittedJointMap(joint, ridge, coefficients, alpha, attributes)


def is_product(joint: Any) -> bool:
    """Return True for k(x, x')·⟨ψ(y), C ψ(y')⟩ with an operator C, or with features ψ of an output kernel."""
    if isinstance(joint, InducedJoint):
        return True
    return isinstance(joint, TensorProductJoint) and joint.output_kernel != Linear()


@dataclass
class InducedMap(Learner):
    r"""Ridge regression with the joint kernel that an operator induces, :math:`J = k(x, x')\,\langle\psi(y), C\,\psi(y')\rangle`.

    ψ may be the feature map of any output kernel; the best y is then found among candidates. The kernels are those of the
    estimator, and C is learned from the pairs. The parameters are those of `mercer.estimators.JointKernelMap`.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> from mercer.operators import Covariance
    >>> InducedMap(InducedJoint(Gaussian(1.0), Gaussian(2.0), Covariance()), alpha=0.1).ridge.operator
    Covariance()
    """

    joint_kernel: InducedJoint | TensorProductJoint
    alpha: Any = "loo"
    fit_intercept: bool = True

    def __post_init__(self) -> None:
        expected = (
            "InducedJoint(input_kernel, output_kernel, operator) or TensorProductJoint(input_kernel, output_kernel)"
        )
        check_instance(self.joint_kernel, "joint_kernel", (InducedJoint, TensorProductJoint), expected=expected)
        leave_one_out_only(self.alpha)

    @property
    def ridge(self) -> Ridge:
        """The ridge regression with the operator."""
        operator = getattr(self.joint_kernel, "operator", Identity())
        return Ridge(clone(operator), self.alpha, "auto", self.fit_intercept)

    @property
    def has_weights(self) -> bool:  # type: ignore[override]
        """True for the identity operator."""
        return self.ridge.has_weights

    def preferred_embedding(self, kernel: Kernel, outputs: Collection) -> tuple[Embedding, str] | None:
        """Return the embedding that the operator calls for."""
        return self.ridge.preferred_embedding(kernel, outputs)

    def fit(self, problem: LearningProblem) -> FittedRidge:
        """Learn C, choose alpha and solve."""
        found, ridge = self.ridge.fit(problem), self.ridge
        joint = InducedJoint(problem.kernel, problem.embedding.kernel_, ridge.operator)
        found.attributes["joint_kernel_"] = joint.resolve(problem.inputs, problem.outputs)
        return found


class _GroupPaths:
    """The ridge paths of all groups of output coordinates."""

    def __init__(self, joint: CoordinateJoint, ridge: RidgeProblem) -> None:
        assert ridge.targets is not None
        width, n = ridge.targets.shape[1], ridge.size
        groups = joint.groups(ridge.inputs, None, width)
        what = f"{len(groups)} groups of output coordinates"
        memory.require(n, n, 3 * len(groups), what, "use larger patches that overlap less, or fewer pairs")
        self.coordinates = [group.coordinates for group in groups]
        self.paths = []
        for coordinates, gram in groups:
            gram = ridge.scale_gram(namespace(gram).asarray(gram, copy=True))
            spectrum = ridge.decompose(gram, "a Gram matrix of the joint kernel")
            own = replace(ridge, targets=take(ridge.targets.T, coordinates).T)
            self.paths.append(RidgePath.of(own, spectrum))
        self.scale = max(path.scale for path in self.paths)

    def left_out_points(self, value: float) -> Array:
        """Return the point of each pair from the fit without it."""
        return in_order([path.left_out_points(value) for path in self.paths], self.coordinates)

    def risks(self, values: Sequence[float], gram: Array | None = None) -> Iterator[Array]:
        """Yield squared distances of these points to the outputs, for each alpha."""
        for risks in zip(*(path.risks(values) for path in self.paths), strict=True):
            yield sum(risks)


@dataclass
class FittedJointMap:
    """A joint kernel map."""

    joint: CoordinateJoint
    ridge: RidgeProblem
    coefficients: list[tuple[Array, Array | None]]
    alpha: float
    attributes: dict[str, Any]

    def points(self, inputs: Collection) -> Array:
        """Return the best output of each input."""
        assert self.ridge.targets is not None
        groups = self.joint.groups(inputs, self.ridge.inputs, self.ridge.targets.shape[1])
        parts = []
        for (_, gram), (own, intercept) in zip(groups, self.coefficients, strict=True):
            found = gram @ like(own, gram)
            parts.append(found if intercept is None else found + like(intercept, found))
        return in_order(parts, [group.coordinates for group in groups])

    def left_out_points(self) -> Array:
        """Return the best output of each pair from the fit without it."""
        return _GroupPaths(self.joint, self.ridge).left_out_points(self.alpha)

    def weights(self, inputs: Collection) -> None:
        """Return None: each group of coordinates has weights of its own."""
        return


def in_order(parts: list[Array], coordinates: list[np.ndarray]) -> Array:
    """Return the columns of all groups, each at its place."""
    together = namespace(parts[0]).concat(parts, axis=1)
    return take(together.T, np.argsort(np.concatenate(coordinates))).T
