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
    """Convert `collection` to an object array of undirected graphs with at least one node each."""
    nx = networkx()
    if is_graph(collection):
        raise TypeError(f"{name} is a single graph; expected a collection of graphs. Write [graph] for a list of one")
    graphs = as_objects(collection, name)
    for i, graph in enumerate(graphs):
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


def described(thing: Any) -> str | None:
    """Describe a graph in a few words, with the count of each node label if the labels are few; None for other objects.

    The label is the attribute "label" of a node, or else its first one.

    Examples
    --------
    >>> graph = networkx().path_graph(3)
    >>> described(graph), described("CCO")
    ('graph: 3 nodes, 2 edges', None)
    >>> for node, atom in enumerate("CCO"):
    ...     graph.nodes[node]["atom"] = atom
    >>> described(graph)
    'graph: 3 nodes, 2 edges (2 C, 1 O)'
    """
    if not is_graph(thing):
        return None
    sizes = (_counted(len(thing), "node"), _counted(thing.number_of_edges(), "edge"))
    own = [data.get("label", next(iter(data.values()))) for _, data in thing.nodes(data=True) if data]
    labels = Counter(map(str, own))
    known = f" ({', '.join(f'{times} {label:.10}' for label, times in labels.most_common())})"
    return f"graph: {', '.join(sizes)}{known if 0 < len(labels) <= _FEW else ''}"


_FEW = 4
"""Maximum number of distinct labels in a description."""


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def forget_views(thing: Any) -> None:
    """Drop the cached views of every networkx graph inside `thing`: they point back at the graph and cannot be saved.

    networkx makes them again when they are asked for.
    """
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


_VIEWS = ("nodes", "edges", "adj", "degree", "__networkx_cache__")


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
    nodes = frozenset((node, _attributes(data)) for node, data in graph.nodes(data=True))
    edges = frozenset((frozenset((u, v)), _attributes(data)) for u, v, data in graph.edges(data=True))
    return nodes, edges


def _attributes(data: dict[Any, Any]) -> Hashable:
    return tuple(sorted((str(name), repr(value)) for name, value in data.items()))


@dataclass
class FlatGraphs:
    """Many graphs one after the other; labels are numbers, equal for equal labels in every collection."""

    starts: np.ndarray
    """The first node of each graph, and the number of all nodes."""
    labels: np.ndarray
    """The label of each node."""
    ends: np.ndarray
    """Two rows, the nodes at both ends of each edge; every edge is there twice, once in each direction."""
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
    counts, node_codes, edge_codes = [], [], []
    firsts: list[int] = []
    seconds: list[int] = []
    offset = 0
    for i, graph in enumerate(graphs):
        number = {node: offset + j for j, node in enumerate(graph)}
        counts.append(len(number))
        offset += len(number)
        if node_label is not None:
            for node, data in graph.nodes(data=True):
                if node_label not in data:
                    raise ValueError(_unlabelled(f"node {node!r}", f"{name}[{i}]", node_label, "node_label"))
                node_codes.append(_code(data[node_label]))
        for u, v, data in graph.edges(data=True):
            firsts.append(number[u])
            seconds.append(number[v])
            if edge_label is not None:
                if edge_label not in data:
                    raise ValueError(_unlabelled(f"edge {(u, v)!r}", f"{name}[{i}]", edge_label, "edge_label"))
                edge_codes.append(_code(data[edge_label]))
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    a, b = np.asarray(firsts, dtype=np.intp), np.asarray(seconds, dtype=np.intp)
    loop = a == b  # an edge from a node to itself has one direction
    ends = np.stack([np.concatenate([a, b[~loop]]), np.concatenate([b, a[~loop]])])
    labels = np.asarray(node_codes, dtype=np.uint64) if node_label is not None else np.ones(offset, dtype=np.uint64)
    one_way = np.asarray(edge_codes, dtype=np.uint64) if edge_label is not None else np.ones(len(a), dtype=np.uint64)
    return FlatGraphs(starts, labels, ends, np.concatenate([one_way, one_way[~loop]]))


def _code(label: Hashable) -> int:
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


def _unlabelled(what: str, graph: str, attribute: str, parameter: str) -> str:
    return (
        f"{what} of {graph} has no attribute {attribute!r}; expected its label there. Name another attribute by {parameter}="
        "..., or pass None to ignore labels"
    )
