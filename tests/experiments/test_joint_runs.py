"""Joint runs against the sum over all cuts."""

import numpy as np
import pytest
from scipy.special import logsumexp

from experiments.beyond.joint_runs import JointRuns
from mercer.sequence_models import Aligner

WORDS = ["sha", "as", "ha", "ahs", "shas", "ash", "hash", "sah"]
SOUNDS = ["Sa", "as", "ha", "as", "Sas", "aS", "haS", "saa"]


def cuts(x, y, reads, longest):
    """Every way to cut x and y into units: one input symbol with a chunk, or several with one output symbol."""
    if not x:
        if not y:
            yield []
        return
    for read in range(1, min(reads, len(x)) + 1):
        for size in range(longest + 1) if read == 1 else [1]:
            if size <= len(y):
                for rest in cuts(x[read:], y[size:], reads, longest):
                    yield [(tuple(x[:read]), tuple(y[:size])), *rest]


def by_enumeration(runs, x, y, reads, longest):
    """The logarithm of the sum, with units never seen told apart by their symbols; several input symbols must have been seen."""
    known, totals = runs.units_.tolist(), []
    for cut in cuts(x, y, reads, longest):
        codes = runs.aligner_.numbers(cut).tolist()
        if all(code in known or len(read) == 1 for code, (read, _) in zip(codes, cut, strict=True)):
            numbers = [known.index(code) if code in known else None for code in codes]
            spelled = [np.log(runs.letters_) @ (1, len(w)) for n, (_, w) in zip(numbers, cut, strict=True) if n is None]
            totals.append(runs.model_.log_probability(numbers) - sum(spelled))
    return logsumexp(totals)


@pytest.mark.parametrize("reads", [1, 2])
def test_the_score_is_the_sum_over_all_cuts(reads):
    aligner = Aligner(longest=2, reads=reads).fit(WORDS, SOUNDS)
    runs = JointRuns(order=3).fit(WORDS, SOUNDS, aligner)
    outputs = ["Sa", "sa", "a", "haS", "Saas"]
    found = runs.log_probabilities("sha", outputs)
    assert np.allclose(found, [by_enumeration(runs, "sha", y, reads, 2) for y in outputs], atol=1e-9)


def test_units_of_several_letters_are_found_and_chosen():
    aligner = Aligner(longest=1, reads=2).fit(WORDS, SOUNDS)
    assert aligner.units("shas", "Sas") == [(("s", "h"), ("S",)), (("a",), ("a",)), (("s",), ("s",))]
    chosen = JointRuns().choose(WORDS * 3, SOUNDS * 3, Aligner(longest=1))
    best = chosen.log_probabilities("hasha", ["haSa", "hasha", "hasa", "SaSa"])
    assert np.argmax(best) == 0
    assert chosen.aligner_.reads in (1, 2, 3)


def test_probabilities_of_all_short_pairs_are_at_most_one():
    runs = JointRuns(order=2).fit(
        ["a", "b", "ab"], ["x", "y", "xy"], Aligner(longest=1).fit(["a", "b", "ab"], ["x", "y", "xy"])
    )
    outputs = ["", "x", "y", "z", "xx", "xy", "yx", "yy"]
    total = sum(np.exp(runs.log_probabilities(x, outputs)).sum() for x in ("a", "b", "aa", "ab", "ba", "bb"))
    assert 0.5 < total <= 1.0


def test_unseen_symbols_and_long_outputs_have_a_finite_score():
    runs = JointRuns().fit(WORDS, SOUNDS, Aligner(longest=2).fit(WORDS, SOUNDS))
    found = runs.log_probabilities("sq", ["s?", "", "s" * 9])
    assert np.isfinite(found).all()
    assert found[0] < runs.log_probabilities("sa", ["sa"])[0]
    alone = JointRuns().choose(["a"], ["bbbbb"], Aligner(longest=2))
    assert np.isfinite(alone.log_probabilities("a", ["b", "bbbbb"])).all()
