"""Families of sequence kernels under which sequences can be constructed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from math import comb
from typing import Any

from mercer.core.collections import Collection, as_objects
from mercer.decoders.base import factor, unscaled
from mercer.kernels import Mismatch, Normalized, Positions, Spectrum, Sum, WeightedDegree
from mercer.kernels.base import Kernel
from mercer.kernels.strings.base import length_range

_STATES = 2**18  # most stretches near one that occurs for which a model has states
_ALL = 2**14  # most stretches that are all enumerated rather than looked for one by one
_STEPS = 2**26  # most entries of the table of states and symbols, 256 MiB


@dataclass(frozen=True)
class Term:
    """Stretches of one length that are compared with each other."""

    length: int
    similarity: tuple[float, ...]  # of two stretches that differ in 0, 1, …, `length` symbols
    changes: int = 0  # the most symbols two stretches may differ in and still be similar to a third

    def scaled(self, factor: float) -> Term:
        """The term of a multiple of the kernel."""
        return replace(self, similarity=tuple(factor * each for each in self.similarity))


def window_terms(kernel: Kernel) -> list[Term] | None:
    """The terms of a kernel that adds up over stretches of consecutive symbols; None for any other."""
    found = [(scale, TERMS[type(part)](part) if type(part) in TERMS else None) for scale, part in _addends(kernel)]
    if any(terms is None for _, terms in found):
        return None
    return [term.scaled(scale) for scale, terms in found for term in terms or ()]


def position_span(kernel: Kernel) -> int | None:
    """Number of consecutive symbols a kernel compares at each position; None for kernels that do not work by position."""
    spans = [SPANS[type(part)](part) if type(part) in SPANS else None for _, part in _addends(kernel)]
    return None if None in spans else max(span for span in spans if span is not None)


def _addends(kernel: Kernel) -> list[tuple[float, Kernel]]:
    """The kernels a sum of multiples is made of, each with its factor."""
    inner, scale = unscaled(kernel), factor(kernel)
    if not isinstance(inner, Sum):
        return [(scale, inner)]
    return [(scale * own, part) for side in (inner.left, inner.right) for own, part in _addends(side)]


def _mismatch_terms(kernel: Mismatch) -> list[Term] | None:
    if not kernel.is_resolved:
        return None
    length, symbols = int(kernel.length), list(kernel.alphabet or ())
    # two stretches are similar by the words near both, whose number depends on how many symbols they differ in
    texts = [[symbols[-1]] * n + [symbols[0]] * (length - n) for n in range(length + 1)]
    words = as_objects(["".join(map(str, text)) if isinstance(kernel.alphabet, str) else tuple(text) for text in texts])
    similarity = kernel(words[:1], words)[0] if len(symbols) > 1 else [1.0] + [0.0] * length
    return [Term(length, tuple(map(float, similarity)), min(2 * int(kernel.mismatches), length))]


# functions that give the terms of a kernel, and its span at each position, by its class
TERMS: dict[type[Kernel], Callable[[Any], list[Term] | None]] = {
    Spectrum: lambda kernel: [Term(n, (1.0,) + (0.0,) * n) for n in length_range(kernel.length)],
    Mismatch: _mismatch_terms,
}
SPANS: dict[type[Kernel], Callable[[Any], int | None]] = {
    Positions: lambda kernel: 1,
    WeightedDegree: lambda kernel: int(kernel.degree) if kernel.shift == 0 else None,
}


def unnormalised(kernel: Kernel) -> Kernel:
    """The kernel inside a cosine, or the kernel itself if it has none."""
    outer = unscaled(kernel)
    return outer.kernel if isinstance(outer, Normalized) else kernel


def can_construct(kernel: Kernel, outputs: Collection | None) -> bool:
    """Whether the kernel adds up over n-grams or positions, and sequences of the symbols of the outputs fit in memory."""
    terms = window_terms(unnormalised(kernel)) or []
    span = max((term.length for term in terms), default=position_span(kernel))
    if span is None or outputs is None:
        return span is not None
    symbols = len({symbol for output in outputs for symbol in output})
    places = sum(map(len, outputs))
    near = [term for term in terms if term.changes]
    if any(symbols**term.length > _ALL and places * _around(term, symbols) > _STATES for term in near):
        return False
    return places * span * symbols <= _STEPS


def require_room(states: int, symbols: int) -> None:
    """Raise ValueError if the table of states and symbols would be too large."""
    if states * symbols > _STEPS:
        raise ValueError(
            f"the training outputs have {symbols} symbols in {states} stretches, too many to grow sequences from "
            f"(more than {_STEPS} steps); use decoder=Candidates(), or a kernel of shorter parts"
        )


def neighbours(texts: list[list[int]], term: Term, symbols: int) -> list[list[int]]:
    """Every stretch that differs from one that occurs in at most `changes` symbols."""
    n = term.length
    seen = {tuple(text[i : i + n]) for text in texts for i in range(len(text) - n + 1)}
    seen = {stretch for stretch in seen if min(stretch) >= 0}
    if symbols**n <= _ALL:
        return [list(stretch) for stretch in product(range(symbols), repeat=n)]
    if len(seen) * _around(term, symbols) > _STATES:
        raise ValueError(
            f"{len(seen)} stretches of {n} symbols out of {symbols} occur, and with {term.changes} mismatches they are too many "
            f"to keep apart (over {_STATES}); use Candidates(), fewer mismatches or a smaller alphabet"
        )
    for _ in range(term.changes):
        seen = {(*one[:i], symbol, *one[i + 1 :]) for one in seen for i in range(n) for symbol in range(symbols)}
    return [list(stretch) for stretch in sorted(seen)]


def _around(term: Term, symbols: int) -> int:
    """Number of stretches that differ from one in at most `changes` symbols."""
    return sum(comb(term.length, m) * (symbols - 1) ** m for m in range(term.changes + 1))
