"""Kernels on trees: common complete subtrees, and common parts of any depth."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from mercer.core import memory
from mercer.core.collections import as_objects
from mercer.core.compiled import compiled
from mercer.core.threads import in_threads
from mercer.kernels._sparse import FeatureKernel, Features, counted, translation
from mercer.kernels.base import UP_TO_ONE, Kernel
from mercer.kernels.features import VocabularyMap
from mercer.structures.trees import Tree, as_tree, flattened, is_node, nodes, production

_SMALL = 1e5
"""Pairs of nodes, about a millisecond, for which a second thread is not worth starting."""


class TreeKernel(Kernel):
    """A kernel whose objects are trees: text in brackets, nested tuples, or lists with a method ``label()``.

    Trees keep the form in which they are given; two forms of one tree are the same object to the kernel.
    """

    is_psd = True
    constraints = {"decay": UP_TO_ONE}

    decay: float

    def key(self, x: Any) -> Hashable:
        """The tree from left to right."""
        return flattened(x)

    def _check(self, X: Any, name: str) -> np.ndarray:
        objects = as_objects(X, name)
        _read(objects, name)
        return objects


@dataclass(eq=False, repr=False)
class Subtree(FeatureKernel, TreeKernel):
    r"""Common complete subtrees: a node with everything below it (Vishwanathan and Smola 2003).

    .. math:: k(T, T') = \sum_{t} \lambda^{|t|}\, |T|_t\, |T'|_t

    where :math:`|T|_t` is the number of times the subtree t hangs in T, and :math:`|t|` is its number of nodes, leaves not
    counted. Each subtree is one feature, so that outputs have explicit coordinates.

    Parameters
    ----------
    decay : float
        λ in (0, 1].

    Examples
    --------
    >>> Subtree(decay=0.5)(["(S (NP I) (VP run))", "(S (NP you) (VP run))"])
    array([[1.125, 0.5  ],
           [0.5  , 1.125]])
    """

    decay: float = 0.4

    def feature_map(self, X: Any) -> SubtreeCounts:
        """One column for each complete subtree in `X`, in order of first appearance."""
        self.check_parameters()
        return SubtreeCounts(list(_Subtrees(_read(self.check(X)), self.decay).index), self.decay)

    def _encode(self, X: np.ndarray, name: str) -> _Subtrees:
        return _Subtrees(_read(X), self.decay)


class _Subtrees(Features):
    """Trees as weighted counts of their complete subtrees, in order of first appearance."""

    def __init__(self, trees: list[Tree], decay: float) -> None:
        self.trees = trees
        self.decay = float(decay)
        self.index: dict[Hashable, int] = {}
        found = [_hanging(tree, self.index, grow=True) for tree in trees]
        self.sizes = np.asarray(_sizes(self.index), dtype=float)
        super().__init__(self._weighted(found))

    def rows_in(self, other: Self) -> sparse.csr_array:
        """The subtrees that occur in another collection."""
        return other._weighted([_hanging(tree, other.index) for tree in self.trees])

    def _weighted(self, found: list[list[int]]) -> sparse.csr_array:
        return _weighted_counts(found, self.sizes, self.decay)


@dataclass
class SubtreeCounts(VocabularyMap):
    """Counts of the complete subtrees of a vocabulary in each tree, times √λ to the power of their sizes."""

    subtrees: list[Hashable]
    """The subtree of each column: its label and its children, each a word, or the column of a subtree in a tuple."""
    decay: float

    def sparse_rows(self, X: Any) -> sparse.csr_array:
        """The weighted counts, one row per tree."""
        columns = {t: j for j, t in enumerate(self.subtrees)}
        found = [_hanging(tree, columns) for tree in _read(as_objects(X))]
        return _weighted_counts(found, np.asarray(_sizes(self.subtrees), dtype=float), float(self.decay))


@dataclass(eq=False, repr=False)
class SubsetTree(TreeKernel):
    r"""Common parts of trees: any node with some of what is below it, whole productions at a time (Collins and Duffy 2001).

    .. math:: k(T, T') = \sum_{n \in T} \sum_{n' \in T'} \Delta(n, n'), \qquad
              \Delta(n, n') = \lambda \prod_j \bigl(1 + \Delta(c_j, c'_j)\bigr)

    where :math:`c_j` and :math:`c'_j` are the children that are nodes, and Δ is zero for nodes with different productions. Only
    pairs with the same production are looked at, which in natural trees are about as many as there are nodes.

    Parameters
    ----------
    decay : float
        λ in (0, 1]: a part with m productions counts :math:`\lambda^m`. Near 1 large trees are similar to nothing but
        themselves; `normalized` takes the size of the trees out.

    Examples
    --------
    >>> SubsetTree(decay=0.5)(["(S (NP I) (VP run))", "(S (NP you) (VP run))"])
    array([[2.125, 1.25 ],
           [1.25 , 2.125]])
    """

    decay: float = 0.4

    def _encode(self, X: np.ndarray, name: str) -> Forest:
        return Forest.of(_read(X))

    def _matrix(self, X: Forest, Z: Forest | None) -> np.ndarray:
        rows, columns, other = X.nodes, X.nodes, X
        if Z is not None:
            # only the nodes of Z are sorted by production, so the numbers of X are translated
            rows = rows._replace(productions=translation(X.numbers, Z.numbers)[rows.productions])
            columns, other = Z.nodes, Z
        gram = np.zeros((len(X.sizes), len(other.sizes)))
        room = _room(X, other)

        def fill(chosen: np.ndarray) -> None:
            _fill(rows, columns, chosen, Z is None, float(self.decay), np.zeros(room), gram)

        in_threads(fill, len(gram), float(X.sizes.sum()) * len(other.sizes) > _SMALL)
        return self._finite(gram)

    def _diag(self, X: Forest) -> np.ndarray:
        diagonal = np.empty(len(X.sizes))
        _pair_up(X.nodes, float(self.decay), np.zeros(_room(X, X)), diagonal)
        return self._finite(diagonal)

    def _finite(self, values: np.ndarray) -> np.ndarray:
        if not np.isfinite(values).all():
            raise ValueError(
                f"{self!r} of two trees is too large for a double; expected smaller trees or a smaller decay, under which large "
                "common parts count less"
            )
        return values


def _read(objects: np.ndarray, name: str = "X") -> list[Tree]:
    return [as_tree(tree, f"{name}[{i}]") for i, tree in enumerate(objects)]


def _weighted_counts(found: list[list[int]], sizes: np.ndarray, decay: float) -> sparse.csr_array:
    """Counts of the columns found in each tree, weighted by the sizes of their subtrees; -1 is left out."""
    row = np.repeat(np.arange(len(found)), [len(each) for each in found])
    column = np.asarray([j for each in found for j in each], dtype=np.intp)
    row, column = row[column >= 0], column[column >= 0]
    return counted(row, column, (len(found), len(sizes)), decay ** (sizes[column] / 2))


def _hanging(tree: Tree, columns: dict[Hashable, int], grow: bool = False) -> list[int]:
    """The column of every complete subtree, children before their parents; -1 for one without, unless columns may `grow`.

    A subtree is identified by its label and the columns of its children.
    """
    found: list[int] = []
    waiting: list[int] = []  # columns of nodes whose parent is still to come
    for node in nodes(tree):
        inner = sum(map(is_node, node[1:]))
        below = iter(waiting[len(waiting) - inner :])
        shape = node[0], tuple((next(below),) if is_node(child) else child for child in node[1:])
        del waiting[len(waiting) - inner :]
        waiting.append(columns.setdefault(shape, len(columns)) if grow else columns.get(shape, -1))
        found.append(waiting[-1])
    return found


def _sizes(subtrees: Iterable[Any]) -> list[int]:
    """The number of nodes of each subtree, leaves not counted; they stand in the order of their columns."""
    sizes: list[int] = []
    for _, children in subtrees:
        sizes.append(1 + sum(sizes[child[0]] for child in children if is_node(child)))
    return sizes


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


def _room(X: Forest, Z: Forest) -> tuple[int, int]:
    """The shape of a table for the pairs of nodes of two trees; raise MemoryError unless it fits."""
    left, right = int(X.sizes.max()), int(Z.sizes.max())
    purpose = f"a table for the pairs of nodes of two trees with {left} and {right} of them"
    memory.require(left, right, 1, purpose, "use smaller trees, or Subtree, which needs no table")
    return left, right


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
