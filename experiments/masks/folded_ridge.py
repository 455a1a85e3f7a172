"""Ridge regression on Nyström features of many rows, with alpha and held-out predictions from folds, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mercer.core.arrays import cholesky, solve_triangular, to_numpy
from mercer.operators.features import NystroemFeatures

Rows = Callable[[int], tuple[np.ndarray, np.ndarray]]
"""Function that computes the inputs and targets of one part of the data."""


@dataclass
class FoldedRidge:
    r"""Ridge regression :math:`\min_W \|\Phi W - Y\|^2 + \alpha N \|W\|^2` on all N rows, and without each fold.

    ΦᵀΦ and ΦᵀY are sums over the parts of the data, so a fold is left out by a subtraction, and its squared error needs these
    sums alone. The rows are computed twice and never kept.

    Attributes
    ----------
    alpha : float
        The alpha of least held-out squared error.
    errors : array
        Held-out mean squared error of each alpha.
    """

    features: NystroemFeatures
    mean: np.ndarray
    coefficients: np.ndarray
    held_out: list[np.ndarray]
    """Coefficients without each fold."""
    alpha: float
    errors: np.ndarray

    @classmethod
    def fit(cls, features: NystroemFeatures, rows: Rows, folds: np.ndarray, alphas: Sequence[float]) -> FoldedRidge:
        """Fit all parts; `folds` gives the fold of each part."""
        rank, number = features.triangle.shape[0], int(folds.max()) + 1
        grams = np.zeros((number, rank, rank))
        products: list[np.ndarray] = []
        sums, squares, counts = [], np.zeros(number), np.zeros(number)
        for part, fold in enumerate(folds.tolist()):
            inputs, targets = rows(part)
            values = features.kernel(inputs, features.pivots)
            if not products:
                products = [np.zeros((rank, targets.shape[1])) for _ in range(number)]
                sums = [(np.zeros(rank), np.zeros(targets.shape[1])) for _ in range(number)]
            grams[fold] += values.T @ values
            products[fold] += values.T @ targets
            sums[fold][0][:] += values.sum(axis=0)
            sums[fold][1][:] += targets.sum(axis=0)
            squares[fold] += float(np.sum(targets**2))
            counts[fold] += len(targets)
        mean = sum(total for _, total in sums) / counts.sum()
        crosses = []
        for fold, (values, targets) in enumerate(sums):
            crosses.append(_to_features(features, products[fold] - np.outer(values, mean)))
            squares[fold] += counts[fold] * float(mean @ mean) - 2.0 * float(targets @ mean)
            grams[fold] = _to_features(features, _to_features(features, grams[fold]).T)
        gram, cross, count = grams.sum(axis=0), sum(crosses[1:], start=crosses[0]), counts.sum()
        errors = np.empty(len(alphas))
        best: list[np.ndarray] = []
        for k, alpha in enumerate(alphas):
            held = [
                _solve(gram - grams[f], cross - crosses[f], float(alpha) * (count - counts[f])) for f in range(number)
            ]
            errors[k] = sum(
                squares[f] - 2.0 * np.sum(own * crosses[f]) + np.sum(own * (grams[f] @ own))
                for f, own in enumerate(held)
            )
            if k == 0 or errors[k] < errors[:k].min():
                best = held
        chosen = float(alphas[int(np.argmin(errors))])
        whole = _solve(gram, cross, chosen * count)
        out = [_to_kernel_weights(features, own) for own in (whole, *best)]
        return cls(features, mean, out[0], out[1:], chosen, errors / (count * len(mean)))

    def predict(self, inputs: np.ndarray, fold: int | None = None) -> np.ndarray:
        """Predict targets with the fit on all data, or with the one without `fold`."""
        weights = self.coefficients if fold is None else self.held_out[fold]
        return self.features.kernel(inputs, self.features.pivots) @ weights + self.mean


def _to_features(features: NystroemFeatures, rows: np.ndarray) -> np.ndarray:
    """Turn kernel values against the pivots into features: R⁻¹ applied from the left."""
    return to_numpy(solve_triangular(features.triangle, rows))


def _to_kernel_weights(features: NystroemFeatures, weights: np.ndarray) -> np.ndarray:
    """Turn weights of features into weights of kernel values."""
    return to_numpy(solve_triangular(features.triangle, weights, transpose=True))


def _solve(gram: np.ndarray, cross: np.ndarray, alpha: float) -> np.ndarray:
    shifted = gram.copy()
    shifted.ravel()[:: len(gram) + 1] += alpha
    factor = cholesky(shifted)
    return to_numpy(solve_triangular(factor, solve_triangular(factor, cross), transpose=True))
