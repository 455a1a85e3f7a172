"""Images: handwritten digits and words, faces in several poses, horses and their masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer.core.validation import check_choice
from mercer.datasets.store import Table, fetch, find, read_arrays

POSES = ("straight", "left", "right", "up")
LETTER_SHAPE = (16, 8)
"""Rows and columns of the image of one letter."""
_DIGITS = {"train": 7291, "test": 2007}
_FACES, _FACE_SHAPES = 624, {"quarter": (30, 32), "half": (60, 64)}
_HORSES = {"train": 160, "val": 40, "test": 128}
_WORDS, _LETTERS = 6877, 52152


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
        upper, lower = np.split(self.images.reshape(count, -1), [(rows // 2) * columns], axis=1)
        return DigitHalves(upper, lower, self.labels, (rows, columns))


@dataclass(frozen=True)
class HandwrittenWords(Table):
    """Words as images of their letters, as strings, and the fold each belongs to.

    `images` holds one array (letters × 16 × 8) of zeros and ones per word, `strings` the words, `folds` numbers from 0 to 9.
    """

    images: np.ndarray
    strings: np.ndarray
    folds: np.ndarray


@dataclass(frozen=True)
class FacePairs:
    """Two views of the same person with the same expression: images (n × rows × columns) in, images out, and the person."""

    inputs: np.ndarray
    outputs: np.ndarray
    person: np.ndarray

    def with_mirrored(self) -> FacePairs:
        """Return these pairs, then their mirror images."""
        inputs, outputs = (np.concatenate([views, views[:, :, ::-1]]) for views in (self.inputs, self.outputs))
        return FacePairs(inputs, outputs, np.concatenate([self.person, self.person]))


@dataclass(frozen=True)
class Faces:
    """Images of faces (n × rows × columns), pixels in [0, 1], with the person, pose, expression and eyes of each."""

    images: np.ndarray
    person: np.ndarray
    pose: np.ndarray
    expression: np.ndarray
    eyes: np.ndarray

    def pairs(self, source: str | Sequence[str], target: str = "straight") -> FacePairs:
        """Pair images in the `source` poses with those in the `target` pose, the rest being equal, where both are there."""
        sources = [source] if isinstance(source, str) else list(source)
        for pose in (*sources, target):
            check_choice(pose, "pose", POSES)
        of = {key: i for i, key in enumerate(zip(self.person, self.expression, self.eyes, self.pose, strict=True))}
        found = [
            (i, of[(*key[:3], target)])
            for pose in sources
            for key, i in of.items()
            if key[3] == pose and (*key[:3], target) in of
        ]
        left, right = np.asarray(found).T
        return FacePairs(self.images[left], self.images[right], self.person[left])


@dataclass(frozen=True)
class Horses:
    """Images of horses (n × 32 × 32 × 3, whole numbers from 0 to 255) and their masks (n × 32 × 32, 0 or 1)."""

    images: np.ndarray
    masks: np.ndarray


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
    """Load the USPS digits of 16×16 pixels (LeCun et al. 1990), "train" (7291 digits) or "test" (2007).

    The files, and the order, of *The Elements of Statistical Learning*: in ``usps`` (``usps.npz``, or the book's text files),
    else downloaded once.
    """
    check_choice(subset, "subset", _DIGITS)
    archive = find("usps/usps.npz")
    if archive:
        with np.load(archive, allow_pickle=False) as arrays:
            # three decimals in single precision: rounded, they are the doubles of the text files
            pixels, labels = np.round(arrays[f"X_{subset}"].astype(float), 3), arrays[f"y_{subset}"]
    else:
        table = np.loadtxt(fetch(f"usps/zip.{subset}.gz"))
        pixels, labels = table[:, 1:], table[:, 0]
    held, expected = (pixels.shape, labels.shape), ((_DIGITS[subset], 256), (_DIGITS[subset],))
    if held != expected:
        raise ValueError(f"the USPS {subset} file holds pixels and labels of shape {held}; expected {expected}")
    return Digits(pixels.reshape(-1, 16, 16), labels.astype(int))


def load_ocr_words() -> HandwrittenWords:
    """Load the 6877 handwritten words of Kassel (1995), as cut into letters and folds by Taskar et al. (2004).

    52,152 letters of 16×8 binary pixels; 55 distinct words, each without its first letter, which was a capital.
    Files in ``ocr_letters``.
    """
    shapes = {"pixels_packed": (_LETTERS, 16), "label": (_LETTERS,), "words": (_WORDS,), "word_fold": (_WORDS,)}
    packed, labels, strings, folds = read_arrays("ocr_letters/ocr_letters.npz", shapes)
    if "".join(strings) != "".join(chr(ord("a") + label) for label in labels):
        raise ValueError(
            "the OCR file's letters do not spell its words in order; expected the letters of each word in turn"
        )
    pixels, ends = np.unpackbits(packed, axis=1), np.cumsum([len(word) for word in strings])
    images, words = np.empty(_WORDS, dtype=object), np.empty(_WORDS, dtype=object)
    for i, letters in enumerate(np.split(pixels.reshape(-1, *LETTER_SHAPE), ends[:-1])):
        images[i], words[i] = letters, str(strings[i])
    return HandwrittenWords(images, words, folds.astype(int))


def load_faces(size: str = "quarter") -> Faces:
    """Load the CMU face images (Mitchell 1997): 20 people, 624 images, four poses, four expressions, with or without sunglasses.

    `size` is "quarter" (30 × 32 pixels) or "half" (60 × 64); files in ``cmu_faces``.
    """
    check_choice(size, "size", _FACE_SHAPES)
    shapes: dict[str, tuple[int, ...]] = {"X": (_FACES, *_FACE_SHAPES[size])}
    shapes |= dict.fromkeys(("person", "pose", "expression", "eyes"), (_FACES,))
    pixels, *columns = read_arrays(f"cmu_faces/cmu_faces_{size}.npz", shapes)
    return Faces(pixels.astype(float) / 255.0, *columns)


def load_horses() -> dict[str, Horses]:
    """Load the Weizmann horses (Borenstein and Ullman 2002) at 32 × 32 pixels, in the parts of Li, Tarlow and Zemel (2013).

    The parts are "train" (160 images), "val" (40) and "test" (128); files in ``weizmann_horses32``.
    """
    name = "weizmann_horses32/weizmann_horses32.npz"
    found = {}
    for part, count in _HORSES.items():
        images, masks = read_arrays(name, {f"X_{part}": (count, 32, 32, 3), f"Y_{part}": (count, 32, 32)})
        if not np.isin(masks, (0, 1)).all():
            raise ValueError(f"{name} holds masks with other values than 0 and 1 in part {part!r}; expected 0 and 1")
        found[part] = Horses(images, masks)
    return found
