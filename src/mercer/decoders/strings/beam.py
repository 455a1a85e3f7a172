"""Sequences grown symbol by symbol, keeping the best few at every length."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from mercer.core.arrays import to_numpy
from mercer.core.collections import Collection
from mercer.core.validation import check_whole
from mercer.decoders.base import Decoder, is_distance_of, register, unscaled
from mercer.decoders.strings.answers import Lengths
from mercer.decoders.strings.base import Constructed, StringDecoder
from mercer.decoders.strings.kernels import Term, can_construct, neighbours, part_lengths, unnormalised, window_terms
from mercer.decoders.strings.prefixes import Model, Outlook, Prefixes
from mercer.decoders.strings.subsequences import SubsequenceModel
from mercer.decoders.strings.windows import Automaton, WindowModel
from mercer.kernels import Subsequence
from mercer.kernels.base import Kernel
from mercer.losses.base import Loss

_ITEMS = 2**20  # most extensions scored at a time
_FEATURES = 2**16  # most subsequences a model counts


@register(priority=20)
class BeamSearch(StringDecoder):
    r"""A sequence near a point, :math:`\arg\max_y 2\langle h, \psi(y)\rangle - l(y,y)`, grown symbol by symbol.

    At every length the `width` best prefixes are kept, and the best of all lengths is the answer: usually the best there is, in
    time linear in the number of points. The answer is never worse than the best training output. For kernels of common n-grams
    (`Spectrum`, `Mismatch`, their sums and multiples) and `Subsequence`, plain or normalised.

    Parameters
    ----------
    width : int, default=64
        Prefixes kept at every length.
    length : int, (int, int), "predicted" or None
        The length of every answer; the shortest and the longest; the mean length of the training outputs under the weights of
        the point, rounded; or None, for any length up to that of the longest training output.
    alphabet : collection of symbols, optional
        The symbols answers are made of; by default those of the training outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Spectrum
    >>> embedding = Implicit().fit(Spectrum(2), np.array(["abc", "cde", "bcd"], dtype=object))
    >>> decoder = BeamSearch(length=(2, 5)).fit(embedding)
    >>> decoder.decode(np.array([[0.9, 0.9, 0.2]]))
    array(['abcde'], dtype=object)
    >>> decoder.reports(np.array([[0.9, 0.9, 0.2]]))[0].optimal
    True
    """

    needs = "Spectrum, Mismatch or Subsequence, plain or normalised,"
    model_: Model

    def __init__(self, width: int = 64, length: Any = None, alphabet: Iterable[Hashable] | None = None) -> None:
        super().__init__(length, alphabet)
        self.width = width

    @classmethod
    def decodes(cls, kernel: Kernel) -> bool:
        """For kernels of common n-grams, or of subsequences of one length."""
        inner = unscaled(unnormalised(kernel))
        return window_terms(inner) is not None or (isinstance(inner, Subsequence) and len(part_lengths(inner)) == 1)

    @classmethod
    def suits(cls, kernel: Kernel, loss: Loss | None, outputs: Collection | None) -> tuple[Decoder, str] | None:
        """For kernels of common n-grams with their own distance, where the outputs have few symbols."""
        inner = unscaled(kernel)
        additive = window_terms(unnormalised(inner)) is not None
        if not (additive and is_distance_of(loss, kernel) and can_construct(inner, outputs)):
            return None
        return cls(), f"{inner!r} adds up over n-grams, so a sequence can be grown symbol by symbol"

    def _prepare(self) -> tuple[int, int | None]:
        check_whole(self.width, "width", expected="the number of prefixes to keep, a whole number from 1")
        self.model_ = model_of(self)
        return self.model_.shortest, None

    def _construct(self, points: np.ndarray, lengths: Lengths, k: int) -> list[Constructed]:
        width = int(self.width)
        size = max(1, _ITEMS // (width * self.model_.symbols))
        found: list[Constructed] = []
        for start in range(0, len(points), size):
            part = lengths.only(slice(start, start + size))
            targets = self.model_.targets(points[start : start + size])
            grown = grow(self.model_, targets, part, width, k)
            for target, own, low, high in zip(targets, grown, *part, strict=True):
                limit = self.model_.limit(target, int(low), int(high))
                found.append(Constructed([word for _, word in own], limit))
        return found


def grow(
    model: Model, targets: np.ndarray, lengths: Lengths, width: int, k: int
) -> list[list[tuple[float, list[int]]]]:
    """Score and symbols of the k best sequences met by a beam, for each row of `targets`; the path does not depend on k."""
    n, longest = len(targets), int(lengths.high.max())
    outlook = model.outlook(targets)
    beam = model.starts(targets, width, longest)
    kept: list[tuple[np.ndarray, Prefixes]] = []
    for size in range(model.shortest, longest + 1):
        scores = model.value(beam.linear, beam.square)
        inside = (lengths.low[beam.owner] <= size) & (size <= lengths.high[beam.owner])
        rows = _best(np.where(inside, scores, -np.inf), n, k)
        kept.append((scores[rows], beam.take(rows)))
        if size < longest:
            beam = _next(model, beam, targets, outlook, width)
    found: list[list[tuple[float, list[int]]]] = [[] for _ in range(n)]
    for scores, some in kept:
        for score, owner, text, size in zip(scores, some.owner, some.text, some.size, strict=True):
            found[owner].append((float(score), text[:size].tolist()))
    return [sorted(own, key=lambda entry: -entry[0])[:k] for own in found]


def _next(model: Model, beam: Prefixes, targets: np.ndarray, outlook: Outlook, width: int) -> Prefixes:
    """The best prefixes with one symbol more, by their score and that of the next symbols."""
    linear, square = model.extended(beam, targets)
    scores = model.value(*model.ahead(beam, linear, square, outlook))
    best = _best(scores.ravel(), len(targets), width)
    rows, symbols = np.divmod(best, model.symbols)
    return model.grown(beam, rows, symbols, linear[rows, symbols], square[rows, symbols])


def _best(scores: np.ndarray, n: int, k: int) -> np.ndarray:
    """Positions of the k best finite scores of each of n points, which have equal shares of `scores`."""
    each = len(scores) // n
    table = scores.reshape(n, each)
    k = min(k, each)
    order = np.argpartition(-table, k - 1, axis=1)[:, :k] if k < each else np.tile(np.arange(each), (n, 1))
    positions = (order + each * np.arange(n)[:, None]).ravel()
    return positions[np.isfinite(scores[positions])]


def model_of(decoder: StringDecoder) -> Model:
    """The model of the kernel a decoder was fitted with."""
    kernel = decoder.embedding_.kernel_
    inner = unnormalised(kernel)
    normalised = None if inner is kernel else inner
    norm = None if normalised is None else float(to_numpy(kernel.diag(decoder.pool_.objects[:1]))[0])
    terms = window_terms(inner)
    if terms is not None:
        return _window_model(decoder, normalised, terms, norm)
    return _subsequence_model(decoder, unscaled(inner), normalised, norm)


def _window_model(decoder: StringDecoder, inner: Kernel | None, terms: list[Term], norm: float | None) -> WindowModel:
    alphabet = decoder._alphabet
    texts = [alphabet.numbers(output) for output in decoder.embedding_.outputs_]
    symbols, longest = len(alphabet), max(term.length for term in terms)
    _require_symbols(decoder, inner or decoder.embedding_.kernel_)
    texts += [stretch for term in terms if term.changes for stretch in neighbours(texts, term, symbols)]
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


def _subsequence_model(decoder: StringDecoder, kernel: Any, inner: Kernel | None, norm: float | None) -> Model:
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
