"""Many ridges through few filters: a path of ridges costs fewer products than it has ridges."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.core.arrays import Array, namespace

_GROUPS = 4
"""Neighbouring eigenvalues that are compressed together: filters are the smoother the less they span."""

_ROWS = 256
"""Pairs worked on at a time."""


@dataclass
class _Group:
    """Filters at some of the eigenvalues, as a few that all are combinations of."""

    part: slice
    few: Array
    mix: Array


class Filters:
    r"""The products :math:`U\,\mathrm{diag}(F_{\cdot t})\,W` for many filters t at once.

    The filters of a path of ridges, :math:`F_{it} = \alpha_t / (s_i + \alpha_t)`, are smooth in s. On a group of neighbouring
    eigenvalues they are combinations of a few, to rounding: fifty ridges take about twenty products with U.

    Parameters
    ----------
    filters : array (m, t)
        F, in the order of the eigenvalues, none above one in size: what is below rounding beside one is lost.
    """

    def __init__(self, filters: Array) -> None:
        xp = namespace(filters)
        m, t = filters.shape
        rounding = float(xp.finfo(filters.dtype).eps) * (m * t) ** 0.5
        self.groups = []
        for g in range(min(_GROUPS, m)):
            part = slice(g * m // min(_GROUPS, m), (g + 1) * m // min(_GROUPS, m))
            left, sizes, right = xp.linalg.svd(filters[part, :], full_matrices=False)
            rank = max(1, int(xp.sum(xp.astype(sizes > rounding, xp.int64))))
            mix = sizes[:rank, None] * right[:rank, :]
            self.groups.append(_Group(part, left[:, :rank], mix))
        self.mix = xp.concat([group.mix for group in self.groups], axis=0).T

    def squared_norms(self, vectors: Array, inside: Array, added: Array | None = None) -> Array:
        """‖(U diag(F_t) W + added)ⱼ‖² for each row j and each filter t; `added` has a row for each of U."""
        xp = namespace(vectors)
        n, columns = vectors.shape[0], inside.shape[1]
        # the columns in hand, times the filters of the longest group, take no more than one matrix of the size of U
        width = max(1, vectors.shape[1] // max(group.few.shape[1] for group in self.groups))
        total = 0.0
        for first in range(0, columns, width):
            some = slice(first, min(first + width, columns))
            wide = [_wide(group, inside[group.part, some]) for group in self.groups]
            found = []
            for start in range(0, n, _ROWS):
                rows = slice(start, min(start + _ROWS, n))
                parts = [
                    xp.reshape(vectors[rows, group.part] @ filtered, (rows.stop - start, -1, some.stop - first))
                    for group, filtered in zip(self.groups, wide, strict=True)
                ]
                left = self.mix @ xp.concat(parts, axis=1)
                left = left if added is None else left + added[rows, None, some]
                found.append(xp.vecdot(left, left))
            total = total + xp.concat(found, axis=0)
        return total


def _wide(group: _Group, inside: Array) -> Array:
    """The rows of W under each of the few filters, side by side."""
    xp = namespace(inside)
    return xp.reshape(group.few[:, :, None] * inside[:, None, :], (inside.shape[0], -1))
