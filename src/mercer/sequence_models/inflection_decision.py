"""One step of a script: a class, from a row of symbols, by a kernel ridge whose weights are learned by leave-one-out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import cholesky, lapack
from scipy.optimize import minimize

from mercer.core.compiled import compiled
from mercer.sequence_models.hamming_ridge import hamming_kernel, log_softmax, ridge_coefficients, weight_slopes
from mercer.sequence_models.symbols import Alphabet

Row = tuple[Hashable, ...]

_BLOCK = 2048
_WIDE_AND_NARROW = (0.15, 0.6)  # starting costs of a difference: the first kernel of the sum is wider than the second
_STRENGTH = 0.02  # of the penalty on settings
_STEPS_DOWN, _STEPS_UP = 6.0, 4.0  # bounds on the change of a logarithm


@dataclass
class Decision:
    r"""Kernel ridge from rows of symbols onto classes, read as probabilities.

    .. math:: p(c \mid x) \propto \exp(h_c(x) / T), \quad h(x) = \bar y + \sum_i k(x, x_i) z_i

    with one-hot outputs, their mean :math:`\bar y`, and a sum of product-Hamming kernels whose weights, with alpha and T, are
    learned by leave-one-out. The parameters are those of `Inflection`, and `tags`: the first symbol of a row is a tuple of tags,
    and whether it has each of these is one more column.
    """

    sample: int = 400
    rounds: int = 40
    landmarks: int = 6000
    seed: int = 0
    tags: Sequence[str] = ()

    def fit(self, rows: Sequence[Row], labels: Sequence[Hashable]) -> Self:
        """Learn from rows, all of one length, and the class of each."""
        self.columns_ = [Alphabet(column) for column in zip(*rows, strict=True)]
        self.classes_: list[Any] = sorted(set(labels), key=repr)
        number = {label: i for i, label in enumerate(self.classes_)}
        targets = np.eye(len(self.classes_))[[number[label] for label in labels]]
        if len(self.classes_) == 1:
            return self
        codes, self.prior_ = self._codes(rows), targets.mean(axis=0)
        # a column that never varies has no effect, and costs time
        self.varying_ = np.flatnonzero(np.any(codes != codes[:1], axis=0))
        codes = np.ascontiguousarray(codes[:, self.varying_])
        rng = np.random.default_rng(self.seed)
        chosen = np.sort(rng.permutation(len(codes))[: self.sample])
        self.settings_ = learn_settings(codes[chosen], targets[chosen], self.prior_, self.rounds)
        marks = np.sort(rng.permutation(len(codes))[: self.landmarks])
        self.rows_ = codes[marks]
        landmarks = None if len(marks) == len(codes) else self.rows_
        self.dual_ = ridge_coefficients(self._kernel(), codes, targets - self.prior_, landmarks, _BLOCK)
        return self

    def log_probabilities(self, rows: Sequence[Row]) -> np.ndarray:
        """Return log p of each class, in the order of `classes_`, for each row."""
        if len(self.classes_) == 1:
            return np.zeros((len(rows), 1))
        number: dict[Row, int] = {}
        which = [number.setdefault(row, len(number)) for row in rows]
        codes = np.ascontiguousarray(self._codes(list(number))[:, self.varying_])
        blocks = range(0, len(codes), _BLOCK)
        points = [self._kernel().kernel(codes[i : i + _BLOCK], self.rows_) @ self.dual_ for i in blocks]
        logs = log_softmax((self.prior_ + np.concatenate(points)) / self.settings_.temperature)
        return logs[which]

    def _kernel(self) -> KernelInParts:
        """Return the kernel, with the columns of the tags apart."""
        return KernelInParts(self.settings_, int(np.sum(self.varying_ <= len(self.tags))))

    def _codes(self, rows: Sequence[Row]) -> np.ndarray:
        columns = list(zip(*rows, strict=True))
        codes = [alphabet.codes(column) for alphabet, column in zip(self.columns_, columns, strict=True)]
        sets = Alphabet(columns[0])
        has = np.asarray([[tag in tags for tag in self.tags] for tags in sets.symbols], dtype=np.int64)
        return np.column_stack([has[sets.codes(columns[0])], *codes])


@dataclass
class Settings:
    r"""The kernel :math:`k(x, z) = \sum_m a_m \exp(-\sum_j w_{mj} [x_j \ne z_j])`, alpha, and the temperature of the softmax."""

    weights: np.ndarray  # (kernels, columns)
    sizes: np.ndarray
    alpha: float = 0.1
    temperature: float = 0.15

    @classmethod
    def starting(cls, columns: int) -> Settings:
        """Return the settings before learning: all columns matter alike."""
        kernels = len(_WIDE_AND_NARROW)
        return cls(np.outer(_WIDE_AND_NARROW, np.ones(columns)), np.full(kernels, 1.0 / kernels))

    def logarithms(self) -> np.ndarray:
        """Return all parameters as one vector without bounds."""
        return np.log(np.concatenate([self.weights.ravel(), self.sizes, [self.alpha, self.temperature]]))

    def at(self, logarithms: np.ndarray) -> Settings:
        """Return settings of the same shape with these logarithms."""
        found = np.exp(logarithms)
        kernels, columns = self.weights.shape
        weights, sizes = found[: kernels * columns], found[kernels * columns : -2]
        return Settings(weights.reshape(kernels, columns), sizes, float(found[-2]), float(found[-1]))

    def terms(self, A: np.ndarray, B: np.ndarray) -> list[np.ndarray]:
        """Return the kernels of the sum."""
        return [size * hamming_kernel(A, B, weights) for size, weights in zip(self.sizes, self.weights, strict=True)]


class KernelInParts:
    """The kernel of `Settings`, quicker for rows with few distinct values of the first `columns` columns together."""

    def __init__(self, settings: Settings, columns: int) -> None:
        self._settings, self._columns, self.alpha = settings, columns, settings.alpha

    def kernel(self, A: np.ndarray, B: np.ndarray | None = None) -> np.ndarray:
        """Return k(a, b) for each row a of `A` and b of `B`, by default of `A` itself."""
        (first_a, of_a, rest_a), (first_b, of_b, rest_b) = (self._parts(X) for X in (A, A if B is None else B))
        gram = np.zeros((len(of_a), len(of_b)))
        for size, weights in zip(self._settings.sizes, self._settings.weights, strict=True):
            part = hamming_kernel(rest_a, rest_b, weights[self._columns :])
            _add_products(gram, size * hamming_kernel(first_a, first_b, weights[: self._columns]), of_a, of_b, part)
        return gram

    def _parts(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first, of = np.unique(rows[:, : self._columns], axis=0, return_inverse=True)
        return np.ascontiguousarray(first), of.ravel(), np.ascontiguousarray(rows[:, self._columns :])


@compiled
def _add_products(gram: np.ndarray, first: np.ndarray, of_a: np.ndarray, of_b: np.ndarray, rest: np.ndarray) -> None:
    """Add the products of the kernels on both parts; `of_a` and `of_b` number the rows of the first."""
    for a in range(len(of_a)):
        row = first[of_a[a]]
        for b in range(len(of_b)):
            gram[a, b] += row[of_b[b]] * rest[a, b]


def learn_settings(rows: np.ndarray, targets: np.ndarray, prior: np.ndarray, rounds: int) -> Settings:
    """Find the settings with the least leave-one-out loss of one-hot targets, with a penalty that keeps them near the start."""
    start = Settings.starting(rows.shape[1])
    origin, strength = start.logarithms(), _STRENGTH / np.sqrt(len(rows))
    if not rounds:
        return start

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        away = values - origin
        found, slope = leave_one_out_loss(start.at(values), rows, targets, prior)
        return found + strength * float(away @ away), slope + 2.0 * strength * away

    bounds = [(value - _STEPS_DOWN, value + _STEPS_UP) for value in origin]
    found = minimize(loss, origin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": rounds})
    return start.at(found.x)


def leave_one_out_loss(
    settings: Settings, rows: np.ndarray, targets: np.ndarray, prior: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the mean of −log p(y_i), each row predicted by the ridge without it, and its slope in the logarithms.

    With B = (K + αI)⁻¹ and Z = B(Y − prior) the prediction of row i without it is y_i − z_i / B_ii, exactly.
    """
    n = len(rows)
    terms = settings.terms(rows, rows)
    factor = cholesky(np.sum(terms, axis=0) + settings.alpha * np.eye(n), lower=True, check_finite=False)
    lower, _ = lapack.dpotri(factor, lower=1)
    inverse = np.tril(lower) + np.tril(lower, -1).T
    dual, own = inverse @ (targets - prior), np.diag(inverse)
    predicted = targets - dual / own[:, None]
    logs = log_softmax(predicted / settings.temperature)
    loss = -float(np.sum(logs * targets)) / n
    # backwards: through the softmax to the predictions, through them to the inverse, and from there to the kernel
    excess = (np.exp(logs) - targets) / (settings.temperature * n)
    by_temperature = -float(np.sum(excess * predicted))
    carried = inverse @ (excess / own[:, None])
    by_own = np.sum(excess * dual, axis=1) / own**2
    by_kernel = 0.5 * (dual @ carried.T + carried @ dual.T) - (inverse * by_own) @ inverse
    pairs = zip(settings.weights, terms, strict=True)
    by_weights = [weights * weight_slopes(rows, by_kernel * term) for weights, term in pairs]
    by_sizes = [float(np.sum(by_kernel * term)) for term in terms]
    by_alpha = settings.alpha * float(np.trace(by_kernel))
    return loss, np.concatenate([*by_weights, by_sizes, [by_alpha, by_temperature]])
