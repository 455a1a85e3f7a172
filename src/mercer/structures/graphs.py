"""Collections of networkx graphs, and many graphs as a few flat arrays."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mercer.core.collections import Collection, as_objects

_FEW = 4  # most distinct labels in a description
_VIEWS = ("nodes", "edges", "adj", "degree", "__networkx_cache__")  # attributes that networkx caches


def networkx() -> Any:
    """Import networkx; an error says how to install it."""
    try:
        import networkx
    except ImportError as error:
        raise ImportError("graphs need networkx; run 'pip install mercer[graphs]'") from error
    return networkx


def is_graph(thing: Any) -> bool:
    """Whether `thing` is a networkx graph; does not import networkx."""
    return "networkx" in sys.modules and isinstance(thing, networkx().Graph)


def as_graphs(collection: Any, name: str = "X") -> np.ndarray:
    """Convert `collection` to an object array of undirected graphs with at least one node; molecules of rdkit become graphs."""
    nx = networkx()
    if is_graph(collection):
        raise TypeError(f"{name} is a single graph; expected a collection of graphs. Write [graph] for a list of one")
    graphs = as_objects(collection, name)
    for i, graph in enumerate(graphs):
        if hasattr(graph, "GetAtoms"):  # of rdkit
            from mercer.structures.molecules.graphs import molecular_graph

            graphs[i] = graph = molecular_graph(graph)
        if not is_graph(graph):
            raise TypeError(f"{name}[{i}] is {graph!r:.60}, a {type(graph).__name__}; expected a networkx.Graph")
        if graph.is_directed() or graph.is_multigraph():
            kind = "directed" if graph.is_directed() else "a multigraph"
            raise TypeError(f"{name}[{i}] is {kind}; expected an undirected networkx.Graph. Use networkx.Graph(graph)")
        if len(graph) == 0:
            raise ValueError(f"{name}[{i}] is a graph without nodes; expected at least one node. Drop empty graphs")
        if hasattr(graph, "_graph") or nx.is_frozen(graph):
            graphs[i] = nx.Graph(graph)  # a view or a frozen graph holds functions, which cannot be saved
    return graphs


def has_labels(graphs: Iterable[Any], attribute: str) -> bool:
    """Return True if any node of the graphs has an attribute."""
    return any(attribute in data for graph in graphs for _, data in graph.nodes(data=True))


def label_of_nodes(graphs: Iterable[Any]) -> str | None:
    """Return "label" if every node of the graphs has this attribute, and None otherwise."""
    known = all("label" in data for graph in graphs if is_graph(graph) for _, data in graph.nodes(data=True))
    return "label" if known else None


def described(thing: Any) -> str | None:
    """Describe a graph, such as ``graph: 3 nodes, 2 edges (2 C, 1 O)``; None for other objects.

    Labels are counted if they are few; the label of a node is its attribute "label", or else its first one.
    """
    if not is_graph(thing):
        return None
    counts = {"node": len(thing), "edge": thing.number_of_edges()}
    sizes = ", ".join(f"{number} {what}{'' if number == 1 else 's'}" for what, number in counts.items())
    own = [data.get("label", next(iter(data.values()))) for _, data in thing.nodes(data=True) if data]
    labels = Counter(map(str, own))
    known = f" ({', '.join(f'{times} {label:.10}' for label, times in labels.most_common())})"
    return f"graph: {sizes}{known if 0 < len(labels) <= _FEW else ''}"


def forget_views(thing: Any) -> None:
    """Drop the views that networkx caches in every graph inside `thing`: they point back at the graph and cannot be saved."""
    if "networkx" not in sys.modules:
        return
    seen, left = set(), [thing]
    while left:
        item = left.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if is_graph(item):
            for name in _VIEWS:
                item.__dict__.pop(name, None)
        else:
            left.extend(_contents(item))


def _contents(item: Any) -> Iterable[Any]:
    """List the objects inside a container, or the attributes of an object of this library."""
    if isinstance(item, dict):
        return item.values()
    if isinstance(item, list | tuple | set | frozenset):
        return item
    if getattr(item, "dtype", None) == np.object_:
        return np.ravel(item).tolist()
    return vars(item).values() if type(item).__module__.startswith("mercer.") and hasattr(item, "__dict__") else ()


def graph_key(graph: Any) -> Hashable:
    """Return a key that is equal for graphs with the same nodes, edges and attributes."""

    def attributes(data: dict[Any, Any]) -> Hashable:
        return tuple(sorted((str(name), repr(value)) for name, value in data.items()))

    nodes = frozenset((node, attributes(data)) for node, data in graph.nodes(data=True))
    return nodes, frozenset((frozenset((u, v)), attributes(data)) for u, v, data in graph.edges(data=True))


@dataclass
class FlatGraphs:
    """Many graphs one after the other; labels are numbers, equal for equal labels in every collection."""

    starts: np.ndarray  # the first node of each graph, and the number of all nodes
    labels: np.ndarray  # the label of each node
    ends: np.ndarray  # two rows, the nodes at both ends of each edge; every edge is there twice, once in each direction
    edge_labels: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """The number of nodes of each graph."""
        return np.diff(self.starts)

    @property
    def graph_of(self) -> np.ndarray:
        """The graph each node belongs to."""
        return np.repeat(np.arange(len(self.starts) - 1), self.sizes)

    def adjacencies(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the graphs of each size: their positions, and their adjacency matrices as one array."""
        sizes, owner = self.sizes, self.graph_of
        local = np.arange(self.starts[-1]) - self.starts[owner]
        edge_owner = owner[self.ends[0]]
        place = np.empty(len(sizes), dtype=np.intp)
        for size in np.unique(sizes):
            members = np.flatnonzero(sizes == size)
            place[members] = np.arange(len(members))
            inside = sizes[edge_owner] == size
            matrices = np.zeros((len(members), size, size))
            first, second = self.ends[:, inside]
            matrices[place[edge_owner[inside]], local[first], local[second]] = 1.0
            yield members, matrices


