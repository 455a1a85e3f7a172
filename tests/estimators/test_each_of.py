"""One set of candidates for all inputs, or one for each: said by `EachOf`, and guessed only where there is no doubt."""

import numpy as np
import pytest

from mercer import DependencyEstimator
from mercer.decoders import EachOf
from mercer.kernels import Classes, FromFunction, LabelSets, Subsequence, SubsetTree

TREES = [("S", ("A", a), ("B", b)) for a in "ab" for b in "ab"]
DEEP = [("S", ("A", ("C", ("D", "a"))), ("B", "b")), TREES[1]]
X = np.arange(4.0)[:, None]


@pytest.fixture
def trees():
    return DependencyEstimator(SubsetTree(), SubsetTree(), alpha=0.1).fit(TREES, TREES)


@pytest.mark.parametrize("queries", [4, 2])
def test_trees_deeper_than_those_of_training_are_candidates_for_all(trees, queries):
    assert set(trees.predict(TREES[:queries], candidates=DEEP)) <= set(DEEP)


@pytest.mark.parametrize("form", [list, tuple, lambda sets: EachOf([list(each) for each in sets])])
def test_sets_of_trees(trees, form):
    sets = form([DEEP, TREES[2:]]) if form is not tuple else [tuple(DEEP), tuple(TREES[2:])]
    found = trees.predict(TREES[:2], candidates=sets)
    assert found[0] in DEEP
    assert found[1] in TREES[2:]


CASES = {
    "strings": (Subsequence(1), list("abcd"), ["a", "b"], [["a"], ["b", "c"]]),
    "classes of pairs": (Classes(), [("a", i) for i in range(4)], [("a", 1), ("a", 2)], [[("a", 1)], [("a", 2)]]),
    "sets": (LabelSets(), [{"a"}, {"b"}, {"a", "b"}, {"c"}], [{"a"}, {"b"}], [[{"a"}], [frozenset("b")]]),
    "lists of labels": (LabelSets(), [["a"], ["b"], ["a", "b"], ["c"]], [["a"], ["a", "b"]], [[["a"]], [["b"], ["c"]]]),
    "lists of lists": (
        FromFunction(lambda x, z: float(x == z)),
        [[[i]] for i in range(4)],
        [[[1]], [[2]]],
        [[[[1]]], [[[2]], [[0]]]],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_one_for_all_and_one_for_each_are_told_apart(name):
    kernel, outputs, flat, each = CASES[name]
    model = DependencyEstimator(output_kernel=kernel, alpha=0.1).fit(X, outputs)
    assert len(model.predict(X[:3], candidates=flat)) == 3
    found = model.predict(X[:2], candidates=each)
    assert all(answer in options for answer, options in zip(found, each, strict=True))
    assert np.array_equal(model.predict(X[:2], candidates=EachOf(each)), found)
    with pytest.raises(ValueError, match=r"candidates holds 2 sets and X has 3 objects.*EachOf"):
        model.predict(X[:3], candidates=EachOf(each))
    with pytest.raises(ValueError, match=r"candidates\[1\] is empty"):
        model.predict(X[:2], candidates=EachOf([flat, []]))
