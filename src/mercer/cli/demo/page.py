"""The page of the demonstration: what was done, the table, and pictures of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mercer.cli.demo.experiment import BASELINE, CANDIDATE, CONTINUOUS, Fold, shown
from mercer.core.files import written_atomically
from mercer.datasets import DigitHalves
from mercer.report import (
    Card,
    Picture,
    Result,
    Table,
    gallery,
    page,
    paragraph,
    pivot,
    section,
    table_html,
)

EXAMPLES, EXTREMES = 16, 6
"""Pictures of test digits taken as they come, and of the widest margins either way."""


def loss_table(result: Result) -> Table:
    """Methods × pre-images."""
    rows = [row for row in result.rows if "digit" not in row]
    title = f"{rows[0]['metric']}, mean ± std over {result.parameters['folds']} parts (less is better)"
    return pivot(rows, "method", "pre-image", title=title)


def digit_table(result: Result) -> Table:
    """Digits × the three ways that are pictured; the best of each digit is marked."""
    rows = [
        row | {"way": _short((row["method"], row["pre-image"])), "error": None} for row in result.rows if "digit" in row
    ]
    title = "The same loss for each digit: k-NN, and KDE decoded in the two ways"
    return pivot(rows, "digit", "way", title=title, within="row")


def write_page(path: Path, result: Result, digits: DigitHalves, done: list[Fold]) -> None:
    """Write the page."""
    baseline, _, continuous = shown(done)
    fold, best = done[0], continuous[0]
    margin = fold.losses[baseline] - fold.losses[continuous]
    by_margin = np.argsort(margin)
    blocks = [
        paragraph(_summary(result, fold)),
        table_html(loss_table(result)),
        paragraph(_spread(result)),
        section("Digits as they come"),
        paragraph(
            f"The first {EXAMPLES} test digits of the first part. Above the line is what was "
            "given, below it the truth, and then what k-NN and KDE make of it, with the loss of "
            f"each. KDE is the method of smallest loss in the table, {best}, decoded as the best "
            "training half (candidate) and as any picture (continuous)."
        ),
        gallery(_card(i, digits, fold, shown(done)) for i in range(min(EXAMPLES, len(margin)))),
        section("Where KDE wins, and where it loses"),
        paragraph(_comparison(done)),
        table_html(digit_table(result)),
        paragraph("The widest margins over k-NN:"),
        gallery(_card(i, digits, fold, shown(done)) for i in by_margin[::-1][:EXTREMES]),
        paragraph("And the widest the other way:"),
        gallery(_card(i, digits, fold, shown(done)) for i in by_margin[:EXTREMES]),
    ]
    with written_atomically(path) as temporary:
        text = page("Completing handwritten digits", blocks, _footer(result))
        temporary.write_text(text, encoding="utf-8")


def _summary(result: Result, fold: Fold) -> str:
    parameters = result.parameters
    trained = parameters["digits"] - len(fold.test)
    return (
        f"From the upper half of a digit, {len(fold.chosen)} methods learn to draw the lower one: "
        f"{parameters['digits']} digits of scikit-learn's 8×8 set are cut into "
        f"{parameters['folds']} parts, and each part (about {trained} digits) is learned from in "
        "turn while all others are the test. Input scale, ridge, number of neighbours and eps are "
        "chosen by leave-one-out inside the part that is learned from. The loss of a predicted "
        "half ŷ is 2 − 2 exp(−‖y − ŷ‖² / 2σ²), the squared distance under a Gaussian kernel, with "
        f"σ = {parameters['output scale']:.3g} for all, set by kernel alignment on the first part."
    )


def _spread(result: Result) -> str:
    """How far apart the kernel methods are, so that the best figure is not read as more than it is."""
    rows = [r for r in result.rows if "digit" not in r and r["method"] != BASELINE and r["pre-image"] == CONTINUOUS]
    values = [row["value"] for row in rows]
    return (
        f"With a continuous pre-image the {len(rows)} kernel methods lie within {max(values) - min(values):.3f} of each "
        f"other, and the largest standard deviation among them is {max(row['error'] for row in rows):.3f}; the parts "
        "share test digits, so these deviations are no test of which method is better."
    )


def _comparison(done: list[Fold]) -> str:
    baseline, candidate, continuous = shown(done)
    free, best = (
        f"for {_share(done, way, baseline)} of the test digits, k-NN for {_share(done, baseline, way)}"
        for way in (continuous, candidate)
    )
    return (
        f"With a continuous pre-image KDE has the smaller loss {free}. Choosing among the same "
        f"training halves as k-NN it has the smaller loss {best}; for the rest they agree."
    )


def _share(done: list[Fold], way: tuple[str, str], other: tuple[str, str]) -> str:
    smaller = np.concatenate([fold.losses[way] < fold.losses[other] for fold in done])
    return f"{np.mean(smaller):.1%}"


def _card(i: int, digits: DigitHalves, fold: Fold, ways: list[tuple[str, str]]) -> Card:
    index = fold.test[i]
    given = digits.inputs[index][None]
    pictures = [Picture(digits.whole(given, digits.outputs[index][None])[0], "true", divided=True)]
    for way in ways:
        image = digits.whole(given, fold.predictions[way][i][None])[0]
        pictures.append(Picture(image, _short(way), f"{fold.losses[way][i]:.2f}", divided=True))
    return Card(f"a {digits.labels[index]}", pictures)


def _short(way: tuple[str, str]) -> str:
    method, pre_image = way
    if method == BASELINE:
        return "k-NN"
    return {CANDIDATE: "candidate", CONTINUOUS: "continuous"}[pre_image]


def _footer(result: Result) -> str:
    about = result.environment
    return (
        f"mercer {about['mercer']}, NumPy {about['numpy']}, SciPy {about['scipy']}, scikit-learn "
        f"{about['sklearn']}, Python {about['python']}; {about['cores']} cores, {about['cpu']}; "
        f"{result.seconds:.0f} seconds, seed {', '.join(map(str, result.seeds))}."
    )
