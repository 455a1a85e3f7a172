"""Trees as arrays, and the recursion of Collins and Duffy over pairs of nodes with the same production."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from mercer.core import memory
from mercer.core.compiled import compiled
from mercer.core.threads import in_threads
from mercer.kernels._sparse import translation
from mercer.structures.trees import Tree, is_node, nodes, production

_SMALL = 1e5
"""Pairs of nodes, about a millisecond, for which a second thread is not worth starting."""


class Nodes(NamedTuple):
    """Trees end to end, the nodes of each with children before parents.

    The i-th tree has the nodes ``starts[i]:starts[i + 1]``; a node has the children ``children[first[node]:first[node + 1]]``,
    counted from the start of its tree, leaves left out.
    """

    starts: np.ndarray
    productions: np.ndarray
    """The number of each node's production."""
    first: np.ndarray
    children: np.ndarray
    order: np.ndarray
    """The nodes of each tree, counted from its start, by their production."""


class Forest(NamedTuple):
    """Trees as arrays, with the number of each production."""

    nodes: Nodes
    numbers: dict[Hashable, int]

    @property
    def sizes(self) -> np.ndarray:
        """The number of nodes of each tree."""
        return np.diff(self.nodes.starts)

    @classmethod
    def of(cls, trees: list[Tree]) -> Self:
        """Number the productions of trees and list their nodes."""
        starts, first, productions, children = [0], [0], [], []
        numbers: dict[Hashable, int] = {}
        for tree in trees:
            finished: list[int] = []  # nodes whose parent is still to come
            for place, node in enumerate(nodes(tree)):
                productions.append(numbers.setdefault(production(node), len(numbers)))
                inner = sum(map(is_node, node[1:]))
                children += finished[len(finished) - inner :]
                del finished[len(finished) - inner :]
                finished.append(place)
                first.append(len(children))
            starts.append(len(productions))
        numbered = np.asarray(productions, dtype=np.int64)
        order = np.concatenate([np.argsort(numbered[a:b], kind="stable") for a, b in pairwise(starts)])
        below = np.asarray(children, dtype=np.int64)
        return cls(Nodes(np.asarray(starts), numbered, np.asarray(first), below, order), numbers)


def subset_gram(X: Forest, Z: Forest | None, decay: float) -> np.ndarray:
    """The subset tree kernel of all trees of `X` with all of `Z`; without `Z`, of `X` with itself."""
    rows, columns, other = X.nodes, X.nodes, X
    if Z is not None:
        # only the nodes of Z are sorted by production, so the numbers of X are translated
        rows = rows._replace(productions=translation(X.numbers, Z.numbers)[rows.productions])
        columns, other = Z.nodes, Z
    gram = np.zeros((len(X.sizes), len(other.sizes)))
    left, right = int(X.sizes.max()), int(other.sizes.max())
    _require_room(left, right)

    def fill(chosen: np.ndarray) -> None:
        _fill(rows, columns, chosen, Z is None, decay, np.zeros((left, right)), gram)

    in_threads(fill, len(gram), float(X.sizes.sum()) * len(other.sizes) > _SMALL)
    return gram


def subset_diagonal(X: Forest, decay: float) -> np.ndarray:
    """The subset tree kernel of each tree with itself."""
    diagonal = np.empty(len(X.sizes))
    size = int(X.sizes.max())
    _require_room(size, size)
    _pair_up(X.nodes, decay, np.zeros((size, size)), diagonal)
    return diagonal


def _require_room(left: int, right: int) -> None:
    purpose = f"a table for the pairs of nodes of two trees with {left} and {right} of them"
    memory.require(left, right, 1, purpose, "use smaller trees, or Subtree, which needs no table")


@compiled
def _compared(X: Nodes, i: int, Z: Nodes, j: int, decay: float, common: np.ndarray) -> float:  # noqa: PLR0913
    """The sum over pairs of nodes; `common` is all zero, and left so.

    Children come before parents, so that the table holds the values of the children when a pair of nodes is reached. Pairs
    with different productions have nothing in common and are skipped: the nodes of the other tree are sorted by production.
    """
    begin, end = Z.starts[j], Z.starts[j + 1]
    total = 0.0
    for a in range(X.starts[i + 1] - X.starts[i]):
        node = X.starts[i] + a
        wanted = X.productions[node]
        low, high = begin, end
        while low < high:
            middle = (low + high) // 2
            if Z.productions[begin + Z.order[middle]] < wanted:
                low = middle + 1
            else:
                high = middle
        while low < end and Z.productions[begin + Z.order[low]] == wanted:
            b = Z.order[low]
            value, at, to = decay, X.first[node], Z.first[begin + b]
            for child in range(X.first[node + 1] - at):
                value *= 1.0 + common[X.children[at + child], Z.children[to + child]]
            common[a, b] = value
            total += value
            low += 1
    for a in range(X.starts[i + 1] - X.starts[i]):
        for b in range(end - begin):
            common[a, b] = 0.0
    return total


@compiled
def _fill(X, Z, rows, symmetric, decay, common, gram):  # type: ignore[no-untyped-def]  # noqa: PLR0913
    """The kernel of some rows with all columns; if symmetric, entries above the diagonal are copied from below it."""
    for i in rows:
        for j in range(i + 1 if symmetric else gram.shape[1]):
            gram[i, j] = _compared(X, i, Z, j, decay, common)
            if symmetric:
                gram[j, i] = gram[i, j]


@compiled
def _pair_up(X: Nodes, decay: float, common: np.ndarray, diagonal: np.ndarray) -> None:
    """The kernel of each tree with itself."""
    for i in range(len(diagonal)):
        diagonal[i] = _compared(X, i, X, i, decay, common)
