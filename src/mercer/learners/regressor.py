"""Any scikit-learn regressor as a learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone, is_regressor
from sklearn.utils import get_tags

from mercer.core.arrays import Array, is_sparse, like, to_numpy
from mercer.core.collections import Collection, is_numeric
from mercer.learners.base import Learner, LearningProblem, left_out_by_folds
from mercer.solvers.kernel_values import KernelBasis, gram_matrix


@dataclass
class Regressor(Learner):
    """A scikit-learn regressor that predicts the coordinates of outputs; pairs are left out by folds.

    Parameters
    ----------
    regressor : scikit-learn regressor
        It is given the Gram matrix if it takes precomputed kernels, else the inputs themselves.

    Examples
    --------
    >>> from sklearn.svm import SVR
    >>> Regressor(SVR())
    regressor=SVR()
    """

    regressor: Any

    def __repr__(self) -> str:
        return f"regressor={self.regressor!r}"

    def reason(self) -> str:
        """Return one sentence on how the map was learned."""
        return f"{self.regressor!r:.60} takes the place of the ridge"

    def fit(self, problem: LearningProblem) -> FittedRegressor:
        """Fit a clone of the regressor to the coordinates."""
        targets = problem.require_targets(self)
        model, tags = clone(self.regressor), get_tags(self.regressor)
        if not tags.target_tags.multi_output:
            from sklearn.multioutput import MultiOutputRegressor

            model = MultiOutputRegressor(model)
        basis = None
        if tags.input_tags.pairwise:
            basis = KernelBasis.of(problem.kernel, problem.inputs)
            features: Collection = to_numpy(gram_matrix(problem.kernel, problem.inputs, "input", 3))
        elif problem.kernel.takes_vectors:
            features = problem.inputs if is_sparse(problem.inputs) else to_numpy(problem.inputs)
        elif not tags.input_tags.two_d_array:
            features = problem.inputs
        else:
            raise ValueError(
                f"regressor={self.regressor!r} takes vectors, and the inputs are objects for {problem.kernel!r}; use one that "
                "takes a precomputed kernel, such as SVR(kernel='precomputed')"
            )
        weight = {} if problem.sample_weight is None else {"sample_weight": problem.sample_weight}
        model.fit(features, to_numpy(targets), **weight)
        attributes = dict.fromkeys(("alpha_", "alphas_", "loo_path_", "solver_", "operator_"))
        return FittedRegressor(model, basis, targets[:1, :], self, problem.held(), attributes)


@dataclass
class FittedRegressor:
    """A fitted scikit-learn regressor."""

    model: Any
    basis: KernelBasis | None
    reference: Array
    learner: Regressor
    problem: LearningProblem
    attributes: dict[str, Any]

    def points(self, inputs: Collection) -> Array:
        """Return one row of coordinates for each input."""
        rows = inputs if self.basis is None else self.basis.values(inputs, np.empty(0))
        rows = to_numpy(rows) if is_numeric(rows) else rows
        if self.basis is None and is_sparse(rows) != is_sparse(self.problem.inputs):
            # not every regressor takes both, so it is given what it was fitted on
            rows = rows.toarray() if is_sparse(rows) else csr_array(rows)
        predicted = np.asarray(self.model.predict(rows), dtype=float)
        return like(predicted.reshape(len(predicted), -1), self.reference)

    def left_out_points(self) -> Array:
        """Return the point of each pair from the fit without its fold."""
        return left_out_by_folds(self.learner.fit, self.problem)

    def weights(self, inputs: Collection) -> None:
        """Return None: a regressor has no weights on the training outputs."""
        return


def as_learner(regressor: Any) -> Learner:
    """Return the learner of a learner, an estimator of this library, or any scikit-learn regressor.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> as_learner(Ridge())
    regressor=Ridge()
    """
    if isinstance(regressor, Learner):
        return regressor
    if hasattr(regressor, "learner"):
        return regressor.learner()
    if not hasattr(regressor, "fit") or not is_regressor(regressor):
        raise TypeError(
            f"regressor={regressor!r:.60}; expected a learner from mercer.learners, or a scikit-learn regressor such as SVR()"
        )
    return Regressor(regressor)
