"""The base class of estimators of words: predict the best of a ranking, and score it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from mercer.core.arrays import to_numpy
from mercer.core.collections import Collection, as_objects
from mercer.core.validation import check_jobs, check_whole
from mercer.decoders import Ranked
from mercer.losses import ZeroOne
from mercer.losses.base import as_loss
from mercer.sequence_models.answers import RankedAnswers


class WordEstimator(RankedAnswers, BaseEstimator):
    """Sequences in, sequences out. A new one defines `fit` and `rank`, and has the parameters below."""

    loss: Any
    seed: int
    n_jobs: int | None
    verbose: int

    rank: Callable[..., list[Ranked]]

    def predict(self, X: Any, candidates: Any = None) -> np.ndarray:
        """Predict the output of each input; among `candidates`, one collection for all inputs, if given."""
        return as_objects([ranked.objects[0] for ranked in self.rank(X, 1, candidates)])

    def _check_settings(self) -> None:
        """Raise ValueError unless the parameters that all estimators of words have are right."""
        check_whole(self.seed, "seed", 0, expected="a whole number, zero or positive")
        check_whole(self.verbose, "verbose", 0, 1, expected="0, or 1 for a line for each part")
        check_jobs(self.n_jobs)

    def _mean_loss(self, outputs: Collection, predicted: np.ndarray) -> float:
        loss = ZeroOne() if self.loss is None else as_loss(self.loss)
        return float(np.mean(to_numpy(loss.paired(outputs, predicted))))

    def __sklearn_tags__(self) -> Tags:
        """Tags: sequences in, sequences out."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags


def require_as_many(inputs: int, outputs: int, name: str = "y") -> None:
    """Raise ValueError unless there is one output for each input."""
    if inputs != outputs:
        raise ValueError(f"X has {inputs} objects and {name} has {outputs}; expected as many of each")
