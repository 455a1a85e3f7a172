"""Choice of an alignment by the likelihood of pairs left out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import product

import numpy as np

from mercer.sequence_models.alignment import Aligner
from mercer.sequence_models.ngrams import NgramModel
from mercer.sequence_models.symbols import Symbols

_CONSISTENCIES, _READS = (0.0, 1.0, 2.0), (1, 2, 3)
_ROUNDS, _KEPT = (250, 500, 1000), 1 / 3  # pairs that judge in each round, and the share of aligners that goes on
_ORDER = 3  # the longest run of the model that judges


def choose_aligner(words: Sequence[Symbols], sounds: Sequence[Symbols], longest: int, seed: int = 0) -> Aligner:
    """Return the aligner whose cuts make pairs left out likeliest, fitted on all pairs.

    Chunks have at most 2 to `longest` symbols, and at most 1 to 3 input symbols stand for one output symbol together. A pair is
    as likely as the run of its symbols with their chunks in an `NgramModel` of the other pairs, a bound on its likelihood by any
    cut that compares aligners of any kind. The search is by successive halving: few pairs judge all aligners, more pairs those
    that go on. A quarter of the pairs is left out each time; with fewer than four the last aligner is taken.
    """
    menu = aligners(words, sounds, longest)
    rows = np.random.default_rng(seed).permutation(len(words))
    for most in _ROUNDS:
        out, kept = rows[:most][: min(most, len(rows)) // 4].tolist(), rows[:most][min(most, len(rows)) // 4 :].tolist()
        if not out:
            return menu[-1].fit(words, sounds)
        likelihoods = [left_out_likelihood(aligner, words, sounds, kept, out) for aligner in menu]
        last = most >= len(rows) or most == _ROUNDS[-1]
        best = np.argsort(-np.asarray(likelihoods), kind="stable")[: 1 if last else max(1, round(_KEPT * len(menu)))]
        menu = [menu[i] for i in best]
        if len(menu) == 1:
            break
    return menu[0].fit(words, sounds)


def aligners(words: Sequence[Symbols], sounds: Sequence[Symbols], longest: int) -> list[Aligner]:
    """Return the aligners to choose from, those left out that have too many chunks to number."""
    inputs, outputs = (len({symbol for each in side for symbol in each}) for side in (words, sounds))
    sizes = range(min(2, longest), longest + 1)
    menu = [
        Aligner(longest=size, consistency=power, reads=reads)
        for reads, size, power in product(_READS, sizes, _CONSISTENCIES)
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
