"""Checked training pairs: inputs, outputs, weights and groups."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from mercer.core.arrays import Array, float64, is_array, is_numpy_array, like, namespace, to_numpy
from mercer.core.collections import (
    LEAST,
    Collection,
    as_vectors,
    concatenate,
    count,
    distinct,
    is_numeric,
    listed,
    reject_non_collection,
    require_range,
    take,
)
from mercer.estimators.codec import TargetCodec
from mercer.estimators.in_blocks import check_block_inputs, inputs_in_blocks, outputs_in_memory
from mercer.estimators.inputs import check_inputs, reject_text
from mercer.kernels.base import Kernel
from mercer.kernels.vectors import Linear
from mercer.solvers.gram_checks import sub_inputs
from mercer.structures.curves import is_curves, on_grid


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
    metadata, y = copy(estimator), _regular(outputs_in_memory(y), estimator)
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
