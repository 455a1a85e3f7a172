"""Mass spectra as lists of peaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.collections import as_objects
from mercer.core.validation import is_real


@dataclass(frozen=True, eq=False)
class MassSpectrum:
    """Peaks of a mass spectrum: their m/z and intensity, and the m/z of the precursor, the ion that was broken up.

    Examples
    --------
    >>> MassSpectrum([55.05, 83.01], [0.2, 1.0], precursor=101.02).losses.round(2)
    array([45.97, 18.01])
    >>> MassSpectrum([55.05, 83.01], [0.2, -1.0])
    Traceback (most recent call last):
    ...
    ValueError: MassSpectrum has intensity -1.0 at peak 1 (m/z 83.01); expected intensities from zero
    """

    mz: np.ndarray
    intensity: np.ndarray
    precursor: float | None = None

    def __post_init__(self) -> None:
        try:
            mz, intensity = np.asarray(self.mz, dtype=float), np.asarray(self.intensity, dtype=float)
        except (TypeError, ValueError) as error:
            found = f"mz {self.mz!r:.40} and intensity {self.intensity!r:.40}"
            raise TypeError(f"MassSpectrum has {found}; expected a number of each per peak") from error
        _require_peaks(mz, intensity, self.precursor, "MassSpectrum")
        object.__setattr__(self, "mz", mz)
        object.__setattr__(self, "intensity", intensity)

    def __len__(self) -> int:
        return len(self.mz)

    def key(self) -> tuple[bytes, bytes, float | None]:
        """Return a key that is equal for equal spectra: peaks and precursor."""
        return self.mz.tobytes(), self.intensity.tobytes(), self.precursor

    def __eq__(self, other: object) -> bool:
        return type(other) is MassSpectrum and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    @property
    def losses(self) -> np.ndarray:
        """The neutral losses: the precursor's m/z less that of each fragment."""
        if self.precursor is None:
            raise ValueError("this spectrum has no precursor; expected its m/z, to compute neutral losses")
        return self.precursor - self.mz


def as_spectra(collection: Any, name: str = "X") -> np.ndarray:
    """Convert `collection` to an array of `MassSpectrum`: spectra of matchms, and rows of m/z and intensity."""
    objects = as_objects(list(collection) if getattr(collection, "ndim", 1) == 3 else collection, name)
    spectra = np.empty(len(objects), dtype=object)
    for i, item in enumerate(objects):
        spectra[i] = item if isinstance(item, MassSpectrum) else _converted(item, f"{name}[{i}]")
    return spectra


def is_spectrum(thing: Any) -> bool:
    """Return True for a `MassSpectrum` or a spectrum of matchms, which is not imported."""
    return isinstance(thing, MassSpectrum) or _is_matchms(thing)


def _is_matchms(thing: Any) -> bool:
    return type(thing).__module__.split(".")[0] == "matchms" and hasattr(thing, "peaks") and hasattr(thing, "get")


def _converted(item: Any, name: str) -> MassSpectrum:
    """A spectrum of matchms with its precursor, or rows of m/z and intensity."""
    if not _is_matchms(item):
        return _from_rows(item, name)
    precursor = item.get("precursor_mz")
    return MassSpectrum(item.peaks.mz, item.peaks.intensities, None if precursor is None else float(precursor))


def _from_rows(item: Any, name: str) -> MassSpectrum:
    try:
        rows = np.asarray(item, dtype=float)
    except (TypeError, ValueError):
        rows = np.empty(1)  # of no use either
    rows = rows if rows.size else np.empty((0, 2))
    if rows.ndim != 2 or rows.shape[1] != 2:
        expected = "a spectrum: mercer.structures.MassSpectrum(mz, intensity, precursor), or rows of m/z and intensity"
        raise TypeError(f"{name} is {item!r:.60}, a {type(item).__name__}; expected {expected}")
    _require_peaks(rows[:, 0], rows[:, 1], None, name)
    return MassSpectrum(rows[:, 0], rows[:, 1])


def _require_peaks(mz: np.ndarray, intensity: np.ndarray, precursor: float | None, name: str) -> None:
    if mz.ndim != 1 or mz.shape != intensity.shape:
        sizes = f"{mz.shape} m/z values and {intensity.shape} intensities"
        raise ValueError(f"{name} has {sizes}; expected one of each per peak")
    for values, what, wrong, wanted in (
        (mz, "m/z", ~(np.isfinite(mz) & (mz > 0)), "finite numbers above zero"),
        (intensity, "intensity", ~(np.isfinite(intensity) & (intensity >= 0)), "intensities from zero"),
    ):
        if wrong.any():
            peak = int(np.argmax(wrong))
            at = "" if what == "m/z" else f" (m/z {mz[peak]:g})"
            raise ValueError(f"{name} has {what} {values[peak]} at peak {peak}{at}; expected {wanted}")
    if precursor is not None and not (is_real(precursor) and 0 < precursor < np.inf):
        raise ValueError(f"{name} has precursor {precursor!r}; expected its m/z, a number above zero, or None")
