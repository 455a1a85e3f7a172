"""The identity operator."""

from __future__ import annotations

from mercer.core.arrays import Array, eye
from mercer.operators.base import OperatorSpectrum, Outputs, SeparableOperator


class Identity(SeparableOperator):
    r"""Output features learned alone, :math:`K(x, z) = k(x, z)\,I` (Cortes et al. 2005; IOKR).

    Examples
    --------
    >>> Identity()
    Identity()
    """

    is_identity = True

    def matrix(self, outputs: Outputs) -> Array:
        """Return the identity matrix."""
        return eye(outputs.coordinates.shape[1], outputs.coordinates)

    def spectrum(self, outputs: Outputs) -> OperatorSpectrum | None:
        """Return None: there is nothing to decompose."""
        return None
