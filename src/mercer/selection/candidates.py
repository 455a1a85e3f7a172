"""Choice of the score for candidates that were not trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mercer.core.arrays import Array, like, to_numpy
from mercer.core.collections import Collection, distinct, keys, take, to_backend_of, united
from mercer.decoders.base import Decoder, best
from mercer.decoders.candidates import Standardized, standardized
from mercer.decoders.pool import Pool
from mercer.losses.base import Loss

_STRENGTHS = (0.25, 0.5, 1.0)
_LEAST = 20  # fewest distinct outputs by which a rule is chosen
_MOST = 1000  # most pairs of each half that are predicted


@dataclass
class CandidateRule:
    """The decoder that scores candidates which are not training outputs.

    Attributes
    ----------
    decoder : Decoder
        Fitted, and calibrated if it needs that.
    reason : str
        One sentence why.
    losses : dict
        The mean left-out loss of each rule that was tried.
    """

    decoder: Decoder
    reason: str
    losses: dict[str, float] = field(default_factory=dict)


def candidate_rule(
    decoder: Decoder,
    loss: Loss,
    points_without: Callable[[np.ndarray], Array],
    left_out_points: Callable[[], Array],
    groups: np.ndarray | None = None,
) -> CandidateRule:
    r"""Choose the score of candidates without a weight of their own.

    The distinct training outputs are cut into two halves. Each input is predicted by the fit without its half, and the candidates
    are the outputs of that half, none of which was trained on. Rules are tried in this order, and the first whose loss is
    within one standard error of the lowest is taken:

    - the decoder's own score, such as minus the expected loss
    - the kernel's score, :math:`2\langle h, \psi(y)\rangle - l(y, y)`
    - standardised scores, `Standardized` with the strength 1/4, 1/2 and 1

    Parameters
    ----------
    decoder : Decoder
        Fitted on the training outputs.
    loss : Loss
        The loss that predictions are scored by.
    points_without : callable
        Groups of the training pairs → the point of each pair from a fit without its group.
    left_out_points : callable
        The points of training pairs left out in turn, by which scores are standardised.
    groups : int array (n,), optional
        Pairs that stay together.
    """
    by_kernel = type(decoder)._features is Decoder._features
    plain = decoder if by_kernel else Decoder().fit(decoder.embedding_, loss)
    halves = output_halves(decoder, groups)
    if halves is None:
        return CandidateRule(plain, f"fewer than {_LEAST} distinct outputs to choose by: the kernel's score")
    points = points_without(halves)
    if not np.all(np.isfinite(to_numpy(points))):
        return CandidateRule(plain, "some outputs are missing: the kernel's score")
    points = to_backend_of(decoder.embedding_.outputs_, points)
    found = [_losses(decoder, loss, points, np.flatnonzero(halves == half)[:_MOST], by_kernel) for half in (0, 1)]
    losses = {name: np.concatenate([half[name] for half in found]) for name in found[0]}
    name = _simplest(losses)
    means = {each: float(np.mean(values)) for each, values in losses.items()}
    reason = f"{name}: {loss!r} is {means[name]:.4g} for outputs kept out of training"
    others = ", ".join(f"{value:.4g} by {each}" for each, value in means.items() if each != name)
    chosen = {"the decoder's own score": decoder, "the kernel's score": plain}.get(name)
    if chosen is None:
        strength = next(each for each in _STRENGTHS if name == _named(each))
        chosen = Standardized(strength=strength).fit(decoder.embedding_, loss).calibrate(left_out_points())
    return CandidateRule(chosen, f"{reason}, {others}", means)


def output_halves(decoder: Decoder, groups: np.ndarray | None) -> np.ndarray | None:
    """Return the half of each pair, 0 or 1, equal outputs and groups together; None if there are too few outputs."""
    embedding = decoder.embedding_
    outputs = take(embedding.outputs_, slice(0, embedding.paired_))
    kinds = united(distinct(outputs, embedding.kernel_.key)[1], groups)
    number = int(kinds.max()) + 1
    return None if number < _LEAST else (np.random.default_rng(0).permutation(number) % 2)[kinds]


def _losses(decoder: Decoder, loss: Loss, points: Array, own: np.ndarray, by_kernel: bool) -> dict[str, np.ndarray]:
    """The loss of each pair by each rule, with the outputs of these pairs for candidates."""
    embedding = decoder.embedding_
    outputs: Collection = take(embedding.outputs_, own)
    points, found = take(points, own), {}
    if not by_kernel:
        found["the decoder's own score"] = best(decoder.choose(points, outputs))
    features, norms = 2.0 * embedding.rows(own), embedding.norms(outputs)
    usual = like(points, features) @ features.T
    rules = {"the kernel's score": (features, norms)}
    rules |= {_named(strength): standardized(features, usual, strength) for strength in _STRENGTHS}
    for name, rule in rules.items():
        found[name] = take(outputs, Pool(outputs, *rule).best(points, 1)[0][:, 0])
    return {name: to_numpy(loss.paired(outputs, objects)).astype(float) for name, objects in found.items()}


def _named(strength: float) -> str:
    return f"scores standardised by {strength:g}"


def _simplest(losses: dict[str, np.ndarray]) -> str:
    """The first rule whose mean loss is within one standard error of the lowest."""
    lowest = min(losses.values(), key=np.mean)
    for name, values in losses.items():
        more = values - lowest
        if np.mean(more) <= np.std(more) / np.sqrt(len(more)):
            return name
    raise ValueError("losses are not finite")


def known_outputs(decoder: Decoder, candidates: Collection, paired: bool = False) -> bool:
    """Return True if every candidate is one of the outputs the decoder was fitted on, or of those with an input (`paired`)."""
    outputs, key = decoder.embedding_.outputs_, decoder.embedding_.kernel_.key
    if paired:
        outputs = take(outputs, slice(0, decoder.embedding_.paired_))
    return set(keys(candidates, key)) <= set(keys(outputs, key))
