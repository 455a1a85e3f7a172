"""The page of the demonstration: protocol, tables and pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mercer.cli.demo.experiment import BASELINE, CANDIDATE, CONTINUOUS, Fold, pictured
from mercer.core.files import written_atomically
from mercer.datasets import DigitHalves
from mercer.report import Card, Picture, Result, Table, gallery, page, paragraph, pivot, section, table_html

EXAMPLES, EXTREMES = 16, 6
"""Numbers of pictures: of the first test digits, and of the largest margins either way."""


def loss_table(result: Result) -> Table:
    """Return the losses, methods × pre-images."""
    rows = [row for row in result.rows if "digit" not in row]
    title = f"{rows[0]['metric']}, mean ± std over {result.parameters['folds']} folds (lower is better)"
    return pivot(rows, "method", "pre-image", title=title)


def digit_table(result: Result) -> Table:
    """Return the losses of each digit under the pictured methods; the best is marked."""
    rows = [
        row | {"way": _short((row["method"], row["pre-image"])), "error": None} for row in result.rows if "digit" in row
    ]
    title = "Loss for each digit: k-NN, and KDE with its two pre-images"
    return pivot(rows, "digit", "way", title=title, within="row")


def write_page(path: Path, result: Result, digits: DigitHalves, folds: list[Fold]) -> None:
    """Write the page."""
    ways = pictured(folds)
    baseline, _, continuous = ways
    fold, best = folds[0], continuous[0]
    margin = fold.losses[baseline] - fold.losses[continuous]
    by_margin = np.argsort(margin)
    blocks = [
        paragraph(_summary(result, fold)),
        table_html(loss_table(result)),
        paragraph(_spread(result)),
        section("The first test digits"),
        paragraph(
            f"The first {EXAMPLES} test digits of the first fold: the true lower half, then those predicted by k-NN and KDE "
            f"with their losses. KDE is the method of smallest loss in the table, {best}, decoded as the best training half "
            "(candidate) and as any picture (continuous)."
        ),
        gallery(_card(i, digits, fold, ways) for i in range(min(EXAMPLES, len(margin)))),
        section("Where KDE wins, and where it loses"),
        paragraph(_comparison(folds)),
        table_html(digit_table(result)),
        paragraph("The largest margins over k-NN:"),
        gallery(_card(i, digits, fold, ways) for i in by_margin[::-1][:EXTREMES]),
        paragraph("The largest margins of k-NN:"),
        gallery(_card(i, digits, fold, ways) for i in by_margin[:EXTREMES]),
    ]
    with written_atomically(path) as temporary:
        text = page("Completing handwritten digits", blocks, _footer(result))
        temporary.write_text(text, encoding="utf-8")


def _summary(result: Result, fold: Fold) -> str:
    parameters = result.parameters
    trained = parameters["digits"] - len(fold.test)
    return (
        f"{len(fold.chosen)} methods learn to draw the lower half of a digit from its upper half. {parameters['digits']} digits "
        f"of scikit-learn's 8×8 set are cut into {parameters['folds']} folds; each (about {trained} digits) is trained on in "
        "turn and all others are the test. Input scale, alpha, number of neighbours and eps are chosen by leave-one-out inside "
        "the training fold. The loss of a predicted half ŷ is 2 − 2 exp(−‖y − ŷ‖² / 2σ²), the squared distance under a Gaussian "
        f"kernel, with σ = {parameters['output scale']:.3g} set by kernel alignment on the first fold."
    )


def _spread(result: Result) -> str:
    """Compare the differences between kernel methods with their standard deviations."""
    rows = [r for r in result.rows if "digit" not in r and r["method"] != BASELINE and r["pre-image"] == CONTINUOUS]
    values = [row["value"] for row in rows]
    return (
        f"With a continuous pre-image the {len(rows)} kernel methods lie within {max(values) - min(values):.3f} of each "
        f"other, and the largest standard deviation among them is {max(row['error'] for row in rows):.3f}. The folds "
        "share test digits, so these deviations do not test which method is better."
    )


def _comparison(folds: list[Fold]) -> str:
    baseline, candidate, continuous = pictured(folds)
    free, best = (
        f"for {_share(folds, way, baseline)} of the test digits, k-NN for {_share(folds, baseline, way)}"
        for way in (continuous, candidate)
    )
    return (
        f"With a continuous pre-image KDE has the smaller loss {free}. Choosing among the same training halves as k-NN it has "
        f"the smaller loss {best}; the rest are ties."
    )


def _share(folds: list[Fold], way: tuple[str, str], other: tuple[str, str]) -> str:
    smaller = np.concatenate([fold.losses[way] < fold.losses[other] for fold in folds])
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
