"""Choice of an alignment by the likelihood of pairs left out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import product

import numpy as np

from mercer.sequence_models.alignment import Aligner
from mercer.sequence_models.ngrams import NgramModel
from mercer.sequence_models.symbols import Symbols

_CONSISTENCIES = (0.0, 1.0, 2.0)
_LEAST, _MOST = 4, 1000  # fewest pairs to choose by, and most
_FEW, _ROUNDS = 9, (250, 500)  # aligners that are all judged by most pairs, and pairs that halve a menu of more
_ORDER = 3  # the longest run of the model that judges


def choose_aligner(
    words: Sequence[Symbols], sounds: Sequence[Symbols], longest: int, reads: int = 1, seed: int = 0
) -> Aligner:
    """Return the aligner whose cuts make pairs left out likeliest, fitted on all pairs.

    Chunks have at most 2 to `longest` symbols, and at most 1 to `reads` input symbols stand for one output symbol together. A
    pair is as likely as the run of its symbols with their chunks in an `NgramModel` of the other pairs, a bound on its likelihood
    by any cut that compares aligners of any kind. A quarter of at most 1000 pairs is left out. Few pairs halve a menu of many
    first (successive halving).
    """
    menu, rows = aligners(words, sounds, longest, reads), np.random.default_rng(seed).permutation(len(words))
    if len(rows) < _LEAST:
        return menu[-1].fit(words, sounds)

    def ranked(most: int) -> list[Aligner]:
        some = rows[:most].tolist()
        out, kept = some[: len(some) // 4], some[len(some) // 4 :]
        likelihoods = [left_out_likelihood(aligner, words, sounds, kept, out) for aligner in menu]
        return [menu[i] for i in np.argsort(-np.asarray(likelihoods), kind="stable")]

    for most in _ROUNDS:
        if len(menu) > _FEW:
            menu = ranked(most)[: len(menu) // 2]
    return ranked(_MOST)[0].fit(words, sounds)


def aligners(words: Sequence[Symbols], sounds: Sequence[Symbols], longest: int, reads: int = 1) -> list[Aligner]:
    """Return the aligners to choose from, those left out that have too many chunks to number."""
    inputs, outputs = (len({symbol for each in side for symbol in each}) for side in (words, sounds))
    Aligner(longest=longest).require_numbers(inputs, outputs)
    sizes = range(min(2, longest), longest + 1)
    menu = [
        Aligner(longest=size, consistency=power, reads=number)
        for number, size, power in product(range(1, reads + 1), sizes, _CONSISTENCIES)
    ]
    return [each for each in menu if each.reads == 1 or each.can_number(inputs, outputs)]


def left_out_likelihood(
    aligner: Aligner, words: Sequence[Symbols], sounds: Sequence[Symbols], kept: list[int], out: list[int]
) -> float:
    """Return the log-likelihood of the pairs `out` by cuts and runs learned from the pairs `kept`."""
    aligner.fit([words[i] for i in kept], [sounds[i] for i in kept])

    def run(i: int) -> list[tuple[Hashable, Hashable]]:
        return list(zip(words[i], aligner.align(words[i], sounds[i]), strict=True))

    model = NgramModel(_ORDER).fit([run(i) for i in kept])
    return sum(model.log_probability(run(i)) for i in out)
