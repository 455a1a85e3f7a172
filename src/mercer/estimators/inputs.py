"""Checks of the inputs of an estimator."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from mercer.core.arrays import is_array, is_numpy_array
from mercer.core.collections import (
    Collection,
    count,
    is_missing,
    reject_non_collection,
)
from mercer.core.sparse_rows import is_sparse
from mercer.kernels.base import Kernel
from mercer.structures.curves import is_curves, on_grid


def check_inputs(estimator: BaseEstimator, X: Any, kernel: Kernel, *, reset: bool) -> Collection:
    """Return `X` as the collection the input kernel takes; vectors and Gram matrices are checked by scikit-learn."""
    if kernel.takes_vectors and is_curves(X):
        estimator.grid_in_, X, _ = on_grid(X, None if reset else getattr(estimator, "grid_in_", None))
    if not (is_sparse(X) and kernel.takes_sparse):
        reject_non_collection(X, "X")
    reject_empty(X, "X")
    foreign = is_array(X) and not is_numpy_array(X)
    if (kernel.takes_vectors or kernel.pairwise) and not foreign:
        _reject_mixed_columns(X, kernel)
        if _numeric(X):
            try:
                X = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=np.float64, allow_nd=True)
            except ValueError as error:
                if not kernel.pairwise or "features, but" not in str(error):
                    raise
                against = f"the {estimator.n_features_in_} training inputs, one column each"
                raise ValueError(f"{error} X holds kernel values against {against}") from error
        elif kernel.takes_vectors:
            X = validate_data(estimator, kernel.check(X, "X"), reset=reset, dtype=np.float64)
    named = hasattr(X, "columns")
    if kernel.takes_tables and not (named or reset) and getattr(X, "ndim", 1) == 2:
        _check_feature_count(estimator, X, reset)
    X = kernel.check(X, "X")
    if kernel.takes_tables and reset:
        estimator.n_features_in_ = X.shape[1]
        if named:
            estimator.feature_names_in_ = np.asarray(list(X.kinds), dtype=object)
    if kernel.takes_vectors and foreign:
        _check_feature_count(estimator, X, reset)
    return X


def _reject_mixed_columns(X: Any, kernel: Kernel) -> None:
    """Raise ValueError if a frame has columns that are not numbers."""
    for name in getattr(X, "columns", ()):
        try:
            reject_text(np.asarray(X[name]), f"X[{name!r}]")
            np.asarray(X[name]).astype(float)
        except (TypeError, ValueError) as error:
            cure = "mercer.kernels.Columns(), a kernel on tables, or encode X by mercer.structures.table_encoder.TableEncoder()"
            raise ValueError(
                f"X has the column {name!r}, which is not of numbers ({error}), and {kernel!r} compares vectors. Use {cure}"
            ) from error


def reject_text(array: np.ndarray, name: str) -> None:
    """Raise TypeError for text, dates and other objects in place of numbers, even if they could be converted."""
    if array.dtype.kind == "O":
        for place, item in np.ndenumerate(array):
            if not (isinstance(item, Real | np.number | np.bool_) or is_missing(item)):
                where = "".join(f"[{i}]" for i in place)
                raise TypeError(f"{name}{where} is {item!r:.40}, a {type(item).__name__}; expected a number")
    elif array.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {array.dtype}; expected numbers")


def reject_empty(collection: Any, name: str) -> None:
    """Raise ValueError for an empty collection; scikit-learn does so for arrays of rows."""
    rows = is_array(collection) and collection.ndim > 1
    if not rows and hasattr(collection, "__len__") and count(collection) == 0:
        raise ValueError(f"{name} is empty; expected at least one object")


def _numeric(X: Any) -> bool:
    """True for arrays and tables, for which scikit-learn names what is wrong; ragged and mixed lists are checked here."""
    if hasattr(X, "toarray") or hasattr(X, "columns"):
        return True
    return getattr(getattr(X, "dtype", None), "kind", None) in tuple("biufc")


def _check_feature_count(estimator: Any, X: Any, reset: bool) -> None:
    if reset:
        estimator.n_features_in_ = X.shape[1]
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