def flatten(graphs: Collection, node_label: str | None, edge_label: str | None, name: str = "X") -> FlatGraphs:
    """Convert graphs to flat arrays; raise ValueError if a node or an edge lacks the attribute that holds its label."""
    starts, labels, edge_labels, pairs = [0], [], [], []
    for i, graph in enumerate(graphs):
        number = {node: starts[-1] + j for j, node in enumerate(graph)}
        starts.append(starts[-1] + len(number))
        whole = f"{name}[{i}]"
        labels += [_code(data, node_label, "node", node, whole) for node, data in graph.nodes(data=True)]
        edge_labels += [_code(data, edge_label, "edge", (u, v), whole) for u, v, data in graph.edges(data=True)]
        pairs += [(number[u], number[v]) for u, v in graph.edges]
    a, b = np.asarray(pairs, dtype=np.intp).reshape(-1, 2).T
    loop = a == b  # an edge from a node to itself has one direction
    ends = np.stack([np.concatenate([a, b[~loop]]), np.concatenate([b, a[~loop]])])
    one_way = np.asarray(edge_labels, dtype=np.uint64)
    both_ways = np.concatenate([one_way, one_way[~loop]])
    return FlatGraphs(np.asarray(starts, dtype=np.intp), np.asarray(labels, dtype=np.uint64), ends, both_ways)


def _code(data: dict[str, Any], attribute: str | None, kind: str, part: Any, graph: str) -> int:
    """Return the number of the label of a node or an edge; 1 if labels are ignored."""
    if attribute is None:
        return 1
    if attribute not in data:
        expected = f"its label there. Name another attribute by {kind}_label=..., or pass None to ignore labels"
        raise ValueError(f"{kind} {part!r} of {graph} has no attribute {attribute!r}; expected {expected}")
    label: Hashable = data[attribute]
    try:
        return _hashed(type(label), label)
    except TypeError as error:
        raise TypeError(f"a label is {label!r:.60}, which has no hash; expected a text, a number or a tuple") from error


@lru_cache(maxsize=2**16)
def _hashed(kind: type, label: Hashable) -> int:
    """Hash a label, the same in every run; two labels share a number with probability 2⁻⁶⁴."""
    return int.from_bytes(hashlib.blake2b(_text(label).encode(), digest_size=8).digest(), "little")


def _text(label: Any) -> str:
    """Write a label, equal for equal labels: 1, 1.0 and True, and the strings and numbers of NumPy."""
    label = label.item() if hasattr(label, "item") else label
    if isinstance(label, str):
        return f"str {str(label)!r}"
    if isinstance(label, tuple):
        return f"({','.join(map(_text, label))})"
    if isinstance(label, int | float):
        return str(int(label)) if label % 1 == 0 else repr(float(label))
    return f"{type(label).__name__} {label!r}"
