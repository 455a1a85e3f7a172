"""Calibrated answers: coverage of candidate sets, and the gain of abstention."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.beyond.conformal_tasks import TASKS, Task, task
from experiments.charts import Line, line_chart
from experiments.experiment import Experiment, Outcome, Piece, mean_row
from mercer.core.arrays import NumericalWarning
from mercer.estimators import DependencyEstimator
from mercer.report import (
    Card,
    Picture,
    Table,
    explanation_gallery,
    explanation_html,
    gallery,
    paragraph,
    pivot,
    section,
    table_html,
)
from mercer.uncertainty import Carrier, Explanation, PredictionSet

HELD_OUT, LEFT_OUT, JACKKNIFE = "pairs held out", "left out in turn", "jackknife+"
METHODS = (HELD_OUT, LEFT_OUT, JACKKNIFE)
NOMINAL, LEVELS = 0.9, (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
KEPT = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
SPLITS, BLOCK, TESTED, SHOWN = 50, 10, 200, 6
COVERAGE, SIZE, EMPTY, ANY = "coverage", "set size", "empty sets", "sets for every object"


class CalibratedSets(Experiment):
    """Random splits of four tasks, fifty each."""

    name = "conformal"
    title = "Calibrated answers: candidate sets and abstention"
    source = (
        "Not from the papers: split conformal prediction (Vovk et al. 2005) and the jackknife+ (Barber et al. 2021)."
    )
    protocol = (
        f"Four tasks, {SPLITS} random splits each, {TESTED} test inputs. predict_set(X, coverage={NOMINAL:g}) among the "
        "distinct training outputs, calibrated in three ways: by pairs held out of training (150 of them), or with all those "
        "pairs trained on, by training pairs left out in turn (exact leave-one-out) and by the jackknife+. Alpha is "
        "chosen by leave-one-out on the training pairs, the scale of the kernel is the median distance. A right output that "
        "is not a training output is covered by sets that stand for every object alone. Errors are standard errors over "
        "splits, which share their data."
    )
    digits = 3

    def pieces(self, small: bool) -> list[Piece]:
        """Return pieces of ten splits each; the small version has two splits of two tasks."""
        names, blocks, size = (TASKS[:1] + TASKS[3:], 1, 2) if small else (TASKS, SPLITS // BLOCK, BLOCK)
        return [
            Piece(f"{number}-{block}", {"task": name, "first": block * BLOCK, "splits": size})
            for number, name in enumerate(names)
            for block in range(blocks)
        ]

    def seeds(self, small: bool) -> list[int]:
        """Return a seed for each split."""
        return list(range(2 if small else SPLITS))

    def run(self, piece: Piece) -> Outcome:
        """Run some splits of one task."""
        name, first, splits = (piece.settings[key] for key in ("task", "first", "splits"))
        chosen = task(name)
        outcome: Outcome = {"task": name, "judged": chosen.judged, "splits": []}
        for seed in range(first, first + splits):
            with threadpool_limits(1), warnings.catch_warnings():
                # at 0.95 a split with too few known outputs keeps every candidate, with a warning
                warnings.simplefilter("ignore", NumericalWarning)
                found, model, test = _one_split(chosen, seed)
            outcome["splits"].append(found)
            if seed == 0:
                outcome |= _examples(chosen, model, test)
        return outcome

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return coverage and size of the sets at the nominal level, then the quality by share answered."""
        rows = []
        for name in dict.fromkeys(outcome["task"] for outcome in outcomes):
            splits = _splits(outcomes, name)
            for method in METHODS:
                for metric in (COVERAGE, SIZE, EMPTY):
                    rows.append(mean_row([split[method][metric] for split in splits], method, metric, task=name))
            judged = next(outcome["judged"] for outcome in outcomes if outcome["task"] == name)
            for share in (1.0, 0.8, 0.5):
                values = [split["kept"][KEPT.index(share)] for split in splits]
                rows.append(mean_row(values, f"the surest {share:.0%}", judged, task=name))
        return rows

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Compare coverage with the nominal level, and give the gain of abstention."""
        notes = []
        for method in METHODS:
            gaps = [row["value"] - NOMINAL for row in rows if row["method"] == method and row["metric"] == COVERAGE]
            worst = max(gaps, key=abs)
            notes.append(f"{method}: measured coverage is off by {100 * worst:+.1f} points at most over the tasks.")
        sizes = {
            method: np.mean([row["value"] for row in rows if row["method"] == method and row["metric"] == SIZE])
            for method in METHODS
        }
        notes.append(
            f"Sets by pairs left out in turn have {sizes[LEFT_OUT] / sizes[HELD_OUT]:.2f} times the size of those by pairs "
            "held out; their model is trained on all pairs."
        )
        gains = {
            name: (found["the surest 100%"], found["the surest 50%"])
            for name in dict.fromkeys(row["task"] for row in rows)
            for found in [{row["method"]: row["value"] for row in rows if row["task"] == name}]
        }
        listed = "; ".join(f"{name} from {every:.2f} to {half:.2f}" for name, (every, half) in gains.items())
        raised = sum(half > every for every, half in gains.values())
        notes.append(
            "Mean quality of the answers to all inputs and to the surest half of them, higher for the half on "
            f"{'all' if raised == len(gains) else f'{raised} of the {len(gains)}'} tasks: {listed}."
        )
        return notes

    def blocks(self, rows: list[dict[str, Any]], outcomes: Sequence[Outcome]) -> Iterable[str]:
        """Show tables by task, charts, examples and explanations."""
        yield section("By task")
        for metric, title in (
            (COVERAGE, "Coverage at 0.9"),
            (SIZE, "Mean size of a set"),
            (EMPTY, "Share of empty sets"),
        ):
            own = [row for row in rows if row["metric"] == metric]
            yield table_html(pivot(own, "task", "method", title=title, best=None, digits=3))
        names = list(dict.fromkeys(outcome["task"] for outcome in outcomes))
        yield section("Coverage asked for and coverage measured")
        lines = {"as asked for": Line(LEVELS, LEVELS)}
        for name in names:
            found = np.asarray([split["levels"] for split in _splits(outcomes, name)])
            lines[name] = Line(LEVELS, found.mean(axis=0).tolist())
        yield line_chart(lines, across="coverage asked for", up="measured", title="Pairs left out in turn")
        yield section("Gain of abstention")
        lines = {}
        for name in names:
            found = np.asarray([split["kept"] for split in _splits(outcomes, name)])
            lines[name] = Line(KEPT, found.mean(axis=0).tolist())
        yield line_chart(lines, across="share of inputs answered, surest first", up="quality of the answers")
        yield from _shown(outcomes)


def _splits(outcomes: Sequence[Outcome], name: str) -> list[dict[str, Any]]:
    return [split for outcome in outcomes if outcome["task"] == name for split in outcome["splits"]]


def _one_split(chosen: Task, seed: int) -> tuple[dict[str, Any], DependencyEstimator, np.ndarray]:
    """Return coverage and sizes of all methods, quality by share answered, and the model trained on all pairs."""
    order = np.random.default_rng(seed).permutation(len(chosen.outputs))
    ends = np.cumsum([chosen.trained, chosen.calibrated, TESTED])
    train, held, test = np.split(order[: ends[-1]], ends[:-1])
    every = np.concatenate([train, held])
    X, y = chosen.inputs, chosen.outputs
    split = chosen.model().fit(X[train], y[train]).calibrate(X[held], y[held])
    whole = chosen.model().fit(X[every], y[every])
    found: dict[str, Any] = {
        HELD_OUT: measured(split.predict_set(X[test], NOMINAL), y[test]),
        LEFT_OUT: measured(whole.predict_set(X[test], NOMINAL), y[test]),
        JACKKNIFE: measured(whole.predict_set(X[test], NOMINAL, method="jackknife+"), y[test]),
        "levels": [measured(whole.predict_set(X[test], level), y[test])[COVERAGE] for level in LEVELS],
    }
    quality = chosen.quality(y[test], whole.predict(X[test]))
    surest = np.argsort(whole.abstention_score(X[test]), kind="stable")
    found["kept"] = [float(np.mean(quality[surest[: round(share * TESTED)]])) for share in KEPT]
    return found, whole, test


def measured(sets: list[PredictionSet], truth: np.ndarray, share: np.ndarray | None = None) -> dict[str, float]:
    """Return coverage (sets for every object cover), mean size, and shares of empty sets and of sets for every object.

    `share` is the weight of each test pair, by default the same.
    """
    sizes = np.asarray([len(found.scores) for found in sets])
    hits = [found.contains(right) for found, right in zip(sets, truth, strict=True)]
    every = [found.any_object for found in sets]
    shares = {COVERAGE: hits, SIZE: sizes, EMPTY: sizes == 0, ANY: every}
    return {name: float(np.average(values, weights=share)) for name, values in shares.items()}


def _examples(chosen: Task, model: DependencyEstimator, test: np.ndarray) -> dict[str, Any]:
    """Return sets of the first test inputs, and the explanation of one prediction."""
    inputs, truth = chosen.inputs[test[:SHOWN]], chosen.outputs[test[:SHOWN]]
    sets, doubt = model.predict_set(inputs, NOMINAL), model.abstention_score(inputs)
    images = isinstance(inputs[0], np.ndarray) and inputs[0].shape == (128,)
    examples = [
        {
            "true": chosen.shown(truth[i]),
            "set": [chosen.shown(each) for each in found.objects],
            "doubt": float(doubt[i]),
            "image": _top(inputs[i]) if images else None,
        }
        for i, found in enumerate(sets)
    ]
    asked = int(np.argmax(doubt))
    explanation = model.explain(inputs[asked], k=5)
    carriers = [
        {
            "position": one.position,
            "input": _top(one.input) if images else None,
            "output": chosen.shown(one.output),
            "weight": one.weight,
            "similarity": one.similarity,
            "share": one.share,
        }
        for one in explanation.carriers
    ]
    explained = {
        "asked": asked,
        "prediction": chosen.shown(explanation.prediction),
        "carriers": carriers,
        "rest": explanation.rest,
    }
    return {"examples": examples, "explanation": explained}


def _shown(outcomes: Sequence[Outcome]) -> Iterable[str]:
    for outcome in outcomes:
        if "examples" not in outcome:
            continue
        yield section(f"Test inputs: {outcome['task']}")
        cells = [[each["true"], _listed(each["set"]), f"{each['doubt']:.2f}"] for each in outcome["examples"]]
        yield table_html(Table(["right answer", "set at 0.9, best first", "abstention score"], cells))
        explained = outcome["explanation"]
        carriers = [Carrier(**one) for one in explained["carriers"]]
        asked = outcome["examples"][explained["asked"]]
        explanation = Explanation(asked["image"], explained["prediction"], carriers, explained["rest"])
        if asked["image"] is not None:
            pictures = [
                Picture(np.asarray(each["image"]), each["true"], _listed(each["set"]), divided=True)
                for each in outcome["examples"]
            ]
            halves = pictures[:3], pictures[3:]
            yield gallery([Card("Inputs, their classes and their sets", part) for part in halves])
        yield paragraph(f"Training pairs behind the least certain prediction, for {asked['true']}:")
        if asked["image"] is not None:
            yield explanation_gallery(explanation, np.asarray, str)
        yield explanation_html(explanation, lambda thing: thing if isinstance(thing, str) else "")


def _top(pixels: np.ndarray) -> list[list[float]]:
    """Return the top half of a digit above an empty one."""
    return np.round(np.concatenate([pixels.reshape(8, 16), np.full((8, 16), -1.0)]), 2).tolist()


def _listed(names: list[str], most: int = 8) -> str:
    return "; ".join([*names[:most], *(["…"] if len(names) > most else [])]) or "empty"
