"""Which family of sequence kernels an output kernel belongs to, and whether sequences can be constructed under it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import comb
from typing import Any

from mercer.core.collections import Collection, as_objects
from mercer.decoders.families import unscaled
from mercer.kernels import Mismatch, Normalized, Positions, Scaled, Spectrum, Subsequence, Sum, WeightedDegree
from mercer.kernels.base import Kernel
from mercer.kernels.strings._lengths import length_range

STATES = 2**18
"""Most stretches near one that occurs that a model keeps apart."""

ALL = 2**14
"""Stretches that are all kept rather than looked for one by one, if there are no more."""

STEPS = 2**26
"""Most entries of the table of states and symbols, 256 MiB."""


@dataclass(frozen=True)
class Term:
    """Stretches of one length that are compared with each other."""

    length: int
    similarity: tuple[float, ...]
    """How similar two stretches are that differ in 0, 1, …, `length` symbols."""
    changes: int = 0
    """The most symbols two stretches may differ in and still be similar to a third."""

    def scaled(self, factor: float) -> Term:
        """The term of a multiple of the kernel."""
        return Term(self.length, tuple(factor * each for each in self.similarity), self.changes)


def window_terms(kernel: Kernel) -> list[Term] | None:
    """The terms of a kernel that adds up over stretches of consecutive symbols; None for any other.

    Examples
    --------
    >>> window_terms(0.5 * Spectrum((1, 2)))
    [Term(length=1, similarity=(0.5, 0.0), changes=0), Term(length=2, similarity=(0.5, 0.0, 0.0), changes=0)]
    """
    if isinstance(kernel, Scaled):
        inner = window_terms(kernel.kernel)
        return None if inner is None else [term.scaled(float(kernel.factor)) for term in inner]
    if isinstance(kernel, Sum):
        left, right = window_terms(kernel.left), window_terms(kernel.right)
        return None if left is None or right is None else left + right
    if isinstance(kernel, Spectrum):
        return [Term(n, (1.0,) + (0.0,) * n) for n in length_range(kernel.length)]
    if isinstance(kernel, Mismatch) and kernel.is_resolved:
        length, symbols = int(kernel.length), list(kernel.alphabet or ())
        # two stretches are similar by the words near both, and how many those are depends on how often they differ
        same, other = symbols[0], symbols[-1]
        words = as_objects([_word(kernel, [other] * n + [same] * (length - n)) for n in range(length + 1)])
        similarity = kernel(words[:1], words)[0] if len(symbols) > 1 else [1.0] + [0.0] * length
        return [Term(length, tuple(map(float, similarity)), min(2 * int(kernel.mismatches), length))]
    return None


def position_span(kernel: Kernel) -> int | None:
    """How many symbols in a row a kernel compares at each position; None for kernels that do not work by position.

    Examples
    --------
    >>> position_span(Positions() + 2.0 * Positions()), position_span(Positions().normalized())
    (1, None)
    """
    if isinstance(kernel, Scaled):
        return position_span(kernel.kernel)
    if isinstance(kernel, Sum):
        left, right = position_span(kernel.left), position_span(kernel.right)
        return None if left is None or right is None else max(left, right)
    if isinstance(kernel, WeightedDegree):
        return int(kernel.degree) if kernel.shift == 0 else None
    return 1 if isinstance(kernel, Positions) else None


def unnormalised(kernel: Kernel) -> Kernel:
    """The kernel before it was normalised, if it was.

    Examples
    --------
    >>> unnormalised(2.0 * Spectrum(2).normalized()), unnormalised(2.0 * Spectrum(2))
    (Spectrum(length=2), 2.0 * Spectrum(length=2))
    """
    outer = unscaled(kernel)
    return outer.kernel if isinstance(outer, Normalized) else kernel


def one_length(kernel: Kernel) -> int | None:
    """The length of the subsequences a kernel counts, if there is only one."""
    lengths = length_range(kernel.length) if isinstance(kernel, Subsequence) else range(0)
    return lengths[0] if len(lengths) == 1 else None


def can_construct(kernel: Kernel, outputs: Collection | None) -> bool:
    """Whether there is room for what growing sequences needs, with the symbols of these outputs; True if none are given."""
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
    """How many stretches are within reach of one."""
    return sum(comb(term.length, m) * (symbols - 1) ** m for m in range(term.changes + 1))


def _word(kernel: Mismatch, symbols: list[Hashable]) -> Any:
    return "".join(map(str, symbols)) if isinstance(kernel.alphabet, str) else tuple(symbols)
