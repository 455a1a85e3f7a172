"""A model of the columns of a file: an estimator, and how its inputs and outputs are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.core.collections import take
from mercer.estimators.base import ObjectEstimator
from mercer.io.records import BadRecord, Records
from mercer.io.schema import Schema
from mercer.kernels import Encoded, Kernel, Linear, ZScores
from mercer.uncertainty.novelty import Novelty

DOUBT = 0.05
"""Share of training pairs, left out in turn, that may be as doubtful as a prediction that is marked."""


@dataclass
class FileModel:
    """An estimator with the schema of the file it was fitted on.

    Attributes
    ----------
    estimator : estimator
        A fitted `mercer.AutoEstimator`, or another.
    schema : Schema
        Columns, types and kinds.
    novelty : Novelty or None
        Distances of training inputs from each other.
    pairs : int
        Number of training pairs.
    source : str
        The name of the training file.
    settings : dict
        Options of reading that a new file needs too.
    """

    estimator: Any
    schema: Schema
    novelty: Novelty | None = None
    pairs: int = 0
    source: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    def fit(self, X: Any, y: Any, groups: Any = None, extra_outputs: Any = None) -> FileModel:
        """Fit the estimator, and measure how far training inputs are from each other."""
        more = {"groups": groups, "extra_outputs": extra_outputs}
        self.estimator.fit(X, y, **{name: value for name, value in more.items() if value is not None})
        self.pairs = len(X)
        if hasattr(X, "kinds"):
            self.schema.kinds = dict(X.kinds)
        if isinstance(self.estimator, ObjectEstimator):
            inputs, _ = self.estimator.training_pairs_
            if inputs is not None:
                whole = groups if groups is not None and len(groups) == self.pairs else None
                self.novelty = Novelty.of(similarity(self.estimator), inputs, whole)
        return self

    def inputs_of(self, records: Records) -> tuple[Any, Records, list[BadRecord]]:
        """Return X, the records it was made from, and those that cannot be used."""
        values, bad = self.schema.read_inputs(records)
        kept = [i for i in range(len(records)) if i not in bad]
        X = self.schema.as_inputs(_at(values, kept)) if kept else []
        return X, records.kept(kept), [bad[i] for i in sorted(bad)]

    def pairs_of(self, records: Records) -> tuple[Any, Any, Records, list[BadRecord]]:
        """Return X, y, the records they were made from, and those that cannot be used."""
        inputs, bad = self.schema.read_inputs(records)
        outputs, more = self.schema.read_outputs(records)
        bad = more | bad
        kept = [i for i in range(len(records)) if i not in bad]
        if not kept:
            return [], [], records.kept([]), [bad[i] for i in sorted(bad)]
        X, y = self.schema.as_inputs(_at(inputs, kept)), self.schema.as_outputs(_at(outputs, kept))
        return X, y, records.kept(kept), [bad[i] for i in sorted(bad)]

    def doubts(self, X: Any, candidates: Any = None) -> np.ndarray | None:
        """Return one minus a p-value for each input: the smaller of those of its answer and of its distance from training inputs.

        That of the answer is the share of right answers, each predicted without its pair, with a score as low; that of the input
        the share of training inputs as far from all others. None for estimators that do not leave pairs out.
        """
        if not isinstance(self.estimator, ObjectEstimator):
            return None
        found = np.asarray(self.estimator.abstention_score(X, candidates), dtype=float)
        if self.novelty is not None:
            training: Any = self.estimator.training_pairs_[0]
            checked = self.estimator.input_kernel_.check(X, "X")
            found = np.maximum(found, 1.0 - self.novelty.p_values(training, checked))
        return found

    def is_doubtful(self, doubts: np.ndarray) -> np.ndarray:
        """Return True for doubts that at most 5 in 100 training pairs would have (of fewer than 20 pairs, none)."""
        return doubts >= 1.0 - max(DOUBT, 1.0 / (self.pairs + 1.0)) - 1e-9


def similarity(estimator: ObjectEstimator) -> Kernel:
    """Return the kernel by which inputs are near or far: columns standardised for vectors, cosines for other objects."""
    kernel = estimator.input_kernel_
    if not kernel.takes_vectors:
        return kernel.normalized()
    inputs: Any = estimator.training_pairs_[0]
    return Encoded(ZScores(), Linear()).resolve(inputs)


def at_rows(collection: Any, rows: Sequence[int] | np.ndarray) -> Any:
    """Return some objects of a list, an array or a table."""
    return [collection[i] for i in rows] if isinstance(collection, list) else take(collection, np.asarray(rows))


def _at(values: dict[str, list[Any]], rows: list[int]) -> dict[str, list[Any]]:
    return {name: [column[i] for i in rows] for name, column in values.items()}
