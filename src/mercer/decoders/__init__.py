"""Decoders: from a point of the output feature space back to an object."""

from mercer.decoders.barycenter import Barycenter
from mercer.decoders.base import Decoder, Ranked, auto_decoder, best, register
from mercer.decoders.candidates import Blocks, Candidates, EachOf, ExpectedLoss, Standardized
from mercer.decoders.closed_form import ClosedForm
from mercer.decoders.fixed_point import FixedPoint
from mercer.decoders.label_sets import ExpectedF1, Thresholded
from mercer.decoders.per_position import PerPosition
from mercer.decoders.rankings import Assignment, KemenyOrder, RankingDecoder, Sorting
from mercer.decoders.streaming import best_of_blocks
from mercer.decoders.strings.base import Report
from mercer.decoders.strings.eulerian import EulerianWalk
from mercer.decoders.strings.longest_path import LongestPath
from mercer.decoders.strings.search import BeamSearch, BranchAndBound

__all__ = [
    "Assignment",
    "Barycenter",
    "BeamSearch",
    "Blocks",
    "BranchAndBound",
    "Candidates",
    "ClosedForm",
    "Decoder",
    "EachOf",
    "EulerianWalk",
    "ExpectedF1",
    "ExpectedLoss",
    "FixedPoint",
    "KemenyOrder",
    "LongestPath",
    "PerPosition",
    "Ranked",
    "RankingDecoder",
    "Report",
    "Sorting",
    "Standardized",
    "Thresholded",
    "auto_decoder",
    "best",
    "best_of_blocks",
    "register",
]
