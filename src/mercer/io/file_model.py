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
from mercer.uncertainty import Doubts, DoubtScale


@dataclass
class FileModel:
    """An estimator with the schema of the file it was fitted on.

    Attributes
    ----------
    estimator : estimator
        A fitted `mercer.AutoEstimator`, or another.
    schema : Schema
        Columns, types and kinds.
    pairs : int
        Number of training pairs.
    source : str
        The name of the training file.
    settings : dict
        Options of reading that a new file needs too.
    """

    estimator: Any
    schema: Schema
    pairs: int = 0
    source: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    def fit(self, X: Any, y: Any, groups: Any = None, extra_outputs: Any = None) -> FileModel:
        """Fit the estimator, and learn which of its answers to doubt."""
        more = {"groups": groups, "extra_outputs": extra_outputs}
        self.estimator.fit(X, y, **{name: value for name, value in more.items() if value is not None})
        self.pairs = len(X)
        if hasattr(X, "kinds"):
            self.schema.kinds = dict(X.kinds)
        self.doubt_scale()  # now, so that it is saved with the model
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

    def doubts(self, X: Any, candidates: Any = None, scale: DoubtScale | None = None) -> Doubts | None:
        """Return doubts about the answers to inputs; None for estimators that do not leave pairs out."""
        return self.estimator.doubts(X, candidates, scale) if isinstance(self.estimator, ObjectEstimator) else None

    def doubt_scale(self, candidates: Any = None) -> DoubtScale | None:
        """Return the scale of doubts among some candidates; None for estimators that do not leave pairs out."""
        return self.estimator.doubt_scale(candidates) if isinstance(self.estimator, ObjectEstimator) else None


def at_rows(collection: Any, rows: Sequence[int] | np.ndarray) -> Any:
    """Return some objects of a list, an array or a table."""
    return [collection[i] for i in rows] if isinstance(collection, list) else take(collection, np.asarray(rows))


def _at(values: dict[str, list[Any]], rows: list[int]) -> dict[str, list[Any]]:
    return {name: [column[i] for i in rows] for name, column in values.items()}
