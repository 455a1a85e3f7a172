"""The level of doubtful answers: rules compared on training parts, and the one that is used on test parts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.experiment import Experiment, Outcome, Piece, mean_row
from experiments.rivals.data import Data, shuffled, take
from experiments.rivals.methods.auto import LOSSES
from experiments.rivals.problem import CLASSES, DICTIONARY
from experiments.rivals.tasks import TARGET_FOLDS, TARGET_SEED, TASKS
from mercer import AutoEstimator
from mercer.core.arrays import NumericalWarning
from mercer.uncertainty.doubt_scale import RULE, DoubtScale, LevelRule, doubtful_level

RIVALS = ("spelling", "emotions", "yeast", "jura", "diabetes", "digits")
"""Tasks of the comparison with rivals: typos among words, label sets, tables, classes."""
TOYS = ("wine", "breast_cancer")
"""Further classes of scikit-learn."""
NAMES = (*RIVALS, *TOYS)
TRAINING, TEST = "training part", "test part"
SEEDS, HELD_OUT, MOST_TESTED = 4, 1 / 3, 500
USED, PROMISED, NONE = "used", "told by left-out pairs", "far inputs alone"
RULES: dict[str, LevelRule] = {
    USED: RULE,
    "1.5 standard errors": LevelRule(clearly=1.5),
    "2.5 standard errors": LevelRule(clearly=2.5),
    "4 standard errors": LevelRule(clearly=4.0),
    "at most a tenth": LevelRule(most=0.1),
    "at most 3 of 10": LevelRule(most=0.3),
}
SHARES = {"the top 5 of 100": 0.05, "the top tenth": 0.1, "the top fifth": 0.2}
CORRELATION, MARKED = "correlation of mark and loss", "marked, %"
WORSE, BETTER = "loss of the marked, × mean", "loss of the others, × mean"


class DoubtLevels(Experiment):
    """Marks of doubtful answers under several rules for their level."""

    name = "doubts"
    title = "Doubtful answers: the level of the mark"
    source = "Not from the papers: tasks of the comparison with rivals, and classes of scikit-learn."
    protocol = (
        "AutoEstimator(effort='fast') under the loss of each task. The expected losses of `doubts` are learned from training "
        f"pairs left out in turn; a rule makes of them the level from which answers are marked. Training parts: {SEEDS} draws "
        "of two thirds of the training pairs to fit, the others to look at marks and losses; rules are compared here, by the "
        f"correlation of mark and loss. Test parts: all training pairs to fit, up to {MOST_TESTED} test pairs, the rule in use "
        "alone, beside the losses that left-out pairs had on either side of the level. The rule in use is the level from which "
        f"losses are higher by most standard errors, {RULE.clearly:g} at least, reached by {RULE.least:.0%} to {RULE.most:.0%} "
        "of the left-out pairs; the others change one number, or mark a fixed share. Inputs unlike all training inputs are "
        "marked under every rule."
    )
    digits = 2
    apart = ("part",)
    without_best = (MARKED, WORSE)
    senses = {CORRELATION: "max", BETTER: "min"}

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each draw of each training part, and for each test part."""
        names, draws = (("diabetes", "wine"), 1) if small else (NAMES, SEEDS)
        cases = [(name, seed) for name in names for seed in (*range(draws), None)]
        return [
            Piece(f"{name}-{'test' if seed is None else seed}", {"task": name, "seed": seed, "small": small})
            for name, seed in cases
        ]

    def seeds(self, small: bool) -> list[int]:
        """Return the seeds of the draws."""
        return list(range(1 if small else SEEDS))

    def run(self, piece: Piece) -> Outcome:
        """Fit, and measure the marks of every rule."""
        name, seed, small = (piece.settings[key] for key in ("task", "seed", "small"))
        data, kind = _data(name, small)
        train, held_out = data.folds[0]
        if seed is not None:
            order = np.random.default_rng(seed).permutation(train)
            cut = int(len(order) * HELD_OUT)
            train, held_out = np.sort(order[cut:]), np.sort(order[:cut])
        X, y, new, truth = (take(each, rows) for rows in (train, held_out[:MOST_TESTED]) for each in (data.X, data.y))
        candidates = None if kind != DICTIONARY else [*data.candidates, *(truth if seed is not None else [])]
        model = AutoEstimator(loss=LOSSES[kind]() if kind in LOSSES else None, effort="fast", random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericalWarning)
            model.fit(X, y)
            losses = np.asarray(model.losses(truth, model.predict(new, candidates)), dtype=float)
            scale = model.doubt_scale(candidates)
            far = model.doubts(new, candidates, replace(scale, level=np.inf))
        rules = {NONE: np.inf} | levels(scale) if seed is not None else {USED: scale.level}
        found = {rule: measured(far.marked | (far.expected_loss >= level), losses) for rule, level in rules.items()}
        if seed is None and np.isfinite(scale.level):
            found[PROMISED] = measured(scale.known >= scale.level, scale.scored.losses)
        return {**piece.settings, "rules": found}

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return the mean of each figure over the draws, by rule and task."""
        parts = {
            TRAINING: [o for o in outcomes if o["seed"] is not None],
            TEST: [o for o in outcomes if o["seed"] is None],
        }
        rows = []
        for part, own in parts.items():
            for name in dict.fromkeys(outcome["task"] for outcome in own):
                drawn = [outcome["rules"] for outcome in own if outcome["task"] == name]
                for rule in drawn[0]:
                    for metric in (CORRELATION, MARKED, WORSE, BETTER):
                        values = [found[rule][metric] for found in drawn if metric in found.get(rule, {})]
                        rows += [mean_row(values, rule, metric, part=part, task=name)] if values else []
        return rows

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Compare the rule in use with the others, and what it tells with what is found."""

        def mean(rule: str, metric: str, part: str) -> float:
            asked = [r for r in rows if (r["method"], r["metric"], r["part"]) == (rule, metric, part)]
            told = {r["task"] for r in rows if r["method"] == PROMISED} if part == TEST else {r["task"] for r in asked}
            return float(np.mean([r["value"] for r in asked if r["task"] in told]))

        rules = list(dict.fromkeys(row["method"] for row in rows if row["part"] == TRAINING))
        means = {rule: mean(rule, CORRELATION, TRAINING) for rule in rules}
        others = {rule: value for rule, value in means.items() if rule != USED}
        best = max(others, key=lambda rule: others[rule])
        notes = [
            f"Training parts: correlation of mark and loss {means[USED]:.3f} by the rule in use, on average over tasks; the "
            f"best other rule has {others[best]:.3f} ({best}), marks of far inputs alone {means[NONE]:.3f}."
        ]
        if any(row["method"] == PROMISED for row in rows):
            marked, others_ = ([mean(rule, m, TEST) for rule in (USED, PROMISED)] for m in (WORSE, BETTER))
            share = mean(USED, MARKED, TEST)
            notes.append(
                f"Test parts, where there is a level: {share:.1f} % are marked, with {marked[0]:.2f} times the mean loss "
                f"(left-out pairs told {marked[1]:.2f}); the others have {others_[0]:.2f} times the mean ({others_[1]:.2f})."
            )
        return notes


