"""Kernel learning by alignment: the weights with which several kernels add up to one that tells what a target tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import scipy.optimize

from mercer.core import memory
from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, count
from mercer.kernels.algebra import Scaled, Sum
from mercer.kernels.base import Kernel
from mercer.selection.alignment import _centred, _checked


@dataclass
class Combination:
    """A weighted sum of kernels, and the centred alignments that led to it."""

    kernel: Kernel
    """Σ wᵢ kᵢ, without the kernels of weight zero."""
    weights: np.ndarray
    """One weight for each kernel given, none below zero."""
    alignments: np.ndarray
    """The centred alignment of each kernel with the target."""
    alignment: float
    """The centred alignment of the sum."""


def combine(kernels: Sequence[Kernel], X: Collection, target: Array, method: str = "alignf") -> Combination:
    r"""One kernel out of several, aligned with a target (Cortes, Mohri and Rostamizadeh 2012), alignments centred.

    .. math:: \text{alignf:}\; \max_{w \ge 0} A\Big(\sum_i w_i K_i,\, T\Big), \qquad
        \text{align:}\; w_i \propto \max(A(K_i, T), 0) / \|K_i\|_F

    "alignf" finds all weights together and knows which kernels say the same; "align" weighs each by itself. To combine
    kernels of inputs, the target is a Gram matrix of the outputs; to combine kernels of outputs, one of the inputs.

    Parameters
    ----------
    kernels : sequence of Kernel
        Kernels on the same objects. They are not changed; what they learn from data is learned from `X` here, and again
        by the estimator the sum is handed to.
    X : collection of n objects
        Training objects.
    target : array of shape (n, n)
        Gram matrix of what belongs to these objects.
    method : {"alignf", "align"}
        Which weights.

    Returns
    -------
    Combination
        With ``kernel``, ``weights``, ``alignments`` and ``alignment``. The sum is scaled to k(x, x) = 1 on average over `X`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, Linear
    >>> X = np.array([[-1.0], [1.0], [-3.0], [3.0]])
    >>> found = combine([Gaussian(0.1), Linear()], X, target=Linear()(3 * X))
    >>> found.weights.round(6), round(found.alignment, 6)
    (array([0. , 0.2]), 1.0)
    """
    if method not in ("alignf", "align"):
        raise ValueError(f"method={method!r}; expected 'alignf' or 'align'")
    grams = _grams(kernels, X)
    goal = to_numpy(_centred(_checked(target, "target")))
    if goal.shape != grams[0].shape:
        raise ValueError(f"target has shape {goal.shape}; expected a Gram matrix of the {len(grams[0])} objects of X")
    goal = _unit(goal, np.abs(to_numpy(target)).max(), "target")
    diagonals = np.asarray([np.mean(np.diag(gram)) for gram in grams])
    centred = [to_numpy(_centred(gram)) for gram in grams]
    norms = np.asarray([np.linalg.norm(gram) for gram in centred])
    units = [
        _unit(small, np.abs(gram).max(), f"the Gram matrix of kernels[{i}], {kernels[i]!r},")
        for i, (small, gram) in enumerate(zip(centred, grams, strict=True))
    ]
    alignments = np.asarray([float(np.sum(unit * goal)) for unit in units])
    shares = np.maximum(alignments, 0.0) if method == "align" else _alignf(units, alignments)
    if not np.any(shares > 0):
        raise ValueError(
            f"no kernel is aligned with the target, the best by {alignments.max():.3g}; expected at least one above zero. Give "
            "other kernels"
        )
    shares[shares <= len(goal) * np.finfo(float).eps * shares.max()] = 0.0  # what rounding leaves of a zero
    total = np.tensordot(shares, np.asarray(units), axes=1)
    weights = shares / norms
    weights = weights / float(weights @ diagonals)
    parts: list[Kernel] = [Scaled(float(w), kernel) for w, kernel in zip(weights, kernels, strict=True) if w > 0]
    kernel = reduce(Sum, parts)
    return Combination(kernel, weights, alignments, float(np.sum(total * goal) / np.linalg.norm(total)))


def align_weights(kernels: Sequence[Kernel], X: Collection, target: Array, method: str = "alignf") -> np.ndarray:
    r"""The weights alone of `combine`, one for each kernel.

    .. math:: w \propto \arg\max_{w \ge 0} A\Big(\sum_i w_i K_i,\, T\Big)

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> X = [[-1.0], [1.0], [-1.0], [1.0]]
    >>> align_weights([Linear(), 2.0 * Linear()], X, Linear()(X), method="align")
    array([0.5 , 0.25])
    """
    return combine(kernels, X, target, method).weights


def _alignf(units: list[np.ndarray], alignments: np.ndarray) -> np.ndarray:
    r"""Weights ≥ 0 of the best aligned sum: up to scale those of min ‖Σ wᵢ Kᵢ − T‖, from the k×k matrix of products."""
    flat = np.asarray(units).reshape(len(units), -1)
    values, vectors = np.linalg.eigh(flat @ flat.T)
    kept = values > len(values) * np.finfo(float).eps * values[-1]
    roots = np.sqrt(values[kept])
    found, _ = scipy.optimize.nnls(roots[:, None] * vectors[:, kept].T, vectors[:, kept].T @ alignments / roots)
    return found


def _grams(kernels: Sequence[Kernel], X: Collection) -> list[np.ndarray]:
    if isinstance(kernels, Kernel) or not isinstance(kernels, Sequence) or len(kernels) == 0:
        raise ValueError(f"kernels={kernels!r:.60}; expected a list with at least one kernel")
    for i, kernel in enumerate(kernels):
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernels[{i}] is {kernel!r:.60}; expected a kernel such as mercer.kernels.Gaussian()")
    grams: list[np.ndarray] = []
    for kernel in kernels:
        objects = kernel.check(X, "X")
        n = count(objects)
        memory.require(n, n, 4.0 * (len(kernels) - len(grams)), "combining kernels", "pass fewer objects or kernels")
        grams.append(to_numpy(_checked(kernel.resolve(objects)(objects), f"the Gram matrix of {kernel!r}")))
    return grams


def _unit(centred: np.ndarray, largest: float, name: str) -> np.ndarray:
    """A centred Gram matrix at norm one; `largest` is its largest entry before centring."""
    norm = float(np.linalg.norm(centred))
    if norm <= len(centred) * np.finfo(float).eps * largest:
        raise ValueError(
            f"{name} is zero once centred; expected one that tells objects apart, since alignment with zero is undefined"
        )
    return centred / norm
