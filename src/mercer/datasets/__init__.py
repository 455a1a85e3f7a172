"""Data sets: from scikit-learn, from folders of ``$MERCER_DATA``, or downloaded once; files are checked by their SHA-256."""

from mercer.datasets.curves import Gait, Growth, Weather, load_gait, load_growth, load_weather
from mercer.datasets.images import (
    DigitHalves,
    Digits,
    FacePairs,
    Faces,
    HandwrittenWords,
    Horses,
    load_digit_halves,
    load_faces,
    load_horses,
    load_ocr_words,
    load_usps,
)
from mercer.datasets.labels import LabelRanking, MultiLabel, load_label_ranking, load_multilabel
from mercer.datasets.molecules import MolecularSpectra, SmallMolecules, load_massbank, load_qm9
from mercer.datasets.store import ChecksumError, fetch
from mercer.datasets.vectors import MultiTarget, load_multi_target
from mercer.datasets.words import (
    InflectedWords,
    InflectionTask,
    PronouncedWords,
    Pronunciations,
    load_inflection,
    load_pronunciations,
)

__all__ = [
    "ChecksumError",
    "DigitHalves",
    "Digits",
    "FacePairs",
    "Faces",
    "Gait",
    "Growth",
    "HandwrittenWords",
    "Horses",
    "InflectedWords",
    "InflectionTask",
    "LabelRanking",
    "MolecularSpectra",
    "MultiLabel",
    "MultiTarget",
    "PronouncedWords",
    "Pronunciations",
    "SmallMolecules",
    "Weather",
    "fetch",
    "load_digit_halves",
    "load_faces",
    "load_gait",
    "load_growth",
    "load_horses",
    "load_inflection",
    "load_label_ranking",
    "load_massbank",
    "load_multi_target",
    "load_multilabel",
    "load_ocr_words",
    "load_pronunciations",
    "load_qm9",
    "load_usps",
    "load_weather",
]
