"""The model of an output kernel by which sequences are grown."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from scipy import sparse

from mercer.core.arrays import to_numpy
from mercer.decoders.families import unscaled
from mercer.decoders.strings.base import StringDecoder
from mercer.decoders.strings.kernels import ALL, STATES, Term, around, part_lengths, unnormalised, window_terms
from mercer.decoders.strings.prefixes import Model
from mercer.decoders.strings.subsequences import SubsequenceModel
from mercer.decoders.strings.windows import Automaton, WindowModel
from mercer.kernels import Subsequence
from mercer.kernels.base import Kernel

_FEATURES = 2**16
"""Most subsequences a model counts."""


def model_of(decoder: StringDecoder) -> Model | None:
    """The model of the kernel a decoder was fitted with; None for kernels under which sequences cannot be grown."""
    kernel = decoder.embedding_.kernel_
    inner = unnormalised(kernel)
    normalised = None if inner is kernel else inner
    norm = None if normalised is None else float(to_numpy(kernel.diag(decoder.pool_.objects[:1]))[0])
    terms = window_terms(inner)
    if terms is not None:
        return _window_model(decoder, normalised, terms, norm)
    subsequences = unscaled(inner)
    if isinstance(subsequences, Subsequence) and len(part_lengths(subsequences)) == 1:
        return _subsequence_model(decoder, subsequences, normalised, norm)
    return None


def _window_model(decoder: StringDecoder, inner: Kernel | None, terms: list[Term], norm: float | None) -> WindowModel:
    alphabet = decoder._alphabet
    texts = [alphabet.numbers(output) for output in decoder.embedding_.outputs_]
    symbols, longest = len(alphabet), max(term.length for term in terms)
    _require_symbols(decoder, inner or decoder.embedding_.kernel_)
    texts += [stretch for term in terms if term.changes for stretch in _neighbours(texts, term, symbols)]
    machine = Automaton.of(texts, longest, symbols)
    return WindowModel(terms, machine, _values(decoder, machine.stretches, inner), norm)


def _require_symbols(decoder: StringDecoder, kernel: Kernel) -> None:
    """Raise ValueError if the alphabet of the answers has a symbol that a mismatch kernel does not know."""
    for part in kernel.parts():
        _require_symbols(decoder, part)
    known = getattr(kernel, "alphabet", None)
    unknown = [] if known is None else [symbol for symbol in decoder.alphabet_ if symbol not in known]
    if unknown:
        raise ValueError(
            f"alphabet holds {unknown[0]!r}, which is not in that of {kernel!r:.80}; expected symbols the kernel knows"
        )


def _values(decoder: StringDecoder, stretches: list[tuple[int, ...]], inner: Kernel | None) -> sparse.csr_array:
    """⟨h, φ(u)⟩ of each stretch; `inner` is the kernel inside a cosine, whose norms are multiplied back."""
    words = decoder._alphabet.words(stretches)
    rows = decoder._readout(words)
    if inner is None:
        return rows
    norms = np.sqrt(to_numpy(inner.diag(words)))
    return sparse.csr_array(sparse.diags_array(norms) @ rows)


def _neighbours(texts: list[list[int]], term: Term, symbols: int) -> list[list[int]]:
    """Every stretch that differs from one that occurs in at most `changes` symbols."""
    n = term.length
    seen = {tuple(text[i : i + n]) for text in texts for i in range(len(text) - n + 1)}
    seen = {stretch for stretch in seen if min(stretch) >= 0}
    if symbols**n <= ALL:
        return [list(stretch) for stretch in product(range(symbols), repeat=n)]
    if len(seen) * around(term, symbols) > STATES:
        raise ValueError(
            f"{len(seen)} stretches of {n} symbols out of {symbols} occur, and with {term.changes} mismatches they are too many "
            f"to keep apart (over {STATES}); use Candidates(), fewer mismatches or a smaller alphabet"
        )
    found: set[tuple[int, ...]] = set()
    for stretch in seen:
        for places in combinations(range(n), term.changes):
            for symbol in product(range(symbols), repeat=len(places)):
                changed = list(stretch)
                for place, new in zip(places, symbol, strict=True):
                    changed[place] = new
                found.add(tuple(changed))
    return [list(stretch) for stretch in sorted(found)]


def _subsequence_model(
    decoder: StringDecoder, kernel: Subsequence, inner: Kernel | None, norm: float | None
) -> SubsequenceModel:
    symbols, length = len(decoder._alphabet), part_lengths(kernel)[0]
    if symbols**length > _FEATURES:
        raise ValueError(
            f"{symbols} symbols have {symbols**length} subsequences of length {length}, too many to count in every answer "
            f"(over {_FEATURES}); use Candidates(), a shorter length or a smaller alphabet"
        )
    words = list(product(range(symbols), repeat=length))
    # a word of that length has one subsequence, of weight decay^length
    square = float(to_numpy((inner or decoder.embedding_.kernel_).diag(decoder._alphabet.words(words[:1])))[0])
    scale = np.sqrt(square) / float(kernel.decay) ** length
    return SubsequenceModel((symbols, length), float(kernel.decay), scale, _values(decoder, words, inner), norm)
