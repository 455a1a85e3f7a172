"""The kernel of common walks in two graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.collections import Collection
from mercer.core.compiled import compiled
from mercer.core.threads import in_threads
from mercer.kernels._scales import require_positive
from mercer.kernels.graphs import GraphKernel
from mercer.structures.graphs import FlatGraphs, flatten

_ENOUGH = 1e-13
"""Share of the kernel value that further steps may still add when the sum is stopped."""

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
        """A decay above zero, and the name of an attribute."""
        super().check_parameters()
        require_positive(self.decay, "decay", self)

    def pointwise(self, x: Any, z: Any) -> float:
        """The kernel of two graphs, from the product graph itself."""
        import networkx as nx

        labels = [[0 if self.node_label is None else g.nodes[v][self.node_label] for v in g] for g in (x, z)]
        same = np.array([[a == b for b in labels[1]] for a in labels[0]]).ravel()
        product = np.kron(*(nx.to_numpy_array(g, weight=None) for g in (x, z)))[np.ix_(same, same)]
        return float(np.linalg.solve(np.eye(len(product)) - self.decay * product, np.ones(len(product))).sum())

    def sees(self, X: Collection) -> np.ndarray:
        """True: every node is a walk."""
        return np.ones(len(self.check(X)), dtype=bool)

    def _matrix(self, X: Collection, Z: Collection | None) -> np.ndarray:
        left = flatten(X, self.node_label, None)
        right = left if Z is None else flatten(Z, self.node_label, None, "Z")
        self._require_finite(left, right)
        gram = np.empty((len(X), len(right.starts) - 1))
        sides = (*_packed(left), *_packed(right))
        room = int(left.sizes.max()) * int(right.sizes.max())

        def fill(rows: np.ndarray) -> None:
            _add_walks(*sides, float(self.decay), rows, Z is None, np.empty(room), np.empty(room), np.empty(room), gram)

        in_threads(fill, len(X), float(left.starts[-1]) * float(right.starts[-1]) > _SMALL)
        return gram

    def _diag(self, X: Collection) -> np.ndarray:
        return np.asarray([self._matrix(X[i : i + 1], None)[0, 0] for i in range(len(X))])

    def _require_finite(self, left: FlatGraphs, right: FlatGraphs) -> None:
        first, second = (largest_eigenvalue(side) for side in (left, right))
        if self.decay * first * second >= 1.0:
            raise ValueError(
                f"decay={self.decay!r} in RandomWalk, and the largest eigenvalues of the graphs are {first:.4g} and "
                f"{second:.4g}: the sum over walks has no end. Expected a decay below {1.0 / (first * second):.4g}"
            )


def largest_eigenvalue(flat: FlatGraphs) -> float:
    """The largest eigenvalue of all the adjacency matrices."""
    return max(float(np.linalg.eigvalsh(matrices)[:, -1].max()) for _, matrices in flat.adjacencies())


def _packed(flat: FlatGraphs) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Starts of the graphs, labels, and the neighbours of each node as numbers within its graph, with their starts."""
    order = np.argsort(flat.ends[0], kind="stable")
    here, there = flat.ends[:, order]
    firsts = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=int(flat.starts[-1])))]).astype(np.intp)
    return flat.starts, flat.labels, firsts, there - flat.starts[flat.graph_of[there]]


@compiled
def _add_walks(  # type: ignore[no-untyped-def]
    starts, labels, firsts, there, other_starts, other_labels, other_firsts, other_there, decay, rows, symmetric,
    value, half, term, gram,
):  # fmt: skip
    """The sum over n of decayⁿ 1ᵀAⁿ1 for some rows: one step in one graph, then one in the other, again and again."""
    for i in rows:
        a, n = starts[i], starts[i + 1] - starts[i]
        for j in range(i + 1 if symmetric else len(other_starts) - 1):
            b, m = other_starts[j], other_starts[j + 1] - other_starts[j]
            total = 0.0
            for u in range(n):
                for v in range(m):
                    same = 1.0 if labels[a + u] == other_labels[b + v] else 0.0
                    value[u * m + v] = same
                    term[u * m + v] = same
                    total += same
            added, before = total, 0.0
            while added > 0.0:
                for u in range(n):
                    for v in range(m):
                        half[u * m + v] = 0.0
                    for p in range(firsts[a + u], firsts[a + u + 1]):
                        for v in range(m):
                            half[u * m + v] += term[there[p] * m + v]
                before, added = added, 0.0
                for u in range(n):
                    for v in range(m):
                        if value[u * m + v] == 0.0:
                            continue
                        step = 0.0
                        for q in range(other_firsts[b + v], other_firsts[b + v + 1]):
                            step += half[u * m + other_there[q]]
                        term[u * m + v] = decay * step
                        added += decay * step
                total += added
                # what is left shrinks at least as fast as it did in the last step, once that is settled
                if added < before and added * added / (before - added) < _ENOUGH * total:
                    break
            gram[i, j] = total
            if symmetric:
                gram[j, i] = total
