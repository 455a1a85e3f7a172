"""Nearest neighbours in the feature space of the input kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, count, take
from mercer.core.validation import check_whole
from mercer.embeddings.base import Embedding
from mercer.embeddings.implicit import Implicit
from mercer.kernels.base import Kernel
from mercer.learners.base import Learner, LearningProblem
from mercer.selection.alpha import LeaveOneOut, best_alpha, copies_together
from mercer.solvers.kernel_values import check_finite, check_gram

_MEASURED = 300  # objects whose Gram matrix is checked for negative eigenvalues, if no whole Gram matrix is needed
_NEGATIVE = 1e-6  # share of the squared norms that rounding may take a squared distance below zero
_LAST = float(np.finfo(float).max)  # distance of an input of norm zero: behind all others
_MOST = 30  # the largest number of neighbours that is tried


@dataclass
class Neighbors(Learner):
    r"""The mean of the outputs of the k nearest inputs, :math:`h(x) = \frac{1}{k} \sum_{j \in N_k(x)} \psi(y_j)`.

    An input of norm zero, k(z, z) = 0 (an empty row, a string too short for the kernel), is as near to an input as that is
    short, whatever it is; so it comes after all others, except for inputs of norm zero.

    Parameters
    ----------
    k : int or "loo"
        The number of neighbours; "loo", the default, chooses it between 1 and 30 by exact leave-one-out.

    Examples
    --------
    >>> Neighbors(k=3)
    Neighbors(k=3)
    """

    k: Any = "loo"
    has_weights = True

    def preferred_embedding(self, kernel: Kernel, outputs: Collection) -> tuple[Embedding, str] | None:
        """Return weights on the training outputs."""
        return Implicit(), "the mean of neighbours is a combination of training outputs"

    def fit(self, problem: LearningProblem) -> FittedNeighbors:
        """Remember the pairs; choose k if asked to."""
        kernel, n = problem.kernel, problem.size
        chosen, tried, path = self.k, None, None
        if self.k == "loo":
            problem = copies_together(problem, LeaveOneOut())
            family = _LeftOutNeighbors(problem)
            tried = np.arange(1, min(_MOST, family.most) + 1)
            path = problem.criterion.left_out(family, tried.tolist())
            chosen = int(-best_alpha(-tried.astype(float), path))
        else:
            expected = f"a whole number between 1 and the number of pairs, {n}, or 'loo'"
            check_whole(chosen, "k", 1, n, expected=expected)
            _measure(kernel, problem.inputs, "input")
        _measure(problem.embedding.kernel_, problem.embedding.outputs_, "output")
        basis = problem.inputs if kernel.pairwise else kernel.prepare(problem.inputs)
        attributes = {"k_": int(chosen), "ks_": tried, "loo_path_": path}
        return FittedNeighbors(problem.held(), basis, _norms(kernel, problem.inputs), int(chosen), attributes)


@dataclass
class FittedNeighbors:
    """Training pairs, and the number of neighbours in the mean."""

    problem: LearningProblem
    basis: Any
    norms: np.ndarray
    k: int
    attributes: dict[str, Any]

    def points(self, inputs: Collection) -> Array:
        """Return the mean of the neighbours, in coordinates if outputs have them, else as weights."""
        return _in_coordinates(self.weights(inputs), self.problem)

    @property
    def groups(self) -> np.ndarray | None:
        """The group of each training pair; None if pairs are left out one by one."""
        return self.problem.groups

    def left_out_points(self) -> Array:
        """Return the mean of the neighbours of each training input among the others."""
        return self.points_without(self.problem.groups)

    def points_without(self, groups: np.ndarray | None) -> Array:
        """Return the mean of the neighbours of each training input among those of other groups."""
        family = _LeftOutNeighbors(replace(self.problem, groups=groups))
        return family.left_out_points(min(self.k, family.most))

    def reduced(self) -> FittedNeighbors:
        """Return the encoded inputs and the coordinates of their outputs."""
        return replace(self, problem=self.problem.reduced())

    def weights(self, inputs: Collection) -> np.ndarray:
        """Return 1/k on the k nearest inputs."""
        kernel = self.problem.kernel
        values = to_numpy(kernel(inputs, self.basis))
        check_finite(values, kernel, "input")
        if not (kernel.is_psd or kernel.pairwise):  # a row of kernel values does not have k(x, x)
            _check_distances(values, _norms(kernel, inputs), self.norms, kernel)
        distances = 0.5 * self.norms - values
        if np.any(self.norms == 0):
            blind = np.all(values == 0, axis=1) if kernel.pairwise else _norms(kernel, inputs) == 0
            distances[np.ix_(~blind, self.norms == 0)] = _LAST
        nearest = np.argsort(distances, axis=1, kind="stable")[:, : self.k]
        return mean_of(nearest, len(self.norms), self.problem.sample_weight)


class _LeftOutNeighbors:
    """Neighbours of each training input among those of other pairs, or of other groups."""

    def __init__(self, problem: LearningProblem) -> None:
        self.problem, kernel = problem, problem.kernel
        gram, groups = kernel(problem.inputs), problem.groups
        check_gram(gram, kernel, "input")
        # half of the squares, less what is the same in a row: twice the Gram matrix could overflow
        norms = _norms(kernel, problem.inputs)
        distances = 0.5 * norms - to_numpy(gram)
        distances[np.ix_(norms != 0, norms == 0)] = _LAST
        groups = np.arange(len(distances)) if groups is None else groups
        own = groups[:, None] == groups
        distances[own] = np.inf
        self.most = int(np.min(np.sum(~own, axis=1)))
        # sorted once, for every number of neighbours
        self.order = np.argsort(distances, axis=1, kind="stable")

    def left_out_points(self, value: Any) -> Array:
        """Return the mean of the neighbours."""
        weights = mean_of(self.order[:, :value], len(self.order), self.problem.sample_weight)
        return _in_coordinates(weights, self.problem)

    def risks(self, values: Sequence[Any], gram: Array | None = None) -> Iterator[Array]:
        """Yield squared distances of the mean of the neighbours to the output, for each number of neighbours."""
        own = _in_coordinates(np.eye(len(self.order)), self.problem)
        for value in values:
            left = self.left_out_points(value) - own
            yield np.sum((left if gram is None else left @ to_numpy(gram)) * left, axis=1)


def _in_coordinates(weights: np.ndarray, problem: LearningProblem) -> np.ndarray:
    """Weights on the training outputs as points."""
    return weights if problem.targets is None else weights @ to_numpy(problem.targets)


def mean_of(nearest: np.ndarray, columns: int, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """Return weights on the columns named in each row that sum to one, in proportion to the sample weights."""
    weights = np.zeros((len(nearest), columns))
    share = np.ones(nearest.shape) if sample_weight is None else sample_weight[nearest]
    np.put_along_axis(weights, nearest, share / share.sum(axis=1, keepdims=True), axis=1)
    return weights


def _measure(kernel: Kernel, objects: Collection, side: str) -> None:
    """Raise ValueError if the Gram matrix of some objects, or of all if it is given, is not positive semi-definite."""
    if kernel.is_psd:
        return
    n = count(objects)
    if n > _MEASURED and not kernel.pairwise:
        objects = take(objects, np.sort(np.random.default_rng(0).choice(n, _MEASURED, replace=False)))
    check_gram(kernel(objects), kernel, side)


def _norms(kernel: Kernel, inputs: Collection) -> np.ndarray:
    """Return k(x, x) for each input; raise ValueError unless all are finite."""
    norms = to_numpy(kernel.diag(inputs))
    bad = np.flatnonzero(~np.isfinite(norms))
    if len(bad):
        raise ValueError(
            f"the input kernel {kernel!r} gave {norms[bad[0]]} for X[{bad[0]}] with itself; expected finite numbers. Check "
            "that object, or scale the data"
        )
    return norms


def _check_distances(values: np.ndarray, own: np.ndarray, norms: np.ndarray, kernel: Kernel) -> None:
    """Raise ValueError if a squared distance k(x, x) + k(z, z) − 2 k(x, z) is clearly negative."""
    middle = 0.5 * own[:, None] + 0.5 * norms
    bad = np.argwhere(values - middle > _NEGATIVE * np.abs(middle))
    if len(bad):
        i, j = bad[0]
        raise ValueError(
            f"the input kernel {kernel!r} is not positive semi-definite: X[{i}] and training input {j} have the squared distance "
            f"{2.0 * (middle[i, j] - values[i, j]):.6g}. Expected a valid kernel; kernel.clipped() takes its positive part"
        )
