"""Lemmas, tags and inflected forms: the inflection task of CoNLL–SIGMORPHON 2017."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.datasets.store import fetch, read_rows

LANGUAGES = ("english", "german", "spanish")
SETTINGS = {"low": 100, "medium": 1000}
"""Training examples of each setting."""
_HELD_OUT = 1000


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


def load_inflection(language: str, setting: str = "low") -> InflectionTask:
    """Load words of one language, from UniMorph by way of the shared task of CoNLL–SIGMORPHON 2017.

    Read from ``$MERCER_DATA/strings/inflection``, checked against pinned SHA-256 sums.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language={language!r}; expected one of {', '.join(LANGUAGES)}")
    if setting not in SETTINGS:
        raise ValueError(f"setting={setting!r}; expected one of {', '.join(SETTINGS)}")
    sizes = {f"train-{setting}": SETTINGS[setting], "dev": _HELD_OUT, "test": _HELD_OUT}
    return InflectionTask(language, setting, *(_read(language, part, size) for part, size in sizes.items()))


def _read(language: str, part: str, expected: int) -> InflectedWords:
    rows = read_rows(fetch(f"strings/inflection/{language}-{part}.tsv.gz"), expected, "a lemma, its form, its tags")
    return InflectedWords([(lemma, tags) for lemma, _, tags in rows], [form for _, form, _ in rows])
