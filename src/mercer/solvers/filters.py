"""Products with the filters of many values of alpha, by fewer products than there are values."""

from __future__ import annotations

from typing import Any

from mercer.core.arrays import Array, namespace
from mercer.core.gram_eigh import GramEigh

_GROUPS = 4  # groups of neighbouring eigenvalues; filters are smoother over a shorter range
_ROWS = 256  # pairs that are worked on at a time


class Filters:
    r"""The products :math:`U\,\mathrm{diag}(F_{\cdot t})\,W` for many filters t at once.

    The filters of a path, :math:`F_{it} = \alpha_t / (s_i + \alpha_t)`, are smooth in s. At neighbouring eigenvalues they are
    combinations of a few, to rounding: fifty values of alpha take about twenty products with U. F is given in the order of the
    eigenvalues, with entries of size one at most; rounding is that of one.
    """

    def __init__(self, filters: Array) -> None:
        xp = namespace(filters)
        m, t = filters.shape
        rounding = float(xp.finfo(filters.dtype).eps) * (m * t) ** 0.5
        self.groups, mixes, groups = [], [], min(_GROUPS, m)
        for g in range(groups):
            part = slice(g * m // groups, (g + 1) * m // groups)
            left, sizes, right = xp.linalg.svd(filters[part, :], full_matrices=False)
            rank = max(1, int(xp.sum(xp.astype(sizes > rounding, xp.int64))))
            self.groups.append((part, left[:, :rank]))
            mixes.append(sizes[:rank, None] * right[:rank, :])
        self.mix = xp.concat(mixes, axis=0).T

    def squared_norms(self, vectors: Array, inside: Array, added: Array | None = None) -> Array:
        """Return ‖(U diag(F_t) W + added)ⱼ‖² for each row j and each filter t."""
        xp = namespace(vectors)
        n, columns = vectors.shape[0], inside.shape[1]
        # columns times the filters of the longest group take at most one matrix of the size of U
        width = max(1, vectors.shape[1] // max(few.shape[1] for _, few in self.groups))
        total: Any = 0.0
        for first in range(0, columns, width):
            some = slice(first, min(first + width, columns))
            # the rows of W under each of the few filters, side by side
            wide = [
                xp.reshape(few[:, :, None] * inside[part, None, some], (few.shape[0], -1)) for part, few in self.groups
            ]
            found = []
            for start in range(0, n, _ROWS):
                rows = slice(start, min(start + _ROWS, n))
                parts = [
                    xp.reshape(vectors[rows, part] @ filtered, (rows.stop - start, -1, some.stop - first))
                    for (part, _), filtered in zip(self.groups, wide, strict=True)
                ]
                left = self.mix @ xp.concat(parts, axis=1)
                left = left if added is None else left + added[rows, None, some]
                found.append(xp.vecdot(left, left))
            total = total + xp.concat(found, axis=0)
        return total


def inside_gram(gram: Array, spectrum: GramEigh, roots: Array | None) -> tuple[Array, Array, Array]:
    """Return the diagonal of √w L √w orthogonal to the constant, and its products with Uᵀ on the left and U on both sides."""
    vectors, along = spectrum.vectors, spectrum.constant
    gram = gram if roots is None else gram * roots * roots[:, None]
    if along is not None:
        level = gram @ along
        half = level - 0.5 * float(along @ level) * along
        gram = gram - along[:, None] * half - half[:, None] * along
    inside = vectors.T @ gram
    xp = namespace(gram)
    return xp.asarray(xp.linalg.diagonal(gram), copy=True), inside, inside @ vectors
