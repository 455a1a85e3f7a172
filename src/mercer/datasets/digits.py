"""Handwritten digits, whole and in halves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.datasets.store import fetch, find


@dataclass(frozen=True)
class DigitHalves:
    """The task of completing a digit: from its upper half, the lower one.

    `inputs` and `outputs` have one row per digit, `labels` are the digits, `shape` is that of a whole image in rows and columns.
    Pixels are in [−1, 1], background −1.
    """

    inputs: np.ndarray
    outputs: np.ndarray
    labels: np.ndarray
    shape: tuple[int, int]

    def whole(self, inputs: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """Join upper and lower halves to images, one per row."""
        return np.concatenate([inputs, outputs], axis=1).reshape(-1, *self.shape)


@dataclass(frozen=True)
class Digits:
    """Images of digits (n × rows × columns), pixels in [−1, 1], and the digit of each."""

    images: np.ndarray
    labels: np.ndarray

    def halves(self) -> DigitHalves:
        """Return the task of predicting the lower half from the upper half."""
        count, rows, columns = self.images.shape
        flat = self.images.reshape(count, -1)
        middle = (rows // 2) * columns
        return DigitHalves(flat[:, :middle], flat[:, middle:], self.labels, (rows, columns))


def load_digit_halves() -> DigitHalves:
    """Load the 1797 digits of 8×8 pixels of scikit-learn, upper four rows → lower four rows.

    Examples
    --------
    >>> digits = load_digit_halves()
    >>> digits.inputs.shape, digits.outputs.shape, digits.whole(digits.inputs, digits.outputs).shape
    ((1797, 32), (1797, 32), (1797, 8, 8))
    """
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return Digits(bunch.images / 8.0 - 1.0, bunch.target).halves()


def load_usps(subset: str = "train") -> Digits:
    """Load the USPS digits of 16×16 pixels (LeCun et al. 1990).

    The files, and the order, of *The Elements of Statistical Learning*: read from ``$MERCER_DATA/usps`` (``usps.npz``, or the
    book's text files), else downloaded once. Files are checked against pinned SHA-256 sums. `subset` is "train" (7291 digits)
    or "test" (2007).
    """
    if subset not in _COUNTS:
        raise ValueError(f"subset is {subset!r}; expected 'train' or 'test'")
    archive = find("usps/usps.npz")
    if archive:
        with np.load(archive, allow_pickle=False) as arrays:
            # three decimals in single precision: rounded, they are the doubles of the text files
            pixels, labels = np.round(arrays[f"X_{subset}"].astype(float), 3), arrays[f"y_{subset}"]
    else:
        table = np.loadtxt(fetch(f"usps/zip.{subset}.gz"))
        pixels, labels = table[:, 1:], table[:, 0]
    count = _COUNTS[subset]
    if pixels.shape != (count, 256) or labels.shape != (count,):
        raise ValueError(
            f"the USPS {subset} file holds pixels {pixels.shape} and labels {labels.shape}; "
            f"expected ({count}, 256) and ({count},)"
        )
    return Digits(pixels.reshape(-1, 16, 16), labels.astype(int))


_COUNTS = {"train": 7291, "test": 2007}
