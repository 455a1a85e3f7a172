"""Max-margin Markov networks on chains: the structured support vector machine for sequences."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from experiments.baselines.chain_passes import best_labelling, one_pass
from experiments.baselines.segments import Segments, SequenceLabeller, as_symbols, joined
from mercer.core.arrays import to_numpy
from mercer.core.memory import require
from mercer.kernels import Gaussian, Kernel

_BLOCK = 4096
"""Number of parts whose kernel values against all training parts are held at once."""


class MaxMarginChain(SequenceLabeller):
    r"""Label every part of a sequence, with weights for pairs of neighbouring labels (Taskar et al. 2004).

    A labelling scores :math:`\sum_t \langle w_{y_t}, \phi(x_t)\rangle + \sum_t M_{y_t y_{t+1}}`; φ belongs to a kernel on
    parts and is the same at all positions. Training minimises

    .. math:: \tfrac12 \|w\|^2 + \tfrac12 \|M\|^2 + C \sum_i \max_y \left[\Delta(y_i, y) + s(x_i, y) - s(x_i, y_i)\right],

    Δ the number of wrong labels, by block-coordinate Frank-Wolfe on the dual (Lacoste-Julien et al. 2013). The duality gap
    bounds the distance to the optimum. Prediction is exact (Viterbi).

    Parameters
    ----------
    kernel : Kernel, default=Gaussian(scale="median")
        Similarity of two parts.
    C : float, default=1.0
        Weight of the violations.
    tol : float, default=0.01
        Stop when the duality gap is below this share of the objective.
    max_passes : int, default=100
        Most passes over the sequences; a `ConvergenceWarning` is raised if the gap is still larger.
    random_state : int, default=0
        Seed of the order of the sequences.

    Attributes
    ----------
    symbols_ : list
        The labels.
    coefficients_ : array (parts, labels)
        w as a combination of the training parts.
    transitions_ : array (labels, labels)
        M.
    gap_, objective_ : float
        The duality gap and the objective where training stopped.
    passes_ : int
        Passes made.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> words = [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]
    >>> MaxMarginChain(Linear(), C=10.0).fit(words, ["ab", "ba"]).predict([[[0.9, 0.1], [0.2, 0.8], [0.1, 0.7]]])
    array(['abb'], dtype=object)
    """

    def __init__(
        self,
        kernel: Kernel = Gaussian(scale="median"),  # noqa: B008 - kernels are values; fit never changes them
        C: float = 1.0,
        tol: float = 0.01,
        max_passes: int = 100,
        random_state: int = 0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tol = tol
        self.max_passes = max_passes
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from sequences of parts and their labels, one per part."""
        for name in ("C", "tol", "max_passes"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}={getattr(self, name)!r}; expected a positive number")
        segments = Segments.of(X, "X")
        symbols, truth = as_symbols(y, segments)
        kernel = self.kernel.resolve(segments.rows)
        require(len(segments.rows), len(segments.rows), 2, "the kernel between all parts", "train on fewer sequences")
        gram = np.ascontiguousarray(to_numpy(kernel(segments.rows)))
        n, labels, C = len(segments.lengths), len(symbols), float(self.C)
        nodes, edges, losses = np.zeros((len(truth), labels)), np.zeros((n, labels, labels)), np.zeros(n)
        state = (C, nodes, edges, losses)
        rng = np.random.default_rng(self.random_state)
        all_sequences, dual = np.arange(n), 0.0
        self.passes_, converged = 0, False
        while not converged and self.passes_ < self.max_passes:
            gap, gain = one_pass(gram, truth, segments.starts, rng.permutation(n), *state, True)
            dual += gain
            self.passes_ += 1
            if gap <= 2.0 * self.tol * (dual + gap):
                # the gaps of a pass are those of earlier points; before stopping compute that of the last one
                gap, _ = one_pass(gram, truth, segments.starts, all_sequences, *state, False)
                converged = gap <= self.tol * (dual + gap)
        gap, _ = one_pass(gram, truth, segments.starts, all_sequences, *state, False)
        objective = dual + gap
        if not converged:
            warnings.warn(
                f"after {self.passes_} passes the duality gap is {gap / objective:.2g} of the objective, and "
                f"tol={self.tol!r}; raise max_passes, or lower C",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.gap_, self.objective_ = float(gap), float(objective)
        self.symbols_, self._parts, self.kernel_ = symbols, segments.rows, kernel
        self.coefficients_, self.transitions_ = C * nodes, C * edges.sum(axis=0)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the best labelling of each sequence: strings if all labels are single letters, else tuples."""
        check_is_fitted(self, "coefficients_")
        segments = Segments.of(X, "X")
        blocks = range(0, len(segments.rows), _BLOCK)
        scores = [
            to_numpy(self.kernel_(segments.rows[i : i + _BLOCK], self._parts)) @ self.coefficients_ for i in blocks
        ]
        every = np.concatenate(scores)
        found = [best_labelling(every[part], self.transitions_) for part in segments.slices()]
        return joined(found, self.symbols_)
