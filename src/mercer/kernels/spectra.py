"""Kernels on mass spectra: peaks at the same place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from mercer.core.arrays import Array, is_array, to_numpy
from mercer.core.collections import Collection
from mercer.kernels._products import products, squared_lengths
from mercer.kernels._scales import require_positive
from mercer.kernels.base import Kernel
from mercer.structures.molecules.spectra import MassSpectrum, as_spectra

_PLACES = 6
"""Decimals to which the place of a peak in its bin is kept: m/z that are multiples of the width fill one bin."""

_BINS = 2.0**31
"""Bins that can be told apart."""


class _Binned(Kernel):
    """Spectra as rows of soft bins."""

    is_psd = True

    width: float
    power: float
    weights: Any

    def positions(self, spectrum: MassSpectrum) -> np.ndarray:
        """Where on the axis each peak counts; below zero it does not."""
        raise TypeError(f"{type(self).__name__} must define positions(spectrum)")

    def check_parameters(self) -> None:
        """A width above zero, a power from zero, weights that are numbers from zero."""
        require_positive(self.width, "width", self)
        require_positive(self.power, "power", self)
        if self.weights is None or (isinstance(self.weights, str) and self.weights == "idf"):
            return
        weights = to_numpy(self.weights) if is_array(self.weights) else None
        if weights is None or weights.ndim != 1 or weights.dtype.kind not in "iuf" or len(weights) == 0:
            name = type(self).__name__
            raise ValueError(f"weights={self.weights!r:.60} in {name}; expected None, 'idf' or a number for each bin")
        if not np.all(np.isfinite(weights)) or np.any(weights < 0):
            raise ValueError(
                f"weights in {type(self).__name__} are below zero or not finite; expected numbers from zero"
            )

    @property
    def is_resolved(self) -> bool:
        """Whether the weights are numbers."""
        return not isinstance(self.weights, str)

    def check(self, X: Collection, name: str = "X") -> np.ndarray:
        """`X` as an array of spectra."""
        return as_spectra(X, name)

    def pointwise(self, x: Any, z: Any) -> float:
        """The kernel of two spectra, bin by bin."""
        rows = self._rows(as_spectra([x, z]))
        return float((rows[[0]] * rows[[1]]).sum())

    def sees(self, X: Collection) -> np.ndarray:
        """False for spectra without a peak that counts."""
        return self._diag(self.check(X)) > 0

    def _matrix(self, X: Collection, Z: Collection | None) -> Array:
        left = self._rows(X)
        if Z is None:
            return products(left)
        right = self._rows(Z)
        width = max(left.shape[1], right.shape[1])
        left.resize(left.shape[0], width)
        right.resize(right.shape[0], width)
        return products(left, right)

    def _diag(self, X: Collection) -> Array:
        return squared_lengths(self._rows(X))

    def _resolved(self, X: Collection) -> Self:
        if not isinstance(self.weights, str):
            return self
        bins = self._rows(X, weighted=False)
        having = np.bincount(bins.indices[bins.data > 0], minlength=bins.shape[1])
        # the last weight is that of every bin further out, where no training spectrum has a peak
        weights = np.log((1.0 + len(X)) / (1.0 + np.append(having, 0)))
        return type(self)(**(self.get_params(deep=False) | {"weights": weights}))

    def _rows(self, X: Collection, weighted: bool = True) -> sparse.csr_array:
        """One row of bins for each spectrum: a peak between the middles of two is shared out between them."""
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

    :math:`x_b` adds up the intensities to the given power, each peak shared out between the two bins around it.

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

    width: float = 0.01
    power: float = 0.25
    weights: Any = None

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

    width: float = 0.01
    power: float = 0.25
    weights: Any = None

    def check(self, X: Collection, name: str = "X") -> np.ndarray:
        """`X` as an array of spectra with precursors."""
        spectra = as_spectra(X, name)
        for i, spectrum in enumerate(spectra):
            if spectrum.precursor is None:
                raise ValueError(
                    f"{name}[{i}] has no precursor; expected its m/z, as in MassSpectrum(mz, intensity, precursor)"
                )
        return spectra

    def positions(self, spectrum: MassSpectrum) -> np.ndarray:
        """What each fragment lost."""
        return spectrum.losses
