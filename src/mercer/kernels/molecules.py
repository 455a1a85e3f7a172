"""Kernels on molecules by their fingerprints, and on mass spectra by their peaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from mercer.core.arrays import is_array, to_numpy
from mercer.core.collections import Collection
from mercer.kernels._sparse import FeatureKernel, Features, SparseRows, products
from mercer.kernels.base import POSITIVE, Kernel
from mercer.structures.molecules.bits import bit_counts, tanimoto, words
from mercer.structures.molecules.fingerprints import KEPT, as_molecules, as_packed, check_fingerprint, fingerprints
from mercer.structures.molecules.spectra import MassSpectrum, as_spectra

_PLACES = 6
"""Decimals of the position of a peak in its bin: m/z that are multiples of the width fill one bin."""

_BINS = 2.0**31
"""Maximum number of bins."""


class WeightedFeatures(Kernel):
    r"""A kernel with a weight for each feature: None, an array, or "idf", :math:`\log((1 + n) / (1 + n_b))`, learned from data.

    Of the n training objects, :math:`n_b` have feature b. A subclass defines `occurring`.
    """

    weights: Any
    feature: str
    """The name of a feature in error messages."""

    def occurring(self, X: Any) -> np.ndarray:
        """The number of objects of a checked collection that have each feature."""
        raise TypeError(f"{type(self).__name__} must define occurring(X)")

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is out of its range, or the weights are not None, "idf", or numbers from zero."""
        super().check_parameters()
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
        In bonds: the reach of "morgan" and "features", and the longest of "paths".
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

    def sees(self, X: Any) -> np.ndarray:
        """False for fingerprints without a bit."""
        return bit_counts(words(self._packed(self.check(X)))) > 0

    def _check(self, X: Any, name: str) -> np.ndarray:
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


def weighted_tanimoto(left: np.ndarray, right: np.ndarray | None, weights: np.ndarray) -> np.ndarray:
    """The Tanimoto similarity with a weight for each bit, from rows of packed bytes; 1 for two sets of weight 0."""
    roots = sparse.diags_array(np.sqrt(weights))
    packed = [left] if right is None else [left, right]
    rows = [SparseRows(sparse.csr_array(np.unpackbits(side, axis=1)) @ roots) for side in packed]
    common = products(rows[0], None if right is None else rows[1])
    union = rows[0].squared_lengths[:, None] + rows[-1].squared_lengths - common
    return np.divide(common, union, out=np.ones_like(common), where=union > 0)


class _Bins(Features):
    """Spectra as rows of bins, which have the same number in every collection."""

    def rows_in(self, other: Self) -> sparse.csr_array:
        """The bins up to the last one of another collection."""
        width = other.rows.shape[1]
        rows = self.rows[:, :width]
        rows.resize(rows.shape[0], width)
        return rows


