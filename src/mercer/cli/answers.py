"""Answers of a model to inputs, as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import to_numpy
from mercer.core.collections import count, member
from mercer.decoders import EachOf
from mercer.estimators.base import ObjectEstimator
from mercer.io.cells import written
from mercer.io.file_model import FileModel, at_rows
from mercer.io.records import Records
from mercer.uncertainty import DoubtScale

DOUBTFUL, NONE = "doubtful", "no candidate"
NO_SHARE = "no pair has more than 0.5 %"
ANY_OTHER = "(any other)"
"""The mark of a set that stands for every output."""
_CARRIERS = 3  # training pairs of an explanation
Row = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """Options of ``mercer predict`` as they were typed."""

    top_k: int | None = None
    coverage: float | None = None
    explain: bool = False

    def check(self, model: FileModel) -> None:
        """Raise ValueError for what a model cannot answer."""
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"--top-k {self.top_k}; expected a whole number from 1")
        if self.coverage is not None and not 0.0 < self.coverage < 1.0:
            raise ValueError(f"--coverage {self.coverage:g}; expected a number between 0 and 1")
        if (self.explain or self.coverage is not None) and not isinstance(model.estimator, ObjectEstimator):
            kind = type(model.estimator).__name__
            raise ValueError(f"a model of {kind} has no --coverage and no --explain; fit without --preset aligned")


def answered(  # noqa: PLR0913
    model: FileModel,
    X: Any,
    records: Records,
    question: Question,
    candidates: Any = None,
    scale: DoubtScale | None = None,
) -> Iterator[Row]:
    """Yield the rows of answers to inputs: the columns of the file, the prediction, its doubt and what else was asked.

    `candidates` are for all inputs, or a list with those of each input, which may be empty; `scale` is that of doubts among them.
    """
    known, sets = list(range(len(records))), candidates
    if _each(candidates, len(records)):
        known = [i for i in known if len(candidates[i])]
        sets = EachOf([candidates[i] for i in known])
    found = _rows(model, at_rows(X, known), question, sets, scale) if known else []
    place = {i: j for j, i in enumerate(known)}
    shown = [
        name
        for name, values in records.columns.items()
        if not any(hasattr(v, "shape") or hasattr(v, "mz") for v in values[:1])
    ]
    empty = _without_answer(model, question)
    for i in range(len(records)):
        given = {name: records.columns[name][i] for name in shown}
        for row in found[place[i]] if i in place else [empty]:
            yield _beside(given, row)


def _without_answer(model: FileModel, question: Question) -> Row:
    """The row of an input that has no candidates."""
    row: Row = dict.fromkeys(_names(model))
    if question.top_k is not None:
        row = {"rank": None} | row | {"score": None}
    more = {
        "set": question.coverage is not None,
        "set_size": question.coverage is not None,
        "because": question.explain,
    }
    return row | dict.fromkeys(name for name, asked in more.items() if asked) | {"doubt": None, "mark": NONE}


def _each(candidates: Any, size: int) -> bool:
    """True for one list of candidates for each input."""
    return type(candidates) is list and len(candidates) == size and all(type(each) is list for each in candidates)


def _beside(given: Row, row: Row) -> Row:
    """The columns of the file and those of the answer; names that are taken get an underscore."""
    return given | {name if name not in given else f"{name}_": value for name, value in row.items()}


def _names(model: FileModel) -> list[str]:
    outputs = model.schema.outputs
    return ["prediction"] if len(outputs) == 1 else [f"prediction_{name}" for name in outputs]


def _rows(model: FileModel, X: Any, question: Question, candidates: Any, scale: DoubtScale | None) -> list[list[Row]]:
    """The rows of each input, of which there are several with `top_k`."""
    estimator, names = model.estimator, _names(model)
    taken = {} if candidates is None else {"candidates": candidates}
    if question.top_k is not None:
        ranked = estimator.rank(X, question.top_k, **taken)
        rows = [
            [
                {"rank": place} | _split(names, one) | {"score": float(score)}
                for place, (one, score) in enumerate(zip(each.objects, each.scores, strict=True), 1)
            ]
            for each in ranked
        ]
    else:
        predicted = estimator.predict(X, **taken)
        rows = [[_split(names, member(predicted, i))] for i in range(count(predicted))]
    extra = _extra(model, X, question, candidates, scale)
    return [[row | more for row in own] for own, more in zip(rows, extra, strict=True)]


def _split(names: list[str], one: Any) -> Row:
    return {names[0]: one} if len(names) == 1 else dict(zip(names, np.ravel(one).tolist(), strict=True))


def _extra(model: FileModel, X: Any, question: Question, candidates: Any, scale: DoubtScale | None) -> list[Row]:
    """Sets or intervals, explanations, doubts and marks."""
    rows: list[Row] = [{} for _ in range(len(X))]
    if question.coverage is not None:
        for row, more in zip(rows, _covered(model, X, question.coverage, candidates), strict=True):
            row.update(more)
    if question.explain:
        for i, row in enumerate(rows):
            row["because"] = _because(model.estimator.explain(X[i], k=_CARRIERS))
    doubts = model.doubts(X, candidates, scale)
    if doubts is not None:
        for row, doubt, doubtful in zip(rows, doubts.doubt.tolist(), doubts.marked.tolist(), strict=True):
            row.update({"doubt": None if np.isnan(doubt) else round(doubt, 4), "mark": DOUBTFUL if doubtful else ""})
    return rows


def has_intervals(model: FileModel, candidates: Any) -> bool:
    """Return True if regions of outputs are intervals, and not sets."""
    kind = getattr(model.estimator, "kinds_", {}).get("outputs")
    return candidates is None and kind in ("numbers", "vectors", "curves", "images")


def _covered(model: FileModel, X: Any, coverage: float, candidates: Any) -> Iterator[Row]:
    estimator, outputs = model.estimator, model.schema.outputs
    if has_intervals(model, candidates):
        intervals = estimator.predict_interval(X, coverage)
        for lower, upper in zip(to_numpy(intervals.lower), to_numpy(intervals.upper), strict=True):
            if len(outputs) == 1:
                yield {"lower": lower, "upper": upper}
            else:
                ends = zip(outputs, lower.tolist(), upper.tolist(), strict=True)
                yield {f"{side}_{name}": v for name, low, up in ends for side, v in (("lower", low), ("upper", up))}
        return
    for found in estimator.predict_set(X, coverage, candidates):
        named = [*map(_named, found.objects), *[ANY_OTHER] * found.any_object]
        yield {"set": " | ".join(named), "set_size": len(found.objects)}


def _because(explanation: Any) -> str:
    """The training pairs of largest share, but for those that round to 0 %."""
    parts = []
    for one in explanation.carriers:
        if f"{abs(one.share):.0%}" == "0%":
            continue
        known = isinstance(one.input, str | tuple)
        given = "" if one.input is None else written(one.input) if known else f"pair {one.position + 1}"
        parts.append(f"{one.share:+.0%} {given} -> {_named(one.output)}")
    return "; ".join(parts) or NO_SHARE


def _named(output: Any) -> str:
    """An output as text, {} for a set without labels."""
    return written(output) or ("" if isinstance(output, str) else "{}")
