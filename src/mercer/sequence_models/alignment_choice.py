"""Choice of an alignment by the likelihood of pairs left out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import product

import numpy as np

from mercer.sequence_models.alignment import Aligner
from mercer.sequence_models.ngrams import NgramModel
from mercer.sequence_models.symbols import Symbols

_CONSISTENCIES = (0.0, 1.0, 2.0)
_MOST, _ORDER = 1000, 3  # pairs that are enough to choose by, and the longest run of the model that judges


def choose_aligner(words: Sequence[Symbols], sounds: Sequence[Symbols], longest: int, seed: int = 0) -> Aligner:
    """Return the aligner, with chunks of 2 to `longest` symbols, whose cuts make pairs left out likeliest, fitted on all pairs.

    A pair is as likely as the run of its symbols with their chunks in an `NgramModel` of the other pairs, a bound on its
    likelihood by any cut that compares aligners of any kind. A quarter of at most 1000 pairs is left out.
    """
    rows = np.random.default_rng(seed).permutation(len(words))[:_MOST]
    out, kept = rows[: len(rows) // 4].tolist(), rows[len(rows) // 4 :].tolist()
    sizes = range(min(2, longest), longest + 1)
    menu = [Aligner(longest=size, consistency=power) for size, power in product(sizes, _CONSISTENCIES)]
    if not out:
        menu = menu[-1:]
    best = max(menu, key=lambda aligner: left_out_likelihood(aligner, words, sounds, kept, out)) if out else menu[0]
    return best.fit(words, sounds)


def left_out_likelihood(
    aligner: Aligner, words: Sequence[Symbols], sounds: Sequence[Symbols], kept: list[int], out: list[int]
) -> float:
    """Return the log-likelihood of the pairs `out` by cuts and runs learned from the pairs `kept`."""
    aligner.fit([words[i] for i in kept], [sounds[i] for i in kept])

    def run(i: int) -> list[tuple[Hashable, Hashable]]:
        return list(zip(words[i], aligner.align(words[i], sounds[i]), strict=True))

    model = NgramModel(_ORDER).fit([run(i) for i in kept])
    return sum(model.log_probability(run(i)) for i in out)
