"""Estimators by name, for ``mercer fit --preset``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mercer.estimators import DependencyEstimator, NeighborsEstimator
from mercer.kernels import Classes, Spectrum
from mercer.kernels.base import Kernel
from mercer.sequence_models import AlignedSequences
from mercer.solvers import LowRank


@dataclass(frozen=True)
class Choices:
    """Parameters given on the command line; None where the preset decides."""

    input_kernel: Kernel | None = None
    output_kernel: Kernel | None = None
    alpha: Any = None
    loss: Any = None
    rank: int | None = None


@dataclass(frozen=True)
class Preset:
    """An estimator for two columns of text: `fit(X, y)`, `predict(X)` and, for several answers, `rank(X, k)`."""

    build: Callable[[Choices], Any]
    options: tuple[str, ...] = ()
    """The choices it takes."""

    def estimator(self, name: str, choices: Choices) -> Any:
        """Return the estimator, not fitted; raise ValueError for a choice that this preset does not take."""
        for option, value in vars(choices).items():
            if value is not None and option not in self.options:
                takes = ", ".join(map(_flag, self.options)) or "no options"
                raise ValueError(f"{_flag(option)} has no effect with --preset {name}, which takes {takes}")
        return self.build(choices)


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _dependency(choices: Choices, output_kernel: Kernel) -> DependencyEstimator:
    return DependencyEstimator(
        choices.input_kernel or Spectrum((1, 3)).normalized(),
        choices.output_kernel or output_kernel,
        alpha="loo" if choices.alpha is None else choices.alpha,
        solver="auto" if choices.rank is None else LowRank(choices.rank),
        loss=choices.loss,
    )


def _neighbors(choices: Choices) -> NeighborsEstimator:
    return NeighborsEstimator(
        choices.input_kernel or Spectrum((1, 3)).normalized(),
        choices.output_kernel or Spectrum((1, 3)),
        k="loo",
        loss=choices.loss,
    )


_ALL = ("input_kernel", "output_kernel", "alpha", "loss", "rank")

PRESETS: dict[str, Preset] = {
    # answers built from n-grams, also ones not in the file
    "strings": Preset(lambda choices: _dependency(choices, Spectrum((1, 3))), _ALL),
    # outputs that follow the input symbol by symbol, such as pronunciations
    "aligned": Preset(lambda _: AlignedSequences()),
    # each distinct second column is a class
    "labels": Preset(lambda choices: _dependency(choices, Classes()), _ALL),
    # the mean of the nearest examples
    "neighbors": Preset(_neighbors, ("input_kernel", "output_kernel", "loss")),
}
"""The presets by name."""
