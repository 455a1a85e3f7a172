"""A point of the output feature space back to a real object."""

from mercer.decoders.auto import auto_decoder
from mercer.decoders.base import Decoder, Ranked, best
from mercer.decoders.candidates import Candidates
from mercer.decoders.closed_form import ClosedForm
from mercer.decoders.expected_loss import ExpectedLoss
from mercer.decoders.fixed_point import FixedPoint
from mercer.decoders.per_position import PerPosition

__all__ = [
    "Candidates",
    "ClosedForm",
    "Decoder",
    "ExpectedLoss",
    "FixedPoint",
    "PerPosition",
    "Ranked",
    "auto_decoder",
    "best",
]
