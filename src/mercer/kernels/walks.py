"""The kernel of common walks in two graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from mercer.core.compiled import compiled
from mercer.core.threads import in_threads
from mercer.kernels.graphs import GraphKernel
from mercer.structures.graphs import FlatGraphs, flatten

_ENOUGH = 1e-13
"""Share of the kernel value that is left out when the sum is stopped."""

_SMALL = 2e4
"""Pairs of nodes for which a second thread is not worth starting."""


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

    decay: float = 0.05
    node_label: str | None = "label"

    def check_parameters(self) -> None:
        """Raise an error unless the decay is above zero and labels are given by a name."""
        super().check_parameters()
        self._require_positive("decay")

    def pointwise(self, x: Any, z: Any) -> float:
        """The kernel of two graphs, from the product graph itself."""
        import networkx as nx

        labels = [[0 if self.node_label is None else g.nodes[v][self.node_label] for v in g] for g in (x, z)]
        same = np.array([[a == b for b in labels[1]] for a in labels[0]]).ravel()
        product = np.kron(*(nx.to_numpy_array(g, weight=None) for g in (x, z)))[np.ix_(same, same)]
        return float(np.linalg.solve(np.eye(len(product)) - self.decay * product, np.ones(len(product))).sum())

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
