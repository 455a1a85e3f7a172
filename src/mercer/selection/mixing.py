"""Convex weights of several predictors, from the points each predicts for pairs it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

_FOLDS = 5  # parts of the pairs on which weights are checked that were found on the others
_SHRUNK = 0.01  # weight of the distance to equal weights, relative to the mean squared error
_LITTLE = 0.01  # weight below which a predictor is dropped
_WIDE = 50  # coordinates from which all have the same weights
_TOGETHER = 0.75  # part of the weights that all coordinates share
_HEAVY = 1e3  # weight of the equation that weights sum to one, relative to the errors
_FIVE = 5  # predictors in the mean of the best
_STEPS = 12  # most members a greedy mixture takes, with repetition


@dataclass
class Mixing:
    """Weights of M predictors.

    Attributes
    ----------
    weights : array (M,) or (M, r)
        Not negative, summing to one over the predictors; of each coordinate if there are two axes.
    rule : str
        "best", "averaged", "five", "greedy" or "squares".
    checked : dict
        The loss of each rule on pairs its weights were not found on.
    residuals : array (n, r), optional
        What the rule leaves of each target, for pairs its weights were not found on.
    """

    weights: np.ndarray
    rule: str
    checked: dict[str, float]
    residuals: np.ndarray | None = None

    def apply(self, points: Sequence[np.ndarray]) -> np.ndarray:
        """Return the weighted sum of the points of the predictors."""
        return sum(weight * own for weight, own in zip(self.weights, points, strict=True) if np.any(weight))


def mix_by_squares(
    residuals: np.ndarray, folds: np.ndarray, sample_weight: np.ndarray | None = None, shared: bool = False
) -> Mixing:
    r"""Find weights of small squared distance, :math:`\sum_i \|\sum_m \beta_m e^m_i\|^2`, with β on the simplex.

    The least one for all pairs follows their noise. So β is "averaged": the mean of the least ones without each of the folds,
    three quarters of it for all coordinates together and a quarter for each alone. Weights below a hundredth are dropped. The
    "best" predictor takes the place of the average if it does better in every fold, with weights found on the others.

    Parameters
    ----------
    residuals : array (M, n, r)
        What each predictor leaves of each target, for pairs it has not seen.
    folds : int array (n,)
        The part of the check that each pair belongs to; pairs of one group share one.
    sample_weight : array (n,), optional
        Weights of the pairs.
    shared : bool
        True for the same weights in all coordinates, as they are from 50 coordinates anyway.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((2, 100, 1))
    >>> mix_by_squares(noise, np.arange(100) % 5).weights.round(1).ravel().tolist()
    [0.5, 0.5]
    """
    scaled = residuals if sample_weight is None else residuals * np.sqrt(sample_weight)[None, :, None]
    shared = shared or not 1 < residuals.shape[2] < _WIDE
    # of each fold and coordinate, the inner products of the residuals of all predictors
    rows = np.moveaxis(scaled, (0, 1, 2), (2, 1, 0))
    grams = np.stack([np.swapaxes(own, 1, 2) @ own for own in (rows[:, folds == f] for f in np.unique(folds))])
    rules: dict[str, Callable[[np.ndarray], np.ndarray]] = {"best": lambda parts: _best(parts.sum(axis=0))}
    if len(residuals) > 1:
        rules["averaged"] = lambda parts: _averaged(parts, shared)
    without = {
        name: [rule(np.delete(grams, f, axis=0)) for f in range(len(grams))] if len(grams) > 1 else [rule(grams)]
        for name, rule in rules.items()
    }
    lost = {
        name: np.array([_errors(weights, gram).sum() for weights, gram in zip(found, grams, strict=True)])
        for name, found in without.items()
    }
    checked = {name: float(own.sum()) / residuals.shape[1] for name, own in lost.items()}
    name = "averaged" if "averaged" in lost and np.any(lost["averaged"] <= lost["best"]) else "best"
    weights, left = rules[name](grams), np.empty(residuals.shape[1:])
    for f, found in zip(np.unique(folds), without[name], strict=True):
        left[folds == f] = np.einsum(
            "mr,mnr->nr", np.broadcast_to(found, residuals[:, 0].shape), residuals[:, folds == f]
        )
    return Mixing(weights if weights.shape[1] > 1 else weights[:, 0], name, checked, left)


def supported_share(
    plain: np.ndarray, mixed: np.ndarray, sample_weight: np.ndarray | None = None, groups: np.ndarray | None = None
) -> float:
    r"""Return the share of the way from a plain prediction to a mixture that left-out pairs support, less a standard error.

    With :math:`d_i` the way of pair i and :math:`p_i` what the plain prediction leaves of it, the squared distance is least for
    the share :math:`-\sum_i p_i^\top d_i / \sum_i \|d_i\|^2`.

    Parameters
    ----------
    plain, mixed : arrays (n, r)
        What the plain prediction and the mixture leave of each target.
    sample_weight : array (n,), optional
        Weights of the pairs.
    groups : int array (n,), optional
        Pairs that are not independent.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((100, 1))
    >>> supported_share(noise, 0.1 * noise), supported_share(0.1 * noise, noise)
    (1.0, 0.0)
    """
    weight = np.ones(len(plain)) if sample_weight is None else sample_weight
    way = mixed - plain
    size = float(weight @ np.sum(way**2, axis=1))
    if size == 0.0:
        return 1.0
    share = -float(weight @ np.sum(plain * way, axis=1)) / size
    slopes = weight * np.sum((plain + share * way) * way, axis=1)
    slopes = slopes if groups is None else np.bincount(groups, slopes)
    return float(np.clip(share - np.sqrt(np.sum(slopes**2)) / size, 0.0, 1.0))


def _averaged(parts: np.ndarray, shared: bool) -> np.ndarray:
    """The mean of the weights found without each of the parts, without members of little weight."""
    found = []
    for f in range(len(parts)):
        gram = (np.delete(parts, f, axis=0) if len(parts) > 1 else parts).sum(axis=0)
        found.append(_shared(gram) if shared else _TOGETHER * _shared(gram) + (1.0 - _TOGETHER) * _each(gram))
    weights = np.mean(found, axis=0)
    large = np.where(weights.mean(axis=1, keepdims=True) < _LITTLE, 0.0, weights)
    kept = large.sum(axis=0)
    return large / kept if np.all(kept > 0.5) else weights


def mix_by_loss(
    loss: Callable[[np.ndarray, np.ndarray], np.ndarray],
    points: Sequence[np.ndarray],
    folds: np.ndarray,
    residuals: np.ndarray | None = None,
) -> Mixing:
    """Find weights of small loss, for any loss of decoded points.

    Four rules compete, found on one half of the pairs and checked on the other: the "best" predictor, the mean of the "five"
    best, "greedy" selection, which adds predictors to a mean as long as its loss falls (Caruana et al. 2004), and the weights of
    least "squares" in feature space.

    Parameters
    ----------
    loss : callable
        ``loss(points, rows)``, the loss of each pair among `rows` when `points` are predicted for them.
    points : sequence of arrays (n, r)
        The points of each predictor, for pairs it has not seen.
    folds : int array (n,)
        As for `mix_by_squares`.
    residuals : array (M, n, r), optional
        What each predictor leaves of each output, in coordinates of the feature space.
    """
    halves = [np.flatnonzero(folds % 2 == half) for half in (0, 1)]
    checked: dict[str, float] = {}
    left: dict[str, np.ndarray] = {}
    for train, test in (halves, halves[::-1]):
        for name, weights in _found_by(loss, points, train, residuals).items():
            lost = float(np.sum(loss(_mean(points, weights, test), test))) / len(folds)
            checked[name] = checked.get(name, 0.0) + lost
            if residuals is not None:
                own = left.setdefault(name, np.empty(residuals.shape[1:]))
                own[test] = np.tensordot(weights, residuals[:, test], 1)
    # of equal losses the smoother rule, which is the later one
    name = min(reversed(checked), key=lambda rule: checked[rule])
    weights = _found_by(loss, points, np.arange(len(folds)), residuals, name)[name]
    return Mixing(weights, name, checked, left.get(name))


def _found_by(
    loss: Callable[[np.ndarray, np.ndarray], np.ndarray],
    points: Sequence[np.ndarray],
    rows: np.ndarray,
    residuals: np.ndarray | None,
    wanted: str | None = None,
) -> dict[str, np.ndarray]:
    """The weights by each rule, or by the one that is wanted, found on some pairs."""
    scores = np.asarray([float(np.mean(loss(own[rows], rows))) for own in points])
    order = np.argsort(scores, kind="stable")
    found = {"best": np.eye(len(points))[order[0]]}
    if len(points) == 1:
        return found
    if wanted in (None, "greedy"):
        found["greedy"] = _greedy(loss, [own[rows] for own in points], rows, scores)
    five = np.zeros(len(points))
    five[order[:_FIVE]] = 1.0 / min(_FIVE, len(points))
    found["five"] = five
    if residuals is not None and wanted in (None, "squares"):
        flat = residuals[:, rows, :].reshape(len(points), -1)
        found["squares"] = _on_simplex(flat @ flat.T)
    return found


def check_folds(n: int, groups: np.ndarray | None = None, n_folds: int = _FOLDS) -> np.ndarray:
    """Return the part of the check each pair belongs to, at random; pairs of one group share one.

    Examples
    --------
    >>> sorted(check_folds(5).tolist())
    [0, 1, 2, 3, 4]
    """
    units = n if groups is None else int(groups.max()) + 1
    of_unit = np.random.default_rng(0).permutation(np.arange(units) % min(n_folds, units))
    return of_unit if groups is None else of_unit[groups]


def _greedy(
    loss: Callable[[np.ndarray, np.ndarray], np.ndarray], points: list[np.ndarray], rows: np.ndarray, scores: np.ndarray
) -> np.ndarray:
    """Weights by adding the predictor that makes the loss of the mean smallest, as long as it falls."""
    taken = [int(np.argmin(scores))]
    best, current = float(scores[taken[0]]), points[taken[0]]
    while len(taken) < _STEPS:
        size = len(taken)
        means = [(size * current + each) / (size + 1.0) for each in points]
        losses = [float(np.mean(loss(mean, rows))) for mean in means]
        j = int(np.argmin(losses))
        if losses[j] >= best:
            break
        best, current, taken = losses[j], means[j], [*taken, j]
    return np.bincount(taken, minlength=len(points)) / len(taken)


def _mean(points: Sequence[np.ndarray], weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return sum(weight * own[rows] for weight, own in zip(weights, points, strict=True) if weight > 0)


def _errors(weights: np.ndarray, gram: np.ndarray) -> np.ndarray:
    """βᵀ G β of each coordinate, for weights (M, r or 1) and inner products (r, M, M)."""
    return np.einsum("mr,rmk,kr->r", np.broadcast_to(weights, (gram.shape[1], gram.shape[0])), gram, weights)


def _best(gram: np.ndarray) -> np.ndarray:
    squares = np.einsum("rmm->m", gram)
    return np.eye(gram.shape[1])[:, [int(np.argmin(squares))]]


def _shared(gram: np.ndarray) -> np.ndarray:
    return _on_simplex(gram.sum(axis=0))[:, None]


def _each(gram: np.ndarray) -> np.ndarray:
    return np.column_stack([_on_simplex(own) for own in gram])


def _on_simplex(gram: np.ndarray) -> np.ndarray:
    """The β of least βᵀ G β with β ≥ 0 and Σβ = 1, drawn a little towards equal weights."""
    members = len(gram)
    size = float(np.trace(gram)) / members or 1.0
    values, vectors = np.linalg.eigh(gram / size + _SHRUNK * np.eye(members))
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    system = np.vstack([root, np.full((1, members), _HEAVY)])
    weights = nnls(system, np.append(np.zeros(members), _HEAVY))[0]
    return weights / weights.sum()
