"""Sizes of the core benchmark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Sizes of one run of the benchmark."""

    pairs: int = 2000
    """n of the exact fits by eigendecomposition."""
    coordinates: int = 128
    """Output coordinates of the leave-one-out path."""
    cholesky_pairs: int = 4000
    """n of the fit with one alpha."""
    low_rank_pairs: int = 1000
    rank: int = 90
    nystroem_pairs: int = 20_000
    nystroem_rank: int = 1000
    strings: int = 400
    shortest: int = 10
    longest: int = 60
    threaded_strings: int = 1000
    """Strings of the Gram matrices computed on one thread and on two."""
    memory_pairs: int = 2500
    repeats: int = 8


QUICK = Sizes(
    pairs=120,
    coordinates=8,
    cholesky_pairs=150,
    low_rank_pairs=80,
    rank=8,
    nystroem_pairs=300,
    nystroem_rank=10,
    strings=20,
    threaded_strings=20,
    memory_pairs=200,
    repeats=3,
)
"""Seconds in all: every row is there, but its value means nothing."""
