"""Options of ``mercer fit``: kernels by short names such as ``spectrum:1-3/normalized``, and the presets of models."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from mercer.estimators import DependencyEstimator, NeighborsEstimator
from mercer.io.text_model import SIDES, TextModel
from mercer.kernels import Classes, Kernel, Mismatch, Positions, Spectrum, Subsequence, WeightedDegree
from mercer.losses import EditDistance, Loss, ZeroOne
from mercer.sequence_models import AlignedSequences
from mercer.solvers import LowRank

NAMES: dict[str, tuple[Callable[..., Kernel], str]] = {
    "spectrum": (Spectrum, "common n-grams: spectrum:3, or spectrum:1-3 for all lengths from 1 to 3"),
    "subsequence": (Subsequence, "common subsequences with gaps: subsequence:3,0.5 has length 3 and decay 0.5"),
    "mismatch": (Mismatch, "n-grams that differ in a few symbols: mismatch:3,1"),
    "weighted-degree": (WeightedDegree, "n-grams at the same position: weighted-degree:3, or 3,2 with shifts of 2"),
    "positions": (Positions, "symbols at the same position; no parameters"),
    "classes": (Classes, "equal or not equal; no parameters"),
}
_ALL = ("input_kernel", "output_kernel", "alpha", "loss", "rank")


@dataclass(frozen=True)
class Preset:
    """An estimator for two columns of text, its parameters, and the options that may change them."""

    estimator: Callable[..., Any]
    parameters: dict[str, Any]
    options: tuple[str, ...]


_STRINGS = {"input_kernel": Spectrum((1, 3)).normalized(), "output_kernel": Spectrum((1, 3))}
PRESETS = {
    # answers built from n-grams, also ones not in the file
    "strings": Preset(DependencyEstimator, _STRINGS | {"alpha": "loo"}, options=_ALL),
    # outputs that follow the input symbol by symbol, such as pronunciations
    "aligned": Preset(AlignedSequences, {}, options=()),
    # each distinct second column is a class
    "labels": Preset(DependencyEstimator, _STRINGS | {"output_kernel": Classes(), "alpha": "loo"}, options=_ALL),
    # the mean of the nearest examples
    "neighbors": Preset(NeighborsEstimator, _STRINGS | {"k": "loo"}, options=("input_kernel", "output_kernel", "loss")),
}

LOSSES: dict[str, Loss | str] = {"edit": EditDistance(), "zero-one": ZeroOne(), "kernel": "kernel"}
TOKENS = {"input": ["input"], "output": ["output"], "both": list(SIDES)}  # sides whose symbols are words


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


def parse_kernel(text: str) -> Kernel:
    """Return the kernel that a short name stands for.

    A name from `NAMES`, then a colon and parameters in the order of the constructor, then ``/normalized`` for the cosine;
    a sum is written with a plus.
    """
    return reduce(add, [_term(part.strip(), text) for part in text.split("+")])


def _term(part: str, text: str) -> Kernel:
    name, colon, parameters = part.removesuffix("/normalized").partition(":")
    if name not in NAMES:
        raise ValueError(f"kernel {text!r}: {name!r} is not a kernel; expected one of {', '.join(NAMES)}")
    kind, usage = NAMES[name]
    values = [_value(value.strip(), text) for value in parameters.split(",")] if colon else []
    try:
        kernel = kind(*values)
    except TypeError as error:
        raise ValueError(f"kernel {text!r} has too many parameters; {usage}") from error
    kernel.check_parameters()
    return kernel.normalized() if part.endswith("/normalized") else kernel


def _value(value: str, text: str) -> Any:
    if re.fullmatch(r"\d+(-\d+)?", value):
        bounds = tuple(map(int, value.split("-")))
        return bounds if len(bounds) > 1 else bounds[0]
    try:
        return float(value)
    except ValueError as error:
        raise ValueError(f"kernel {text!r}: {value!r} is not a number; expected such as subsequence:3,0.5") from error


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


_PARSERS: dict[str, Callable[[Any], Any]] = dict.fromkeys(("input_kernel", "output_kernel"), parse_kernel)
_PARSERS |= {"alpha": _alpha, "loss": LOSSES.get, "rank": _low_rank}
