"""The decoder an output kernel and a loss call for."""

from __future__ import annotations

from typing import Any

from mercer.core.collections import Collection
from mercer.decoders.base import Decoder
from mercer.decoders.candidates import Candidates
from mercer.decoders.closed_form import ClosedForm
from mercer.decoders.expected_loss import ExpectedLoss
from mercer.decoders.families import as_gaussian, is_linear, unscaled
from mercer.decoders.fixed_point import FixedPoint
from mercer.decoders.label_sets import ExpectedF1, Thresholded
from mercer.decoders.per_position import PerPosition
from mercer.decoders.rankings import ranking_decoder
from mercer.decoders.strings.beam import BeamSearch
from mercer.decoders.strings.kernels import can_construct, position_span, unnormalised, window_terms
from mercer.decoders.strings.longest_path import LongestPath
from mercer.kernels import LabelSets, Positions
from mercer.kernels.base import Kernel
from mercer.losses import F1, Hamming, KernelLoss, SquaredError, resolve_loss


def auto_decoder(kernel: Kernel, loss: Any = None, outputs: Collection | None = None) -> tuple[Decoder, str]:
    """The decoder for a resolved output kernel and the loss a user named, and one sentence why.

    ==========================================  ==================
    the loss `F1`                               `ExpectedF1`
    the loss `Hamming` with `LabelSets`         `Thresholded`
    `RocAuc` or `TopK` with `Linear`            `ClosedForm`
    any other loss but the kernel's own         `ExpectedLoss`
    `Linear`                                    `ClosedForm`
    `Gaussian` on vectors                       `FixedPoint`
    `Positions`                                 `PerPosition`
    `WeightedDegree` without shifts             `LongestPath`
    `Spectrum`, `Mismatch`, sums, normalised    `BeamSearch`
    `Kemeny`                                    `KemenyOrder`
    `RankHamming`                               `Assignment`
    `Borda`, `Lehmer`                           `Sorting`
    any other kernel                            `Candidates`
    ==========================================  ==================

    Where the training `outputs` are given and have too many symbols for sequences to be grown, it is `Candidates` too. A factor
    before the kernel changes nothing. `SquaredError` is the loss of `Linear` and `Borda`, `Kendall` that of
    `Kemeny`, `Hamming` that of `RankHamming`.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> auto_decoder(0.5 * Linear())
    (ClosedForm(), 'under Linear() the point is the vector, so nothing has to be searched')
    """
    inner, named = unscaled(kernel), resolve_loss(loss, kernel)
    own = named in (KernelLoss(kernel), KernelLoss(inner))
    ranking = ranking_decoder(kernel, named, own)
    if ranking is not None:
        return ranking
    if isinstance(named, F1):
        return ExpectedF1(), f"{named!r} is scored, and its expectation is highest at a set that can be found exactly"
    if isinstance(inner, LabelSets) and named == Hamming():
        return Thresholded(), f"{named!r} is scored on {inner!r}, so each label can be decided alone"
    if is_linear(kernel) and getattr(named, "takes_scores", False):
        return ClosedForm(), f"{named!r} is scored, and under {inner!r} the point is a score for each label"
    if not own and not (is_linear(kernel) and named == SquaredError()):
        return ExpectedLoss(), f"{named!r} is scored, which is not the distance of {kernel!r}"
    if is_linear(kernel):
        why = f"under {inner!r} the point is the vector, so nothing has to be searched"
        return ClosedForm(), why
    if as_gaussian(inner) is not None:
        return FixedPoint(), f"{inner!r} is smooth on vectors, so the nearest one is climbed to"
    if isinstance(inner, Positions):
        return PerPosition(), f"under {inner!r} each position can be decided alone"
    if position_span(inner) is not None and can_construct(inner, outputs):
        return LongestPath(), f"{inner!r} compares position by position, so the best of all sequences is a longest path"
    if window_terms(unnormalised(inner)) is not None and can_construct(inner, outputs):
        return BeamSearch(), f"{inner!r} adds up over n-grams, so a sequence can be grown symbol by symbol"
    return Candidates(), f"{inner!r} has no inverse of its own, so training outputs are compared"
