"""Ridge regression with a weight for each word, by its correlation with the outputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from mercer.core.arrays import is_sparse, to_numpy
from mercer.core.validation import check_real
from mercer.kernels import Encoded, Gaussian, Linear, OverlapOf, WordRows
from mercer.learners.base import Learner, LearningProblem
from mercer.learners.relevance import output_features
from mercer.learners.ridge import FittedRidge, LearnedRidge, Ridge, best_of_each
from mercer.solvers import Exact, RidgePath

MOST_FEATURES = 5000
"""Most features of outputs that words are correlated with."""
_SPLITS = 10  # many labels and words are rare: with four fifths of the pairs, all are predicted worse than they will be
_LEAST = 1e-3  # relevance of a word that is not correlated with any output, over that of the median word


@dataclass
class RelevantWords(Learner):
    r"""Kernel ridge regression on rows of words, where words count as much as they are correlated with the outputs.

    .. math:: e_j(x) \propto x_j \sqrt{\log((n + 1) / n_j)} \; \Bigl(\sum_l \operatorname{corr}(x_j, y_l)^2\Bigr)^{p/2},
        \qquad k(x, z) = \frac{c}{2 - c} + \exp\Bigl(-\frac{1 - c}{s^2}\Bigr), \quad c = e(x) \cdot e(z)

    The rows e(x) have length 1, as in `WordRows`, and s is their median distance. For words and labels that are there or not, the
    sum over labels is the χ² statistic of the word over the number of pairs. Words that are not seen in training do not count.
    Pairs are left out by ten folds, each with weights of its own.

    Parameters
    ----------
    power : float, default=0.5
        p, from 0 (rarity alone).
    alpha : float or rule
        As for `Ridge`; by ``"loo"``, outputs that are rows of numbers have one for each coordinate, found anew in each fold.
    fit_intercept : bool, default=True
        As for `Ridge`.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> from mercer.kernels import Linear
    >>> X = (np.random.default_rng(0).random((60, 8)) < 0.4).astype(float)
    >>> model = DependencyEstimator(Linear(), regressor=RelevantWords()).fit(X, X[:, 1] + X[:, 2])
    >>> sorted(np.argsort(-model.relevance_)[:2].tolist())
    [1, 2]
    """

    SCALE: ClassVar[float] = 2.0
    """The value of the kernel at equal rows."""

    power: float = 0.5
    alpha: Any = "loo"
    fit_intercept: bool = True

    def __post_init__(self) -> None:
        check_real(
            self.power, "power", 0, 4, closed="both", expected="a number from 0 to 4 in RelevantWords, such as 0.5"
        )

    def reason(self) -> str:
        """Return one sentence on how the map was learned."""
        return "words count as much as they are correlated with the outputs"

    def fit(self, problem: LearningProblem) -> LearnedRidge:
        """Weigh the words, and fit a ridge."""
        outputs = output_features(problem, MOST_FEATURES)
        if outputs is None:
            kernel = problem.embedding.kernel_
            raise ValueError(
                f"words are correlated with at most {MOST_FEATURES} features of outputs, and {kernel!r} has none, or more"
            )
        if not problem.kernel.takes_vectors:
            raise ValueError(f"words are columns, and the inputs are objects for {problem.kernel!r}")
        found = relevance(problem.inputs, outputs, problem.sample_weight)
        median = float(np.median(found[found > 0])) if np.any(found > 0) else 1.0
        X: Any = problem.inputs
        seen = np.asarray(abs(X).sum(axis=0)).ravel() > 0
        factors = WordRows().resolve(problem.inputs).factors * np.maximum(found, _LEAST * median) ** (self.power / 2.0)
        kernel = Encoded(WordRows(np.where(seen, factors, 0.0)), OverlapOf(Linear()) + Gaussian("median"))
        ridge, learner = self._ridge(replace(problem, kernel=kernel.resolve(problem.inputs, checked=True)))
        ridge.attributes |= {"relevance_": found}
        return LearnedRidge(**vars(ridge), learner=learner, problem=problem.held(), n_splits=_SPLITS)

    def _ridge(self, problem: LearningProblem) -> tuple[FittedRidge, RelevantWords]:
        """The ridge with the kernel that was found, and the learner to fit on folds."""
        if problem.embedding.euclidean and self.alpha == "loo":
            ridge = problem.ridge(problem.require_targets(self), self.fit_intercept)
            return best_of_each(RidgePath.of(ridge, ridge.decomposed(), ridge.basis()), ridge, Exact()), self
        fitted = Ridge(alpha=self.alpha, fit_intercept=self.fit_intercept).fit(problem)
        return fitted, replace(self, alpha=fitted.alpha)  # folds have no criterion to choose by


def relevance(X: Any, outputs: np.ndarray, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """Return the sum of squared correlations of each column of `X`, dense or sparse, with those of `outputs`.

    Examples
    --------
    >>> relevance(np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]), np.array([[0.0], [1.0], [1.0]])).round(2).tolist()
    [1.0, 0.25]
    """
    rows = X if is_sparse(X) else to_numpy(X)
    weight = (
        np.full(rows.shape[0], 1.0 / rows.shape[0]) if sample_weight is None else sample_weight / sample_weight.sum()
    )
    centred = outputs - weight @ outputs
    spread = np.sqrt(weight @ centred**2)
    seen = spread > 1e-12 * np.max(np.abs(outputs), axis=0, initial=0.0)
    scores = weight[:, None] * centred[:, seen] / spread[seen]
    squares = rows.multiply(rows) if is_sparse(rows) else rows**2
    mean, size = rows.T @ weight, squares.T @ weight
    variance = np.where(size - mean**2 > 1e-12 * size, size - mean**2, np.inf)  # of constant columns nothing
    return np.sum((rows.T @ scores) ** 2, axis=1) / variance
