"""Joint kernel maps: regression with a similarity of input-output pairs (Weston et al. 2007)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.core import memory
from mercer.core.arrays import Array, clip_spectrum, is_array, like, namespace, to_numpy
from mercer.core.collections import Collection, take
from mercer.decoders import ClosedForm
from mercer.embeddings import Features
from mercer.estimators.base import ObjectEstimator
from mercer.estimators.data import OutputForm, check_inputs, check_lengths
from mercer.kernels import Linear
from mercer.losses import resolve_loss
from mercer.operators.joint import CoordinateJoint, TensorProductJoint
from mercer.selection.ridge import LeaveOneOut, ridge_selection
from mercer.solvers import GramEigh, Ridge


class JointKernelMap(ObjectEstimator):
    r"""A linear functional of pairs, :math:`f(x) = \arg\max_y 2\langle W, \Phi(x, y)\rangle - \|y\|^2`.

    Φ is the feature map of a joint kernel that is linear in the output vector, so the best y is known in closed form,
    and W is found by least squares:

    .. math:: \min_W \sum_i \|f_W(x_i) - y_i\|^2 + \alpha \|W\|^2 .

    Weston et al. ask instead that each training output lies within ε of its prediction; the squared error in its place
    needs no quadratic program, and gives every α and exact leave-one-out from one decomposition per group of outputs.

    Parameters
    ----------
    joint_kernel : CoordinateJoint, default=TensorProductJoint()
        Similarity of pairs, such as `mercer.operators.PatchwiseJoint`. A tensor product is `DependencyEstimator` with
        the identity operator.
    alpha : float, "loo" or LeaveOneOut, default="loo"
        The ridge.
    centered : bool, default=False
        Learn what differs from the mean output. The paper does not.
    bounds : None, "data" or (low, high), default=None
        The box answers lie in, such as (0, 1) for pixels; see `mercer.decoders.ClosedForm`.

    Attributes
    ----------
    alpha_ : float
        The ridge in use.
    alphas_, loo_path_ : array or None
        The ridges tried, and the mean squared leave-one-out distance of each; with ``centered`` the mean is held fixed.
    joint_kernel_ : CoordinateJoint
        The joint kernel with what depends on data filled in.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators import JointKernelMap
    >>> from mercer.operators import PatchwiseJoint
    >>> images = np.random.default_rng(0).random((20, 6, 6))
    >>> model = JointKernelMap(PatchwiseJoint((6, 6), size=3, overlap=1)).fit(images, 1.0 - images)
    >>> model.predict(images[:2]).shape
    (2, 6, 6)
    """

    input_kernel = Linear()  # both sides are vectors
    output_kernel = Linear()
    loss = None

    def __init__(
        self,
        joint_kernel: CoordinateJoint = TensorProductJoint(),  # noqa: B008 - joint kernels are values; fit never changes them
        alpha: Any = "loo",
        centered: bool = False,
        bounds: Any = None,
    ) -> None:
        self.joint_kernel = joint_kernel
        self.alpha = alpha
        self.centered = centered
        self.bounds = bounds

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Learn from pairs of vectors (or images: rows of any shape).

        Parameters
        ----------
        X, y : collections of n vectors
            Inputs and outputs.
        groups : sequence of n labels, optional
            Pairs that belong together (pictures of one person, virtual examples of one image): leave-one-out then leaves
            out a whole group at a time, exactly.
        """
        rule = self._check_arguments()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        inputs = check_inputs(self, X, self.input_kernel, reset=True)
        form = OutputForm.of(y, self.output_kernel)
        outputs = form.inward(y, self.output_kernel, "y")
        check_lengths(inputs, outputs)
        together = None if groups is None else _members(groups, outputs.shape[0])
        joint = self.joint_kernel.resolve(inputs, outputs)
        xp = namespace(outputs)
        mean = xp.mean(outputs, axis=0) if self.centered else xp.zeros_like(outputs[0, :])
        path = _GroupedRidge(joint, inputs, outputs - mean)
        alphas = figures = None
        if rule is None:
            alpha = float(self.alpha)
        else:
            alphas = rule.grid(path.widest)
            figures = np.asarray([float(xp.mean(path.leave_one_out_risk(float(a), together))) for a in alphas])
            alpha = float(np.max(alphas[figures == np.min(figures)]))

        self._form, self._mean, self._inputs = form, mean, inputs
        self._coefficients = path.coefficients(alpha)
        self.joint_kernel_, self.alpha_, self.alphas_, self.loo_path_ = joint, alpha, alphas, figures
        self.input_kernel_ = self.output_kernel_ = self.output_kernel
        self.loss_ = resolve_loss(None, self.output_kernel_)
        embedding = Features().fit(self.output_kernel_, outputs)
        self.decoder_ = ClosedForm(self.bounds).fit(embedding, self.loss_)
        self.embedding_, self.calibration_ = embedding, None
        return self

    def _points(self, inputs: Collection) -> Array:
        width = self._mean.shape[0]
        groups = self.joint_kernel_.groups(inputs, self._inputs, width)
        parts = [gram @ like(own, gram) for (_, gram), own in zip(groups, self._coefficients, strict=True)]
        found = _in_order(parts, [group.coordinates for group in groups])
        return found + like(self._mean, found)

    def _check_arguments(self) -> LeaveOneOut | None:
        joint = self.joint_kernel
        if not isinstance(joint, CoordinateJoint):
            raise TypeError(
                f"joint_kernel={joint!r}; expected one that is linear in the outputs, such as "
                "mercer.operators.PatchwiseJoint(shape). For an operator use DependencyEstimator(operator=...)"
            )
        if isinstance(joint, TensorProductJoint) and joint.output_kernel != Linear():
            raise ValueError(
                f"joint_kernel={joint!r} is not linear in the outputs; use "
                "DependencyEstimator(input_kernel, output_kernel), which is the same map"
            )
        rule = ridge_selection(self.alpha)
        if rule is not None and not isinstance(rule, LeaveOneOut):
            raise ValueError(f"alpha={self.alpha!r}; expected a positive number, 'loo' or LeaveOneOut(alphas=...)")
        return rule


