"""Methods of the label ranking experiment, on one split of one data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, StandardScaler

from experiments.protocol import paper_estimator
from mercer.core.arrays import to_numpy
from mercer.decoders import Assignment, Decoder, KemenyOrder, Sorting
from mercer.embeddings import Implicit
from mercer.estimators import DependencyEstimator, NeighborsEstimator
from mercer.kernels import Borda, Gaussian, Kemeny, Kernel, Laplacian, Lehmer, RankHamming
from mercer.losses import Kendall
from mercer.selection import LeaveOneOut

PLAIN, RANKED, ROOTS = "standardised", "ranks", "roots"
ALPHAS = np.logspace(-4, 1, 11)
FACTORS: dict[type[Kernel], tuple[float, ...]] = {Gaussian: (0.35, 0.7, 1.4), Laplacian: (0.5, 1.0, 2.0)}
"""Candidate scales, in median distances of the training inputs."""
MEMBERS = 5
FIRST, BEST, NEIGHBOURS, MIDDLE = "Gaussian ridge on Kemeny", "mean of the five best", "k-NN", "one ranking for all"
LADDER = {
    FIRST: (Gaussian, (PLAIN,)),
    "Laplacian kernel": (Laplacian, (PLAIN,)),
    "Laplacian kernel, inputs as they suit": (Laplacian, (PLAIN, RANKED, ROOTS)),
    "either kernel, inputs as they suit": (None, (PLAIN, RANKED, ROOTS)),
}
"""Candidate kernels and encodings of each step; the last step is followed by `BEST`."""
OTHERS: dict[str, tuple[Kernel, Decoder]] = {
    "Gaussian ridge on Hamming": (RankHamming(), Assignment()),
    "Gaussian ridge on Borda": (Borda(), Sorting()),
    "Gaussian ridge on Lehmer": (Lehmer(), Sorting()),
}
METHODS = (MIDDLE, NEIGHBOURS, *OTHERS, *LADDER, BEST)


@dataclass(frozen=True)
class Candidate:
    """Kernel on one encoding of the inputs with one alpha, and its leave-one-out loss."""

    kernel: Kernel
    inputs: str
    alpha: float
    loss: float


def prepared(train: np.ndarray, test: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Encode the inputs in three ways, each learned from the training part and standardised."""
    made = {
        PLAIN: (train, test),
        RANKED: _both(QuantileTransformer(n_quantiles=len(train)), train, test),
        ROOTS: tuple(np.sqrt(part) for part in _both(MinMaxScaler(clip=True), train, test)),
    }
    return {name: _both(StandardScaler(), *parts) for name, parts in made.items()}


def candidates(inputs: dict[str, tuple[np.ndarray, np.ndarray]], y: np.ndarray) -> list[Candidate]:
    """Return every kernel, encoding and alpha, with its leave-one-out loss in decoded rankings."""
    found = []
    for family, forms in ((Gaussian, (PLAIN,)), (Laplacian, (PLAIN, RANKED, ROOTS))):
        for form in forms:
            for kernel in scaled(family, inputs[form][0]):
                model = paper_estimator(kernel, Kemeny(), alpha=LeaveOneOut(ALPHAS), loss=Kendall())
                path = _path(model.fit(inputs[form][0], y))
                found += [Candidate(kernel, form, float(a), float(loss)) for a, loss in zip(ALPHAS, path, strict=True)]
    return found


def scaled(family: type[Kernel], X: np.ndarray) -> Iterator[Kernel]:
    """Make kernels of one family at multiples of the median distance."""
    median = family(scale="median").resolve(X).scale
    for factor in FACTORS[family]:
        yield family(scale=float(factor * median))


def predictions(train: np.ndarray, y: np.ndarray, test: np.ndarray) -> tuple[dict[str, np.ndarray], list[Candidate]]:
    """Predict rankings of the test inputs by each method; return the five candidates of the last one too."""
    inputs = prepared(train, test)
    every = sorted(candidates(inputs, y), key=lambda one: one.loss)
    decoder = KemenyOrder().fit(Implicit().fit(Kemeny(), y))
    plain, tested = inputs[PLAIN]
    neighbours = NeighborsEstimator(Gaussian("median"), Kemeny(), k="loo", loss=Kendall()).fit(plain, y)
    middle = decoder.decode(np.full((1, len(y)), 1.0 / len(y)))
    found = {MIDDLE: np.repeat(to_numpy(middle), len(test), axis=0), NEIGHBOURS: neighbours.predict(tested)}
    for name, (kernel, own) in OTHERS.items():
        found[name] = _best_scale(kernel, own, plain, y).predict(tested)
    for name, (family, forms) in LADDER.items():
        allowed = [one for one in every if one.inputs in forms and (family is None or isinstance(one.kernel, family))]
        found[name] = decoder.decode(_weights(allowed[:1], inputs, y))
    found[BEST] = decoder.decode(_weights(every[:MEMBERS], inputs, y))
    return found, every[:MEMBERS]


def _weights(
    chosen: Sequence[Candidate], inputs: dict[str, tuple[np.ndarray, np.ndarray]], y: np.ndarray
) -> np.ndarray:
    """Average the weights that the candidates put on the training rankings."""
    parts = []
    for one in chosen:
        train, test = inputs[one.inputs]
        model = paper_estimator(one.kernel, Kemeny(), alpha=one.alpha, embedding=Implicit()).fit(train, y)
        parts.append(model.decision_weights(test))
    return np.mean(parts, axis=0)


def _best_scale(kernel: Kernel, decoder: Decoder, X: np.ndarray, y: np.ndarray) -> DependencyEstimator:
    models = [
        paper_estimator(own, kernel, alpha=LeaveOneOut(ALPHAS), decoder=clone(decoder), loss=Kendall()).fit(X, y)
        for own in scaled(Gaussian, X)
    ]
    return min(models, key=lambda model: float(np.min(_path(model))))


def _path(model: DependencyEstimator) -> np.ndarray:
    """Return the leave-one-out loss of each alpha."""
    assert model.loo_path_ is not None
    return model.loo_path_


def _both(transform: object, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    fitted = transform.fit(train)  # type: ignore[attr-defined]
    return fitted.transform(train), fitted.transform(test)
