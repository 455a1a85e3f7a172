"""Kernels on graphs: common parts, common walks, and those of GraKeL."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from mercer.core.collections import Collection
from mercer.core.compiled import compiled
from mercer.core.threads import in_threads
from mercer.kernels._sparse import NumberedKernel
from mercer.kernels.base import POSITIVE, Constraint, Kernel, same, whole
from mercer.structures.graphs import FlatGraphs, as_graphs, flatten, graph_key, has_labels

_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
"""Constants of a mixing function of 64 bits (Steele et al. 2014)."""

_ENOUGH = 1e-13
"""Share of the kernel value that is left out when the sum is stopped."""

_SMALL = 2e4
"""Pairs of nodes for which a second thread is not worth starting."""

LABEL = Constraint(lambda name: isinstance(name, str | None), "the name of an attribute, or None", TypeError)


class GraphKernel(Kernel):
    """A kernel on undirected networkx graphs, whose labels are attributes of nodes and edges."""

    is_psd = True
    constraints = {"node_label": LABEL}

    node_label: str | None

    def key(self, x: Any) -> Hashable:
        """The nodes, edges and attributes."""
        return graph_key(x)

    def _check(self, X: Any, name: str) -> np.ndarray:
        return as_graphs(X, name)

    def _resolved(self, X: Any) -> Kernel:
        """The same kernel, without labels if it would take the usual attribute and no node of `X` has it."""
        if self.node_label != "label" or has_labels(X, "label"):
            return self
        constant = "no node of these graphs has the attribute 'label', so all nodes are taken to have the same label"
        warnings.warn(
            f"{constant}; pass node_label=None to say so, or name another attribute", UserWarning, stacklevel=2
        )
        return type(self)(**self.get_params(deep=False) | {"node_label": None})


@dataclass(eq=False, repr=False)
class WeisfeilerLehman(NumberedKernel, GraphKernel):
    r"""Common neighbourhoods (Shervashidze et al. 2011), :math:`k(x, z) = \sum_{i=0}^{h} \sum_l |x|_l^{(i)} |z|_l^{(i)}`.

    In every round a node's label becomes that of its neighbourhood: its own label with those of its neighbours and of the edges
    to them. :math:`|x|_l^{(i)}` is the number of nodes of x with label l after i rounds.

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

    constraints = {"rounds": whole(0), "node_label": LABEL, "edge_label": LABEL}

    rounds: int = 3
    node_label: str | None = "label"
    edge_label: str | None = None

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
class ShortestPath(NumberedKernel, GraphKernel):
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

    def sees(self, X: Any) -> np.ndarray:
        """False for graphs without an edge, which have no pair to count."""
        return np.asarray([graph.number_of_edges() > 0 for graph in self.check(X)])


def shortest_paths(flat: FlatGraphs) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Graphs of one size at a time: their positions, and the number of edges between all pairs of nodes (0: no path)."""
    for members, matrices in flat.adjacencies():
        alone = np.eye(matrices.shape[1])
        steps, reached = matrices + alone, np.zeros_like(matrices) + alone
        distances = np.zeros(matrices.shape, dtype=np.intp)
        for length in range(1, matrices.shape[1]):
            further = (reached @ steps > 0).astype(float)
            if np.array_equal(further, reached):
                break
            distances[further > reached] = length
            reached = further
        yield members, distances


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Numbers of 64 bits scattered as if at random (splitmix64)."""
    with np.errstate(over="ignore"):
        mixed = numbers.astype(np.uint64) + _MIX[0]
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[1]
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[2]
        return mixed ^ (mixed >> np.uint64(31))


