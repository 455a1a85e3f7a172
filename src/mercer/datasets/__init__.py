"""Data sets: from scikit-learn, from the folder ``$MERCER_DATA``, or downloaded once with a checksum."""

from mercer.datasets.curves import Gait, Weather, load_gait, load_weather
from mercer.datasets.digits import DigitHalves, Digits, load_digit_halves, load_usps
from mercer.datasets.faces import FacePairs, Faces, load_faces
from mercer.datasets.g2p import PronouncedWords, Pronunciations, load_pronunciations
from mercer.datasets.horses import Horses, load_horses
from mercer.datasets.inflection import InflectedWords, InflectionTask, load_inflection
from mercer.datasets.label_ranking import LabelRanking, load_label_ranking
from mercer.datasets.massbank import MolecularSpectra, load_massbank
from mercer.datasets.multilabel import MultiLabel, load_multilabel
from mercer.datasets.ocr import HandwrittenWords, load_ocr_words
from mercer.datasets.qm9 import SmallMolecules, load_qm9
from mercer.datasets.store import ChecksumError, fetch

__all__ = [
    "ChecksumError",
    "DigitHalves",
    "Digits",
    "FacePairs",
    "Faces",
    "Gait",
    "HandwrittenWords",
    "Horses",
    "InflectedWords",
    "InflectionTask",
    "LabelRanking",
    "MolecularSpectra",
    "MultiLabel",
    "PronouncedWords",
    "Pronunciations",
    "SmallMolecules",
    "Weather",
    "fetch",
    "load_digit_halves",
    "load_faces",
    "load_gait",
    "load_horses",
    "load_inflection",
    "load_label_ranking",
    "load_massbank",
    "load_multilabel",
    "load_ocr_words",
    "load_pronunciations",
    "load_qm9",
    "load_usps",
    "load_weather",
]
