"""Entangled kernel learning (Huusari and Kadri)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.core.arrays import Array, NumericalWarning, is_sparse, to_numpy
from mercer.core.collections import Collection, is_numeric, take
from mercer.core.validation import check_choice, check_real, check_whole
from mercer.kernels import Linear
from mercer.learners.base import Learner, LearningProblem
from mercer.learners.ridge import FittedRidge, Ridge
from mercer.operators.entangled import Entangled
from mercer.operators.features import fixed_features
from mercer.operators.separable import Separable
from mercer.selection.alpha import leave_one_out_only
from mercer.selection.entanglement import EntanglementObjective, learn_maps, span_of_outputs

_RANK = 20  # matrices that are learned unless the user says how many
_PERFECT = 0.9999  # alignment above which the kernel is fitted to single outputs


@dataclass
class EntangledKernel(Learner):
    """Learn an operator-valued kernel that need not be separable, then regress with it.

    The parameters are those of `mercer.EntangledRidge`; `features` gives inputs finite features.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> EntangledKernel(Linear(), kraus_rank=2).mode
    'partial-trace'
    """

    features: Any
    kraus_rank: int | None = None
    gamma: float = 0.5
    mode: str = "partial-trace"
    alpha: Any = "loo"
    max_iter: int = 100
    n_starts: int = 1
    fit_intercept: bool = True
    random_state: Any = None

    def __post_init__(self) -> None:
        check_choice(self.mode, "mode", ("entangled", "partial-trace"))
        check_real(self.gamma, "gamma", 0, 1, closed="both", expected="a number between 0 and 1")
        counts = (("kraus_rank", 1), ("max_iter", 0), ("n_starts", 1))
        for name, least in counts if self.kraus_rank is not None else counts[1:]:
            check_whole(getattr(self, name), name, least, expected=f"a whole number, {least} or more")
        leave_one_out_only(self.alpha)

    def fit(self, problem: LearningProblem) -> FittedEntangled:
        """Learn the kernel, then the regression."""
        targets = to_numpy(problem.require_targets(self))
        order = _canonical_order(targets, problem.inputs)
        ordered = take(problem.inputs, order)
        features = fixed_features(self.features, ordered)
        rows, back = to_numpy(features(ordered)), np.argsort(order)
        p, m = targets.shape[1], rows.shape[1]
        rank = min(_RANK, p * m) if self.kraus_rank is None else self.kraus_rank
        if rank > p * m:
            raise ValueError(f"kraus_rank={rank!r}; expected at most {p * m}, the {p} outputs times the {m} features")
        weight = (np.ones(len(rows)) if problem.sample_weight is None else problem.sample_weight)[order]
        targets = targets[order] - (np.average(targets[order], axis=0, weights=weight) if self.fit_intercept else 0.0)
        basis = span_of_outputs(targets)
        # alignment does not depend on the size of the outputs, but their fourth powers may overflow; powers of 2 round nothing
        size = 2.0 ** np.frexp(np.max(np.abs(targets)))[1]
        objective = EntanglementObjective(rows, targets / size, self.gamma, basis, weight)
        learned = learn_maps(
            objective, rank, starts=self.n_starts, max_iter=self.max_iter, random_state=self.random_state
        )
        if learned.alignment > _PERFECT and self.max_iter > 0:
            warnings.warn(
                f"the learned kernel has an alignment of {learned.alignment:.5f} with the outputs of {len(rows)} pairs, noise "
                "included, and left-out errors hold it: they are too small. Lower max_iter, or learn from more pairs",
                NumericalWarning,
                stacklevel=2,
            )
        maps = np.einsum("pq,sqm->spm", basis, learned.maps)
        maps *= np.sqrt(weight.sum() * p / np.sum((maps @ rows.T) ** 2 * weight))
        kernel = Entangled(features, maps.transpose(2, 1, 0).reshape(m * p, rank), p)
        on_features, projection = Entangled(Linear(), kernel.Q, p), np.eye(m)
        if self.mode == "partial-trace":
            # tr_p K = φᵀ S φ / p is a linear kernel of φ times a root of S
            flat = maps.reshape(-1, m)
            values, vectors = np.linalg.eigh(flat.T @ flat / p)
            on_features, projection = Separable(Linear()), vectors * np.sqrt(np.maximum(values, 0.0))
        ridge = Ridge(on_features, self.alpha, "auto", self.fit_intercept).fit(
            replace(problem, kernel=Linear(), inputs=(rows @ projection)[back])
        )
        attributes = {name: ridge.attributes[name] for name in ("alpha_", "alphas_", "loo_path_")}
        attributes |= {
            "alignment_": learned.alignment,
            "alignment_path_": learned.path,
            "n_iter_": max(len(learned.path) - 1, 1),
            "feature_residual_": float(getattr(features, "residual", 0.0)),
            "kernel_": kernel,
        }
        return FittedEntangled(ridge, features, projection, attributes)


@dataclass
class FittedEntangled:
    """A regression with a learned entangled kernel."""

    ridge: FittedRidge
    features: Any
    projection: np.ndarray
    attributes: dict[str, Any]

    def points(self, inputs: Collection) -> Array:
        """Return the prediction for each input."""
        return self.ridge.points(self._rows(inputs))

    def left_out_points(self) -> Array:
        """Return the prediction for each pair without it, the kernel held at its fit on all pairs."""
        return self.ridge.left_out_points()

    def weights(self, inputs: Collection) -> Array | None:
        """Return weights on the training outputs for the partial trace; None for the whole kernel."""
        return self.ridge.weights(self._rows(inputs))

    def variances(self, inputs: Collection) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the variances of the ridge regression with the partial trace; None for the whole kernel."""
        return self.ridge.variances(self._rows(inputs))

    @property
    def leaves_out_by_weights(self) -> bool:
        """True for the partial trace, which is held."""
        return self.ridge.leaves_out_by_weights

    @property
    def groups(self) -> np.ndarray | None:
        """The group of each training pair; None if pairs are left out one by one."""
        return self.ridge.groups

    def _rows(self, inputs: Collection) -> np.ndarray:
        return to_numpy(self.features(inputs)) @ self.projection


def _canonical_order(targets: np.ndarray, inputs: Collection) -> np.ndarray:
    """An order of the pairs that does not depend on the one they came in, so that neither pivots nor sums do.

    It is that of the outputs, and of the inputs where these are equal and the inputs are vectors.
    """
    keys = [targets]
    if is_numeric(inputs) and not is_sparse(inputs):
        keys.append(to_numpy(inputs).reshape(len(targets), -1))
    return np.lexsort(np.concatenate(keys, axis=1).T[::-1])