@dataclass(eq=False, repr=False)
class _Binned(FeatureKernel, WeightedFeatures):
    """Spectra as rows of soft bins."""

    feature = "bin"
    constraints = {"width": POSITIVE, "power": POSITIVE}

    width: float = 0.01
    power: float = 0.25
    weights: Any = None

    def positions(self, spectrum: MassSpectrum) -> np.ndarray:
        """The position of each peak on the axis of bins; negative for a peak that does not count."""
        raise TypeError(f"{type(self).__name__} must define positions(spectrum)")

    def occurring(self, X: np.ndarray) -> np.ndarray:
        """The number of spectra with a peak in each bin; none in the last one, which stands for all bins further out."""
        bins = self._rows(X, weighted=False)
        return np.append(np.bincount(bins.indices[bins.data > 0], minlength=bins.shape[1]), 0)

    def sees(self, X: Any) -> np.ndarray:
        """False for spectra without a peak that counts."""
        return _Bins(self._rows(self.check(X))).squared_lengths > 0

    def _check(self, X: Any, name: str) -> np.ndarray:
        return as_spectra(X, name)

    def _encode(self, X: np.ndarray, name: str) -> _Bins:
        return _Bins(self._rows(X))

    def _rows(self, X: Collection, weighted: bool = True) -> sparse.csr_array:
        """One row of bins for each spectrum; a peak between the middles of two bins is divided between them."""
        row = np.repeat(np.arange(len(X)), [len(spectrum) for spectrum in X])
        place = np.round(np.concatenate([self.positions(spectrum) for spectrum in X]) / float(self.width), _PLACES)
        height = np.concatenate([spectrum.intensity for spectrum in X]) ** float(self.power)
        kept = (place >= 0) & (height > 0)
        if not kept.all():
            row, place, height = row[kept], place[kept], height[kept]
        if place.max(initial=0.0) >= _BINS:
            raise ValueError(
                f"width={self.width!r} in {type(self).__name__} puts the peak furthest out into bin {place.max():.3g}; expected "
                f"fewer than {_BINS:.3g} bins. Raise width"
            )
        lower = place.astype(np.int64)
        share = place - lower
        between = share > 0
        rows, columns = np.concatenate([row, row[between]]), np.concatenate([lower, lower[between] + 1])
        values = np.concatenate([height * (1.0 - share), height[between] * share[between]])
        if weighted and self.weights is not None:
            weights = to_numpy(self.weights).astype(float)
            values = values * weights[np.minimum(columns, len(weights) - 1)]
        width = int(columns.max(initial=0)) + 1
        # several peaks in one bin add up
        return sparse.coo_array((values, (rows, columns)), shape=(len(X), width)).tocsr()


@dataclass(eq=False, repr=False)
class Peaks(_Binned):
    r"""Peaks at the same m/z, :math:`k(x, z) = \sum_b w_b^2\, x_b z_b` over soft bins b.

    :math:`x_b` is the sum of the intensities to the given power, each peak divided between the two bins around it.

    Spectra are `mercer.structures.molecules.MassSpectrum`, or rows of m/z and intensity.

    Parameters
    ----------
    width : float
        Width of a bin, in units of m/z.
    power : float
        Of the intensities; small powers let small peaks count.
    weights : None, "idf" or array
        A weight for each bin, the last one for all bins further out. "idf" is :math:`\log((1 + n)/(1 + n_b))`, where
        :math:`n_b` of the n training spectra have a peak in the bin.

    Examples
    --------
    >>> spectra = [[(55.0, 1.0), (83.0, 16.0)], [(83.0, 1.0)], [(83.005, 1.0)]]
    >>> Peaks(width=0.01, power=0.25)(spectra)
    array([[5. , 2. , 1. ],
           [2. , 1. , 0.5],
           [1. , 0.5, 0.5]])
    """

    def positions(self, spectrum: MassSpectrum) -> np.ndarray:
        """The m/z of the peaks."""
        return spectrum.mz


@dataclass(eq=False, repr=False)
class NeutralLosses(_Binned):
    """The same losses from the precursor: `Peaks` on the precursor's m/z less that of each peak.

    Peaks beyond the precursor do not count. Every spectrum needs its precursor.

    Parameters
    ----------
    width, power, weights
        As for `Peaks`.

    Examples
    --------
    >>> from mercer.structures.molecules import MassSpectrum
    >>> water = [MassSpectrum([83.0], [1.0], precursor=101.01), MassSpectrum([120.0], [1.0], precursor=138.01)]
    >>> NeutralLosses()(water).round(6)
    array([[1., 1.],
           [1., 1.]])
    """

    def _check(self, X: Any, name: str) -> np.ndarray:
        spectra = as_spectra(X, name)
        for i, spectrum in enumerate(spectra):
            if spectrum.precursor is None:
                raise ValueError(
                    f"{name}[{i}] has no precursor; expected its m/z, as in MassSpectrum(mz, intensity, precursor)"
                )
        return spectra

    def positions(self, spectrum: MassSpectrum) -> np.ndarray:
        """The loss of each fragment."""
        return spectrum.losses
