"""Any kernel of the package GraKeL on networkx graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.core.collections import Collection
from mercer.kernels.base import _same
from mercer.kernels.graphs import GraphKernel
from mercer.structures.graphs import flatten


@dataclass(eq=False, repr=False)
class FromGraKeL(GraphKernel):
    """A kernel of GraKeL, fitted anew for every Gram matrix: of two collections to the second one.

    `WeisfeilerLehman`, `ShortestPath` and `RandomWalk` of this library are the same kernels, and faster; this is the door to the
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

    kernel: Any
    node_label: str | None = "label"
    edge_label: str | None = None

    @property
    def is_psd(self) -> bool:  # type: ignore[override]
        """Not known of a kernel of another library: it is measured."""
        return False

    def check_parameters(self) -> None:
        """Something with GraKeL's interface, and names of attributes."""
        super().check_parameters()
        if not hasattr(self.kernel, "fit_transform") or not hasattr(self.kernel, "transform"):
            raise TypeError(f"kernel={self.kernel!r:.60} in FromGraKeL; expected a kernel of grakel.kernels")

    def pointwise(self, x: Any, z: Any) -> float:
        """The kernel of two graphs."""
        pair = np.empty(2, dtype=object)
        pair[0], pair[1] = x, z
        return float(self._matrix(pair[:1], pair[1:])[0, 0])

    def __eq__(self, other: object) -> bool:
        # kernels of GraKeL are equal only to themselves
        if not isinstance(other, FromGraKeL) or type(self.kernel) is not type(other.kernel):
            return False
        own, others = ((k.kernel.get_params(deep=False), k.node_label, k.edge_label) for k in (self, other))
        return _same(own, others)

    __hash__ = None  # type: ignore[assignment]

    def _matrix(self, X: Collection, Z: Collection | None) -> np.ndarray:
        kernel = clone(self.kernel)
        if Z is None:
            gram = np.asarray(kernel.fit_transform(self._converted(X, "X")), dtype=float)
            return (gram + gram.T) / 2
        return np.asarray(kernel.fit(self._converted(Z, "Z")).transform(self._converted(X, "X")), dtype=float)

    def _diag(self, X: Collection) -> np.ndarray:
        kernel = clone(self.kernel)
        kernel.fit_transform(self._converted(X, "X"))
        return np.asarray(kernel.diagonal(), dtype=float).reshape(len(X), -1)[:, 0]

    def _converted(self, X: Collection, name: str) -> list[Any]:
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
