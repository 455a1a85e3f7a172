"""Labels of graphs, and the graphs that are one edit away from another."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from mercer.core.collections import Collection
from mercer.structures.graphs import networkx


@dataclass(frozen=True)
class GraphLabels:
    """Which attributes hold the labels of nodes and edges, and which labels there are; None for graphs without."""

    node_attribute: str | None
    edge_attribute: str | None
    nodes: list[Hashable]
    edges: list[Hashable]

    @classmethod
    def seen(cls, graphs: Collection, node_attribute: str | None, edge_attribute: str | None) -> GraphLabels:
        """The labels of these graphs, in order of first appearance."""
        nodes, edges = _seen(graphs, node_attribute, nodes=True), _seen(graphs, edge_attribute, nodes=False)
        return cls(node_attribute, edge_attribute, nodes, edges)

    def node(self, data: dict[str, Any]) -> Hashable:
        """The label of a node with these attributes."""
        return None if self.node_attribute is None else data[self.node_attribute]

    def edge(self, data: dict[str, Any]) -> Hashable:
        """The label of an edge with these attributes."""
        return None if self.edge_attribute is None else data[self.edge_attribute]

    def node_data(self, label: Hashable) -> dict[str, Hashable]:
        """The attributes of a node with this label."""
        return {} if self.node_attribute is None else {self.node_attribute: label}

    def edge_data(self, label: Hashable) -> dict[str, Hashable]:
        """The attributes of an edge with this label."""
        return {} if self.edge_attribute is None else {self.edge_attribute: label}

    def bare(self, graph: Any) -> Any:
        """The graph with these labels and no other attributes."""
        found = networkx().Graph()
        found.add_nodes_from((node, self.node_data(self.node(data))) for node, data in graph.nodes(data=True))
        found.add_edges_from((u, v, self.edge_data(self.edge(data))) for u, v, data in graph.edges(data=True))
        return found


def edited(graph: Any, labels: GraphLabels) -> list[Any]:
    """The graph itself, and every connected one that differs in one label, one edge, or one end of an edge."""
    nx = networkx()
    made = [graph]
    nodes = list(graph)
    for node in nodes:
        for label in labels.nodes:
            if labels.node_attribute is not None and graph.nodes[node][labels.node_attribute] != label:
                other = graph.copy()
                other.nodes[node][labels.node_attribute] = label
                made.append(other)
    for i, u in enumerate(nodes):
        for v in nodes[:i]:
            joined = graph.has_edge(u, v)
            for label in labels.edges:
                if not joined or labels.edge(graph.edges[u, v]) != label:
                    other = graph.copy()
                    other.add_edge(u, v, **labels.edge_data(label))
                    made.append(other)
            if joined:
                bare = graph.copy()
                data = dict(bare.edges[u, v])
                bare.remove_edge(u, v)
                if nx.is_connected(bare):
                    made.append(bare)
                for stays, leaves in ((u, v), (v, u)):
                    for goes in nodes:
                        if goes not in (stays, leaves) and not bare.has_edge(stays, goes):
                            other = bare.copy()
                            other.add_edge(stays, goes, **data)
                            if nx.is_connected(other):
                                made.append(other)
    return made


def _seen(graphs: Collection, attribute: str | None, nodes: bool) -> list[Hashable]:
    """The labels there are, in order of first appearance; a single None for graphs without."""
    if attribute is None:
        return [None]
    found: dict[Hashable, None] = {}
    for i, graph in enumerate(graphs):
        for _, data in graph.nodes(data=True) if nodes else (((u, v), data) for u, v, data in graph.edges(data=True)):
            if attribute not in data:
                what = "node" if nodes else "edge"
                raise ValueError(
                    f"y[{i}] has {'a node' if nodes else 'an edge'} without attribute {attribute!r}; expected its label there. "
                    f"Name another by {what}_label=..., or pass None for graphs without"
                )
            found.setdefault(data[attribute])
    return list(found) or [None]
