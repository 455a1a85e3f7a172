"""Any kernel of the package GraKeL on networkx graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.kernels.base import same
from mercer.kernels.graphs import GraphKernel
from mercer.structures.graphs import flatten


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

    kernel: Any
    node_label: str | None = "label"
    edge_label: str | None = None

    def check_parameters(self) -> None:
        """Raise TypeError unless the kernel has GraKeL's interface and labels are given by names."""
        super().check_parameters()
        usable = hasattr(self.kernel, "fit_transform") and hasattr(self.kernel, "transform")
        self._require(usable, "kernel", "a kernel of grakel.kernels", TypeError)

    def pointwise(self, x: Any, z: Any) -> float:
        """The kernel of two graphs."""
        return float(self([x], [z])[0, 0])

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
            raise ImportError("FromGraKeL needs GraKeL; run 'pip install mercer[graphs]'") from error

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
