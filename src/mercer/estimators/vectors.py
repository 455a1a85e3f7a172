"""The base of the regressors: estimators whose outputs are vectors, some of which may be missing."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array

from mercer.core.arrays import Array, float64, is_array, is_numpy_array, namespace, to_numpy
from mercer.core.collections import listed, reject_non_collection, take
from mercer.decoders.closed_form import ClosedForm
from mercer.embeddings.explicit import Features
from mercer.estimators.base import ObjectEstimator
from mercer.estimators.data import Pairs, TargetCodec, check_inputs, check_lengths, check_weights_and_groups
from mercer.kernels.base import Kernel
from mercer.kernels.vectors import Linear
from mercer.solvers.base import sub_inputs


class VectorEstimator(RegressorMixin, MultiOutputMixin, ObjectEstimator):
    """A regressor onto vectors. A subclass has the parameter `kernel` (or overrides `_source`) and defines `learner`."""

    kernel: Any
    output_kernel = Linear()
    loss = None
    handles_missing = False
    """Whether NaN in y is a missing output; else it is an error."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from inputs and rows of outputs.

        Parameters
        ----------
        X : collection of n inputs
            As the kernel takes them.
        y : array (n, p) or (n,)
            Outputs.
        sample_weight : array (n,), optional
            How much each pair counts; a pair of weight 2 counts as two, one of weight 0 as none.
        groups : sequence of n labels, optional
            Pairs that belong together: a whole group is left out at a time.
        """
        self.learner()  # parameters are checked before the data
        pairs = check_vector_pairs(self, X, y, sample_weight, groups)
        return self._learn(pairs, ClosedForm(), Features())

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination R² of the predictions."""
        return RegressorMixin.score(self, X, y, sample_weight)

    def _source(self) -> Any:
        return self.kernel


def check_vector_pairs(estimator: VectorEstimator, X: Any, y: Any, sample_weight: Any, groups: Any) -> Pairs:
    """Check what `fit` was given; rows without any output or any weight are left out."""
    source, name = estimator._source(), type(estimator).__name__
    metadata = copy(estimator)  # a fit that fails leaves the estimator as it was
    inputs = check_inputs(metadata, listed(X), source, reset=True)
    Y, observed, flat = check_targets(y, name, estimator.handles_missing)
    check_lengths(inputs, Y)
    some = None if observed is None else np.flatnonzero(observed.any(axis=1))
    weight, group, kept = check_weights_and_groups(sample_weight, groups, Y.shape[0], some)
    if kept is not None:
        inputs, Y = sub_inputs(source, inputs, kept, kept), take(Y, kept)
        observed = None if observed is None else observed[kept]
    observed = None if observed is None or observed.all() else observed
    codec = TargetCodec(() if flat else (Y.shape[1],))
    kernel = source.resolve(inputs) if isinstance(source, Kernel) else source
    return Pairs(inputs, Y, Y, codec, kernel, Linear(), metadata, weight, group, observed, kept)


def check_targets(y: Any, name: str, handles_missing: bool) -> tuple[Array, np.ndarray | None, bool]:
    """Return targets as (n, p) doubles with zeros where missing, a mask of those known, and whether y was a plain column."""
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None")
    y = listed(y)
    if isinstance(y, np.ma.MaskedArray):
        if np.ma.is_masked(y) and not handles_missing:
            raise ValueError(
                f"y is an array with masked entries, and {name} needs every entry; fill or drop them first"
            )
        y = np.ma.filled(y.astype(float), np.nan)
    reject_non_collection(y, "y")
    if not is_array(y) or is_numpy_array(y):
        finite: Any = "allow-nan" if handles_missing else True
        y = check_array(y, ensure_2d=False, dtype=np.float64, ensure_all_finite=finite, input_name="y")
    xp, y = namespace(y), float64(y)
    if y.ndim not in (1, 2):
        raise ValueError(f"y has shape {tuple(y.shape)}; expected one row of outputs for each input")
    if bool(xp.any(xp.isinf(y))):
        raise ValueError("Input y contains infinity or a value too large for dtype('float64')")
    flat = y.ndim == 1
    y = xp.reshape(y, (-1, 1)) if flat else y
    missing = xp.isnan(y)
    if not bool(xp.any(missing)):
        return y, None, flat
    if not handles_missing:
        raise ValueError(f"Input y contains NaN, and {name} needs every entry; drop or impute such rows first")
    observed = ~to_numpy(missing)
    if not observed.any():
        raise ValueError("y is missing (NaN) everywhere; expected at least one observed value for each output")
    never = np.flatnonzero(~observed.any(axis=0))
    if len(never):
        more = "" if len(never) == 1 else f" (and {len(never) - 1} more)"
        raise ValueError(
            f"column {never[0]} of y is missing (NaN) in every row{more}; expected at least one observed value for each output. "
            "Drop such columns"
        )
    return xp.where(missing, xp.zeros_like(y), y), observed, flat
