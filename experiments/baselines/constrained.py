"""Ridge regression of sequences on sequences with a known alignment (Cortes, Mohri and Weston 2007)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.utils.validation import check_is_fitted

from experiments.baselines.segments import Segments, SequenceLabeller, as_symbols, joined
from mercer.core.arrays import to_numpy
from mercer.kernels import Gaussian, Kernel


class ConstrainedRidge(SequenceLabeller):
    r"""Regress one-hot symbols on whole sequences, with the prior that each part alone gives the symbol at its position.

    With :math:`f(x) = \sum_p f_p(x_p)`, ψ the one-hot blocks of a whole output and :math:`\psi_p` the block of
    position p, the others zero,

    .. math:: \min_f \sum_i \Bigl\|f(x_i) - \psi(y_i)\Bigr\|^2
              + \eta \sum_i \sum_p \|f_p(x_{ip}) - \psi_p(y_{ip})\|^2 + \alpha \sum_p \|f_p\|^2 .

    The second sum is the prior knowledge, a soft constraint WA = B on the regression matrix. η = 0 is plain ridge
    regression (a part may predict symbols at other positions: context); with η → ∞ every part predicts its own symbol alone.
    The system over sequences and parts is reduced to one over sequences: with :math:`J_p = (\eta K_p + \alpha I)^{-1}`,

    .. math:: \Bigl(I + \sum_p K_p J_p\Bigr) b = \psi(y) - \eta \sum_p K_p J_p \psi_p, \qquad
              f_p = k_p J_p (b + \eta\,\psi_p) .

    Parameters
    ----------
    kernel : Kernel, default=Gaussian(scale="median")
        Similarity of two parts.
    alpha : float, default=1.0
        Regularization.
    constraint : float, default=1.0
        η, the weight of the prior knowledge.
    empirical : bool, default=False
        Describe a part by its kernel values against the training parts at its position and take inner products of those:
        :math:`K_p(a, b) = \sum_m \kappa(a, c_m) \kappa(c_m, b)`, scaled to a mean of one over whole training sequences
        (the features of Cortes et al.).

    Attributes
    ----------
    symbols_ : list
        The symbols.
    coefficients_ : list of arrays (parts at p, positions × symbols)
        f_p as combinations of the training parts at each position.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> words = [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]
    >>> ConstrainedRidge(Linear(), alpha=0.1).fit(words, ["ab", "ba"]).predict([[[0.9, 0.1], [0.8, 0.2]]])
    array(['aa'], dtype=object)
    """

    def __init__(
        self,
        kernel: Kernel = Gaussian(scale="median"),  # noqa: B008 - kernels are values; fit never changes them
        alpha: float = 1.0,
        constraint: float = 1.0,
        empirical: bool = False,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.constraint = constraint
        self.empirical = empirical

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from sequences of parts and the symbols that go with them, one per part."""
        if not self.alpha > 0:
            raise ValueError(f"alpha={self.alpha!r}; expected a positive number")
        if not self.constraint >= 0:
            raise ValueError(f"constraint={self.constraint!r}; expected zero or a positive number")
        segments = Segments.of(X, "X")
        symbols, numbers = as_symbols(y, segments)
        kernel = self.kernel.resolve(segments.rows)
        n, positions, width = len(segments.lengths), int(segments.lengths.max()), len(symbols)
        places = [np.flatnonzero(segments.positions == p) for p in range(positions)]
        self._parts, self.kernel_, self._maps, self._scale = [segments.rows[at] for at in places], kernel, None, 1.0
        grams = [to_numpy(kernel(parts)) for parts in self._parts]
        if self.empirical:
            self._maps = grams
            self._scale = n / float(sum(np.sum(gram * gram) for gram in grams))
            grams = [self._scale * (gram @ gram) for gram in grams]

        targets = np.zeros((n, positions * width))
        targets[segments.owners, segments.positions * width + numbers] = 1.0
        system, right = np.eye(n), targets.copy()
        factors, blocks = [], []
        for p, (at, gram) in enumerate(zip(places, grams, strict=True)):
            rows, columns = segments.owners[at], slice(p * width, (p + 1) * width)
            factor = cho_factor(self.constraint * gram + self.alpha * np.eye(len(at)))
            smooth = cho_solve(factor, gram).T
            block = self.constraint * targets[rows, columns]
            system[np.ix_(rows, rows)] += smooth
            right[rows, columns] -= smooth @ block
            factors.append(factor)
            blocks.append(block)
        common = cho_solve(cho_factor(system), right)

        self.coefficients_ = []
        for p, (at, factor, block) in enumerate(zip(places, factors, blocks, strict=True)):
            own = common[segments.owners[at]]
            own[:, p * width : (p + 1) * width] += block
            self.coefficients_.append(cho_solve(factor, own))
        self.symbols_ = symbols
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return f(x) for each sequence: positions × symbols values, one block per training position."""
        check_is_fitted(self, "coefficients_")
        segments = Segments.of(X, "X")
        points = np.zeros((len(segments.lengths), self.coefficients_[0].shape[1]))
        for p, (parts, coefficients) in enumerate(zip(self._parts, self.coefficients_, strict=True)):
            at = np.flatnonzero(segments.positions == p)
            if len(at):
                values = to_numpy(self.kernel_(segments.rows[at], parts))
                if self._maps is not None:
                    values = self._scale * (values @ self._maps[p])
                points[segments.owners[at]] += values @ coefficients
        return points

    def predict(self, X: Any) -> np.ndarray:
        """Return the best symbol at each position; a sequence longer than any in training raises ValueError."""
        points = self.decision_function(X)
        lengths, longest = Segments.of(X, "X").lengths, len(self._parts)
        if int(lengths.max()) > longest:
            raise ValueError(
                f"X[{int(lengths.argmax())}] has {int(lengths.max())} parts, and the longest training sequence {longest}; "
                "expected at most that, since nothing is known of later positions"
            )
        best = points.reshape(len(points), longest, -1).argmax(axis=2)
        return joined([row[:length] for row, length in zip(best, lengths, strict=True)], self.symbols_)
