"""Decoders that construct sequences, among them answers that no training output has."""

from mercer.decoders.strings.base import Report
from mercer.decoders.strings.beam import BeamSearch
from mercer.decoders.strings.branch import BranchAndBound
from mercer.decoders.strings.eulerian import EulerianWalk
from mercer.decoders.strings.longest_path import LongestPath

__all__ = ["BeamSearch", "BranchAndBound", "EulerianWalk", "LongestPath", "Report"]
