"""Output kernels, decoders and losses for each kind of output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mercer.core.collections import Collection
from mercer.decoders import Candidates, Decoder, ExpectedF1, ExpectedLoss, Standardized, auto_decoder
from mercer.kernels import (
    Classes,
    Encoded,
    Kemeny,
    Kernel,
    LabelSets,
    Linear,
    Overlap,
    Spectrum,
    Subsequence,
    SubsetTree,
    Tanimoto,
    WeisfeilerLehman,
    ZScores,
)
from mercer.losses import F1, IoU, Jaccard, Kendall, Loss, SquaredError, ZeroOne
from mercer.losses.base import KernelLoss, as_loss
from mercer.structures.graphs import label_of_nodes

VECTORS = ("numbers", "vectors", "curves", "images")
_PENALTIES, _STRENGTHS, _TAKEN_OFF = (0.5, 0.65, 0.8, 1.0), (0.0, 0.25, 0.5), (0.0, 0.25)


@dataclass
class Way:
    """A way to decode: an output kernel, and a decoder that is not fitted."""

    name: str
    kernel: Kernel
    decoder: Decoder


@dataclass
class OutputPlan:
    """The way outputs of a kind are compared, scored and decoded.

    Attributes
    ----------
    loss : Loss
        The loss that is scored.
    loss_reason : str
        Why it is that.
    ways : list of Way
        Ways to decode, the first tried first; their output kernels are resolved.
    by_squares : bool
        True if the loss is the squared distance of the coordinates of outputs.
    fit_intercept : bool
        False for ridges without a mean output, which would add the frequent labels to every predicted label set.
    """

    loss: Loss
    loss_reason: str
    ways: list[Way]
    by_squares: bool
    fit_intercept: bool = True


def output_kernel(kind: str, loss: Any, y: Any) -> Kernel:
    """Return the kernel that checks outputs of a kind, and compares them at first."""
    if kind in VECTORS:
        # without a loss every column counts as much, whatever its units; the points of a curve or image have one unit
        return Encoded(ZScores(), Linear()) if loss is None and kind in ("numbers", "vectors") else Linear()
    makers: dict[str, Callable[[], Kernel]] = {
        "classes": Classes, "label sets": LabelSets, "rankings": Kemeny, "strings": lambda: _of_strings(y),
        "sequences": lambda: Spectrum((1, 2)).normalized(), "trees": lambda: SubsetTree().normalized(),
        "graphs": lambda: WeisfeilerLehman(node_label=label_of_nodes(y)).normalized(), "molecules": Tanimoto,
    }  # fmt: skip
    return makers[kind]()


def _of_strings(y: Any) -> Kernel:
    """Pairs of letters, or letters alone if no string has two."""
    pairs = any(len(text) > 1 for text in y if isinstance(text, str))
    return (Subsequence(2) if pairs else Spectrum(1)).normalized()


def output_plan(
    kind: str, loss: Any, kernel: Kernel, outputs: Collection, row_shape: tuple[int, ...] | None
) -> OutputPlan:
    """Return the plan for checked outputs, with the resolved kernel of `output_kernel`."""
    defaults: dict[str, tuple[Loss, str]] = {
        "classes": (ZeroOne(), "classes are right or wrong"),
        "label sets": (F1(), "F1 is the usual score of label sets"),
        "rankings": (Kendall(), "Kendall's distance is the usual score of rankings"),
        "strings": (ZeroOne(), "strings are right or wrong"),
        "sequences": (ZeroOne(), "sequences are right or wrong"),
    }
    if loss is not None:
        found, reason = as_loss(loss, row_shape), "given"
    elif kind in VECTORS:
        units = "each column in units of its deviation" if kind in ("numbers", "vectors") else "of all points"
        found, reason = KernelLoss(kernel), f"squared errors, {units}"
    else:
        found, reason = defaults.get(kind, (KernelLoss(kernel), f"the distance of {kernel!r}"))
    if kind in VECTORS and (loss is None or found == SquaredError()):
        return OutputPlan(found, reason, [_auto(kernel, None, outputs)], True)
    ways = _ways(kind, kernel, found, outputs)
    return OutputPlan(found, reason, ways, False, fit_intercept=kind != "label sets")


def _ways(kind: str, kernel: Kernel, loss: Loss, outputs: Collection) -> list[Way]:
    if kind == "label sets" and isinstance(loss, F1 | Jaccard | IoU):
        first = [
            Way("all sets, expected F1" + f", {s:g} of the usual taken off" * bool(s), kernel, ExpectedF1(s))
            for s in _TAKEN_OFF
            if isinstance(loss, F1)
        ]
        seen = [
            Way(f"training sets, overlap {a:g}" + f", standardised {s:g}" * bool(s), Overlap(a), _scored(s))
            for a in _PENALTIES
            for s in _STRENGTHS
        ]
        return first + seen
    if kind == "classes" and isinstance(loss, ZeroOne):
        return [Way("the class of largest weight", kernel, Candidates())]
    first_way = _auto(kernel, loss, outputs)
    if kind in ("strings", "sequences", "trees", "graphs", "molecules"):
        expected = [Way("least expected loss", kernel, ExpectedLoss())] if not isinstance(loss, KernelLoss) else []
        return [Way("nearest training output", kernel, Candidates()), *expected]
    return [first_way]


def _scored(strength: float) -> Decoder:
    return Standardized(strength=strength) if strength else Candidates()


def _auto(kernel: Kernel, loss: Any, outputs: Collection) -> Way:
    decoder, reason = auto_decoder(kernel, loss, outputs)
    return Way(reason, kernel, decoder)
