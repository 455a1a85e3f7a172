"""Sequences into sequences: which part of the input each part of the output comes from, and how the rest is built."""

from mercer.transduction.aligned import AlignedSequences
from mercer.transduction.alignment import Aligner

__all__ = ["AlignedSequences", "Aligner"]
