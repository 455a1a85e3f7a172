"""The base of the regressors: estimators whose outputs are vectors."""

from __future__ import annotations

from typing import Any

from sklearn.base import MultiOutputMixin, RegressorMixin

from mercer.estimators.base import ObjectEstimator
from mercer.estimators.data import Pairs, check_kernel_parameter, check_vector_pairs
from mercer.kernels.vectors import Linear
from mercer.learners.base import Learner
from mercer.selection.alpha import leave_one_out_only


class VectorEstimator(RegressorMixin, MultiOutputMixin, ObjectEstimator):
    """A regressor onto vectors, y of shape (n, p) or (n,). A subclass has the parameters `kernel` and `alpha`."""

    kernel: Any
    alpha: Any
    output_kernel = Linear()
    loss = None
    handles_missing = False
    """True if NaN in y is a missing output; otherwise it is an error."""

    def learner(self) -> Learner:
        """Return the learner with the parameters of this estimator."""
        check_kernel_parameter(self.kernel, "kernel")
        leave_one_out_only(self.alpha)
        return super().learner()

    def _checked_pairs(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Pairs:
        return check_vector_pairs(self, self._source(), X, y, (sample_weight, groups))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # type: ignore[override]
        """Return the coefficient of determination R² of the predictions."""
        return RegressorMixin.score(self, X, y, sample_weight)

    def _source(self) -> Any:
        return self.kernel
