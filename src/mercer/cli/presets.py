"""Options of ``mercer fit``, and the models they stand for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mercer.cli.kernel_names import parse_kernel
from mercer.estimators import DependencyEstimator, NeighborsEstimator
from mercer.io.text_model import SIDES, TextModel
from mercer.kernels import Classes, Spectrum
from mercer.losses import EditDistance, Loss, ZeroOne
from mercer.sequence_models import AlignedSequences
from mercer.solvers import LowRank

_INPUTS, _OUTPUTS = Spectrum((1, 3)).normalized(), Spectrum((1, 3))
_ALL = ("input_kernel", "output_kernel", "alpha", "loss", "rank")


@dataclass(frozen=True)
class Preset:
    """An estimator for two columns of text, its parameters, and the options that may change them."""

    estimator: Callable[..., Any]
    parameters: dict[str, Any]
    options: tuple[str, ...]


PRESETS = {
    # answers built from n-grams, also ones not in the file
    "strings": Preset(
        DependencyEstimator, {"input_kernel": _INPUTS, "output_kernel": _OUTPUTS, "alpha": "loo"}, options=_ALL
    ),
    # outputs that follow the input symbol by symbol, such as pronunciations
    "aligned": Preset(AlignedSequences, {}, options=()),
    # each distinct second column is a class
    "labels": Preset(
        DependencyEstimator, {"input_kernel": _INPUTS, "output_kernel": Classes(), "alpha": "loo"}, options=_ALL
    ),
    # the mean of the nearest examples
    "neighbors": Preset(
        NeighborsEstimator,
        {"input_kernel": _INPUTS, "output_kernel": _OUTPUTS, "k": "loo"},
        options=("input_kernel", "output_kernel", "loss"),
    ),
}
"""The presets by name."""

LOSSES: dict[str, Loss | str] = {"edit": EditDistance(), "zero-one": ZeroOne(), "kernel": "kernel"}
"""Losses by name."""

TOKENS = {"input": ["input"], "output": ["output"], "both": list(SIDES)}
"""Sides whose symbols are words, by name."""


@dataclass(frozen=True)
class FitOptions:
    """Options of ``mercer fit`` as they were typed; None where one was not given."""

    preset: str = "strings"
    input_kernel: str | None = None
    output_kernel: str | None = None
    alpha: str | None = None
    loss: str | None = None
    rank: int | None = None
    tokens: str | None = None
    skip_bad: bool = False

    def model(self) -> TextModel:
        """Return the model to fit; raise ValueError for an option that cannot be used."""
        for name, known in (("preset", PRESETS), ("loss", LOSSES), ("tokens", TOKENS)):
            value = getattr(self, name)
            if value is not None and value not in known:
                raise ValueError(f"--{name} {value!r}; expected one of {', '.join(known)}")
        preset = PRESETS[self.preset]
        given = {name: getattr(self, name) for name in _ALL if getattr(self, name) is not None}
        for name in given.keys() - set(preset.options):
            takes = ", ".join(map(_flag, preset.options)) or "no options"
            raise ValueError(f"{_flag(name)} has no effect with --preset {self.preset}, which takes {takes}")
        parameters = {"solver" if name == "rank" else name: _PARSERS[name](value) for name, value in given.items()}
        estimator = preset.estimator(**preset.parameters | parameters)
        return TextModel(estimator, TOKENS[self.tokens] if self.tokens is not None else [], self.preset)


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _alpha(alpha: str) -> float | str:
    if alpha in ("loo", "gcv", "kfold"):
        return alpha
    with suppress(ValueError):
        if 0 < float(alpha) < float("inf"):
            return float(alpha)
    raise ValueError(f"--alpha {alpha!r}; expected a number above 0, or loo, gcv or kfold to choose one")


def _low_rank(rank: int) -> LowRank:
    if rank < 1:
        raise ValueError(f"--rank {rank}; expected a whole number from 1")
    return LowRank(rank)


_PARSERS: dict[str, Callable[[Any], Any]] = {
    "input_kernel": parse_kernel,
    "output_kernel": parse_kernel,
    "alpha": _alpha,
    "loss": LOSSES.get,
    "rank": _low_rank,
}
