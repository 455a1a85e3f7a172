"""Sequences into sequences: which part of the input each part of the output comes from, and how the rest is built."""

from mercer.sequence_models.aligned import AlignedSequences
from mercer.sequence_models.alignment import Aligner
from mercer.sequence_models.edits import Script
from mercer.sequence_models.inflection import Inflection

__all__ = ["AlignedSequences", "Aligner", "Inflection", "Script"]
