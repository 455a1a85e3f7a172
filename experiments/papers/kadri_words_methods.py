"""Methods of the OCR table on one training fold; every choice is made inside it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from experiments.baselines import ConstrainedRidge, MaxMarginChain
from experiments.papers.kadri_words_reading import Reader, characters_right, lengths_of, letter_rows
from mercer.core.arrays import to_numpy
from mercer.datasets.images import HandwrittenWords
from mercer.kernels import Gaussian, Kernel, PartByPart, Polynomial, Precomputed, Scaled
from mercer.kernels.part_by_part import by_position
from mercer.operators import ConditionalCovariance, Identity, Outputs, SeparableOperator
from mercer.solvers import GramEigh, RidgePath, RidgeProblem

LAMBDA = 0.01
ALPHAS = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1)
"""Values of alpha of the identity operator; those of the covariance operators are a tenth, as C has eigenvalues below one."""
EPSILONS = (1e-3, 1e-2, 1e-1)
BOX = (0.3, 1.0, 3.0)
"""C of the max-margin chain."""
CONSTRAINTS = (1e-3, 1e-2, 1e-1, 1.0)
MIXED_ALPHAS = (1e-2, 3e-2, 1e-1, 3e-1)
BLURS = (0.0, 0.7, 1.1, 1.5)
SCALES = (0.4, 0.6, 0.9)
"""Multiples of the median distance of training letters."""
OWN_ALPHAS = (1e-3, 1e-2, 1e-1, 1.0)
LETTER_ALPHAS = (1e-2, 1e-1, 1.0)
PASSES = 120


@dataclass(frozen=True)
class Chosen:
    """Setting, and the leave-one-out percentage that chose it."""

    setting: tuple[float | bool, ...]
    right: float


class Fold:
    """Words to train on and words to test on."""

    def __init__(self, train: HandwrittenWords, test: HandwrittenWords) -> None:
        self.train, self.test = train, test
        self.reader = Reader.of(list(train.strings))
        self.targets = self.reader.indicators(train.strings)
        self.train_lengths, self.test_lengths = lengths_of(train), lengths_of(test)

    @cached_property
    def halves(self) -> tuple[np.ndarray, np.ndarray]:
        """Split the training words into halves, for choices that need words held out."""
        order = np.random.default_rng(0).permutation(len(self.train))
        return np.sort(order[::2]), np.sort(order[1::2])

    def score(self, points: np.ndarray) -> dict[str, float]:
        """Compute percentages of correct characters on the test words, read in both ways."""
        spelled = self.reader.by_letter(points, self.test_lengths)
        whole = self.reader.by_word(points, self.test_lengths)
        return {
            "letters": characters_right(spelled, self.test.strings),
            "words": characters_right(whole, self.test.strings),
        }

    def left_out(self, points: np.ndarray) -> tuple[float, float]:
        """Compute the same on the training words, each predicted without itself."""
        truth = list(self.train.strings)
        spelled = self.reader.by_letter(points, self.train_lengths)
        whole = self.reader.by_word(points, self.train_lengths, truth)
        return characters_right(spelled, truth), characters_right(whole, truth)


@dataclass
class Grams:
    """Kernel values among the training words, decomposed, and those of the test words against them."""

    fold: Fold
    spectrum: GramEigh
    cross: np.ndarray

    @classmethod
    def of(cls, fold: Fold, gram: np.ndarray, cross: np.ndarray) -> Grams:
        """Factorize the first of the two matrices."""
        return cls(fold, RidgeProblem(Precomputed(), gram, fit_intercept=False).decomposed(), cross)

    def ridge(self, operator: SeparableOperator) -> RidgePath:
        """Regress one-hot words, with that operator."""
        targets = self.fold.targets
        outputs = Outputs(targets, len(targets), False, self.spectrum)
        return RidgePath(self.spectrum, targets, operator.spectrum(outputs))

    def points(self, operator: SeparableOperator, alpha: float) -> np.ndarray:
        """Predict the points of the test words."""
        return self.cross @ to_numpy(self.ridge(operator).coefficients(alpha)[0])

    def choose(
        self, operators: Sequence[SeparableOperator], alphas: Sequence[float]
    ) -> tuple[SeparableOperator, float]:
        """Choose the operator and alpha with most characters correct by leave-one-out."""
        best: tuple[float, SeparableOperator, float] | None = None
        for operator in operators:
            ridge = self.ridge(operator)
            for alpha in alphas:
                right = self.fold.left_out(to_numpy(ridge.left_out_points(alpha)))[0]
                if best is None or right > best[0]:
                    best = right, operator, alpha
        assert best is not None
        return best[1:]

    def unseen(self, alpha: float) -> float:
        """Compute the percentage of correct characters on training words after all their writings are left out."""
        strings = self.fold.train.strings
        groups = [np.flatnonzero(strings == word) for word in self.fold.reader.vocabulary]
        points = np.empty_like(self.fold.targets)
        for group, residual in zip(groups, self.ridge(Identity()).fold_residuals(alpha, groups), strict=True):
            points[group] = self.fold.targets[group] - to_numpy(residual)
        return self.fold.left_out(points)[0]


def image_features(fold: Fold, kernel: Kernel) -> Grams:
    """Compute inner products of Φ(x) = [k(c_m, x_{v(c_m)})] over training letters c_m, scaled to a mean squared norm of one."""
    train, test = letter_rows(fold.train), letter_rows(fold.test)
    gram, cross = np.zeros((len(train), len(train))), np.zeros((len(test), len(train)))
    queries = list(by_position(test))
    for position, (rows, letters) in enumerate(by_position(train)):
        landmarks = to_numpy(kernel(letters))
        gram[np.ix_(rows, rows)] += landmarks @ landmarks.T
        if position < len(queries):
            queried, images = queries[position]
            cross[np.ix_(queried, rows)] += to_numpy(kernel(images, letters)) @ landmarks.T
    scale = len(train) / np.trace(gram)
    return Grams.of(fold, scale * gram, scale * cross)


def operator_grid() -> list[SeparableOperator]:
    """Return the conditional covariances to choose from."""
    return [ConditionalCovariance(eps=eps) for eps in EPSILONS]


def cubic_letters(fold: Fold) -> Kernel:
    """Return (1 + c·c′)³ on letters, scaled to a mean of one over the training letters."""
    letters = np.concatenate(list(letter_rows(fold.train)))
    kernel = Polynomial(degree=3)
    return Scaled(1.0 / float(np.mean(kernel.diag(letters))), kernel)


def fit_chain(fold: Fold) -> tuple[MaxMarginChain, list[str]]:
    """Read the test words by the max-margin chain, with C chosen on held-out halves."""
    X, y = letter_rows(fold.train), fold.train.strings
    fitted, held = fold.halves
    model = MaxMarginChain(cubic_letters(fold), max_passes=PASSES // 4, tol=0.05)
    with warnings.catch_warnings():
        # the duality gap is kept as gap_ and reported
        warnings.simplefilter("ignore", ConvergenceWarning)
        scores = [clone(model).set_params(C=C).fit(X[fitted], y[fitted]).score(X[held], y[held]) for C in BOX]
        model.set_params(C=BOX[int(np.argmax(scores))], max_passes=PASSES).fit(X, y)
    return model, list(model.predict(letter_rows(fold.test)))


def fit_constrained(fold: Fold) -> tuple[ConstrainedRidge, np.ndarray]:
    """Predict the test words by constrained regression, with α and η chosen on held-out halves."""
    X, y = letter_rows(fold.train), fold.train.strings
    fitted, held = fold.halves
    longest = max(map(len, y[fitted]))
    held = np.asarray([i for i in held if len(y[i]) <= longest])
    model = ConstrainedRidge(Polynomial(degree=3), empirical=True)
    settings = list(product(MIXED_ALPHAS, CONSTRAINTS))
    scores = [
        clone(model).set_params(alpha=alpha, constraint=eta).fit(X[fitted], y[fitted]).score(X[held], y[held])
        for alpha, eta in settings
    ]
    alpha, eta = settings[int(np.argmax(scores))]
    model.set_params(alpha=alpha, constraint=eta).fit(X, y)
    return model, model.decision_function(letter_rows(fold.test))


def literal_constrained(fold: Fold) -> np.ndarray:
    """Predict the test words by constrained regression at λ = 0.01 and η = 1."""
    model = ConstrainedRidge(Polynomial(degree=3), alpha=LAMBDA, constraint=1.0, empirical=True)
    return model.fit(letter_rows(fold.train), fold.train.strings).decision_function(letter_rows(fold.test))


def letters_alone(fold: Fold, kernel: Kernel, train: np.ndarray, test: np.ndarray) -> list[str]:
    """Read every letter on its own by ridge regression of letters, with alpha chosen on held-out halves."""
    names = fold.reader.letters
    truth = [np.searchsorted(names, list(word)) for word in fold.train.strings]

    def read(fitted: np.ndarray, queries: np.ndarray, alpha: float) -> np.ndarray:
        known = np.concatenate(list(train[fitted]))
        factor = cho_factor(to_numpy(kernel(known)) + alpha * np.eye(len(known)), overwrite_a=True)
        dual = cho_solve(factor, np.eye(len(names))[np.concatenate([truth[i] for i in fitted])])
        blocks = (np.concatenate(list(queries[i : i + 500])) for i in range(0, len(queries), 500))
        return np.concatenate([(to_numpy(kernel(block, known)) @ dual).argmax(axis=1) for block in blocks])

    fitted, held = fold.halves
    expected = np.concatenate([truth[i] for i in held])
    scores = [np.mean(read(fitted, train[held], alpha) == expected) for alpha in LETTER_ALPHAS]
    found = read(np.arange(len(train)), test, LETTER_ALPHAS[int(np.argmax(scores))])
    return ["".join(names[part]) for part in np.split(found, np.cumsum(fold.test_lengths)[:-1])]


class OwnKernels:
    """Gaussian kernels of blurred letters summed over positions: leave-one-out of the whole grid, test words on demand."""

    def __init__(self, fold: Fold, blurs: Sequence[float] = BLURS, scales: Sequence[float] = SCALES) -> None:
        self.fold = fold
        self._rows = {blur: (letter_rows(fold.train, blur), letter_rows(fold.test, blur)) for blur in blurs}
        self._medians = {
            blur: Gaussian(scale="median").resolve(np.concatenate(list(train))).scale
            for blur, (train, _) in self._rows.items()
        }
        self.table: dict[tuple[float, float, bool, float], tuple[float, float]] = {}
        for blur, scale, same in product(blurs, scales, (False, True)):
            gram = self.kernel(blur, scale, same)(self._rows[blur][0])
            ridge = Grams.of(fold, gram, gram).ridge(Identity())
            for alpha in OWN_ALPHAS:
                points = to_numpy(ridge.left_out_points(alpha))
                self.table[blur, scale, same, alpha] = fold.left_out(points)
        self._made: dict[tuple[float, float, bool], Grams] = {}

    def kernel(self, blur: float, scale: float, same: bool) -> PartByPart:
        """Make the kernel on words."""
        return PartByPart(self.letter_kernel(blur, scale), same_length=same)

    def letter_kernel(self, blur: float, scale: float) -> Gaussian:
        """Make the kernel on single letters."""
        return Gaussian(scale * float(self._medians[blur]))

    def letters(self, blur: float) -> tuple[np.ndarray, np.ndarray]:
        """Return training and test words as rows of blurred letters."""
        return self._rows[blur]

    def best(self, way: int, blurs: Sequence[float] = BLURS, same: Sequence[bool] = (False, True)) -> Chosen:
        """Return the best of the allowed settings for reading by letter (0) or by word (1)."""
        allowed = {key: right[way] for key, right in self.table.items() if key[0] in blurs and key[2] in same}
        setting = max(allowed, key=lambda key: allowed[key])
        return Chosen(setting, allowed[setting])

    def grams(self, blur: float, scale: float, same: bool) -> Grams:
        """Compute the Gram matrices of that kernel, test words included."""
        key = (blur, scale, same)
        if key not in self._made:
            kernel, (train, test) = self.kernel(*key), self._rows[blur]
            self._made[key] = Grams.of(self.fold, kernel(train), kernel(test, train))
        return self._made[key]

    def points(self, chosen: Chosen) -> np.ndarray:
        """Predict the points of the test words with a chosen setting."""
        blur, scale, same, alpha = chosen.setting
        return self.grams(blur, scale, bool(same)).points(Identity(), alpha)
