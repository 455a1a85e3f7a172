"""Contract of decoders."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.core.arrays import Array, NumericalWarning, to_numpy
from mercer.core.collections import Collection, count, hash_key, is_numeric, members, take
from mercer.decoders.base import Decoder, Ranked, best
from mercer.decoders.pool import training_candidates
from mercer.embeddings.base import Embedding

_TOLERANCE = 1e-8
"""Difference of objectives, relative to the largest of them, that counts as rounding."""

_VECTORS = 1e-5
"""Difference of vectors, relative to the largest coordinate, that an iteration may leave."""


def check_decoder(
    decoder: Decoder, embedding: Embedding, H: Array, *, loss: Any = None, candidates: Collection | None = None
) -> None:
    """Raise an AssertionError that names the first requirement a decoder does not meet.

    No answer is worse than a candidate; answers and rankings do not depend on the other points of a batch; rankings are
    sorted, scored by minus the objective and agree with `decode` and `choose`; and only `fit` writes to the decoder.

    Parameters
    ----------
    decoder : Decoder
        Not fitted; it is cloned.
    embedding : Embedding
        Fitted, with two distinct outputs at least.
    H : array (q, r)
        Points to decode, two at least, in the coordinates of the embedding.
    loss : callable, optional
        Passed on to `fit`.
    candidates : collection, optional
        Objects no answer may be worse than; by default the training outputs. Name fewer for a decoder that may not
        return them all (a fixed length, a narrow box).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.decoders import Candidates
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Gaussian
    >>> embedding = Implicit().fit(Gaussian(1.0), np.array([[0.0], [1.0], [3.0]]))
    >>> check_decoder(Candidates(), embedding, np.array([[0.9, 0.2, 0.0], [0.0, 0.1, 0.8]]))
    """
    parameters = {name: repr(value) for name, value in decoder.get_params().items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)  # outputs the kernel does not see are not tested here
        fitted = clone(decoder).fit(embedding, loss)
        index, _ = training_candidates(embedding)
        training = take(embedding.outputs_, index)
        _check_parameters_kept(decoder, fitted, parameters)
        allowed = training if candidates is None else embedding.kernel_.check(candidates)
        _check_no_worse(fitted, H, allowed)
        _check_each_point_alone(fitted, H)
        _check_rank(fitted, H, len(index) if candidates is None or not fitted.constructs else 1)
        _check_choose(fitted, H, training)
        _check_read_only(fitted, H, training)


def _check_parameters_kept(decoder: Decoder, fitted: Decoder, before: dict[str, str]) -> None:
    for part in (decoder, fitted, clone(fitted)):
        after = {name: repr(value) for name, value in part.get_params().items()}
        assert after == before, f"fit or clone changed the parameters {before} to {after}"


def _check_no_worse(fitted: Decoder, H: Array, candidates: Collection) -> None:
    found = fitted.objective(H, fitted.decode(H))
    for j in range(count(candidates)):
        one = take(candidates, np.full(len(found), j))
        other = fitted.objective(H, one)
        worst = int(np.argmax(found - other))
        values = f"{found[worst]:.9g}, and candidate {j} has {other[worst]:.9g}"
        lower = found[worst] > other[worst] + _slack(found, other)
        assert not lower, f"point {worst} was decoded with objective {values}, which is lower"


def _check_each_point_alone(fitted: Decoder, H: Array) -> None:
    """Answers and rankings do not depend on the order of the points, or on the other points of the batch."""
    together, ranked = fitted.decode(H), fitted.rank(H, 3)
    backwards = np.arange(count(together))[::-1]
    permuted = take(fitted.decode(take(H, backwards)), backwards)
    _check_same(fitted, H, together, permuted, "in another order")
    for i, own in enumerate(ranked):
        one, inside = take(H, slice(i, i + 1)), take(together, slice(i, i + 1))
        alone = fitted.decode(one)
        _check_same(fitted, one, inside, alone, f"alone (point {i})")
        assert _equal(fitted, inside, alone), f"point {i} is decoded to another object alone than in a batch"
        (first,) = fitted.rank(one, 3)
        assert _equal(fitted, own.objects, first.objects), f"point {i} is ranked otherwise alone than in a batch"


def _check_read_only(fitted: Decoder, H: Array, training: Collection) -> None:
    """Threads that share a fitted decoder do not see each other's answers."""
    before = dict(vars(fitted))
    for call in (lambda: fitted.decode(H), lambda: fitted.rank(H, 2), lambda: fitted.choose(H, training)):
        call()
        changed = [name for name, value in vars(fitted).items() if before.get(name, fitted) is not value]
        assert not changed, f"decode, rank or choose wrote to {', '.join(changed)}; return it from a method instead"


