"""Data of a user at the edge of an estimator: checked inputs, outputs as collections and back, and training pairs."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from importlib import import_module
from math import prod
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from mercer.core import memory
from mercer.core.arrays import is_array, is_numpy_array, is_sparse, like, namespace, to_numpy
from mercer.core.collections import (
    LEAST,
    Collection,
    concatenate,
    count,
    distinct,
    is_in_memory,
    is_missing,
    is_numeric,
    listed,
    reject_non_collection,
    require_range,
    take,
)
from mercer.estimators.in_blocks import check_block_inputs, inputs_in_blocks, outputs_in_memory
from mercer.kernels.base import Kernel
from mercer.solvers.kernel_values import sub_inputs
from mercer.structures.curves import is_curves, on_grid
from mercer.structures.tables import require_distinct


@dataclass
class Pairs:
    """Checked training pairs, and kernels with everything that depends on data fixed."""

    inputs: Collection
    outputs: Collection
    all_outputs: Collection
    """The outputs, then those without an input."""
    codec: TargetCodec
    input_kernel: Any
    """The input kernel, or an operator with kernels of its own."""
    output_kernel: Kernel
    metadata: BaseEstimator
    """Holds `n_features_in_` and `feature_names_in_`."""
    sample_weight: np.ndarray | None = None
    groups: np.ndarray | None = None
    """Numbers of groups, 0, 1, …"""
    observed: np.ndarray | None = None
    """The entries of vector outputs that are known; None for all."""
    kept: np.ndarray | None = None
    """The pairs with a weight and an output; None for all."""


def check_pairs(  # noqa: PLR0913
    estimator: Any, X: Any, y: Any, extra_outputs: Any = None, sample_weight: Any = None, groups: Any = None
) -> Pairs:
    """Check the data of `fit` against the two kernels of the estimator."""
    input_kernel, output_kernel = estimator.input_kernel, estimator.output_kernel
    for name, kernel in (("input_kernel", input_kernel), ("output_kernel", output_kernel)):
        check_kernel_parameter(kernel, name)
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    if output_kernel.pairwise:
        raise ValueError(
            f"output_kernel={output_kernel!r} takes a Gram matrix for y, which cannot be decoded or sliced; pass "
            "Precomputed(gram) as the kernel, and positions in it as y"
        )
    metadata = copy(estimator)  # a fit that fails leaves the estimator as it was
    blocks = None if is_in_memory(X) else inputs_in_blocks(estimator, X)
    y = listed(y if is_in_memory(y) else outputs_in_memory(y))
    inputs: Any
    if blocks is None:
        inputs = seen = check_inputs(metadata, listed(X), input_kernel, reset=True)
    else:
        inputs, seen = check_block_inputs(metadata, blocks, input_kernel)
    if not sparse.issparse(y):
        reject_non_collection(y, "y")
    codec = TargetCodec.of(y, output_kernel)
    outputs = codec.encode(y, output_kernel, "y")
    check_lengths(inputs, outputs)
    check_sizes(seen, input_kernel, "X")
    check_sizes(outputs, output_kernel, "y")
    weight, group, kept = check_weights_and_groups(sample_weight, groups, count(outputs))
    if kept is not None:
        inputs, outputs = sub_inputs(input_kernel, inputs, kept, kept), take(outputs, kept)
        seen = inputs if blocks is None else seen
    all_outputs = outputs
    if extra_outputs is not None:
        all_outputs = _with_extra(outputs, listed(extra_outputs), codec, output_kernel)
    input_kernel = input_kernel.resolve(seen, checked=True)
    output_kernel = output_kernel.resolve(all_outputs, checked=True)
    _check_seen(seen, input_kernel, "X")
    _check_seen(outputs, output_kernel, "y")
    return Pairs(inputs, outputs, all_outputs, codec, input_kernel, output_kernel, metadata, weight, group, kept=kept)


def check_sizes(collection: Collection, kernel: Any, name: str) -> None:
    """Raise ValueError for vectors whose squares would overflow or vanish."""
    if getattr(kernel, "takes_vectors", False) and is_numeric(collection):
        require_range(collection, name, LEAST)


def check_kernel_parameter(kernel: Any, name: str) -> None:
    """Raise TypeError unless a parameter is a kernel."""
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"{name} is {kernel!r:.60}, a {type(kernel).__name__}; expected a kernel such as mercer.kernels.Gaussian(). "
            "Wrap a function k(x, z) in mercer.kernels.FromFunction"
        )


def check_weights_and_groups(
    sample_weight: Any, groups: Any, n: int, kept: np.ndarray | None = None
) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """Return positive weights (None for ones), group numbers (None for none) and the pairs to keep (None for all).

    Pairs of weight zero are not kept, nor those that are not in `kept` already.
    """
    rows = np.arange(n) if kept is None else kept
    weight = group = None
    if sample_weight is not None:
        given = np.asarray(to_numpy(sample_weight) if is_array(sample_weight) else sample_weight)
        if given.shape == ():
            given = np.full(n, given)
        if given.shape != (n,) or given.dtype.kind not in "biuf":
            what = f"shape {given.shape}; expected one number for each of the {n} pairs"
            raise ValueError(f"sample_weight has dtype {given.dtype} and {what}")
        given = given.astype(float)
        if not np.all(np.isfinite(given)) or np.any(given < 0):
            raise ValueError("sample_weight has negative or non-finite entries; expected numbers from 0 upwards")
        rows = rows[given[rows] > 0]
        if len(rows) < 2:
            raise ValueError("sample_weight is nearly all zero; expected at least two pairs with a weight above zero")
        weight = None if np.all(given[rows] == 1.0) else given[rows]
    if groups is not None:
        labels = to_numpy(groups) if is_array(groups) else np.fromiter(listed(groups), dtype=object)
        if labels.shape != (n,):
            raise ValueError(f"groups has shape {labels.shape}; expected one label for each of the {n} pairs")
        first, group = distinct(labels[rows])
        if len(first) < 2:
            raise ValueError(
                f"groups holds a single group, {labels[rows].tolist()[0]!r}; expected at least two, to leave one out"
            )
    return weight, group, None if len(rows) == n else rows


def _check_seen(objects: Collection, kernel: Kernel, name: str) -> None:
    """Raise ValueError if all objects are the same to the kernel, so that nothing can be learned."""
    if not np.any(kernel.sees(objects)):
        side = "input" if name == "X" else "output"
        raise ValueError(
            f"{name} holds {count(objects)} objects, and {side}_kernel={kernel!r} cannot tell any of them apart, as with "
            "sequences that are shorter than its length. Choose a shorter length, or another kernel"
        )


def _with_extra(outputs: Collection, extra_outputs: Any, codec: TargetCodec, kernel: Kernel) -> Collection:
    """The outputs, then those without inputs, of the same kind."""
    if hasattr(extra_outputs, "__len__") and len(extra_outputs) == 0:
        raise ValueError("extra_outputs is empty; leave it out, or pass at least one output")
    extra = codec.encode(extra_outputs, kernel, "extra_outputs")
    if is_numeric(extra) != is_numeric(outputs) or (is_numeric(extra) and extra.shape[1:] != outputs.shape[1:]):
        raise ValueError(
            f"extra_outputs are {_described(extra)} and y are {_described(outputs)}; expected outputs of one kind"
        )
    extra = like(extra, outputs) if is_numeric(extra) else extra
    return kernel.check(concatenate(outputs, extra), "y with extra_outputs")


def _described(outputs: Collection) -> str:
    if is_numeric(outputs):
        return f"arrays of shape {tuple(outputs.shape[1:])}" if outputs.ndim > 1 else "numbers"
    return f"objects such as {outputs[0]!r:.30}"


def check_lengths(inputs: Collection, outputs: Collection) -> None:
    """Raise ValueError unless there are as many inputs as outputs, at least two."""
    n, m = count(inputs), count(outputs)
    if n != m:
        raise ValueError(f"X has {n} objects and y has {m}; expected one output for each input")
    if n < 2:
        raise ValueError("X and y hold n_samples=1, a single pair; expected at least two pairs to learn from")


# -- inputs ---------------------------------------------------------------------------------------------


def check_inputs(estimator: BaseEstimator, X: Any, kernel: Kernel, *, reset: bool) -> Collection:
    """Return `X` as the collection the input kernel takes; vectors and Gram matrices are checked by scikit-learn."""
    if kernel.takes_vectors and not is_array(X) and is_curves(X):
        estimator.grid_in_, X, _ = on_grid(X, None if reset else getattr(estimator, "grid_in_", None))
    if not (is_sparse(X) and kernel.takes_sparse):
        reject_non_collection(X, "X")
    reject_empty(X, "X")
    foreign = is_array(X) and not is_numpy_array(X)
    if (kernel.takes_vectors or kernel.pairwise) and not foreign:
        if hasattr(X, "columns"):
            require_distinct(list(X.columns), "X")
        _reject_mixed_columns(X, kernel)
        if _numeric(X):
            X = _validated(estimator, X, kernel, reset)
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


def _validated(estimator: Any, X: Any, kernel: Kernel, reset: bool) -> Any:
    """Return an array or a table of numbers as scikit-learn checks it; its errors with the advice of this library."""
    try:
        return validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=np.float64, allow_nd=True)
    except ValueError as error:
        what = str(error)
        if "contains NaN" in what and not kernel.pairwise:
            cure = "Use mercer.kernels.Columns() or AutoEstimator(), which learn from rows with gaps, or fill them"
            raise ValueError(f"{what.splitlines()[0]} {cure}") from error
        if not kernel.pairwise or "features, but" not in what:
            raise
        against = f"the {estimator.n_features_in_} training inputs, one column each"
        raise ValueError(f"{what} X holds kernel values against {against}") from error


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


# -- outputs --------------------------------------------------------------------------------------------


@dataclass
class TargetCodec:
    """Converts outputs of the user (a column, rows, a sparse matrix, objects) into collections and back."""

    row_shape: tuple[int, ...] | None
    """Shape of one vector output as the user passed it; None for other objects."""
    sparse: str | None = None
    """The kind of sparse matrix, such as "csr_array"; None for anything dense."""
    labels: str | None = None
    """The type of label sets that are not passed as sets, "list" or "tuple"."""
    columns: list[Any] | None = None
    """The names of the columns of a frame whose rows are the outputs."""
    library: str | None = None
    """The library of that frame, "pandas" or "polars"."""
    grid: np.ndarray | None = None
    """The common positions of curves that were passed with positions of their own."""

    @classmethod
    def of(cls, Y: Any, kernel: Kernel) -> TargetCodec:
        """Return the codec for outputs of the form of `Y`."""
        if sparse.issparse(Y):
            return cls(tuple(Y.shape[1:]) if kernel.takes_vectors else None, type(Y).__name__)
        if not kernel.takes_vectors:
            rows = hasattr(Y, "columns") and Y.shape[1] > 1
            return replace(cls.of_frame(Y), row_shape=None) if rows else cls(None, labels=_written_labels(Y, kernel))
        if is_array(Y) and Y.dtype != object:
            return cls(tuple(Y.shape[1:]))
        if is_curves(Y):
            grid = on_grid(Y)[0]
            return cls((len(grid),), grid=grid)
        if hasattr(Y, "columns"):  # a frame: its rows are the outputs
            return cls.of_frame(Y)
        if getattr(Y, "ndim", 1) > 1:
            return cls(tuple(np.shape(Y)[1:]))
        first: Any = next(iter(Y), 0.0)
        return cls(tuple(first.shape) if is_array(first) else np.shape(first))

    @classmethod
    def of_frame(cls, Y: Any) -> TargetCodec:
        """Return the codec for vector outputs that are the rows of a frame."""
        library = type(Y).__module__.split(".")[0]
        known = library in ("pandas", "polars")
        return cls(tuple(Y.shape[1:]), None, None, list(Y.columns) if known else None, library if known else None)

    def encode(self, Y: Any, kernel: Kernel, name: str) -> Collection:
        """Return `Y` as the collection the output kernel takes."""
        Y = self.dense(Y, name)
        if self.grid is not None and is_curves(Y):
            Y = on_grid(Y, self.grid)[1]
        if hasattr(Y, "columns") and not hasattr(Y, "ndim"):  # a frame of polars, which is iterated by columns
            Y = Y.to_numpy()
        reject_non_collection(Y, name)
        reject_empty(Y, name)
        if self.row_shape == ():
            column = Y if is_array(Y) and Y.dtype != object else _column(Y, name)
            if column.ndim == 1:
                Y = namespace(column).reshape(column, (-1, 1))
        checked = kernel.check(Y, name)
        if self.row_shape is not None and is_numeric(checked):
            size, expected = prod(checked.shape[1:]), prod(self.row_shape)
            if size != expected:
                raise ValueError(f"{name} has {size} features; expected {expected}, as the outputs passed to fit have")
        if self.labels is None or is_numeric(checked):
            return checked
        return np.fromiter(map(frozenset, checked), dtype=object, count=len(checked))

    def dense(self, Y: Any, name: str) -> Any:
        """Return a sparse matrix as a dense array, if outputs are rows of one, and anything else as it is."""
        if self.sparse is None or not sparse.issparse(Y):
            return Y
        memory.require(Y.shape[0], Y.shape[1], 1, f"{name} as a dense array", "write outputs as sets of labels")
        return Y.toarray()

    def decode(self, outputs: Collection) -> Collection:
        """Return decoded outputs in the form of the user."""
        if self.sparse is not None:
            return _SPARSE[self.sparse](outputs)
        if self.labels is not None and not is_numeric(outputs):
            written = map(_LABELS[self.labels], map(_in_order, outputs))
            return np.fromiter(written, dtype=object, count=len(outputs))
        if self.row_shape is None or len(self.row_shape) == 1:
            return outputs
        return namespace(outputs).reshape(outputs, (outputs.shape[0], *self.row_shape))

    def framed(self, outputs: Collection) -> Any:
        """Return predictions as a frame with the columns of training, if outputs are the rows of one."""
        if self.library is None or outputs.ndim != 2:
            return outputs
        names = {"columns" if self.library == "pandas" else "schema": self.columns}
        return import_module(self.library).DataFrame(outputs, **names)


_SPARSE = {
    f"{kind}_{form}": getattr(sparse, f"{kind}_{form}")
    for kind in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
    for form in ("array", "matrix")
}
_LABELS: dict[str, type] = {"list": list, "tuple": tuple}


def _written_labels(Y: Any, kernel: Kernel) -> str | None:
    """The type, "list" or "tuple", of outputs that the kernel takes for sets, as losses then have to."""
    first = next(iter(Y), None) if hasattr(Y, "__iter__") else None
    if type(first) not in _LABELS.values():
        return None
    try:
        return type(first).__name__ if _of_sets(kernel.key(first)) else None
    except TypeError:  # labels that have no hash; the kernel's check names them
        return None


def _of_sets(key: Any) -> bool:
    return type(key) is frozenset or (type(key) is tuple and len(key) > 0 and all(map(_of_sets, key)))


def _in_order(labels: Any) -> list[Any]:
    """The labels in an order that does not change from run to run."""
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=lambda label: (type(label).__name__, repr(label)))


def _column(Y: Any, name: str) -> np.ndarray:
    """A list of numbers as an array; raise TypeError for anything else in it."""
    for i, item in enumerate(Y):
        if is_missing(item) and not isinstance(item, Real):  # NaN is named with those in arrays
            raise ValueError(f"{name}[{i}] is {item!r}; expected a number. Drop or fill missing entries first")
        if not isinstance(item, Real | np.number | np.bool_):
            others = "such as Classes(), Subsequence(2).normalized() or LabelSets()"
            why = f"since the output kernel takes vectors; for other objects pass output_kernel=..., {others}"
            why = "as the others are" if i else why
            raise TypeError(f"{name}[{i}] is {item!r:.40}, a {type(item).__name__}; expected a number, {why}")
    return np.asarray(list(Y), dtype=float)


@dataclass
class Encoding:
    """Outputs of the user as collections that the output kernel takes."""

    codec: TargetCodec
    kernel: Kernel

    def __call__(self, outputs: Any, name: str) -> Collection:
        """Return the collection of some outputs."""
        return self.codec.encode(outputs, self.kernel, name)
