"""Kernel learning by alignment: weights of a sum of kernels that is aligned with a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import scipy.optimize
from sklearn.base import clone

from mercer.core import memory
from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, count, distinct
from mercer.core.validation import check_choice, check_instance
from mercer.kernels.algebra import Scaled, Sum
from mercer.kernels.base import Kernel
from mercer.kernels.grams import centred
from mercer.kernels.tables import Columns
from mercer.selection.alignment import checked_gram, require_size


@dataclass
class Combination:
    """A sum of kernels Σ wᵢ kᵢ with its weights wᵢ ≥ 0, and the centred alignments of each kernel and of the sum."""

    kernel: Kernel
    weights: np.ndarray
    alignments: np.ndarray
    alignment: float


def combine(kernels: Sequence[Kernel], X: Collection, target: Array, method: str = "alignf") -> Combination:
    r"""Combine kernels into one that is aligned with a target (Cortes, Mohri and Rostamizadeh 2012), alignments centred.

    .. math:: \text{alignf:}\; \max_{w \ge 0} A\Big(\sum_i w_i K_i,\, T\Big), \qquad
        \text{align:}\; w_i \propto \max(A(K_i, T), 0) / \|K_i\|_F

    "alignf" finds all weights together and accounts for similar kernels; "align" finds each by itself. The sum is scaled to
    k(x, x) = 1 on average over `X`.

    Parameters
    ----------
    kernels : sequence of Kernel
        Kernels on the same objects. They are not changed: they are resolved on `X` here, and again by the estimator.
    X : collection of n objects
        Training objects.
    target : array of shape (n, n)
        Gram matrix of the outputs, to combine kernels of inputs, or of the inputs, to combine kernels of outputs.
    method : {"alignf", "align"}
        The choice of weights.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, Linear
    >>> X = np.array([[-1.0], [1.0], [-3.0], [3.0]])
    >>> found = combine([Gaussian(0.1), Linear()], X, target=Linear()(3 * X))
    >>> found.weights.round(6), round(found.alignment, 6)
    (array([0. , 0.2]), 1.0)
    """
    check_choice(method, "method", ("alignf", "align"))
    grams = _grams(kernels, X)
    goal = to_numpy(checked_gram(target, "target"))
    if goal.shape != grams[0].shape:
        raise ValueError(f"target has shape {goal.shape}; expected a Gram matrix of the {len(grams[0])} objects of X")
    goal, _ = _unit(goal, "target")
    names = [f"the Gram matrix of kernels[{i}], {kernel!r}," for i, kernel in enumerate(kernels)]
    units, norms = zip(*map(_unit, grams, names), strict=True)
    diagonals = np.asarray([np.mean(np.diag(gram)) for gram in grams])
    alignments = np.asarray([float(np.sum(unit * goal)) for unit in units])
    shares = np.maximum(alignments, 0.0) if method == "align" else _alignf(units, alignments)
    if not np.any(shares > 0):
        raise ValueError(f"no kernel is aligned with the target, the best by {alignments.max():.3g}; give others")
    shares[shares <= len(goal) * np.finfo(float).eps * shares.max()] = 0.0  # zero up to rounding
    total = np.tensordot(shares, np.asarray(units), axes=1)
    weights = shares / np.asarray(norms)
    weights = weights / float(weights @ diagonals)
    parts: list[Kernel] = [Scaled(float(w), kernel) for w, kernel in zip(weights, kernels, strict=True) if w > 0]
    return Combination(reduce(Sum, parts), weights, alignments, float(np.sum(total * goal) / np.linalg.norm(total)))


def align_weights(kernels: Sequence[Kernel], X: Collection, target: Array, method: str = "alignf") -> np.ndarray:
    r"""Return the weights of `combine`, one for each kernel.

    .. math:: w \propto \arg\max_{w \ge 0} A\Big(\sum_i w_i K_i,\, T\Big)

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> X = [[-1.0], [1.0], [-1.0], [1.0]]
    >>> align_weights([Linear(), 2.0 * Linear()], X, Linear()(X), method="align")
    array([0.5 , 0.25])
    """
    return combine(kernels, X, target, method).weights


def align_columns(kernel: Columns, X: Any, target: Array, method: str = "alignf") -> Columns:
    r"""Return a kernel on tables with weights of its columns by alignment with a target, those of `combine`.

    .. math:: w \propto \arg\max_{w \ge 0} A\Big(\sum_c w_c \exp(-d_c / s),\, T\Big)

    Columns with a single value have weight 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Columns, Linear
    >>> table, y = {"a": [1.0, 2.0, 3.0, 4.0], "b": [5.0, 5.0, 5.0, 5.0]}, np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> align_columns(Columns(), table, Linear()(y)).weights
    {'a': 1.0}
    """
    check_instance(kernel, "kernel", Columns, expected="a kernel on tables, mercer.kernels.Columns()")
    table = kernel.check(X, "X")
    names = [name for name in table.used if len(distinct(table.columns[name])[0]) > 1 and not table.gaps(name).all()]
    known = kernel.resolve(table, checked=True)
    alone = [clone(known).set_params(combination="sum", weights={name: 1.0}) for name in names]
    found = align_weights(alone, table, target, method)
    return clone(kernel).set_params(weights=dict(zip(names, found.tolist(), strict=True)))


def _alignf(units: Sequence[np.ndarray], alignments: np.ndarray) -> np.ndarray:
    r"""Return weights ≥ 0 of the best aligned sum: up to scale those of min ‖Σ wᵢ Kᵢ − T‖, from the k×k matrix of products."""
    flat = np.asarray(units).reshape(len(units), -1)
    values, vectors = np.linalg.eigh(flat @ flat.T)
    kept = values > len(values) * np.finfo(float).eps * values[-1]
    roots = np.sqrt(values[kept])
    found, _ = scipy.optimize.nnls(roots[:, None] * vectors[:, kept].T, vectors[:, kept].T @ alignments / roots)
    return found


def _grams(kernels: Sequence[Kernel], X: Collection) -> list[np.ndarray]:
    if not isinstance(kernels, Sequence) or len(kernels) == 0:
        raise ValueError(f"kernels={kernels!r:.60}; expected a list with at least one kernel")
    for i, kernel in enumerate(kernels):
        check_instance(kernel, f"kernels[{i}]", Kernel, expected="a kernel such as mercer.kernels.Gaussian()")
    grams: list[np.ndarray] = []
    for kernel in kernels:
        objects = kernel.check(X, "X")
        n = count(objects)
        memory.require(n, n, 4.0 * (len(kernels) - len(grams)), "combining kernels", "pass fewer objects or kernels")
        grams.append(to_numpy(checked_gram(kernel.resolve(objects)(objects), f"the Gram matrix of {kernel!r}")))
    return grams


def _unit(gram: np.ndarray, name: str) -> tuple[np.ndarray, float]:
    """Return a centred Gram matrix at norm one, and its norm."""
    small = to_numpy(centred(gram))
    norm = float(np.linalg.norm(small))
    require_size(norm, len(gram), np.abs(gram).max(), f"{name} is zero once centred")
    return small / norm, norm