def _equal(fitted: Decoder, a: Collection, b: Collection) -> bool:
    """Whether two collections hold the same objects, vectors up to what an iteration may leave."""
    if count(a) != count(b):
        return False
    if is_numeric(a):
        left, right = to_numpy(a), to_numpy(b)
        return bool(np.allclose(left, right, rtol=_VECTORS, atol=_VECTORS * float(np.abs(left).max(initial=1.0))))
    key = fitted.embedding_.kernel_.key
    return [key(one) for one in members(a)] == [key(one) for one in members(b)]


def _check_same(fitted: Decoder, H: Array, a: Collection, b: Collection, how: str) -> None:
    m, n = count(a), count(b)
    assert m == n, f"{m} objects came back for the points, {n} {how}"
    left, right = fitted.objective(H, a), fitted.objective(H, b)
    gap = float(np.max(np.abs(left - right)))
    assert gap <= _slack(left, right), f"objectives differ by {gap:.3g} when decoded {how}"


def _check_rank(fitted: Decoder, H: Array, available: int) -> None:
    whole, few = fitted.rank(H, available + 1), fitted.rank(H, 2)
    if fitted.constructs:
        _check_same(fitted, H, fitted.decode(H), best(whole), "by rank()")
    for i, (ranked, two) in enumerate(zip(whole, few, strict=True)):
        found = count(ranked.objects)
        # a decoder that constructs objects may have more of them than there are candidates
        enough = found >= available if fitted.constructs else found == available
        enough &= found == len(ranked.scores)
        given = f"{found} objects with {len(ranked.scores)} scores for point {i}, of {available} candidates"
        assert enough, f"rank gave {given}"
        keys = _keys(ranked.objects)
        assert len(set(keys)) == found, f"rank repeats an object for point {i}"
        assert bool(np.all(np.diff(ranked.scores) <= 0)), f"rank is not sorted best first for point {i}"
        same = np.allclose(two.scores, ranked.scores[:2], rtol=_TOLERANCE, atol=_TOLERANCE)
        assert same, f"the two best of point {i} are not the first two of its whole ranking"
        expected = -fitted.objective(take(H, np.full(found, i)), ranked.objects)
        gap = float(np.max(np.abs(expected - ranked.scores)))
        minus = gap <= _slack(expected, ranked.scores)
        assert minus, f"the scores of point {i} are not minus the objective of the objects"


def _check_choose(fitted: Decoder, H: Array, training: Collection) -> None:
    first, chosen = fitted.rank(H, 1), fitted.choose(H, training)
    if not fitted.constructs:
        _check_same(fitted, H, best(first), best(chosen), "by choose() among the training outputs")
    # other indices than in training: an index into the wrong list would show
    some = take(training, np.arange(count(training))[::-1][: max(1, count(training) - 1)])
    each = fitted.choose_each(H, [some] * len(first))
    for name, found in (("choose", fitted.choose(H, some)), ("choose_each", each)):
        _check_members(found, some, name)
        _check_same(fitted, H, best(fitted.choose(H, some)), best(found), f"by {name}()")
        for j in range(count(some)):
            other = fitted.objective(H, take(some, np.full(len(first), j)))
            own = fitted.objective(H, best(found))
            best_of_all = np.all(own <= other + _slack(own, other))
            assert best_of_all, f"{name}() passed over a better candidate, number {j}"


def _check_members(found: list[Ranked], candidates: Collection, name: str) -> None:
    given = set(_keys(candidates))
    for i, ranked in enumerate(found):
        inside = set(_keys(ranked.objects)) <= given
        assert inside, f"{name}() gave point {i} an object that is not one of its candidates"


def _keys(objects: Collection) -> list[Any]:
    return [hash_key(np.asarray(part) if hasattr(part, "shape") else part) for part in members(objects)]


def _slack(a: np.ndarray, b: np.ndarray) -> float:
    return _TOLERANCE * max(1.0, float(np.max(np.abs(a))), float(np.max(np.abs(b))))
