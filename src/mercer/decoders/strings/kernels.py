"""Families of sequence kernels under which sequences can be constructed."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import singledispatch
from math import comb
from typing import Any

import numpy as np

from mercer.core.collections import Collection, as_objects
from mercer.decoders.families import unscaled
from mercer.kernels import Mismatch, Normalized, Positions, Scaled, Spectrum, Subsequence, Sum, WeightedDegree
from mercer.kernels.base import Kernel

STATES = 2**18
"""Most stretches near one that occurs for which a model has states."""

ALL = 2**14
"""Most stretches that are all enumerated rather than looked for one by one."""

STEPS = 2**26
"""Most entries of the table of states and symbols, 256 MiB."""


@dataclass(frozen=True)
class Term:
    """Stretches of one length that are compared with each other."""

    length: int
    similarity: tuple[float, ...]
    """The similarity of two stretches that differ in 0, 1, …, `length` symbols."""
    changes: int = 0
    """The most symbols two stretches may differ in and still be similar to a third."""

    def scaled(self, factor: float) -> Term:
        """The term of a multiple of the kernel."""
        return Term(self.length, tuple(factor * each for each in self.similarity), self.changes)


@singledispatch
def window_terms(kernel: Kernel) -> list[Term] | None:
    """The terms of a kernel that adds up over stretches of consecutive symbols; None for any other.

    Examples
    --------
    >>> window_terms(0.5 * Spectrum((1, 2)))
    [Term(length=1, similarity=(0.5, 0.0), changes=0), Term(length=2, similarity=(0.5, 0.0, 0.0), changes=0)]
    """
    return None


@window_terms.register
def _(kernel: Scaled) -> list[Term] | None:
    inner = window_terms(kernel.kernel)
    return None if inner is None else [term.scaled(float(kernel.factor)) for term in inner]


@window_terms.register
def _(kernel: Sum) -> list[Term] | None:
    left, right = window_terms(kernel.left), window_terms(kernel.right)
    return None if left is None or right is None else left + right


@window_terms.register
def _(kernel: Spectrum) -> list[Term]:
    return [Term(n, (1.0,) + (0.0,) * n) for n in part_lengths(kernel)]


@window_terms.register
def _(kernel: Mismatch) -> list[Term] | None:
    if not kernel.is_resolved:
        return None
    length, symbols = int(kernel.length), list(kernel.alphabet or ())
    # two stretches are similar by the words near both, whose number depends on how many symbols they differ in
    same, other = symbols[0], symbols[-1]
    words = as_objects([_word(kernel, [other] * n + [same] * (length - n)) for n in range(length + 1)])
    similarity = kernel(words[:1], words)[0] if len(symbols) > 1 else [1.0] + [0.0] * length
    return [Term(length, tuple(map(float, similarity)), min(2 * int(kernel.mismatches), length))]


@singledispatch
def position_span(kernel: Kernel) -> int | None:
    """Number of consecutive symbols a kernel compares at each position; None for kernels that do not work by position.

    Examples
    --------
    >>> position_span(Positions() + 2.0 * Positions()), position_span(Positions().normalized())
    (1, None)
    """
    return None


@position_span.register
def _(kernel: Scaled) -> int | None:
    return position_span(kernel.kernel)


@position_span.register
def _(kernel: Sum) -> int | None:
    left, right = position_span(kernel.left), position_span(kernel.right)
    return None if left is None or right is None else max(left, right)


@position_span.register
def _(kernel: WeightedDegree) -> int | None:
    return int(kernel.degree) if kernel.shift == 0 else None


@position_span.register
def _(kernel: Positions) -> int:
    return 1


def unnormalised(kernel: Kernel) -> Kernel:
    """The kernel inside a cosine, or the kernel itself if it has none.

    Examples
    --------
    >>> unnormalised(2.0 * Spectrum(2).normalized()), unnormalised(2.0 * Spectrum(2))
    (Spectrum(length=2), 2.0 * Spectrum(length=2))
    """
    outer = unscaled(kernel)
    return outer.kernel if isinstance(outer, Normalized) else kernel


def part_lengths(kernel: Spectrum | Subsequence) -> range:
    """The lengths of the parts a kernel counts."""
    lengths = np.ravel(kernel.length)
    return range(int(lengths[0]), int(lengths[-1]) + 1)


def can_construct(kernel: Kernel, outputs: Collection | None) -> bool:
    """Whether sequences of the symbols of these outputs can be grown in memory; True for None."""
    if outputs is None:
        return True
    symbols = len({symbol for output in outputs for symbol in output})
    places = sum(map(len, outputs))
    terms = window_terms(unnormalised(kernel))
    span = position_span(kernel) if terms is None else max(term.length for term in terms)
    near = [term for term in terms or [] if term.changes]
    if any(symbols**term.length > ALL and places * around(term, symbols) > STATES for term in near):
        return False
    return places * (span or 1) * symbols <= STEPS


def around(term: Term, symbols: int) -> int:
    """Number of stretches that differ from one in at most `changes` symbols."""
    return sum(comb(term.length, m) * (symbols - 1) ** m for m in range(term.changes + 1))


def _word(kernel: Mismatch, symbols: list[Hashable]) -> Any:
    return "".join(map(str, symbols)) if isinstance(kernel.alphabet, str) else tuple(symbols)
