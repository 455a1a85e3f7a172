"""Graphs built from the training graphs with the largest weights."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, as_objects
from mercer.core.validation import check_real, check_whole
from mercer.decoders.base import Decoder, best
from mercer.decoders.pool import LeftOut, snapped
from mercer.embeddings.base import Embedding
from mercer.structures.graphs import as_graphs, flatten, networkx

_ROUNDS = 10  # most rounds of the alternating minimisation of a barycentre


@dataclass(frozen=True)
class Labels:
    """The attribute that holds the labels of nodes or edges, and the labels there are; None for graphs without."""

    attribute: str | None
    seen: list[Hashable]

    @classmethod
    def of_graphs(cls, graphs: Collection, attribute: str | None, part: str) -> Labels:
        """The labels of the nodes (`part` is "node") or edges ("edge") of these graphs, in order of first appearance."""
        if attribute is None:
            return cls(None, [None])
        views = (graph.nodes if part == "node" else graph.edges for graph in graphs)
        found = dict.fromkeys(label for view in views for *_, label in view(data=attribute))
        return cls(attribute, list(found) or [None])

    def of(self, data: dict[str, Any]) -> Hashable:
        """The label of a node or edge with these attributes."""
        return None if self.attribute is None else data[self.attribute]

    def data(self, label: Hashable) -> dict[str, Hashable]:
        """The attributes of a node or edge with this label."""
        return {} if self.attribute is None else {self.attribute: label}


class GraphLabels(NamedTuple):
    """The labels of nodes and edges."""

    nodes: Labels
    edges: Labels


@dataclass(eq=False, repr=False)
class Barycenter(Decoder):
    r"""A labelled graph near to those with weight, by a fused Gromov–Wasserstein barycentre (Brogat-Motte et al. 2022).

    .. math:: \arg\min_{C, F} \sum_j w_j\, \mathrm{FGW}_a\big((C, F), (C_j, F_j)\big)

    over the adjacency matrices C and label rows F of the graphs with the largest weights :math:`w_j > 0`, scaled to sum to one.
    The transport plans of the barycentre carry their edges and labels over: each node takes the label with the most mass, and
    pairs of nodes are joined from the most mass down, until there are as many edges as the graphs have on average. Of the
    graphs built so (for each size among the parts, and for an edge more or less) the one nearest to the point under the output
    kernel is returned; `edits` improves it further, one label or edge at a time.

    The answer need not be a training output. Needs POT and networkx (``pip install mercer[transport]``).

    Parameters
    ----------
    parts : int
        Number of training graphs, those of the largest weights, the barycentre is taken of. With 0 nothing is built, and
        edits start from the best training output.
    structure : float
        a in (0, 1), the weight of edges relative to labels.
    size : int, optional
        Nodes of every answer; by default the sizes of the parts are tried.
    edits : int
        Most single changes made afterwards.
    compare : bool
        Whether the best training output is returned where no built graph is nearer.
    node_label, edge_label : str or None
        The attributes that hold the labels; None for graphs without.

    Examples
    --------
    >>> import networkx as nx
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import WeisfeilerLehman
    >>> kernel = WeisfeilerLehman(1, node_label=None)
    >>> embedding = Implicit().fit(kernel, [nx.path_graph(4), nx.cycle_graph(4)])
    >>> decoder = Barycenter(node_label=None, compare=False).fit(embedding)
    >>> decoder.decode(np.array([[0.1, 0.9]]))[0].number_of_edges()
    4
    """

    parts: int = 10
    structure: float = 0.5
    size: int | None = None
    edits: int = 0
    compare: bool = True
    node_label: str | None = "label"
    edge_label: str | None = None

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Collect the labels of the training graphs."""
        for name, least in (("parts", 0), ("edits", 0), ("size", 1)):
            if getattr(self, name) is not None or name != "size":
                check_whole(getattr(self, name), name, least, expected=f"a whole number from {least} in Barycenter")
        check_real(self.structure, "structure", 0, 1, expected="a number between 0 and 1 in Barycenter")
        try:
            import ot  # noqa: F401
        except ImportError as error:
            raise ImportError("Barycenter needs POT; run 'pip install mercer[transport]'") from error
        graphs = as_graphs(embedding.outputs_, "y")
        super().fit(embedding, loss)
        flatten(graphs, self.node_label, self.edge_label, "y")  # raises an error for a part without a label
        nodes = Labels.of_graphs(graphs, self.node_label, "node")
        self.labels_ = GraphLabels(nodes, Labels.of_graphs(graphs, self.edge_label, "edge"))
        largest = max(graphs, key=lambda own: own.number_of_edges())
        part = _Part.of(largest, self.labels_)
        try:
            embedding.kernel_.diag([self._rounded(part.features, part.channels, largest.number_of_edges())])
        except ValueError as error:
            raise ValueError(
                f"Barycenter builds graphs with node_label={self.node_label!r} and edge_label={self.edge_label!r}, which "
                f"output_kernel={embedding.kernel_!r} cannot compare; expected the labels of the kernel in both"
            ) from error
        return self

    def decode(self, H: Array, leave_out: np.ndarray | LeftOut | None = None) -> Collection:
        """The graph built for each point; the best training output for a point without positive weights."""
        weights = np.array(to_numpy(self._weights(H)))
        if leave_out is not None:
            weights[np.arange(len(weights)), np.asarray(leave_out)] = 0.0
        if isinstance(leave_out, LeftOut):
            weights[leave_out.asked[:, None] == leave_out.labels(weights.shape[1])] = 0.0
        built = [self._build(row) for row in weights]
        if self.compare or not all(built):
            known = super().decode(H, leave_out)
            built = [[*own, known[i]] if self.compare or not own else own for i, own in enumerate(built)]
        graphs, scores = self._nearest(H, built)
        for _ in range(self.edits):
            found, further = self._nearest(H, [edited(graph, self.labels_) for graph in graphs])
            improved = further > scores + 1e-9 * np.maximum(1.0, np.abs(scores))
            if not improved.any():
                break
            graphs[improved], scores[improved] = found[improved], further[improved]
        return graphs

    def _nearest(self, H: Array, built: list[list[Any]]) -> tuple[Any, np.ndarray]:
        """Of the graphs of each point the one nearest to it, and its score."""
        found = self.choose_each(H, [as_objects(own) for own in built])
        return best(found), np.asarray([own.scores[0] for own in found])

    def _build(self, weights: np.ndarray) -> list[Any]:
        """Graphs for one point: for each size, with the usual number of edges, one more and one less."""
        rounded = snapped(weights[None, :])[0]
        order = [j for j in np.argsort(-rounded, kind="stable")[: self.parts] if rounded[j] > 0]
        if not order:
            return []
        parts = [_Part.of(self.embedding_.outputs_[j], self.labels_) for j in order]
        share = weights[order] / weights[order].sum()
        sizes = [self.size] if self.size is not None else list(dict.fromkeys(part.size for part in parts))
        built = []
        for size in sizes:
            nodes, edges = self._barycenter(parts, share, size)
            usual = round(float(share @ [part.structure.sum() / 2 / part.size for part in parts]) * size)
            for count in dict.fromkeys(max(size - 1, usual + more) for more in (0, 1, -1)):
                built.append(self._rounded(nodes, edges, count))
        return built

    def _barycenter(self, parts: list[_Part], share: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
        """The mass of each label at each node, and of each edge label between each pair of nodes."""
        from ot.gromov import fgw_barycenters

        if size == 1:
            nodes = sum(w * part.features.mean(axis=0) for w, part in zip(share, parts, strict=True))
            return nodes[None], np.zeros((len(self.labels_.edges.seen), 1, 1))
        fitting = next((part for part in parts if part.size == size), None)
        start: dict[str, Any] = {"random_state": 0}
        if fitting is not None:
            start = {"init_C": fitting.structure, "init_X": fitting.features}
        _, _, log = fgw_barycenters(
            size, [p.features for p in parts], [p.structure for p in parts], lambdas=share.tolist(), alpha=self.structure,
            symmetric=True, max_iter=_ROUNDS, tol=1e-5, log=True, **start,
        )  # fmt: skip
        plans = [size * np.asarray(plan) for plan in log["T"]]
        nodes = sum(w * plan @ part.features for w, plan, part in zip(share, plans, parts, strict=True))
        edges = sum(w * plan @ part.channels @ plan.T for w, plan, part in zip(share, plans, parts, strict=True))
        return nodes, edges

    def _rounded(self, nodes: np.ndarray, edges: np.ndarray, count: int) -> Any:
        """A connected graph of `count` edges: the spanning tree of the most mass, then the heaviest further pairs."""
        size, mass, labels = len(nodes), edges.sum(axis=0), self.labels_
        firsts, seconds = np.triu_indices(size, 1)
        graph = networkx().Graph()
        for i in range(size):
            graph.add_node(i, **labels.nodes.data(labels.nodes.seen[int(np.argmax(nodes[i]))]))
        tree = minimum_spanning_tree(np.triu(2.0 + mass.max(initial=0.0) - mass, 1)).tocoo()
        chosen = {(int(u), int(v)) for u, v in zip(tree.row, tree.col, strict=True)}
        for j in np.argsort(-mass[firsts, seconds], kind="stable"):
            if len(chosen) >= min(count, len(firsts)):
                break
            chosen.add((int(firsts[j]), int(seconds[j])))
        for u, v in sorted(chosen):
            graph.add_edge(u, v, **labels.edges.data(labels.edges.seen[int(np.argmax(edges[:, u, v]))]))
        return graph


@dataclass
class _Part:
    """A training graph as matrices."""

    structure: np.ndarray
    features: np.ndarray  # one column for each label, a one in that of the node
    channels: np.ndarray  # an adjacency matrix for each edge label

    @property
    def size(self) -> int:
        return len(self.structure)

    @classmethod
    def of(cls, graph: Any, labels: GraphLabels) -> _Part:
        own = [labels.nodes.of(data) for _, data in graph.nodes(data=True)]
        features = np.asarray([[float(label == known) for known in labels.nodes.seen] for label in own])
        place = {node: i for i, node in enumerate(graph)}
        channels = np.zeros((len(labels.edges.seen), len(graph), len(graph)))
        for u, v, data in graph.edges(data=True):
            channel = labels.edges.seen.index(labels.edges.of(data))
            channels[channel, place[u], place[v]] = channels[channel, place[v], place[u]] = float(u != v)
        return cls(channels.sum(axis=0), features, channels)


def edited(graph: Any, labels: GraphLabels) -> list[Any]:
    """The graph itself, and every connected graph that differs in one label, one edge, or one end of an edge."""
    nodes = list(graph)
    made = [graph]
    for node in nodes:
        for label in labels.nodes.seen:
            if labels.nodes.of(graph.nodes[node]) != label:
                made.append(graph.copy())
                made[-1].nodes[node].update(labels.nodes.data(label))
    for i, u in enumerate(nodes):
        for v in nodes[:i]:
            made += _edge_edits(graph, u, v, labels.edges)
    return made


def _edge_edits(graph: Any, u: Any, v: Any, labels: Labels) -> Iterator[Any]:
    """The graphs that differ in the edge between two nodes: joined, labelled, removed, or moved at one end."""
    joined = graph.has_edge(u, v)
    for label in labels.seen:
        if not joined or labels.of(graph.edges[u, v]) != label:
            other = graph.copy()
            other.add_edge(u, v, **labels.data(label))
            yield other
    if not joined:
        return
    connected = networkx().is_connected
    bare = graph.copy()
    data = dict(bare.edges[u, v])
    bare.remove_edge(u, v)
    if connected(bare):
        yield bare
    for stays, leaves in ((u, v), (v, u)):
        for goes in graph:
            if goes not in (stays, leaves) and not bare.has_edge(stays, goes):
                other = bare.copy()
                other.add_edge(stays, goes, **data)
                if connected(other):
                    yield other
