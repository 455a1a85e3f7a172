"""Checks of the data of an estimator, and the form of its outputs."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from importlib import import_module
from math import prod
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from mercer.core import memory
from mercer.core.arrays import Array, float64, is_array, is_numpy_array, like, namespace, to_numpy
from mercer.core.collections import (
    LEAST,
    Collection,
    as_vectors,
    concatenate,
    count,
    distinct,
    is_missing,
    is_numeric,
    reject_non_collection,
    require_range,
    take,
)
from mercer.core.collections import listed as listed
from mercer.core.sparse_rows import is_sparse
from mercer.estimators.in_blocks import check_block_inputs, inputs_in_blocks, outputs_in_memory
from mercer.kernels.base import Kernel
from mercer.kernels.vectors import Linear
from mercer.solvers.base import sub_inputs


def check_inputs(estimator: BaseEstimator, X: Any, kernel: Kernel, *, reset: bool) -> Collection:
    """Return `X` as the collection the input kernel takes; vectors and Gram matrices are checked by scikit-learn."""
    if not (is_sparse(X) and kernel.takes_sparse):
        reject_non_collection(X, "X")
    _reject_empty(X, "X")
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
            _reject_text(np.asarray(X[name]), f"X[{name!r}]")
            np.asarray(X[name]).astype(float)
        except (TypeError, ValueError) as error:
            cure = "mercer.kernels.Columns(), a kernel on tables, or encode X by mercer.structures.table_encoder.TableEncoder()"
            raise ValueError(
                f"X has the column {name!r}, which is not of numbers ({error}), and {kernel!r} compares vectors. Use {cure}"
            ) from error


def _reject_text(array: np.ndarray, name: str) -> None:
    """Raise TypeError for text, dates and other objects in place of numbers, even if they could be converted."""
    if array.dtype.kind == "O":
        for place, item in np.ndenumerate(array):
            if not (isinstance(item, Real | np.number | np.bool_) or is_missing(item)):
                where = "".join(f"[{i}]" for i in place)
                raise TypeError(f"{name}{where} is {item!r:.40}, a {type(item).__name__}; expected a number")
    elif array.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {array.dtype}; expected numbers")


def _reject_empty(collection: Any, name: str) -> None:
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
    """The names of the columns of a frame of numbers."""
    library: str | None = None
    """The library of that frame, "pandas" or "polars"."""

    @classmethod
    def of(cls, Y: Any, kernel: Kernel) -> TargetCodec:
        """Return the codec for outputs of the form of `Y`."""
        if sparse.issparse(Y):
            return cls(tuple(Y.shape[1:]) if kernel.takes_vectors else None, type(Y).__name__)
        if not kernel.takes_vectors:
            return cls(None, labels=_written_labels(Y, kernel))
        if is_array(Y) and Y.dtype != object:
            return cls(tuple(Y.shape[1:]))
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
        if hasattr(Y, "columns") and not hasattr(Y, "ndim"):  # a frame of polars, which is iterated by columns
            Y = Y.to_numpy()
        reject_non_collection(Y, name)
        _reject_empty(Y, name)
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
        if self.library is None:
            return outputs
        names = {"columns" if self.library == "pandas" else "schema": self.columns}
        return import_module(self.library).DataFrame(outputs, **names)

    def sets_of_each(self, candidates: Any, outputs: Collection, queries: int) -> Any:
        """Return one collection of candidates per query, or None if `candidates` is one collection for all.

        `EachOf` says that they are; otherwise they are if their entries hold objects of the form of the outputs.
        """
        explicit = hasattr(candidates, "sets")
        if not explicit:
            reject_non_collection(candidates, "candidates")
        entries: Any = listed(candidates.sets) if explicit else candidates
        entries = entries if is_array(entries) else list(entries)
        size = count(entries)
        if size == 0:
            raise ValueError("candidates is empty; expected at least one output to choose from")
        if not explicit and not self._are_sets(entries, outputs):
            return None
        if size != queries:
            raise ValueError(
                f"candidates holds {size} sets and X has {queries} objects; expected one candidate set for each object, or one "
                "flat collection for all. Write mercer.decoders.EachOf([...]) for one set each"
            )
        for i in range(size):
            if count(entries[i]) == 0:
                raise ValueError(f"candidates[{i}] is empty; expected at least one output to choose from for X[{i}]")
        return entries

    def _are_sets(self, entries: Any, outputs: Collection) -> bool:
        depth = None if self.row_shape is None else len(self.row_shape)
        if depth is None and is_numeric(outputs):
            depth = outputs.ndim - 1
        if is_array(entries) and entries.dtype != object:
            column = self.row_shape is not None and entries.shape[1:] == (1,)
            return not column and entries.ndim > 1 + (depth or 0)
        types = {type(output) for output in outputs}
        entries = [np.asarray(entry) if _is_table(entry) and type(entry) not in types else entry for entry in entries]
        if depth is not None:
            return max(map(_depth, entries)) > depth
        families = {_family(output) for output in outputs}

        def holds_outputs(entry: Any) -> bool:
            # label sets and trees may be written as lists too
            return _is_listed(entry) and all(_family(item) in {*families, "listed"} for item in entry)

        if not all(map(holds_outputs, entries)):
            return False
        if not any(len(entry) for entry in entries):
            return "listed" not in families and self.labels is None
        if any(len(output) and holds_outputs(output) for output in outputs if _is_listed(output)):
            # outputs are made of their like, such as lists of lists: only more nesting than any of them has tells
            return min(map(_depth, entries)) > max(map(_depth, outputs))
        return True


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
        if not isinstance(item, Real | np.number | np.bool_):
            others = "such as Classes(), Subsequence(2).normalized() or LabelSets()"
            why = f"since the output kernel takes vectors; for other objects pass output_kernel=..., {others}"
            why = "as the others are" if i else why
            raise TypeError(f"{name}[{i}] is {item!r:.40}, a {type(item).__name__}; expected a number, {why}")
    return np.asarray(list(Y), dtype=float)


def _is_listed(entry: Any) -> bool:
    return isinstance(entry, list | tuple) or is_array(entry)


def _family(item: Any) -> str:
    return "listed" if _is_listed(item) else "set" if isinstance(item, set | frozenset) else "item"


def _is_table(entry: Any) -> bool:
    """True for a column or a table, which has axes but is not an array."""
    return hasattr(entry, "__array__") and getattr(entry, "ndim", 0) > 0 and not is_array(entry)


def _depth(item: Any) -> int:
    """The depth of nested collections: 0 for a number or a text, 1 for a set of labels."""
    if is_array(item) and item.dtype != object:
        return item.ndim
    if _is_listed(item) or isinstance(item, set | frozenset):
        return 1 + max(map(_depth, item), default=0)
    return 0


@dataclass
class Encoding:
    """Outputs of the user as collections that the output kernel takes."""

    codec: TargetCodec
    kernel: Kernel

    def __call__(self, outputs: Any, name: str) -> Collection:
        """Return the collection of some outputs."""
        return self.codec.encode(outputs, self.kernel, name)


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
    blocks, y = inputs_in_blocks(estimator, X), listed(outputs_in_memory(y))
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
    _check_sizes(seen, input_kernel, "X")
    _check_sizes(outputs, output_kernel, "y")
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


def check_vector_pairs(estimator: Any, source: Any, X: Any, y: Any, weights_and_groups: tuple[Any, Any]) -> Pairs:
    """Check the data of `fit` for outputs that are vectors; rows without any output or any weight are left out."""
    metadata, y = copy(estimator), outputs_in_memory(y)
    inputs_in_blocks(estimator, X)  # refused, but for memory maps
    inputs = check_inputs(metadata, listed(X), source, reset=True)
    Y, observed, flat = check_targets(y, type(estimator).__name__, estimator.handles_missing)
    check_lengths(inputs, Y)
    _check_sizes(inputs, source, "X")
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
                _reject_text(np.asarray(y[name]), f"y[{name!r}]")
        else:
            _reject_text(np.asarray(y), "y")
    except TypeError as error:
        cure = "For other outputs use DependencyEstimator with an output kernel, such as Classes() or LabelSets()"
        raise TypeError(f"{error}, or a row of numbers, for each output. {cure}") from error
    except ValueError:
        as_vectors(y, "y")  # names the first row of another length
        raise


def _check_sizes(collection: Collection, kernel: Any, name: str) -> None:
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
                f"groups holds a single group, {labels[rows[0]]!r}; expected at least two, to leave one out"
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