@dataclass(eq=False, repr=False)
class RandomWalk(GraphKernel):
    r"""Common walks, longer ones discounted (Gärtner et al. 2003; Vishwanathan et al. 2010).

    .. math::

        k(x, z) = \sum_{n \ge 0} \lambda^n\, \mathbf{1}^\top A_\times^n \mathbf{1}
                = \mathbf{1}^\top (I - \lambda A_\times)^{-1} \mathbf{1}

    :math:`A_\times` is the adjacency matrix of the product graph: pairs of nodes with the same label, joined where both
    are joined. The sum is finite where λ is below one over the product of the largest eigenvalues of the two adjacency matrices.

    Parameters
    ----------
    decay : float
        λ, the weight of a step.
    node_label : str or None
        The attribute that holds the labels; None ignores them.

    Examples
    --------
    >>> import networkx as nx
    >>> RandomWalk(decay=0.1, node_label=None)([nx.path_graph(2), nx.cycle_graph(3)]).round(3)
    array([[ 4.444,  7.5  ],
           [ 7.5  , 15.   ]])
    """

    constraints = {"decay": POSITIVE, "node_label": LABEL}

    decay: float = 0.05
    node_label: str | None = "label"

    def _encode(self, X: np.ndarray, name: str) -> _Neighbours:
        return _Neighbours.of(flatten(X, self.node_label, None, name))

    def _matrix(self, X: _Neighbours, Z: _Neighbours | None) -> np.ndarray:
        other = X if Z is None else Z
        self._require_finite(float(X.eigenvalues.max()), float(other.eigenvalues.max()))
        gram = np.empty((len(X.eigenvalues), len(other.eigenvalues)))
        room = int(np.diff(X.starts).max()) * int(np.diff(other.starts).max())

        def fill(rows: np.ndarray) -> None:
            _add_walks(X, other, float(self.decay), rows, Z is None, np.empty((3, room)), gram)

        in_threads(fill, len(gram), float(X.starts[-1]) * float(other.starts[-1]) > _SMALL)
        return gram

    def _diag(self, X: _Neighbours) -> np.ndarray:
        return np.asarray([self._matrix(X.alone(i), None)[0, 0] for i in range(len(X.eigenvalues))])

    def _require_finite(self, first: float, second: float) -> None:
        if self.decay * first * second >= 1.0:
            raise ValueError(
                f"decay={self.decay!r} in RandomWalk, and the largest eigenvalues of the graphs are {first:.4g} and "
                f"{second:.4g}: the sum over walks has no end. Expected a decay below {1.0 / (first * second):.4g}"
            )


class _Neighbours(NamedTuple):
    """Graphs one after the other: the neighbours of node i are ``there[firsts[i]:firsts[i + 1]]``, counted from its graph."""

    starts: np.ndarray
    labels: np.ndarray
    firsts: np.ndarray
    there: np.ndarray
    eigenvalues: np.ndarray
    """The largest eigenvalue of each adjacency matrix."""

    @classmethod
    def of(cls, flat: FlatGraphs) -> Self:
        order = np.argsort(flat.ends[0], kind="stable")
        here, there = flat.ends[:, order]
        firsts = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=int(flat.starts[-1])))]).astype(np.intp)
        eigenvalues = np.empty(len(flat.sizes))
        for members, matrices in flat.adjacencies():
            eigenvalues[members] = np.linalg.eigvalsh(matrices)[:, -1]
        return cls(flat.starts, flat.labels, firsts, there - flat.starts[flat.graph_of[there]], eigenvalues)

    def alone(self, i: int) -> Self:
        """The i-th graph."""
        return self._replace(starts=self.starts[i : i + 2], eigenvalues=self.eigenvalues[i : i + 1])


@compiled
def _add_walks(X, Z, decay, rows, symmetric, space, gram):  # type: ignore[no-untyped-def]  # noqa: C901, PLR0913
    """The sum over n of decayⁿ 1ᵀAⁿ1 for some rows: one step in one graph, then one in the other, again and again."""
    value, half, term = space[0], space[1], space[2]
    for i in rows:
        a, n = X.starts[i], X.starts[i + 1] - X.starts[i]
        for j in range(i + 1 if symmetric else len(Z.starts) - 1):
            b, m = Z.starts[j], Z.starts[j + 1] - Z.starts[j]
            total = 0.0
            for u in range(n):
                for v in range(m):
                    same = 1.0 if X.labels[a + u] == Z.labels[b + v] else 0.0
                    value[u * m + v] = same
                    term[u * m + v] = same
                    total += same
            added, before = total, 0.0
            while added > 0.0:
                for u in range(n):
                    for v in range(m):
                        half[u * m + v] = 0.0
                    for p in range(X.firsts[a + u], X.firsts[a + u + 1]):
                        for v in range(m):
                            half[u * m + v] += term[X.there[p] * m + v]
                before, added = added, 0.0
                for u in range(n):
                    for v in range(m):
                        if value[u * m + v] == 0.0:
                            continue
                        step = 0.0
                        for q in range(Z.firsts[b + v], Z.firsts[b + v + 1]):
                            step += half[u * m + Z.there[q]]
                        term[u * m + v] = decay * step
                        added += decay * step
                total += added
                # the rest shrinks at least as fast as in the last step, once terms shrink
                if added < before and added * added / (before - added) < _ENOUGH * total:
                    break
            gram[i, j] = total
            if symmetric:
                gram[j, i] = total


