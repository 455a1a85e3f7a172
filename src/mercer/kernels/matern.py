"""The Matérn kernel on vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import Array, exp, namespace
from mercer.kernels.base import Constraint, row_blocks
from mercer.kernels.vectors import Gaussian


@dataclass(eq=False, repr=False)
class Matern(Gaussian):
    r"""The Matérn kernel, rougher than the Gaussian.

    With :math:`r = \sqrt{2\nu}\,\|x - z\| / s`,

    .. math:: k = (1 + r)\,e^{-r} \;(\nu = \tfrac32), \qquad
        (1 + r + r^2/3)\,e^{-r} \;(\nu = \tfrac52).

    Parameters
    ----------
    scale : float or "median"
        s, a distance; "median" as for `Gaussian`.
    nu : {1.5, 2.5}
        ν, the smoothness.

    Examples
    --------
    >>> Matern(scale=2.0)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.4834],
           [0.4834, 1.    ]])
    """

    constraints = Gaussian.constraints | {"nu": Constraint(lambda nu: nu in (1.5, 2.5), "1.5 or 2.5")}

    nu: float = 1.5

    def pointwise(self, x: Any, z: Any) -> float:
        """The Matérn function of two vectors."""
        xp = namespace(x)
        return float(self.of_distances(xp.reshape(xp.sum((x - z) ** 2), (1, 1)))[0, 0])

    def of_distances(self, distances: Array) -> Array:
        """The kernel of squared distances, over them."""
        xp, factor = namespace(distances), (2.0 * float(self.nu)) ** 0.5 / float(self.scale)
        for rows in row_blocks(distances):
            r = xp.sqrt(xp.clip(distances[rows, :], 0.0, None)) * factor
            polynomial = 1.0 + r if self.nu == 1.5 else 1.0 + r + r * r / 3.0
            distances[rows, :] = polynomial * exp(-r)
        return distances

    def slopes(self, distances: np.ndarray) -> np.ndarray:
        """Return g with ∇ₓ k(x, z) = g (x − z), for distances ‖x − z‖."""
        factor = (2.0 * float(self.nu)) ** 0.5 / float(self.scale)
        r = factor * distances
        return -(factor**2) * (1.0 if self.nu == 1.5 else (1.0 + r) / 3.0) * np.exp(-r)
