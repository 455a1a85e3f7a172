"""Problem: training pairs, test inputs, and the kind of the outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

VECTORS, CURVES, LABELS, RANKINGS, CLASSES = "vectors", "curves", "labels", "rankings", "classes"
TRANSDUCTION, INFLECTION, DICTIONARY = "transduction", "inflection", "dictionary"
TABLES = (VECTORS, CURVES, LABELS, RANKINGS, CLASSES)
"""Kinds whose inputs are rows of numbers."""
STRINGS = (TRANSDUCTION, INFLECTION, DICTIONARY)
"""Kinds whose inputs are strings: output sequences, forms of (lemma, tags), words of a dictionary."""


@dataclass(frozen=True)
class Problem:
    """One fold as a method sees it.

    Outputs `y` are rows of numbers (vectors, curves), rows of 0 and 1 (labels), rows of ranks, 0 best (rankings), integers
    (classes), lists of symbols (transduction) or strings (inflection, dictionary). `candidates` are the words of a dictionary.
    """

    kind: str
    X: Any
    y: Any
    X_test: Any
    candidates: Any = None
    threads: int = 1
