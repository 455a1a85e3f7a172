"""Covariance and conditional covariance operators (Kadri et al. 2013)."""

from __future__ import annotations

import sys

from mercer.core.arrays import Array, namespace
from mercer.core.validation import check_real
from mercer.operators.base import OperatorSpectrum, Outputs, SeparableOperator


class Covariance(SeparableOperator):
    r"""Output features weighted by their covariance, :math:`K(x, z) = k(x, z)\,C_{YY}` (Kadri eq. 5).

    In coordinates :math:`C = V^\top V / N`. This is ridge regression along each principal direction of the outputs, with
    α/cᵢ in the i-th: Weston's decomposition with smooth shrinkage in place of a cut-off.

    Parameters
    ----------
    centered : bool, default=False
        Subtract the mean output first, as an intercept does anyway. The paper does not.

    Examples
    --------
    >>> Covariance()
    Covariance()
    """

    wants_orthogonal = True

    def __init__(self, centered: bool = False) -> None:
        self.centered = centered

    def matrix(self, outputs: Outputs) -> Array:
        """Return VᵀV / N over all outputs, including those without inputs."""
        rows = outputs.around_mean(outputs.coordinates.shape[0]) if self.centered else outputs.coordinates
        return rows.T @ rows / outputs.weight

    def spectrum(self, outputs: Outputs) -> OperatorSpectrum | None:
        """Return the eigendecomposition, which is known if the columns of V are orthogonal."""
        if self.centered or not outputs.orthogonal:
            return super().spectrum(outputs)
        rows = outputs.coordinates
        return OperatorSpectrum(namespace(rows).sum(rows * rows, axis=0) / outputs.weight, None)


class ConditionalCovariance(SeparableOperator):
    r"""Output features weighted by their covariance given the inputs (Kadri eq. 7).

    .. math:: C_{Y|X} = C_{YY} - C_{YX} C_{XX}^{-1} C_{XY}, \qquad C = V^\top \epsilon\,(k + n\epsilon I)^{-1} V

    estimated on the paired outputs; outputs without inputs improve the coordinates only.

    Parameters
    ----------
    eps : float, default=0.01
        ε > 0, which makes the covariance of the inputs invertible.
    centered : bool, default=False
        Subtract the mean output first, as an intercept does anyway. The paper does not.

    Examples
    --------
    >>> ConditionalCovariance(eps=0.1)
    ConditionalCovariance(eps=0.1)
    """

    def __init__(self, eps: float = 0.01, centered: bool = False) -> None:
        self.eps = eps
        self.centered = centered

    def matrix(self, outputs: Outputs) -> Array:
        """Return Vᵀ ε (k + nεI)⁻¹ V."""
        n, inputs = outputs.paired_weight, outputs.inputs
        expected = f"a positive number, finite when multiplied by the {outputs.paired} pairs"
        check_real(self.eps, "eps", 0.0, sys.float_info.max / n, expected=expected)
        rows = outputs.around_mean(outputs.paired) if self.centered else outputs.coordinates[: outputs.paired, :]
        inside = inputs.inside(rows) if self.centered else outputs.inside
        whitened = inputs.whitened(inside, n * self.eps)
        matrix = whitened.T @ whitened * self.eps
        if inputs.complete:
            return matrix
        # the inputs explain nothing outside the span of U
        outside = rows - inputs.outside(inside)
        return matrix + outside.T @ outside / n
