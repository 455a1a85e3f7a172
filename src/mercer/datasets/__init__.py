"""Data sets: embedded, from the folder ``$MERCER_DATA``, or downloaded once with a checksum."""

from mercer.datasets.digits import DigitHalves, Digits, load_digit_halves, load_usps
from mercer.datasets.store import ChecksumError, fetch

__all__ = ["ChecksumError", "DigitHalves", "Digits", "fetch", "load_digit_halves", "load_usps"]
