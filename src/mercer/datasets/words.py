"""Words into words: pronunciations (SIGMORPHON 2021) and inflected forms (CoNLL–SIGMORPHON 2017)."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.core.validation import check_choice
from mercer.datasets.store import read_rows

SIZES = {"ady": 800, "ice": 800, "ita": 800, "khm": 800, "rum": 800, "wel_sw": 800, "dut": 8000}
"""Training words of each language with pronunciations; the development and test parts are an eighth of that each."""
LANGUAGES = ("english", "german", "spanish", "finnish")
SETTINGS = {"low": 100, "medium": 1000}
"""Languages with inflected forms, and the training words of each setting."""
_HELD_OUT = 1000


@dataclass(frozen=True)
class PronouncedWords:
    """Words as strings, and for each the list of its phones."""

    words: list[str]
    phones: list[list[str]]


@dataclass(frozen=True)
class Pronunciations:
    """A language: Adyghe (ady), Icelandic (ice), Italian (ita), Khmer (khm), Romanian (rum), Welsh (wel_sw) or Dutch (dut)."""

    language: str
    train: PronouncedWords
    dev: PronouncedWords
    test: PronouncedWords


@dataclass(frozen=True)
class InflectedWords:
    """Pairs (lemma, tags), tags as one string such as ``"V;PST"``, and the form of each."""

    requests: list[tuple[str, str]]
    forms: list[str]

    def __len__(self) -> int:
        return len(self.forms)

    def first(self, n: int) -> InflectedWords:
        """Return the first n words."""
        return InflectedWords(self.requests[:n], self.forms[:n])


@dataclass(frozen=True)
class InflectionTask:
    """A language in one setting: 100 (low) or 1000 (medium) training words, and 1000 each to develop and to test on."""

    language: str
    setting: str
    train: InflectedWords
    dev: InflectedWords
    test: InflectedWords


def load_pronunciations(language: str) -> Pronunciations:
    """Load the words of one language, from Wiktionary by way of WikiPron (CC BY-SA 3.0); files in ``strings/g2p``."""
    check_choice(language, "language", SIZES)
    parts = []
    for part, share in (("train", 1), ("dev", 8), ("test", 8)):
        name = f"strings/g2p/{language}_{part}.tsv.gz"
        pairs = read_rows(name, SIZES[language] // share, "a word, its phones")
        parts.append(PronouncedWords([word for word, _ in pairs], [phones.split(" ") for _, phones in pairs]))
    return Pronunciations(language, *parts)


def load_inflection(language: str, setting: str = "low") -> InflectionTask:
    """Load words of one language, from UniMorph by way of the shared task; files in ``strings/inflection``."""
    check_choice(language, "language", LANGUAGES)
    check_choice(setting, "setting", SETTINGS)
    parts = []
    for part, size in ((f"train-{setting}", SETTINGS[setting]), ("dev", _HELD_OUT), ("test", _HELD_OUT)):
        rows = read_rows(f"strings/inflection/{language}-{part}.tsv.gz", size, "a lemma, its form, its tags")
        parts.append(InflectedWords([(lemma, tags) for lemma, _, tags in rows], [form for _, form, _ in rows]))
    return InflectionTask(language, setting, *parts)
