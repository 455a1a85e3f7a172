"""k nearest neighbours for general outputs: the baseline of Weston et al."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, count, take
from mercer.embeddings import Implicit
from mercer.estimators.base import ObjectEstimator
from mercer.estimators.data import check_pairs
from mercer.estimators.parts import choose_decoder
from mercer.kernels import Gaussian, Linear
from mercer.kernels.base import Kernel
from mercer.losses import resolve_loss
from mercer.selection.judges import DecodedLoss, FeatureDistance, Judge
from mercer.solvers.gram import check_finite, check_gram, gram_matrix

_MEASURED = 300
"""So many objects show whether a similarity is a kernel, where no Gram matrix of all of them is needed."""

_NEGATIVE = 1e-6
"""A squared distance below zero by more than this part of the squared norms is no rounding."""


class NeighborsEstimator(ObjectEstimator):
    r"""Predict the object closest to the mean of the outputs of the k nearest inputs.

    .. math:: h(x) = \frac{1}{k} \sum_{j \in N_k(x)} \psi(y_j)

    Nearness is distance in the feature space of the input kernel; equally near inputs keep the order of the data. Kernels
    that are not positive semi-definite by construction are measured on the Gram matrix of up to 300 objects, of all objects
    where it is needed anyway.

    Parameters
    ----------
    input_kernel, output_kernel : Kernel
        As for `DependencyEstimator`.
    k : int or "loo", default=5
        How many neighbours. "loo" chooses between 1 and 30 by exact leave-one-out.
    decoder : "auto" or Decoder
        How the mean becomes an object. Weston et al. choose among the training outputs, ``decoder=Candidates()``.
    loss : None, "kernel", "rkhs" or callable
        As for `DependencyEstimator`.

    Attributes
    ----------
    k_ : int
        The number of neighbours in use.
    ks_, loo_path_ : array
        The numbers tried and the leave-one-out loss of each.

    Examples
    --------
    >>> from mercer import NeighborsEstimator
    >>> from mercer.kernels import Classes, Linear
    >>> model = NeighborsEstimator(Linear(), Classes(), k=1)
    >>> model.fit([[0.0], [1.0], [5.0]], ["low", "low", "high"]).predict([[4.0]])
    array(['high'], dtype=object)
    """

    def __init__(
        self,
        input_kernel: Kernel = Gaussian(scale="median"),  # noqa: B008 - kernels are values; fit never changes them
        output_kernel: Kernel = Linear(),  # noqa: B008
        k: Any = 5,
        decoder: Any = "auto",
        loss: Any = None,
    ) -> None:
        self.input_kernel = input_kernel
        self.output_kernel = output_kernel
        self.k = k
        self.decoder = decoder
        self.loss = loss

    def fit(self, X: Any, y: Any) -> Self:
        """Remember the pairs; choose k if asked to."""
        pairs = check_pairs(self, X, y)
        outputs, output_kernel = pairs.outputs, pairs.output_kernel
        inputs, input_kernel = pairs.inputs, pairs.input_kernel
        chosen, tried, path = self._check_k(count(outputs)), None, None
        norms = _norms(input_kernel, inputs)
        if chosen is not None:
            _measure(input_kernel, inputs, "input")
        _measure(output_kernel, outputs, "output")
        decoder, reason = choose_decoder(self.decoder, output_kernel, self.loss, outputs)
        loss = resolve_loss(self.loss, output_kernel, pairs.form.row_shape)
        embedding = Implicit().fit(output_kernel, outputs)
        decoder.fit(embedding, loss)
        if chosen is None:
            judge: Judge = DecodedLoss(loss, decoder, outputs)
            if self.loss in (None, "rkhs"):
                judge = FeatureDistance(gram_matrix(output_kernel, outputs, "output", 4))
            neighbours = _LeaveOneOutNeighbours(_whole_gram(input_kernel, inputs), norms)
            tried = np.arange(1, min(30, count(outputs) - 1) + 1)
            path = judge.leave_one_out(neighbours, tried.tolist())
            chosen = int(tried[np.argmin(path)])
        self.k_, self.ks_, self.loo_path_ = chosen, tried, path
        self.reasons_ = {"decoder": reason}
        self._inputs, self._norms = inputs, norms
        self._keep(pairs, loss, decoder, embedding)
        return self

    def _points(self, inputs: Collection) -> Array:
        kernel = self.input_kernel_
        values = to_numpy(kernel(inputs, self._inputs))
        check_finite(values, kernel, "input")
        if not (kernel.is_psd or kernel.pairwise):  # of a row of kernel values the own norm is not known
            _check_distances(values, _norms(kernel, inputs), self._norms, kernel)
        return mean_of_nearest(0.5 * self._norms - values, self.k_)

    def _left_out_points(self) -> Array:
        gram = _whole_gram(self.input_kernel_, self._inputs)
        others = len(gram) - 1
        return _LeaveOneOutNeighbours(gram, self._norms).leave_one_out(min(self.k_, others))

    def _training_inputs(self) -> Collection | None:
        return None if self.input_kernel_.pairwise else self._inputs

    def _check_k(self, n: int) -> int | None:
        k = self.k
        if isinstance(k, str) and k == "loo":
            return None
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= n:
            raise ValueError(f"k={k!r}; expected a whole number between 1 and the number of pairs, {n}, or 'loo'")
        return int(k)


def _measure(kernel: Kernel, objects: Collection, side: str) -> None:
    """Raise if the Gram matrix of some of the objects (all of them, where it is given) is none."""
    if kernel.is_psd:
        return
    n = count(objects)
    if n > _MEASURED and not kernel.pairwise:
        objects = take(objects, np.sort(np.random.default_rng(0).choice(n, _MEASURED, replace=False)))
    check_gram(kernel(objects), kernel, side)


def _whole_gram(kernel: Kernel, inputs: Collection) -> np.ndarray:
    """The Gram matrix of all inputs, measured."""
    gram = kernel(inputs)
    check_gram(gram, kernel, "input")
    return to_numpy(gram)


def _norms(kernel: Kernel, inputs: Collection) -> np.ndarray:
    """k(x, x) for each input, which has to be finite."""
    norms = to_numpy(kernel.diag(inputs))
    bad = np.flatnonzero(~np.isfinite(norms))
    if len(bad):
        raise ValueError(
            f"the input kernel {kernel!r} gave {norms[bad[0]]} for X[{bad[0]}] with itself; expected finite numbers. Check "
            "that object, or scale the data"
        )
    return norms


def _check_distances(values: np.ndarray, own: np.ndarray, norms: np.ndarray, kernel: Kernel) -> None:
    """Raise if a squared distance k(x, x) + k(z, z) − 2 k(x, z) is clearly negative."""
    middle = 0.5 * own[:, None] + 0.5 * norms
    bad = np.argwhere(values - middle > _NEGATIVE * np.abs(middle))
    if len(bad):
        i, j = bad[0]
        raise ValueError(
            f"the input kernel {kernel!r} is not positive semi-definite: X[{i}] and training input {j} have the squared distance "
            f"{2.0 * (middle[i, j] - values[i, j]):.6g}. Expected a valid kernel; kernel.clipped() takes its positive part"
        )


class _LeaveOneOutNeighbours:
    """Neighbours of each training input among the others."""

    def __init__(self, gram: np.ndarray, norms: np.ndarray) -> None:
        # half of the squares, less what is the same in a row: twice the Gram matrix could overflow
        distances = 0.5 * norms - gram
        np.fill_diagonal(distances, np.inf)
        # sorted once, for every number of neighbours
        self.order = np.argsort(distances, axis=1, kind="stable")

    def leave_one_out(self, value: Any) -> Array:
        """Weights of each training input on the others."""
        return _mean_of(self.order[:, :value])

    def leave_one_out_risks(self, values: Sequence[Any], gram: Array | None = None) -> Iterator[Array]:
        """Squared distances of the mean of the neighbours to the output, for each number of neighbours."""
        assert gram is not None
        for value in values:
            weights = self.leave_one_out(value) - np.eye(len(self.order))
            yield np.sum((weights @ to_numpy(gram)) * weights, axis=1)


def mean_of_nearest(distances: np.ndarray, k: int) -> np.ndarray:
    """Weights 1/k on the k smallest entries of each row; of equals, the first."""
    return _mean_of(np.argsort(distances, axis=1, kind="stable")[:, :k], distances.shape[1])


def _mean_of(nearest: np.ndarray, columns: int | None = None) -> np.ndarray:
    """Equal weights on the columns named in each row."""
    weights = np.zeros((len(nearest), len(nearest) if columns is None else columns))
    np.put_along_axis(weights, nearest, 1.0 / nearest.shape[1], axis=1)
    return weights
