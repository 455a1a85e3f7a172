"""Labels of graphs, and the graphs that are one edit away from another."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from mercer.core.collections import Collection
from mercer.structures.graphs import networkx


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
        found: dict[Hashable, None] = {}
        for i, graph in enumerate(graphs):
            for *_, data in graph.nodes(data=True) if part == "node" else graph.edges(data=True):
                if attribute not in data:
                    raise ValueError(
                        f"y[{i}] has {'a node' if part == 'node' else 'an edge'} without attribute {attribute!r}; expected its "
                        f"label there. Name another by {part}_label=..., or pass None for graphs without"
                    )
                found.setdefault(data[attribute])
        return cls(attribute, list(found) or [None])

    def of(self, data: dict[str, Any]) -> Hashable:
        """The label of a node or edge with these attributes."""
        return None if self.attribute is None else data[self.attribute]

    def data(self, label: Hashable) -> dict[str, Hashable]:
        """The attributes of a node or edge with this label."""
        return {} if self.attribute is None else {self.attribute: label}


@dataclass(frozen=True)
class GraphLabels:
    """The labels of nodes and edges."""

    nodes: Labels
    edges: Labels

    def bare(self, graph: Any) -> Any:
        """The graph with these labels and no other attributes."""
        found = networkx().Graph()
        found.add_nodes_from((node, self.nodes.data(self.nodes.of(data))) for node, data in graph.nodes(data=True))
        found.add_edges_from((u, v, self.edges.data(self.edges.of(data))) for u, v, data in graph.edges(data=True))
        return found


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
