"""What goes into an estimator and what comes out: collections checked on the way in, given their own form on the way out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from mercer.arrays import is_array, is_numpy_array, namespace
from mercer.kernels.base import Kernel
from mercer.objects import Objects, concatenate, count, reject_non_collection


def check_inputs(estimator: BaseEstimator, X: Any, kernel: Kernel, *, reset: bool) -> Objects:
    """`X` as the collection the input kernel works on; scikit-learn's own checks for vectors and Gram matrices."""
    reject_non_collection(X, "X")
    foreign = is_array(X) and not is_numpy_array(X)
    if (kernel.takes_vectors or kernel.pairwise) and not foreign:
        dtype = np.float64 if _numeric(X) else None
        if dtype is not None:
            X = validate_data(estimator, X, reset=reset, dtype=dtype, allow_nd=True)
        elif kernel.takes_vectors:
            X = kernel.check(X, "X")
            X = validate_data(estimator, X, reset=reset, dtype=np.float64)
    X = kernel.check(X, "X")
    if kernel.takes_vectors and foreign:
        _check_feature_count(estimator, X, reset)
    return X


def _numeric(X: Any) -> bool:
    """Whether scikit-learn can be trusted to name what is wrong with X (ragged and mixed lists it cannot)."""
    return hasattr(X, "dtype") or hasattr(X, "dtypes") or hasattr(X, "toarray")


def _check_feature_count(estimator: Any, X: Any, reset: bool) -> None:
    if reset:
        estimator.n_features_in_ = X.shape[1]
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )


@dataclass
class OutputForm:
    """How the user writes outputs: a plain column, rows of some shape, or objects."""

    row_shape: tuple[int, ...] | None
    """Shape of one vector output as the user passed it; None for objects that are no vectors."""

    @classmethod
    def of(cls, Y: Any, kernel: Kernel) -> OutputForm:
        """The form of `Y`."""
        if not kernel.takes_vectors:
            return cls(None)
        array = Y if is_array(Y) else np.asarray(Y, dtype=None if hasattr(Y, "dtype") else object)
        if not is_array(Y) and not hasattr(Y, "dtype"):
            first = np.asarray(Y[0]) if len(array) else np.asarray(0.0)
            return cls(tuple(first.shape))
        return cls(tuple(array.shape[1:]))

    def inward(self, Y: Any, kernel: Kernel, name: str) -> Objects:
        """`Y` as the collection the output kernel works on."""
        reject_non_collection(Y, name)
        if self.row_shape == ():
            column = Y if is_array(Y) else np.asarray(Y)
            if column.ndim == 1:
                Y = namespace(column).reshape(column, (-1, 1))
        return kernel.check(Y, name)

    def outward(self, outputs: Objects) -> Objects:
        """Decoded outputs as the user wrote them."""
        if self.row_shape is None or len(self.row_shape) == 1:
            return outputs
        return namespace(outputs).reshape(outputs, (outputs.shape[0], *self.row_shape))


@dataclass
class Pairs:
    """Checked training pairs, and the kernels with what depends on data filled in."""

    inputs: Objects
    outputs: Objects
    everything: Objects
    """The outputs, then those that have no input."""
    form: OutputForm
    input_kernel: Kernel
    output_kernel: Kernel


def check_pairs(estimator: Any, X: Any, y: Any, extra_outputs: Any = None) -> Pairs:
    """What `fit` was given, checked against the estimator's two kernels."""
    input_kernel, output_kernel = estimator.input_kernel, estimator.output_kernel
    for name, kernel in (("input_kernel", input_kernel), ("output_kernel", output_kernel)):
        if not isinstance(kernel, Kernel):
            raise TypeError(
                f"{name} is {kernel!r:.60}, a {type(kernel).__name__}; expected a kernel such as mercer.kernels.Gaussian(). "
                "Wrap a function k(x, z) in mercer.kernels.FromFunction"
            )
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    inputs = check_inputs(estimator, X, input_kernel, reset=True)
    form = OutputForm.of(y, output_kernel)
    outputs = form.inward(y, output_kernel, "y")
    check_lengths(inputs, outputs)
    everything = outputs
    if extra_outputs is not None:
        everything = concatenate(outputs, form.inward(extra_outputs, output_kernel, "extra_outputs"))
    return Pairs(inputs, outputs, everything, form, input_kernel.resolve(inputs), output_kernel.resolve(everything))


def check_lengths(inputs: Objects, outputs: Objects) -> None:
    """Raise unless there are as many inputs as outputs, at least two."""
    if count(inputs) != count(outputs):
        raise ValueError(
            f"X has {count(inputs)} objects and y has {count(outputs)}; expected one output for each input"
        )
    if count(inputs) < 2:
        raise ValueError("X and y hold n_samples=1, a single pair; expected at least two pairs to learn from")


def one_set_each(candidates: Any, outputs: Objects, form: OutputForm, queries: int) -> bool:
    """Whether `candidates` holds one collection per query, and not one for all.

    It does when each of its entries is a collection (list, tuple, array, object array) of things that look like the
    training outputs, while the entries themselves do not.
    """
    reject_non_collection(candidates, "candidates")
    if count(candidates) == 0:
        raise ValueError("candidates is empty; expected at least one output to choose from")
    if form.row_shape is not None:
        each = _depth(candidates) > 1 + len(form.row_shape) and getattr(candidates, "shape", ())[1:] != (1,)
    else:
        sample = outputs[0]
        each = any(_holds(entry, sample) for entry in candidates)
        each = each and not all(_looks_like(entry, sample) for entry in candidates)
    if not each:
        return False
    if count(candidates) != queries:
        raise ValueError(
            f"candidates holds {count(candidates)} sets and X has {queries} objects; expected one candidate set for each "
            "object, or one flat collection for all"
        )
    for i, entry in enumerate(candidates):
        if len(entry) == 0:
            raise ValueError(f"candidates[{i}] is empty; expected at least one output to choose from for X[{i}]")
    return True


def _depth(candidates: Any) -> int:
    if is_array(candidates) and candidates.dtype != object:
        return candidates.ndim
    inner = next((entry for entry in candidates if len(np.shape(entry)) == 0 or len(entry)), None)
    return 1 + (0 if inner is None else getattr(inner, "ndim", np.ndim(inner)))


def _looks_like(entry: Any, sample: Any) -> bool:
    if isinstance(sample, int | float | np.number):
        return isinstance(entry, int | float | np.number)
    if not isinstance(entry, type(sample)):
        return False
    if isinstance(sample, list | tuple) and sample and len(entry):
        return type(entry[0]) is type(sample[0]) or isinstance(entry[0], type(sample[0]))
    return True


def _holds(entry: Any, sample: Any) -> bool:
    if isinstance(entry, str | bytes | dict | set | frozenset) or not hasattr(entry, "__len__"):
        return False
    return len(entry) == 0 or all(_looks_like(item, sample) for item in entry)
