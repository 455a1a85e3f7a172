"""Options of ``mercer fit``: kernels by short names such as ``spectrum:1-3/normalized``, and the presets of models."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from mercer.automatic import INPUTS, OUTPUTS, AutoEstimator
from mercer.cli import choices
from mercer.estimators import DependencyEstimator, NeighborsEstimator
from mercer.kernels import Classes, Kernel, Mismatch, Positions, Spectrum, Subsequence, WeightedDegree
from mercer.losses import F1, EditDistance, Hamming, IoU, Jaccard, Kendall, Loss, SquaredError, ZeroOne
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

LOSSES: dict[str, Loss | str | None] = {
    "zero-one": ZeroOne(), "f1": F1(), "jaccard": Jaccard(), "iou": IoU(), "edit": EditDistance(), "hamming": Hamming(),
    "kendall": Kendall(), "squared": SquaredError(), "kernel": "kernel",
}  # fmt: skip


@dataclass(frozen=True)
class FitOptions:
    """Options of ``mercer fit`` that choose the estimator, as they were typed; None where one was not given."""

    preset: str | None = None
    input_kernel: str | None = None
    output_kernel: str | None = None
    alpha: str | None = None
    loss: str | None = None
    rank: int | None = None
    tokens: str | None = None
    effort: str | None = None
    time_limit: float | None = None
    input_kind: str = "auto"
    output_kind: str = "auto"
    verbose: bool = False

    @property
    def of_text(self) -> bool:
        """True for a preset, all of which take text."""
        return self._preset != "auto"

    @property
    def _preset(self) -> str:
        """The preset; kernels and the like that are given without one are those of "strings"."""
        given = any(getattr(self, name) is not None for name in ("input_kernel", "output_kernel", "alpha", "rank"))
        return self.preset or ("strings" if given else "auto")

    def kinds(self) -> tuple[str, str]:
        """Return the kinds of inputs and outputs; tokens are sequences."""
        sides = [self.input_kind, self.output_kind]
        for i, side in enumerate(("input", "output")):
            if self.tokens in (side, "both"):
                sides[i] = "sequences"
        return sides[0], sides[1]

    def estimator(self) -> Any:
        """Return the estimator to fit; raise ValueError for an option that cannot be used."""
        for name in ("preset", "loss", "tokens", "effort"):
            value, known = getattr(self, name), getattr(choices, f"{name}{'' if name == 'tokens' else 's'}".upper(), ())
            known = choices.LOSSES if name == "loss" else known
            if value is not None and value not in known:
                raise ValueError(f"--{name} {value!r}; expected one of {', '.join(known)}")
        if self.time_limit is not None and not 0 < self.time_limit < float("inf"):
            raise ValueError(f"--time-limit {self.time_limit:g}; expected a number of seconds above zero")
        for name, known in (("input_kind", INPUTS), ("output_kind", OUTPUTS)):
            value = getattr(self, name)
            if value not in ("auto", *known):
                raise ValueError(f"{_flag(name)} {value!r}; expected auto, {', '.join(known)}")
        if self._preset == "auto":
            loss = None if self.loss in (None, "kernel") else LOSSES[self.loss]
            kinds = self.kinds()
            limit: Any = {"time_limit": self.time_limit, "verbose": int(self.verbose), "random_state": 0}
            return AutoEstimator(loss, *kinds, self.effort or "balanced", **limit)
        preset = PRESETS[self._preset]
        given = {name: getattr(self, name) for name in _ALL if getattr(self, name) is not None}
        useless = [name for name in given if name not in preset.options]
        useless += [name for name in ("effort", "time_limit") if getattr(self, name) is not None]
        for name in useless:
            takes = ", ".join(map(_flag, preset.options)) or "no options"
            raise ValueError(f"{_flag(name)} has no effect with --preset {self._preset}, which takes {takes}")
        parameters = {"solver" if name == "rank" else name: _PARSERS[name](value) for name, value in given.items()}
        return preset.estimator(**preset.parameters | parameters)


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
