"""The base of the regressors: estimators whose outputs are vectors."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array

from mercer.core.arrays import Array, float64, is_array, is_numpy_array, namespace, to_numpy
from mercer.core.collections import LEAST, as_vectors, listed, reject_non_collection, require_range, take
from mercer.estimators.base import ObjectEstimator
from mercer.estimators.data import (
    Pairs,
    TargetCodec,
    check_inputs,
    check_kernel_parameter,
    check_lengths,
    check_sizes,
    check_weights_and_groups,
    reject_text,
)
from mercer.estimators.in_blocks import inputs_in_blocks, outputs_in_memory
from mercer.kernels.base import Kernel
from mercer.kernels.vectors import Linear
from mercer.learners.base import Learner
from mercer.selection.alpha import leave_one_out_only
from mercer.solvers.kernel_values import sub_inputs
from mercer.structures.curves import is_curves, on_grid


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


def check_vector_pairs(estimator: Any, source: Any, X: Any, y: Any, weights_and_groups: tuple[Any, Any]) -> Pairs:
    """Check the data of `fit` for outputs that are vectors; rows without any output or any weight are left out."""
    metadata, y = copy(estimator), _regular(outputs_in_memory(y), estimator)
    inputs_in_blocks(estimator, X)  # refused, but for memory maps
    inputs = check_inputs(metadata, listed(X), source, reset=True)
    Y, observed, flat = check_targets(y, type(estimator).__name__, estimator.handles_missing)
    check_lengths(inputs, Y)
    check_sizes(inputs, source, "X")
    require_range(Y, "y", LEAST)
    some = None if observed is None else np.flatnonzero(observed.any(axis=1))
    weight, group, kept = check_weights_and_groups(*weights_and_groups, Y.shape[0], some)
    if kept is not None:
        inputs, Y = sub_inputs(source, inputs, kept, kept), take(Y, kept)
        observed = None if observed is None else observed[kept]
    observed = None if observed is None or observed.all() else observed
    codec = TargetCodec.of_frame(y) if hasattr(y, "columns") else TargetCodec(() if flat else (Y.shape[1],))
    kernel = source.resolve(inputs) if isinstance(source, Kernel) else source
    return Pairs(inputs, Y, Y, codec, kernel, Linear(), metadata, weight, group, observed, kept)


def _regular(y: Any, estimator: Any) -> Any:
    """Return curves at positions of their own on the grid of an estimator, and anything else as it is."""
    curves = listed(y)
    if not is_curves(curves):
        return y
    if getattr(estimator, "grid", None) is None:
        cure = "pass grid=..., where it has that parameter, or rows from mercer.structures.curves.on_grid(y)"
        raise ValueError(
            f"y holds curves at positions of their own, and {type(estimator).__name__} has no grid; {cure}"
        )
    return on_grid(curves, estimator.grid)[1]


def check_targets(y: Any, name: str, handles_missing: bool) -> tuple[Array, np.ndarray | None, bool]:
    """Return targets as (n, p) doubles, zero if missing, a mask of those known (None for all), and True for a column y."""
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None")
    y = listed(y)
    if hasattr(y, "mask") and is_array(y):
        if np.ma.is_masked(y) and not handles_missing:
            raise ValueError(
                f"y is an array with masked entries, and {name} needs every entry; fill or drop them first"
            )
        y = np.ma.filled(y.astype(float), np.nan)
    reject_non_collection(y, "y")
    if not is_array(y) or is_numpy_array(y):
        _reject_other_outputs(y)
        y = check_array(
            y, ensure_2d=False, allow_nd=True, dtype=np.float64, ensure_all_finite="allow-nan", input_name="y"
        )
    xp, y, flat = namespace(y), float64(y), y.ndim == 1
    if y.ndim not in (1, 2):
        cure = "Flatten outputs, as by y.reshape(len(y), -1), or use DependencyEstimator, which keeps their shape"
        raise ValueError(f"y has shape {tuple(y.shape)}; expected one row of outputs for each input. {cure}")
    if bool(xp.any(xp.isinf(y))):
        raise ValueError("Input y contains infinity or a value too large for dtype('float64')")
    y = xp.reshape(y, (-1, 1)) if flat else y
    missing = xp.isnan(y)
    if not bool(xp.any(missing)):
        return y, None, flat
    if not handles_missing:
        raise ValueError(f"Input y contains NaN, and {name} needs every entry; drop or impute such rows first")
    observed = ~to_numpy(missing)
    never = np.flatnonzero(~observed.any(axis=0))
    if len(never):
        more = "" if len(never) == 1 else f" (and {len(never) - 1} more)"
        columns = f"column {never[0]} of y is missing (NaN) in every row{more}"
        what = columns if observed.any() else "y is missing (NaN) everywhere"
        raise ValueError(f"{what}; expected at least one observed value for each output. Drop such columns")
    return xp.where(missing, xp.zeros_like(y), y), observed, flat


def _reject_other_outputs(y: Any) -> None:
    """Raise an error that names the first output that is not a number or a row of numbers."""
    try:
        if hasattr(y, "columns"):
            for name in y.columns:
                reject_text(np.asarray(y[name]), f"y[{name!r}]")
        else:
            reject_text(np.asarray(y), "y")
    except TypeError as error:
        cure = "For other outputs use DependencyEstimator with an output kernel, such as Classes() or LabelSets()"
        raise TypeError(f"{error}, or a row of numbers, for each output. {cure}") from error
    except ValueError:
        as_vectors(y, "y")  # names the first row of another length
        raise
