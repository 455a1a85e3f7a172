"""Words and their pronunciations: the grapheme-to-phoneme task of SIGMORPHON 2021."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.datasets.store import fetch, read_rows

SIZES = {"ady": 800, "ice": 800, "ita": 800, "rum": 800, "wel_sw": 800, "dut": 8000}
"""Training words of each language; the development and test parts are an eighth of that each."""


@dataclass(frozen=True)
class PronouncedWords:
    """Words as strings, and for each the list of its phones."""

    words: list[str]
    phones: list[list[str]]


@dataclass(frozen=True)
class Pronunciations:
    """A language: Adyghe (ady), Icelandic (ice), Italian (ita), Romanian (rum), Southern Welsh (wel_sw) or Dutch (dut)."""

    language: str
    train: PronouncedWords
    dev: PronouncedWords
    test: PronouncedWords


def load_pronunciations(language: str) -> Pronunciations:
    """Load the words of one language, from Wiktionary by way of WikiPron (CC BY-SA 3.0).

    Read from ``$MERCER_DATA/strings/g2p``, checked against pinned SHA-256 sums.
    """
    if language not in SIZES:
        raise ValueError(f"language={language!r}; expected one of {', '.join(SIZES)}")
    size = SIZES[language]
    parts = {"train": size, "dev": size // 8, "test": size // 8}
    return Pronunciations(language, *(_read(language, part, expected) for part, expected in parts.items()))


def _read(language: str, part: str, expected: int) -> PronouncedWords:
    pairs = read_rows(fetch(f"strings/g2p/{language}_{part}.tsv.gz"), expected, "a word, its phones")
    return PronouncedWords([word for word, _ in pairs], [phones.split(" ") for _, phones in pairs])
