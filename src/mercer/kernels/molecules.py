"""Kernels on molecules by their fingerprints, and weights for features that are learned from data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from mercer.core.arrays import is_array, to_numpy
from mercer.core.collections import Collection
from mercer.kernels.base import Kernel
from mercer.structures.molecules.bits import bit_counts, tanimoto, weighted_tanimoto, words
from mercer.structures.molecules.fingerprints import KEPT, as_molecules, as_packed, check_fingerprint, fingerprints


class WeightedFeatures(Kernel):
    r"""A kernel with a weight for each feature: None, an array, or "idf", :math:`\log((1 + n) / (1 + n_b))`, learned from data.

    Of the n training objects, :math:`n_b` have feature b. A subclass defines `occurring`.
    """

    weights: Any
    feature: str
    """The name of a feature in error messages."""

    def occurring(self, X: Collection) -> np.ndarray:
        """The number of objects of a checked collection that have each feature."""
        raise TypeError(f"{type(self).__name__} must define occurring(X)")

    def check_parameters(self) -> None:
        """Raise ValueError unless the weights are None, "idf", or numbers from zero."""
        if self.weights is None or not self.is_resolved:
            return
        weights = to_numpy(self.weights) if is_array(self.weights) else np.empty(0)
        numbers = weights.ndim == 1 and weights.dtype.kind in "iuf" and len(weights) > 0
        self._require(numbers, "weights", f"None, 'idf' or a number for each {self.feature}")
        if not np.all(np.isfinite(weights)) or np.any(weights < 0):
            raise ValueError(
                f"weights in {type(self).__name__} are below zero or not finite; expected numbers from zero"
            )

    @property
    def is_resolved(self) -> bool:
        """True if the weights are numbers."""
        return is_array(self.weights) or self.weights != "idf"

    def _resolved(self, X: Collection) -> Self:
        if self.is_resolved:
            return self
        weights = np.log((1.0 + len(X)) / (1.0 + self.occurring(X)))
        return type(self)(**self.get_params(deep=False) | {"weights": weights})


class _Bits(NamedTuple):
    """Fingerprints by bytes, and by words of 64 bits."""

    packed: np.ndarray
    words: np.ndarray


@dataclass(eq=False, repr=False)
class Tanimoto(WeightedFeatures):
    r"""The share of fingerprint bits in common, :math:`k(x, z) = |x \cap z| / |x \cup z|`, each bit with its weight.

    Molecules are SMILES, read by rdkit, or rows of packed fingerprints (uint8, as by `numpy.packbits`); predictions
    have the form that was trained on. Positive semi-definite for any weights from zero. The Gaussian-Tanimoto kernel is
    ``GaussianOf(Tanimoto(), scale)``, :math:`\exp(-(1 - k)/s^2)`.

    Parameters
    ----------
    fingerprint : {"morgan", "features", "atom-pairs", "torsions", "paths", "maccs"}
        The meaning of a bit in the fingerprints made from SMILES (see `mercer.structures.molecules.fingerprints`).
    radius : int
        In bonds: how far "morgan" and "features" look, and the longest of "paths".
    bits : int
        Length of the fingerprints made from SMILES.
    weights : None, "idf" or array
        A weight for each bit. "idf" is :math:`\log((1 + n) / (1 + n_b))` with :math:`n_b` of the n training molecules having
        the bit: rare bits count more.

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
    feature = "bit"

    fingerprint: str = "morgan"
    radius: int = 2
    bits: int = 2048
    weights: Any = None

    def check_parameters(self) -> None:
        """Raise ValueError unless the fingerprint is known and the weights are numbers from zero."""
        check_fingerprint(self.fingerprint, self.radius, self.bits)
        super().check_parameters()

    def occurring(self, X: np.ndarray) -> np.ndarray:
        """The number of molecules that have each bit."""
        packed = self._packed(X)
        return sum(np.unpackbits(packed[start : start + 1024], axis=1).sum(0) for start in range(0, len(packed), 1024))

    def pointwise(self, x: Any, z: Any) -> float:
        """The weighted share of bits in common."""
        alone = (np.asarray(each)[None] if is_array(each) else as_molecules([each]) for each in (x, z))
        left, right = (np.unpackbits(self._packed(each)).astype(float) for each in alone)
        weights = np.ones(len(left)) if self.weights is None else to_numpy(self.weights)
        union = float(np.sum(weights * np.maximum(left, right)))
        return float(np.sum(weights * left * right)) / union if union > 0 else 1.0

    def sees(self, X: Collection) -> np.ndarray:
        """False for fingerprints without a bit."""
        return bit_counts(words(self._packed(self.check(X)))) > 0

    def _check(self, X: Collection, name: str) -> np.ndarray:
        molecules = as_molecules(X, name)
        if molecules.dtype == object and len(molecules) <= KEPT:
            # an error names the molecule that cannot be read; the fingerprints are kept for later
            fingerprints(molecules, self.fingerprint, self.radius, self.bits, name)
        return molecules

    def _encode(self, X: np.ndarray, name: str) -> _Bits:
        packed = self._packed(X, name)
        return _Bits(packed, words(packed))

    def _matrix(self, X: _Bits, Z: _Bits | None) -> np.ndarray:
        bits = 8 * X.packed.shape[1]
        if Z is not None and 8 * Z.packed.shape[1] != bits:
            raise ValueError(
                f"X has fingerprints of {bits} bits and Z of {8 * Z.packed.shape[1]}; expected one length. Set bits=... for "
                "SMILES"
            )
        if self.weights is None:
            return tanimoto(X.words, None if Z is None else Z.words)
        weights = to_numpy(self.weights).astype(float)
        if len(weights) != bits:
            raise ValueError(
                f"weights has {len(weights)} entries and the fingerprints have {bits} bits; expected one for each"
            )
        return weighted_tanimoto(X.packed, None if Z is None else Z.packed, weights)

    def _diag(self, X: _Bits) -> np.ndarray:
        return np.ones(len(X.packed))

    def _packed(self, X: np.ndarray, name: str = "X") -> np.ndarray:
        return as_packed(X, name, self.fingerprint, self.radius, self.bits)
