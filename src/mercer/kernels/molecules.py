"""Kernels on molecules: what two fingerprints have in common."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, is_array, to_numpy
from mercer.core.collections import Collection, hash_key
from mercer.kernels.base import Kernel
from mercer.structures.molecules.bits import bit_counts, tanimoto, weighted_tanimoto, words
from mercer.structures.molecules.fingerprints import KEPT, as_molecules, as_packed, check_fingerprint, fingerprints


@dataclass(eq=False, repr=False)
class Tanimoto(Kernel):
    r"""The share of fingerprint bits in common, :math:`k(x, z) = |x \cap z| / |x \cup z|`, each bit with its weight.

    Molecules are SMILES, read by rdkit, or rows of packed fingerprints (uint8, as by `numpy.packbits`); predictions
    come back in the form that was trained on. Positive semi-definite for any weights from zero. The Gaussian-Tanimoto kernel is
    ``GaussianOf(Tanimoto(), scale)``, :math:`\exp(-(1 - k)/s^2)`.

    Parameters
    ----------
    fingerprint : {"morgan", "features", "atom-pairs", "torsions", "paths", "maccs"}
        What a bit stands for in the fingerprints made from SMILES (see `mercer.structures.molecules.fingerprints`).
    radius : int
        In bonds: how far "morgan" and "features" look, and the longest of "paths".
    bits : int
        Length of the fingerprints made from SMILES.
    weights : None, "idf" or array
        A weight for each bit. "idf" is :math:`\log((1 + n) / (1 + n_b))` with :math:`n_b` of the n training molecules having
        the bit: what is rare tells more.

    Examples
    --------
    >>> Tanimoto()(["CCO", "CCN", "c1ccccc1"]).round(2)
    array([[1.  , 0.33, 0.  ],
           [0.33, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    >>> Tanimoto()(np.packbits([[1, 1, 0, 0], [1, 1, 1, 1]], axis=1))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    is_psd = True

    fingerprint: str = "morgan"
    radius: int = 2
    bits: int = 2048
    weights: Any = None

    def check_parameters(self) -> None:
        """A known fingerprint, and weights that are finite and not below zero."""
        check_fingerprint(self.fingerprint, self.radius, self.bits)
        if self.weights is None or (isinstance(self.weights, str) and self.weights == "idf"):
            return
        weights = to_numpy(self.weights) if is_array(self.weights) else None
        if weights is None or weights.ndim != 1 or weights.dtype.kind not in "iuf":
            raise ValueError(f"weights={self.weights!r:.60} in Tanimoto; expected None, 'idf' or a number for each bit")
        if not np.all(np.isfinite(weights)) or np.any(weights < 0):
            raise ValueError("weights in Tanimoto has entries below zero or not finite; expected numbers from zero")

    @property
    def is_resolved(self) -> bool:
        """Whether the weights are numbers."""
        return not isinstance(self.weights, str)

    def check(self, X: Collection, name: str = "X") -> np.ndarray:
        """`X` as SMILES, or as packed rows."""
        molecules = as_molecules(X, name)
        if molecules.dtype == object and len(molecules) <= KEPT:
            # read now, while it is known what they are called; they are kept for later
            fingerprints(molecules, self.fingerprint, self.radius, self.bits, name)
        return molecules

    def key(self, x: Any) -> Hashable:
        """SMILES are told apart as text, fingerprints by their bits."""
        return hash_key(x)

    def pointwise(self, x: Any, z: Any) -> float:
        """The weighted share of bits in common."""
        left, right = (np.unpackbits(self._packed(_one(each)))[:].astype(float) for each in (x, z))
        weights = np.ones(len(left)) if self.weights is None else to_numpy(self.weights)
        union = float(np.sum(weights * np.maximum(left, right)))
        return float(np.sum(weights * left * right)) / union if union > 0 else 1.0

    def _matrix(self, X: Collection, Z: Collection | None) -> Array:
        left, right = self._packed(X), None if Z is None else self._packed(Z)
        if right is not None and right.shape[1] != left.shape[1]:
            raise ValueError(
                f"X has fingerprints of {8 * left.shape[1]} bits and Z of {8 * right.shape[1]}; expected one length. Set bits="
                "... for SMILES"
            )
        if self.weights is None:
            return tanimoto(words(left), None if right is None else words(right))
        weights = to_numpy(self.weights).astype(float)
        if len(weights) != 8 * left.shape[1]:
            raise ValueError(
                f"weights has {len(weights)} entries and the fingerprints have {8 * left.shape[1]} bits; expected one for each"
            )
        return weighted_tanimoto(left, right, weights)

    def _diag(self, X: Collection) -> Array:
        return np.ones(len(X))

    def _packed(self, X: Collection) -> np.ndarray:
        return as_packed(X, "X", self.fingerprint, self.radius, self.bits)

    def _resolved(self, X: Collection) -> Self:
        if not isinstance(self.weights, str):
            return self
        packed = self._packed(X)
        having = sum(
            np.unpackbits(packed[start : start + 1024], axis=1).sum(0) for start in range(0, len(packed), 1024)
        )
        parameters = self.get_params(deep=False) | {"weights": np.log((1.0 + len(packed)) / (1.0 + having))}
        return type(self)(**parameters)

    def sees(self, X: Collection) -> np.ndarray:
        """False for fingerprints without a bit."""
        return bit_counts(words(self._packed(self.check(X)))) > 0


def _one(molecule: Any) -> np.ndarray:
    if isinstance(molecule, str):
        alone = np.empty(1, dtype=object)
        alone[0] = molecule
        return alone
    return np.asarray(molecule)[None]