def levels(scale: DoubtScale) -> dict[str, float]:
    """Return the level of each rule; infinite if too few pairs were left out to learn one."""
    if not len(scale.known):
        return dict.fromkeys([*RULES, *SHARES], np.inf)
    found = {rule: doubtful_level(scale.known, scale.scored.losses, each)[0] for rule, each in RULES.items()}
    return found | {rule: float(np.quantile(scale.known, 1.0 - share)) for rule, share in SHARES.items()}


def measured(marked: np.ndarray, losses: np.ndarray) -> dict[str, float]:
    """Return the share that is marked, how it goes with losses, and the losses on either side, as multiples of their mean.

    Examples
    --------
    >>> found = measured(np.array([True, False, False, False]), np.array([1.0, 0.0, 1.0, 0.0]))
    >>> round(found["correlation of mark and loss"], 3), found["marked, %"]
    (0.577, 25.0)
    """
    both = marked.any() and not marked.all() and np.ptp(losses) > 0
    found = {
        CORRELATION: float(np.corrcoef(marked, losses)[0, 1]) if both else 0.0,
        MARKED: 100.0 * float(np.mean(marked)),
    }
    mean = float(np.mean(losses))
    sides = {WORSE: losses[marked], BETTER: losses[~marked]}
    return found | {name: float(np.mean(own)) / mean for name, own in sides.items() if len(own) and mean > 0}


def _data(name: str, small: bool) -> tuple[Data, str]:
    """The data of a task and the kind of its outputs."""
    if name in RIVALS:
        return TASKS[name].data(small), TASKS[name].kind
    from sklearn import datasets

    data = getattr(datasets, f"load_{name}")()
    found = shuffled(data.data, data.target, TARGET_FOLDS, TARGET_SEED)
    return found.small() if small else found, CLASSES
