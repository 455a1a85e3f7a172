"""Joint kernel maps: regression with a similarity of input-output pairs (Weston et al. 2007)."""

from __future__ import annotations

from typing import Any

from mercer.decoders.closed_form import ClosedForm
from mercer.embeddings.explicit import Features
from mercer.estimators.base import ObjectEstimator
from mercer.kernels.base import Kernel
from mercer.kernels.vectors import Linear
from mercer.learners.base import Learner
from mercer.learners.joint import InducedMap, JointMap, is_product
from mercer.operators.joint import CoordinateJoint, InducedJoint, TensorProductJoint


class JointKernelMap(ObjectEstimator):
    r"""A linear functional of pairs, :math:`f(x) = \arg\max_y 2\langle W, \Phi(x, y)\rangle - \|y\|^2`.

    Φ is the feature map of a joint kernel. If that is linear in the output vector, the best y has a closed form; otherwise ψ(y)
    stands for y, and the best is found among candidates. W is found by least squares with exact leave-one-out for every α; the
    quadratic program of Weston et al. is ``DependencyEstimator(regressor=MaxMargin(margin="epsilon"))``:

    .. math:: \min_{W, b} \sum_i \|f_W(x_i) + b - y_i\|^2 + \alpha \|W\|^2 .

    Parameters
    ----------
    joint_kernel : CoordinateJoint or InducedJoint, default=TensorProductJoint()
        Similarity of pairs, such as `mercer.operators.PatchwiseJoint`, or `mercer.operators.InducedJoint`, whose operator is
        learned from the pairs. A tensor product is `DependencyEstimator` with the identity operator.
    alpha : float, "loo" or LeaveOneOut, default="loo"
        The weight of the norm.
    fit_intercept : bool, default=True
        True for a mean output that is not penalised. The paper has none.
    bounds : None, "data" or (low, high), default=None
        The range of predictions, such as (0, 1) for pixels; see `mercer.decoders.ClosedForm`. For vectors and a joint kernel
        that is linear in them.

    Attributes
    ----------
    alpha_, alphas_, loo_path_ : float, array, array
        The alpha in use, those tried, and the mean squared leave-one-out distance of each.
    joint_kernel_ : JointKernel
        The joint kernel with everything that depends on data fixed.

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

    loss = None

    def __init__(
        self,
        joint_kernel: CoordinateJoint | InducedJoint = TensorProductJoint(),  # noqa: B008 - joint kernels are values; fit never changes them
        alpha: Any = "loo",
        fit_intercept: bool = True,
        bounds: Any = None,
    ) -> None:
        self.joint_kernel = joint_kernel
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.bounds = bounds

    @property
    def input_kernel(self) -> Kernel:  # type: ignore[override]
        """Similarity of inputs; that of vectors for kernels on their coordinates."""
        return self.joint_kernel.input_kernel if is_product(self.joint_kernel) else Linear()

    @property
    def output_kernel(self) -> Kernel:  # type: ignore[override]
        """Similarity of outputs; linear for kernels on their coordinates."""
        return self.joint_kernel.output_kernel if is_product(self.joint_kernel) else Linear()

    def learner(self) -> Learner:
        """Return the ridge regression of each group of coordinates, or the one with the operator."""
        if not is_product(self.joint_kernel):
            return JointMap(self.joint_kernel, self.alpha, self.fit_intercept)
        if self.bounds is not None and self.output_kernel != Linear():
            raise ValueError(
                f"bounds={self.bounds!r} is for output vectors, and {self.joint_kernel!r:.80} is not linear in them; leave "
                "bounds at None"
            )
        return InducedMap(self.joint_kernel, self.alpha, self.fit_intercept)

    def _parts(self) -> tuple[Any, Any]:
        if self.output_kernel != Linear():
            return "auto", "auto"
        return ClosedForm(self.bounds), Features()
