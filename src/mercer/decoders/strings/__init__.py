"""Decoders that construct sequences: answers nobody has seen before."""

from mercer.decoders.strings.beam import BeamSearch
from mercer.decoders.strings.branch import BranchAndBound
from mercer.decoders.strings.eulerian import EulerianWalk
from mercer.decoders.strings.longest_path import LongestPath
from mercer.decoders.strings.report import Report

__all__ = ["BeamSearch", "BranchAndBound", "EulerianWalk", "LongestPath", "Report"]
