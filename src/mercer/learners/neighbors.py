"""Nearest neighbours in the feature space of the input kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, count, take
from mercer.core.validation import check_whole
from mercer.embeddings.base import Embedding
from mercer.embeddings.implicit import Implicit
from mercer.kernels.base import Kernel
from mercer.learners.base import Learner, LearningProblem
from mercer.selection.alpha import best_alpha
from mercer.solvers.base import check_finite, check_gram

_MEASURED = 300
"""Objects whose Gram matrix shows whether a similarity is a kernel, where no Gram matrix of all of them is needed."""

_NEGATIVE = 1e-6
"""A squared distance below zero by more than this part of the squared norms is not rounding."""

_MOST = 30
"""The largest number of neighbours that is tried."""


@dataclass
class Neighbors(Learner):
    r"""The mean of the outputs of the k nearest inputs, :math:`h(x) = \frac{1}{k} \sum_{j \in N_k(x)} \psi(y_j)`.

    Parameters
    ----------
    k : int or "loo"
        The number of neighbours; "loo" chooses it between 1 and 30 by exact leave-one-out.

    Examples
    --------
    >>> Neighbors(k=3)
    Neighbors(k=3)
    """

    k: Any = 5
    needs_coordinates = False
    has_weights = True

    def preferred_embedding(self, kernel: Kernel, outputs: Collection) -> tuple[Embedding, str] | None:
        """Return weights on the training outputs."""
        return Implicit(), "the mean of neighbours is a combination of training outputs"

    def fit(self, problem: LearningProblem) -> FittedNeighbors:
        """Remember the pairs; choose k if asked to."""
        n, kernel, inputs = count(problem.inputs), problem.kernel, problem.inputs
        norms = _norms(kernel, inputs)
        chosen = self._check_k(n)
        tried = path = None
        if chosen is None:
            family = _LeftOutNeighbors(_whole_gram(kernel, inputs), norms, problem)
            tried = np.arange(1, min(_MOST, family.most) + 1)
            path = problem.criterion.left_out(family, tried.tolist())
            chosen = int(-best_alpha(-tried.astype(float), path))
        else:
            _measure(kernel, inputs, "input")
        _measure(problem.embedding.kernel_, problem.embedding.outputs_, "output")
        basis = inputs if kernel.pairwise else kernel.prepare(inputs)
        attributes = {"k_": chosen, "ks_": tried, "loo_path_": path}
        return FittedNeighbors(kernel, inputs, basis, norms, chosen, _kept(problem), attributes)

    def _check_k(self, n: int) -> int | None:
        if isinstance(self.k, str) and self.k == "loo":
            return None
        return check_whole(
            self.k, "k", 1, n, expected=f"a whole number between 1 and the number of pairs, {n}, or 'loo'"
        )


@dataclass
class _Pairs:
    """What leaving out needs of the problem."""

    targets: Array | None
    sample_weight: np.ndarray | None
    groups: np.ndarray | None


def _kept(problem: LearningProblem) -> _Pairs:
    return _Pairs(problem.targets, problem.sample_weight, problem.groups)


@dataclass
class FittedNeighbors:
    """Training pairs, and how many of the nearest count."""

    kernel: Kernel
    inputs: Collection
    basis: Any
    norms: np.ndarray
    k: int
    pairs: _Pairs
    attributes: dict[str, Any]

    def points(self, inputs: Collection) -> Array:
        """Return the mean of the neighbours: weights, or coordinates where outputs have some."""
        weights = self.weights(inputs)
        return weights if self.pairs.targets is None else weights @ to_numpy(self.pairs.targets)

    def left_out_points(self) -> Array:
        """Return the mean of the neighbours of each training input among the others."""
        family = _LeftOutNeighbors(_whole_gram(self.kernel, self.inputs), self.norms, self.pairs)
        return family.left_out_points(min(self.k, family.most))

    def weights(self, inputs: Collection) -> Array:
        """Return 1/k on the k nearest inputs."""
        values = to_numpy(self.kernel(inputs, self.basis))
        check_finite(values, self.kernel, "input")
        if not (self.kernel.is_psd or self.kernel.pairwise):  # of a row of kernel values the own norm is not known
            _check_distances(values, _norms(self.kernel, inputs), self.norms, self.kernel)
        nearest = np.argsort(0.5 * self.norms - values, axis=1, kind="stable")[:, : self.k]
        return mean_of(nearest, len(self.norms), self.pairs.sample_weight)


class _LeftOutNeighbors:
    """Neighbours of each training input among those of other pairs, or of other groups."""

    def __init__(self, gram: np.ndarray, norms: np.ndarray, problem: Any) -> None:
        # half of the squares, less what is the same in a row: twice the Gram matrix could overflow
        distances = 0.5 * norms - gram
        groups = np.arange(len(norms)) if problem.groups is None else problem.groups
        own = groups[:, None] == groups
        distances[own] = np.inf
        self.most = int(np.min(np.sum(~own, axis=1)))
        # sorted once, for every number of neighbours
        self.order = np.argsort(distances, axis=1, kind="stable")
        self.targets, self.sample_weight = problem.targets, problem.sample_weight

    def left_out_points(self, value: Any) -> Array:
        """Return the mean of the neighbours."""
        weights = mean_of(self.order[:, :value], len(self.order), self.sample_weight)
        return weights if self.targets is None else weights @ to_numpy(self.targets)

    def risks(self, values: Sequence[Any], gram: Array | None = None) -> Iterator[Array]:
        """Yield squared distances of the mean of the neighbours to the output, for each number of neighbours."""
        for value in values:
            own = np.eye(len(self.order)) if self.targets is None else to_numpy(self.targets)
            left = self.left_out_points(value) - own
            yield np.sum((left if gram is None else left @ to_numpy(gram)) * left, axis=1)


def mean_of(nearest: np.ndarray, columns: int, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """Return weights on the columns named in each row that sum to one: equal, or as the sample weights have it."""
    weights = np.zeros((len(nearest), columns))
    share = np.full(nearest.shape, 1.0 / nearest.shape[1])
    if sample_weight is not None:
        share = sample_weight[nearest]
        share = share / share.sum(axis=1, keepdims=True)
    np.put_along_axis(weights, nearest, share, axis=1)
    return weights


def _measure(kernel: Kernel, objects: Collection, side: str) -> None:
    """Raise ValueError if the Gram matrix of some of the objects (all, where it is given) is not positive semi-definite."""
    if kernel.is_psd:
        return
    n = count(objects)
    if n > _MEASURED and not kernel.pairwise:
        objects = take(objects, np.sort(np.random.default_rng(0).choice(n, _MEASURED, replace=False)))
    check_gram(kernel(objects), kernel, side)


def _whole_gram(kernel: Kernel, inputs: Collection) -> np.ndarray:
    """Return the Gram matrix of all inputs, measured."""
    gram = kernel(inputs)
    check_gram(gram, kernel, "input")
    return to_numpy(gram)


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
