"""The command ``mercer report``: one page about a model and its answers to test pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mercer._version import __version__
from mercer.cli.answers import ANY_OTHER, DOUBTFUL, has_intervals
from mercer.cli.charts import charts_of
from mercer.cli.console import Say, check_output, noted
from mercer.cli.evaluate import CONSTANT, MODEL, NEIGHBORS, Evaluation, PairsFile, assessed, brief
from mercer.cli.fit import reasons
from mercer.cli.pictures import Shown, show_inputs, show_outputs
from mercer.cli.predict import loaded
from mercer.core.collections import member
from mercer.core.files import written_atomically
from mercer.io.file_model import FileModel, at_rows
from mercer.report.progress import tracked
from mercer.report.rendering import render, require_report
from mercer.uncertainty import DoubtScale, PredictionSet

MOST_BYTES = 2_000_000
MOST_ROWS, FEWEST_ROWS = 500, 20
COVERAGE, TOP = 0.9, 5
_LEARNERS, _CARRIERS, _LISTED = 12, 3, 12
_COLUMNS = (("input", False), ("truth", False), ("answer", False), ("loss", True), ("doubt", True))


def report(model: Path, test: PairsFile, output: Path, tell: Say) -> dict[str, Any]:
    """Write the page, of less than two million bytes; return a summary."""
    require_report()
    import matplotlib

    matplotlib.use("Agg")  # no window is opened
    check_output(output, "the page", model, test.path)
    fitted = loaded(model)
    with tracked("report", 4) as begin, noted(tell):
        begin("predicting")
        found = assessed(fitted, test, tell)
        begin("doubts and reasons")
        scale = fitted.doubt_scale(found.candidates)
        found = replace(found, doubts=fitted.doubts(found.inputs, found.candidates, scale))
        rows = answer_rows(fitted, found, MOST_ROWS)
        begin("drawing")
        content = page_content(fitted, found, test.path) | {"about_answers": _about_doubts(scale, len(found.records))}
        begin("writing")
        page = render("model.html", rows=rows, **content)
        while len(page.encode()) > MOST_BYTES and len(rows) > FEWEST_ROWS:
            rows = rows[: max(FEWEST_ROWS, len(rows) // 2)]
            page = render("model.html", rows=rows, **content)
        if len(page.encode()) > MOST_BYTES:
            raise ValueError(f"the page has {len(page.encode())} bytes; its pictures are too large for one page")
        with written_atomically(output) as temporary:
            temporary.write_text(page, encoding="utf-8")
    return {"page": str(output), "bytes": len(page.encode()), "rows": len(rows), "methods": found.rows()}


def answer_rows(model: FileModel, found: Evaluation, most: int) -> list[dict[str, Any]]:
    """Return the rows of the table of answers, the most doubtful first."""
    assert found.doubts is not None
    doubts, marks = np.nan_to_num(found.doubts.doubt), found.doubts.marked  # without known doubts all are alike
    losses = found.losses[MODEL]
    order = np.lexsort((-losses, -doubts))[:most]
    X = at_rows(found.inputs, order)
    regions = _regions(model, X, found.candidates)
    intervals = has_intervals(model, found.candidates)
    ranked = None if intervals else model.estimator.rank(X, TOP, found.candidates)
    show_input, show_output = show_inputs(model), show_outputs(model)
    rows = []
    for place, i in enumerate(order.tolist()):
        top = [] if ranked is None else _top(ranked[place], show_output)
        rows.append(
            {
                "number": found.records.numbers[i],
                "input": show_input(found.records, i),
                "truth": show_output(member(found.truth, i)),
                "answer": show_output(member(found.predictions, i)),
                "top": top,
                "region": regions[place],
                "carriers": _carriers(model, X[place], show_output),
                "loss": float(losses[i]),
                "loss_text": f"{losses[i]:.3g}",
                "doubt": float(doubts[i]),
                "doubt_text": f"{doubts[i]:.2f}",
                "mark": DOUBTFUL if marks[i] else "",
            }
        )
    return rows


def page_content(model: FileModel, found: Evaluation, path: str) -> dict[str, Any]:
    """Return everything on the page but the rows."""
    estimator, schema, n = model.estimator, model.schema, len(found.records)
    methods = found.rows()
    best = min(row["loss"] for row in methods)
    loss = {row["method"]: row["loss"] for row in methods}
    more = f" and {len(schema.inputs) - 3} more" if len(schema.inputs) > 4 else ""
    learned = f"{', '.join(schema.outputs)} from {', '.join(schema.inputs[: 3 if more else 4])}{more}"
    board = list(getattr(estimator, "leaderboard_", []))
    unit = found.records.unit.split()[-1]
    return {
        "title": f"{learned}: {model.source}",
        "summary": (
            f"A model of {model.pairs} pairs of {model.source} answers the {n} pairs of {Path(path).name}. Its mean loss is "
            f"{loss[MODEL]:.4g}; a constant has {loss[CONSTANT]:.4g}, the nearest neighbours have {loss[NEIGHBORS]:.4g}."
        ),
        "reasons": list(reasons(model).items()),
        "leaderboard": [
            {
                "name": f"{row.learner}, {row.kernel}" if row.kernel else row.learner,
                "loss": f"{row.loss:.4g} ± {row.error:.2g}",
                "weight": f"{row.weight:.2f}",
                "seconds": f"{row.seconds:.1f}",
            }
            for row in board[:_LEARNERS]
        ],
        "more_learners": max(0, len(board) - _LEARNERS),
        "loss": found.loss,
        "pairs": n,
        "methods": [
            {
                "method": row["method"],
                "loss": f"{row['loss']:.4g}",
                "interval": f"{row['low']:.4g} to {row['high']:.4g}",
                "best": row["loss"] == best,
            }
            for row in methods
        ],
        "scores": "This model: " + ", ".join(f"{name} {value:.4g}" for name, value in found.further().items()) + ".",
        "charts": charts_of(model, found),
        "region": f"{COVERAGE:.0%} interval" if has_intervals(model, found.candidates) else f"{COVERAGE:.0%} set",
        "unit": unit,
        "columns": [(unit, True), *_COLUMNS],
        "footer": f"mercer {__version__}",
    }


def _about_doubts(scale: DoubtScale | None, n: int) -> str:
    """The meaning of doubts, with the losses that training pairs had."""
    told = ["Doubt is the share of training pairs, each left out in turn, with less loss to expect than the answer."]
    if scale is not None and np.isfinite(scale.level):
        told.append(
            f"It is doubtful where these pairs had a mean loss of {scale.marked:.3g} (elsewhere {scale.others:.3g}), or if "
            "the input is unlike all training inputs."
        )
    else:
        told.append("These pairs do not tell which answers are worse: only inputs unlike all others are doubtful.")
    if n > MOST_ROWS:
        told.append(f"The {MOST_ROWS} most doubtful of {n} are listed.")
    return " ".join(told)


def _regions(model: FileModel, X: Any, candidates: Any) -> list[str]:
    """An interval, or the objects of a set, for each input."""
    estimator = model.estimator
    if not has_intervals(model, candidates):
        return [_named(each) for each in estimator.predict_set(X, COVERAGE, candidates)]
    found = estimator.predict_interval(X, COVERAGE)
    if np.ndim(found.lower) == 1:
        return [f"{low:.5g} to {high:.5g}" for low, high in zip(found.lower, found.upper, strict=True)]
    if np.ndim(found.lower) == 2 and found.lower.shape[1] <= 8:
        ends = zip(found.lower, found.upper, strict=True)
        return ["; ".join(f"{a:.4g} to {b:.4g}" for a, b in zip(low, high, strict=True)) for low, high in ends]
    halves = (np.asarray(found.upper) - np.asarray(found.lower)).reshape(len(found.lower), -1) / 2
    return [f"± {row.mean():.3g} at a point, on average" for row in halves]


def _named(found: PredictionSet) -> str:
    shown = [brief(one) for one in found.objects[:_LISTED]]
    further = ["…"] * (len(found.objects) > _LISTED) + [ANY_OTHER] * found.any_object
    return ", ".join([*shown, *further]) or "empty"


def _top(ranked: Any, show: Callable[[Any], Shown]) -> list[tuple[str, str]]:
    return [(show(one).text, f"{score:.3g}") for one, score in zip(ranked.objects, ranked.scores, strict=True)]


def _carriers(model: FileModel, x: Any, show: Callable[[Any], Shown]) -> list[tuple[str, str, str]]:
    found = []
    for one in model.estimator.explain(x, k=_CARRIERS).carriers:
        given = one.input if isinstance(one.input, str) else f"training pair {one.position + 1}"
        found.append((f"{one.share:+.0%}", given, show(one.output).text))
    return found
