"""Kernels on graphs that count common parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer.core.collections import Collection
from mercer.core.validation import is_whole
from mercer.kernels._sparse import FeatureKernel, NumberedFeatures, counted_known
from mercer.kernels.base import Kernel
from mercer.kernels.features import VocabularyMap
from mercer.structures.graphs import FlatGraphs, as_graphs, flatten, graph_key

_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
"""Constants of a mixing function of 64 bits (Steele et al. 2014)."""


class GraphKernel(Kernel):
    """A kernel on undirected networkx graphs, whose labels are attributes of nodes and edges."""

    is_psd = True

    node_label: str | None

    def key(self, x: Any) -> Hashable:
        """The nodes, edges and attributes."""
        return graph_key(x)

    def check_parameters(self) -> None:
        """Raise TypeError unless labels are given by names of attributes, or None."""
        for name in ("node_label", "edge_label"):
            holds = isinstance(getattr(self, name, None), str | None)
            self._require(holds, name, "the name of an attribute, or None", TypeError)

    def _check(self, X: Collection, name: str) -> np.ndarray:
        return as_graphs(X, name)


class _Counting(FeatureKernel, GraphKernel):
    """A kernel that is the inner product of counts of features, which have the same number in every collection."""

    def occurrences(self, X: Collection, name: str = "X") -> tuple[np.ndarray, np.ndarray]:
        """For each occurrence of a feature, the graph it is in and the number of the feature."""
        raise TypeError(f"{type(self).__name__} must define occurrences(X)")

    def pointwise(self, x: Any, z: Any) -> float:
        """The products of the counts, one by one."""
        counts = []
        for graph in (x, z):
            alone = np.empty(1, dtype=object)
            alone[0] = graph
            counts.append(Counter(self.occurrences(alone)[1].tolist()))
        return float(sum(times * counts[1][feature] for feature, times in counts[0].items()))

    def feature_map(self, X: Collection) -> GraphCounts:
        """One column for each feature that occurs in `X`."""
        self.check_parameters()
        return GraphCounts(np.unique(self.occurrences(self.check(X))[1]), self)

    def _encode(self, X: np.ndarray, name: str) -> NumberedFeatures:
        return NumberedFeatures(*self.occurrences(X, name), len(X))


@dataclass
class GraphCounts(VocabularyMap):
    """Counts of some features in each graph; features without a column are left out."""

    numbers: np.ndarray
    """The number of the feature of each column, ascending."""
    kernel: _Counting

    def sparse_rows(self, X: Collection) -> sparse.csr_array:
        """The counts, one row per graph."""
        X = self.kernel.check(X)
        return counted_known(*self.kernel.occurrences(X), len(X), self.numbers)


@dataclass(eq=False, repr=False)
class WeisfeilerLehman(_Counting):
    r"""Common neighbourhoods (Shervashidze et al. 2011), :math:`k(x, z) = \sum_{i=0}^{h} \sum_l |x|_l^{(i)} |z|_l^{(i)}`.

    In every round a node's label becomes that of its neighbourhood: its own label with those of its neighbours and of the edges
    to them. :math:`|x|_l^{(i)}` is how many nodes of x have label l after i rounds.

    Parameters
    ----------
    rounds : int
        h; a label then stands for everything up to h edges away.
    node_label, edge_label : str or None
        The attributes that hold the labels; None ignores them.

    Examples
    --------
    >>> import networkx as nx
    >>> WeisfeilerLehman(rounds=1, node_label=None)([nx.path_graph(3), nx.path_graph(4), nx.cycle_graph(3)])
    array([[14., 18., 12.],
           [18., 24., 18.],
           [12., 18., 18.]])
    """

    rounds: int = 3
    node_label: str | None = "label"
    edge_label: str | None = None

    def check_parameters(self) -> None:
        """Raise an error unless the rounds are a whole number and labels are given by names."""
        super().check_parameters()
        self._require(is_whole(self.rounds) and self.rounds >= 0, "rounds", "a whole number from 0")

    def occurrences(self, X: Collection, name: str = "X") -> tuple[np.ndarray, np.ndarray]:
        """The label of every node after every round."""
        flat = flatten(X, self.node_label, self.edge_label, name)
        labels, (here, there) = _mixed(flat.labels), flat.ends
        found = [labels]
        for _ in range(int(self.rounds)):
            # a sum does not depend on the order of the neighbours, and mixed numbers are as good as random ones
            gathered = np.zeros_like(labels)
            np.add.at(gathered, here, _mixed(labels[there] ^ _mixed(flat.edge_labels)))
            labels = _mixed(_mixed(labels) + gathered)
            found.append(labels)
        # the same label in two rounds is two features
        rounds = np.repeat(np.arange(len(found), dtype=np.uint64), len(labels))
        return np.tile(flat.graph_of, len(found)), _mixed(np.concatenate(found) ^ _mixed(rounds))


@dataclass(eq=False, repr=False)
class ShortestPath(_Counting):
    r"""Common distances (Borgwardt and Kriegel 2005): pairs of nodes with the same labels and the same number of edges between.

    .. math:: k(x, z) = \sum_{u, v \in x} \sum_{s, t \in z} [d(u, v) = d(s, t)]\,[l_u = l_s]\,[l_v = l_t]

    over ordered pairs of different nodes that are connected.

    Parameters
    ----------
    node_label : str or None
        The attribute that holds the labels; None ignores them.

    Examples
    --------
    >>> import networkx as nx
    >>> ShortestPath(node_label=None)([nx.path_graph(3), nx.cycle_graph(3)])
    array([[20., 24.],
           [24., 36.]])
    """

    node_label: str | None = "label"

    def occurrences(self, X: Collection, name: str = "X") -> tuple[np.ndarray, np.ndarray]:
        """The labels at both ends and the distance of every pair."""
        flat = flatten(X, self.node_label, None, name)
        owners, numbers = [], []
        for members, distances in shortest_paths(flat):
            labels = _mixed(flat.labels[flat.starts[members][:, None] + np.arange(distances.shape[1])])
            graph, u, v = np.nonzero(distances > 0)
            far = distances[graph, u, v].astype(np.uint64)
            numbers.append(_mixed(_mixed(labels[graph, u] + _mixed(far)) + labels[graph, v]))
            owners.append(members[graph])
        return np.concatenate(owners), np.concatenate(numbers)

    def sees(self, X: Collection) -> np.ndarray:
        """False for graphs without an edge, which have no pair to count."""
        return np.asarray([graph.number_of_edges() > 0 for graph in self.check(X)])


def shortest_paths(flat: FlatGraphs) -> Any:
    """Graphs of one size at a time: their positions, and the number of edges between all pairs of nodes (0: no way)."""
    for members, matrices in flat.adjacencies():
        steps = matrices + np.eye(matrices.shape[1])
        distances = np.where(matrices > 0, 1, 0)
        distances[:, np.arange(matrices.shape[1]), np.arange(matrices.shape[1])] = 0
        reached = steps > 0
        for length in range(2, matrices.shape[1]):
            further = (reached.astype(float) @ steps) > 0
            new = further & ~reached
            if not new.any():
                break
            distances[new] = length
            reached = further
        yield members, distances


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Numbers of 64 bits scattered as if at random (splitmix64)."""
    with np.errstate(over="ignore"):
        mixed = numbers.astype(np.uint64) + _MIX[0]
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[1]
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[2]
        return mixed ^ (mixed >> np.uint64(31))