class _GroupedRidge:
    """One ridge problem for each group of output coordinates, all with the same alpha and solved side by side."""

    def __init__(self, joint: CoordinateJoint, inputs: Collection, targets: Array) -> None:
        groups = joint.groups(inputs, None, targets.shape[1])
        n = targets.shape[0]
        what = f"{len(groups)} groups of output coordinates"
        memory.require(n, n, 5 * len(groups), what, "use larger patches that overlap less, or fewer pairs")
        xp = namespace(groups[0].gram)
        self.targets = [like(take(targets.T, group.coordinates).T, group.gram) for group in groups]
        self.values, self.vectors = xp.linalg.eigh(xp.stack([group.gram for group in groups]))
        name = "a Gram matrix of the joint kernel"
        self.values = xp.stack([clip_spectrum(self.values[g, :], name) for g in range(len(groups))])
        # the squared norm of a residual needs Y Yᵀ alone, however many coordinates a group has
        products = xp.stack([own @ own.T for own in self.targets])
        self.products = xp.matmul(xp.matmul(xp.matrix_transpose(self.vectors), products), self.vectors)

    @property
    def widest(self) -> Ridge:
        """The group with the largest eigenvalues, which sets the scale of the ridges to try."""
        xp = namespace(self.values)
        g = int(xp.argmax(xp.sum(self.values, axis=1)))
        return Ridge(GramEigh(self.vectors[g, :, :], self.values[g, :], self.vectors[g, :, :]), self.targets[g])

    def coefficients(self, alpha: float) -> list[Array]:
        """B with h(x) = κ_x B for each group."""
        found = []
        for g, targets in enumerate(self.targets):
            vectors = self.vectors[g, :, :]
            found.append((vectors / (self.values[g, :] + alpha)) @ (vectors.T @ targets))
        return found

    def leave_one_out_risk(self, alpha: float, together: list[np.ndarray] | None = None) -> Array:
        """The squared distance of each training output to what is predicted without it, and without those it belongs with."""
        xp = namespace(self.values)
        if together is not None:
            return xp.concat([self._left_out_risk(alpha, members) for members in together])
        residual = (alpha / (self.values + alpha))[:, None, :]
        kept = self.vectors * residual
        squares = xp.sum(xp.matmul(kept, self.products) * kept, axis=2)
        return xp.sum(squares / xp.sum(self.vectors * kept, axis=2) ** 2, axis=0)

    def _left_out_risk(self, alpha: float, members: np.ndarray) -> Array:
        """The same for pairs left out together: the residuals (S_BB)⁻¹ (S Y)_B, from Y Yᵀ alone."""
        xp = namespace(self.values)
        turned = xp.stack([take(self.vectors[g, :, :], members) for g in range(self.values.shape[0])])
        kept = turned * (alpha / (self.values + alpha))[:, None, :]
        own = xp.matmul(kept, xp.matrix_transpose(turned))
        residual = xp.linalg.solve(own, kept)
        return xp.sum(xp.sum(xp.matmul(residual, self.products) * residual, axis=2), axis=0)


def _members(groups: Any, n: int) -> list[np.ndarray]:
    """The positions of each group; at least two groups."""
    labels = np.asarray(to_numpy(groups) if is_array(groups) else groups)
    if labels.shape != (n,):
        raise ValueError(f"groups has shape {labels.shape}; expected one label for each of the {n} pairs")
    names, number = np.unique(labels, return_inverse=True)
    if len(names) < 2:
        raise ValueError(f"groups holds a single group, {names[0]!r}; expected at least two, to leave one out")
    return [np.flatnonzero(number == k) for k in range(len(names))]


def _in_order(parts: list[Array], coordinates: list[np.ndarray]) -> Array:
    """Columns of all groups, put where they belong."""
    together = namespace(parts[0]).concat(parts, axis=1)
    return take(together.T, np.argsort(np.concatenate(coordinates))).T
