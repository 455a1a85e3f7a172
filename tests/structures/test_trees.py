"""Trees that hold themselves, and trees that share a part."""

import pytest

from mercer.kernels import SubsetTree, Subtree
from mercer.structures import as_tree, leaves


class Foreign(list):
    """A tree as other libraries write it; its repr would not end on a cycle."""

    def label(self):
        return "S"

    def __repr__(self):
        return f"S({', '.join(map(repr, self))})"


def cycles():
    itself = ["S", "x"]
    itself.append(itself)
    deeper = ["S", ("NP", ["VP", "x"])]
    deeper[1][1].append(deeper)
    foreign = Foreign(["x"])
    foreign.append(foreign)
    return [itself, deeper, foreign]


@pytest.mark.parametrize("number", range(3))
def test_a_cycle_is_an_error(number):
    tree = cycles()[number]
    with pytest.raises(ValueError, match="tree has a cycle: the node 'S' holds itself; expected a tree"):
        as_tree(tree)
    for kernel in (Subtree(), SubsetTree()):
        with pytest.raises(ValueError, match=r"X\[1\] has a cycle"):
            kernel([("S", "x"), tree])


def test_a_part_may_occur_twice():
    part = ["NP", "I"]
    assert as_tree(["S", part, ["VP", part]]) == ("S", ("NP", "I"), ("VP", ("NP", "I")))
    assert leaves(["S", part, part]) == ["I", "I"]
