"""Estimators by name: what ``mercer fit --preset`` offers."""

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
    """What a user set on the command line; None where nothing was said."""

    input_kernel: Kernel | None = None
    output_kernel: Kernel | None = None
    alpha: Any = None
    loss: Any = None
    rank: int | None = None

    def set_by_user(self) -> list[str]:
        """The names of the options that were used."""
        return [name for name, value in vars(self).items() if value is not None]


@dataclass(frozen=True)
class Preset:
    """An estimator for two columns of text, and which options it takes."""

    what: str
    build: Callable[[Choices], Any]
    """The estimator, not fitted; it has `fit(X, y)`, `predict(X)` and, for more than one answer, `rank(X, k)`."""
    options: tuple[str, ...] = ()

    def estimator(self, name: str, choices: Choices) -> Any:
        """The estimator for some choices; an error for an option it does not take."""
        for option in choices.set_by_user():
            if option not in self.options:
                takes = ", ".join(f"--{each.replace('_', '-')}" for each in self.options) or "no options"
                raise ValueError(
                    f"--{option.replace('_', '-')} has no effect with --preset {name}, which takes {takes}"
                )
        return self.build(choices)


def _strings(choices: Choices) -> DependencyEstimator:
    return _dependency(choices, Spectrum((1, 3)))


def _labels(choices: Choices) -> DependencyEstimator:
    return _dependency(choices, Classes())


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
    "strings": Preset("answers put together from n-grams, also ones that were never seen", _strings, _ALL),
    "aligned": Preset("outputs that follow the input symbol by symbol: pronunciations", lambda _: AlignedSequences()),
    "labels": Preset("each distinct second column is a class of its own", _labels, _ALL),
    "neighbors": Preset("the mean of the nearest examples", _neighbors, ("input_kernel", "output_kernel", "loss")),
}
"""What there is, by name. A new preset is one line here."""
