"""Sequences into sequences: which part of the input each part of the output comes from, and how the rest is built."""

from mercer.transduction.aligned import AlignedSequences
from mercer.transduction.alignment import Aligner
from mercer.transduction.edits import Script
from mercer.transduction.inflection import Inflection

__all__ = ["AlignedSequences", "Aligner", "Inflection", "Script"]
