"""The one ridge problem of the library, for all ridges at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from mercer.core import memory
from mercer.core.arrays import Array, eye, like, namespace, to_numpy
from mercer.core.collections import take
from mercer.core.gram_eigh import GramEigh
from mercer.kernels.grams import row_blocks
from mercer.operators.base import OperatorSpectrum
from mercer.solvers.filters import Filters

_BLOCK = 512
"""Columns worked on at a time where a whole n×r temporary would not be needed."""

_SEEN_PAST = 1e-5
"""Least 1 − Hⱼⱼ, beside the largest it could be, for which ridges may be worked on together."""


class Ridge:
    r"""Vector-valued kernel ridge regression, :math:`k Z C + \alpha Z = V`, :math:`h(x) = k_x^\top Z C`.

    With :math:`k = U S U^\top` and :math:`C = Q\,\mathrm{diag}(c)\,Q^\top` the smoother of output direction a is
    :math:`I - U\,\mathrm{diag}(R_{\cdot a})\,U^\top`, :math:`R_{ia} = \alpha / (s_i c_a + \alpha)`, and everything (the
    coefficients, exact leave-one-out, folds, GCV) follows from R.

    Parameters
    ----------
    spectrum : GramEigh
        The decomposed input Gram matrix.
    targets : array (n, r), optional
        V. None stands for the n×n identity: then points are weights on the training outputs.
    operator : OperatorSpectrum, optional
        C; None for the identity.
    penalty : {"function", "coefficients"}
        What the ridge penalises: the norm of the function (:math:`k + \alpha I`), or the sum of squared coefficients
        (:math:`k^2 + \alpha I`, Weston's technical report).
    inside : array (m, r), optional
        :math:`U^\top V`, where it has been computed already.
    """

    def __init__(
        self,
        spectrum: GramEigh,
        targets: Array | None,
        operator: OperatorSpectrum | None = None,
        penalty: str = "function",
        inside: Array | None = None,
    ) -> None:
        self.spectrum = spectrum
        self.penalty = penalty
        self.rotation = operator.vectors if operator is not None else None
        xp = namespace(spectrum.values)
        self.gains = xp.ones_like(spectrum.values[:1]) if operator is None else operator.values
        self.targets = targets
        if targets is None:
            self.inside = spectrum.vectors.T
        else:
            self.inside = self._rotate(spectrum.inside(targets) if inside is None else inside)

    # -- filters ------------------------------------------------------------------------------------

    def _residual(self, alpha: float) -> Array:
        """R, of shape (m, 1) or (m, r)."""
        s = self.spectrum.values[:, None]
        return alpha / (s * s + alpha) if self.penalty == "coefficients" else alpha / (s * self.gains + alpha)

    def _gained(self, alpha: float) -> Array:
        """(1 − R) / s applied to UᵀV: the coefficients on k_x U."""
        s = self.spectrum.values[:, None]
        if self.penalty == "coefficients":
            return self.inside * (s / (s * s + alpha))
        gained = namespace(self.inside).empty_like(self.inside)
        for rows in row_blocks(gained):
            gained[rows, :] = self.gains / (s[rows, :] * self.gains + alpha) * self.inside[rows, :]
        return gained

    def _rotate(self, points: Array) -> Array:
        return points if self.rotation is None else points @ self.rotation

    def _unrotate(self, points: Array) -> Array:
        return points if self.rotation is None else points @ self.rotation.T

    # -- results for one ridge ------------------------------------------------------------------------

    def coefficients(self, alpha: float) -> Array:
        """B with h(x) = k_x B, kernel values against the basis inputs."""
        return self.spectrum.basis @ self._unrotate(self._gained(alpha))

    def leave_one_out(self, alpha: float) -> Array:
        """h₋ⱼ(xⱼ) for each training pair: the point predicted for it by the fit without it. C is held fixed."""
        xp = namespace(self.inside)
        if self.targets is None:
            smoother, diagonal = self._smoother(alpha)
            points = -smoother / diagonal[:, None]
            return _with_zero_diagonal(points)
        return self.targets - self._unrotate(xp.concat(list(self._loo_blocks(alpha)), axis=1))

    def leave_one_out_risk(self, alpha: float, gram: Array | None = None) -> Array:
        """‖h₋ⱼ(xⱼ) − ψ(yⱼ)‖² for each training pair. `gram` is L, needed only when there are no targets."""
        return next(self.leave_one_out_risks([alpha], gram))

    def leave_one_out_risks(self, alphas: Sequence[float], gram: Array | None = None) -> Iterator[Array]:
        """`leave_one_out_risk` of each alpha in turn; alphas that share a matrix product are worked on together."""
        if self.targets is None:
            assert gram is not None
            for alpha in alphas:
                yield self._quadratic(alpha, gram) / self._diagonal(self._residual(alpha))[:, 0] ** 2
            return
        if self.gains.shape[0] == 1:
            yield from self._risks_filtered(alphas)
            return
        # side by side in no more than one n×n matrix, shared out evenly
        most = max(1, self.targets.shape[0] // self.targets.shape[1])
        for some in np.array_split(np.asarray(alphas), -(-len(alphas) // most)):
            yield from self._risks_together(some.tolist())

    def generalized_risk(self, alpha: float, gram: Array | None = None) -> float:
        """Generalised cross-validation: the mean squared residual over the squared mean of 1 − Hⱼⱼ."""
        xp = namespace(self.inside)
        n = self.spectrum.vectors.shape[0]
        residual = self._residual(alpha)
        free = float(xp.mean(xp.sum(residual, axis=0))) + n - self.spectrum.values.shape[0]
        if self.targets is None:
            assert gram is not None
            squares = float(xp.sum(self._quadratic(alpha, gram)))
        else:
            squares = sum(float(xp.sum(r * r)) for r in self._residual_blocks(residual))
        return squares / n / (free / n) ** 2

    def fold_residuals(self, alpha: float, folds: Sequence[np.ndarray]) -> list[Array]:
        """ψ(y) − h₋B(x) in coordinates for each fold B, fitted without it: ((S)_BB)⁻¹ (S V)_B. Identity operator only."""
        xp = namespace(self.inside)
        smoother, _ = self._smoother(alpha)
        result = []
        for fold in folds:
            rows = take(smoother, fold)
            block = take(rows.T, fold).T
            right = rows if self.targets is None else rows @ self.targets
            result.append(xp.linalg.solve(block, right))
        return result

    # -- pieces -------------------------------------------------------------------------------------

    def _smoother(self, alpha: float) -> tuple[Array, Array]:
        """S = I − H (identity operator) and its diagonal."""
        vectors, residual = self.spectrum.vectors, self._residual(alpha)
        n = vectors.shape[0]
        memory.require(
            n, n, 2, "the weights of every pair left out", "give outputs coordinates: embedding=Pivoted(rank)"
        )
        if self.spectrum.complete:
            smoother = (vectors * residual[:, 0]) @ vectors.T
        else:
            smoother = eye(vectors.shape[0], vectors) - (vectors * (1.0 - residual[:, 0])) @ vectors.T
        return smoother, self._diagonal(residual)[:, 0]

    def _diagonal(self, residual: Array) -> Array:
        """1 − Hⱼⱼ for each training pair and output direction."""
        xp = namespace(residual)
        if not hasattr(self, "_squares"):
            self._squares = self.spectrum.vectors**2
        squares = self._squares
        inside = squares @ residual
        return inside if self.spectrum.complete else inside + (1.0 - xp.sum(squares, axis=1))[:, None]

    def _risks_filtered(self, alphas: Sequence[float]) -> list[Array]:
        """The risks of many alphas where one filter serves all output directions."""
        xp = namespace(self.inside)
        residuals = xp.concat([self._residual(float(alpha)) for alpha in alphas], axis=1)
        vectors, diagonals = self.spectrum.vectors, self._diagonal(residuals)
        if self.spectrum.complete:
            largest = xp.max(residuals, axis=0)
            diagonals = diagonals / largest
            squares = Filters(residuals / largest).squared_norms(vectors, self.inside)
        else:
            squares = Filters(residuals - 1.0).squared_norms(vectors, self.inside, self._rotated)
        # a pair that the fit hardly sees past divides by next to nothing, and rounding shows
        sound = to_numpy(xp.min(diagonals, axis=0)) > _SEEN_PAST
        return [
            squares[:, i] / diagonals[:, i] ** 2 if sound[i] else self._risk(float(alpha))
            for i, alpha in enumerate(alphas)
        ]

    def _risk(self, alpha: float) -> Array:
        """The risk of one alpha, product by product."""
        xp = namespace(self.inside)
        return sum(xp.sum(r * r, axis=1) for r in self._loo_blocks(alpha))

    def _risks_together(self, alphas: Sequence[float]) -> list[Array]:
        """The risks of a few alphas; narrow targets are put side by side, since one wide product is the faster."""
        xp = namespace(self.inside)
        if len(alphas) == 1:
            return [self._risk(float(alphas[0]))]
        vectors, complete = self.spectrum.vectors, self.spectrum.complete
        residuals = xp.stack([self._residual(float(alpha)) for alpha in alphas], axis=1)
        diagonals = self._diagonal(xp.reshape(residuals, (residuals.shape[0], -1)))
        diagonals = xp.reshape(diagonals, (vectors.shape[0], *residuals.shape[1:]))
        wide = (residuals if complete else residuals - 1.0) * self.inside[:, None, :]
        left = vectors @ xp.reshape(wide, (wide.shape[0], -1))
        left = xp.reshape(left, (vectors.shape[0], *wide.shape[1:]))
        left = (left if complete else self._rotated[:, None, :] + left) / diagonals
        risks = xp.vecdot(left, left)
        return [risks[:, i] for i in range(len(alphas))]

    @cached_property
    def _rotated(self) -> Array:
        """V Q, wanted only where the eigenvectors do not span everything."""
        return self._rotate(self.targets)

    def _residual_blocks(self, residual: Array) -> Iterator[Array]:
        """Blocks of columns of (V − H V) Q."""
        vectors = self.spectrum.vectors
        columns = self.inside.shape[1]
        for start in range(0, columns, _BLOCK):
            part = slice(start, min(start + _BLOCK, columns))
            column = residual if residual.shape[1] == 1 else residual[:, part]
            if self.spectrum.complete:
                yield vectors @ (column * self.inside[:, part])
            else:
                yield self._rotated[:, part] - vectors @ ((1.0 - column) * self.inside[:, part])

    def _loo_blocks(self, alpha: float) -> Iterator[Array]:
        """Blocks of columns of what is left of V Q when each pair is left out."""
        residual = self._residual(alpha)
        shared = self._diagonal(residual) if residual.shape[1] == 1 else None
        start = 0
        for part in self._residual_blocks(residual):
            width = part.shape[1]
            diagonal = shared if shared is not None else self._diagonal(residual[:, start : start + width])
            start += width
            yield part / diagonal

    def _quadratic(self, alpha: float, gram: Array) -> Array:
        """(S L S)ⱼⱼ for each training pair: one product of n×n matrices."""
        vectors, residual = self.spectrum.vectors, self._residual(alpha)[:, 0]
        gram = like(gram, vectors)
        xp = namespace(gram)
        if not hasattr(self, "_half"):
            self._half = vectors.T @ gram
            self._whole = self._half @ vectors
        if self.spectrum.complete:
            middle = self._whole * residual * residual[:, None]
            return xp.sum((vectors @ middle) * vectors, axis=1)
        kept = vectors * (1.0 - residual)
        square = xp.sum((kept @ self._whole) * kept, axis=1)
        return xp.linalg.diagonal(gram) - 2.0 * xp.sum(kept * self._half.T, axis=1) + square


def _with_zero_diagonal(matrix: Array) -> Array:
    """Leave-one-out weights have no weight on the pair left out; rounding is cleared."""
    return matrix * (1.0 - eye(matrix.shape[0], matrix))
