"""Joint kernel maps: regression with a similarity of input-output pairs (Weston et al. 2007)."""

from __future__ import annotations

from typing import Any

from mercer.decoders.closed_form import ClosedForm
from mercer.embeddings.explicit import Features
from mercer.estimators.base import ObjectEstimator
from mercer.kernels.vectors import Linear
from mercer.learners.joint import JointMap
from mercer.operators.joint import CoordinateJoint, TensorProductJoint


class JointKernelMap(ObjectEstimator):
    r"""A linear functional of pairs, :math:`f(x) = \arg\max_y 2\langle W, \Phi(x, y)\rangle - \|y\|^2`.

    Φ is the feature map of a joint kernel that is linear in the output vector, so the best y has a closed form, and W is found
    by least squares (in place of the quadratic program of Weston et al., with exact leave-one-out for every α):

    .. math:: \min_{W, b} \sum_i \|f_W(x_i) + b - y_i\|^2 + \alpha \|W\|^2 .

    Parameters
    ----------
    joint_kernel : CoordinateJoint, default=TensorProductJoint()
        Similarity of pairs, such as `mercer.operators.PatchwiseJoint`. A tensor product is `DependencyEstimator` with
        the identity operator.
    alpha : float, "loo" or LeaveOneOut, default="loo"
        The weight of the norm.
    fit_intercept : bool, default=True
        True for a mean output that is not penalised. The paper has none.
    bounds : None, "data" or (low, high), default=None
        The range of predictions, such as (0, 1) for pixels; see `mercer.decoders.ClosedForm`.

    Attributes
    ----------
    alpha_, alphas_, loo_path_ : float, array, array
        The alpha in use, those tried, and the mean squared leave-one-out distance of each.
    joint_kernel_ : CoordinateJoint
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

    learner_type = JointMap
    input_kernel = Linear()  # both sides are vectors
    output_kernel = Linear()
    loss = None

    def __init__(
        self,
        joint_kernel: CoordinateJoint = TensorProductJoint(),  # noqa: B008 - joint kernels are values; fit never changes them
        alpha: Any = "loo",
        fit_intercept: bool = True,
        bounds: Any = None,
    ) -> None:
        self.joint_kernel = joint_kernel
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.bounds = bounds

    def _parts(self) -> tuple[Any, Any]:
        return ClosedForm(self.bounds), Features()