@dataclass(eq=False, repr=False)
class FromGraKeL(GraphKernel):
    """A kernel of GraKeL, fitted for every Gram matrix, to the second collection if there are two.

    `WeisfeilerLehman`, `ShortestPath` and `RandomWalk` of this library are the same kernels, and faster; this one gives the
    rest of GraKeL's.

    Parameters
    ----------
    kernel : GraKeL kernel
        Such as ``grakel.kernels.GraphletSampling(k=3)``; not normalized, use ``.normalized()`` here.
    node_label, edge_label : str or None
        The attributes that hold the labels; with None all nodes or edges have one label.

    Examples
    --------
    >>> import networkx as nx
    >>> from grakel.kernels import VertexHistogram
    >>> FromGraKeL(VertexHistogram(), node_label=None)([nx.path_graph(2), nx.path_graph(3)])
    array([[4., 6.],
           [6., 9.]])
    """

    is_psd = False
    constraints = {
        "kernel": Constraint(lambda kernel: hasattr(kernel, "transform"), "a kernel of grakel.kernels", TypeError),
        "node_label": LABEL,
        "edge_label": LABEL,
    }

    kernel: Any
    node_label: str | None = "label"
    edge_label: str | None = None

    def __eq__(self, other: object) -> bool:
        # kernels of GraKeL are equal only to themselves
        if type(other) is not type(self) or type(self.kernel) is not type(other.kernel):
            return False
        own, others = ((k.kernel.get_params(deep=False), k.node_label, k.edge_label) for k in (self, other))
        return same(own, others)

    __hash__ = None  # type: ignore[assignment]

    def _matrix(self, X: list[Any], Z: list[Any] | None) -> np.ndarray:
        kernel = clone(self.kernel)
        if Z is None:
            gram = np.asarray(kernel.fit_transform(X), dtype=float)
            return (gram + gram.T) / 2
        return np.asarray(kernel.fit(Z).transform(X), dtype=float)

    def _diag(self, X: list[Any]) -> np.ndarray:
        kernel = clone(self.kernel)
        kernel.fit_transform(X)
        return np.asarray(kernel.diagonal(), dtype=float).reshape(len(X), -1)[:, 0]

    def _encode(self, X: np.ndarray, name: str) -> list[Any]:
        """Graphs of GraKeL: edges in both directions, labels as numbers."""
        try:
            from grakel import Graph
        except ImportError as error:
            raise ImportError("FromGraKeL needs GraKeL; run 'pip install grakel'") from error

        flat = flatten(X, self.node_label, self.edge_label, name)
        owner = flat.graph_of
        here, there = flat.ends - flat.starts[owner[flat.ends]]
        matrices = [np.zeros((size, size)) for size in flat.sizes]
        marks: list[dict[tuple[int, int], int]] = [{} for _ in X]
        for i, u, v, label in zip(
            owner[flat.ends[0]], here.tolist(), there.tolist(), flat.edge_labels.tolist(), strict=True
        ):
            matrices[i][u, v] = 1.0
            marks[i][u, v] = label
        nodes = [dict(enumerate(part.tolist())) for part in np.split(flat.labels, flat.starts[1:-1])]
        # a matrix, and not a list of edges, which would leave out nodes that have none
        return [Graph(*parts) for parts in zip(matrices, nodes, marks, strict=True)]
