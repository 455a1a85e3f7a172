"""Notes and tables of the experiment on constructed strings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from experiments.experiment import Outcome
from mercer.report import Table, paragraph, pivot, section, table_html

METRICS = ("string loss", "class loss", "distance to h", "no class writes it", "hybrid", "letters", "new")

CANDIDATES = "training outputs"
ENUMERATED = "every string of up to 7 letters"
CONSTRUCTED = "constructed"
PREDICTED = "constructed, length predicted"
ANY_LENGTH = "constructed, up to 7 letters"
SHORTER = "every string as long as training outputs"
CLEAN_STRING = "clean string of the likeliest class"
METHODS = (CANDIDATES, CONSTRUCTED, PREDICTED, ANY_LENGTH, SHORTER, ENUMERATED, CLEAN_STRING)

PAPER, TRUE = "the paper's", "the paper's, h known"

Rows = list[dict[str, Any]]


def shown_in_summary(row: dict[str, Any]) -> bool:
    """Tell whether a row belongs in the first table, which is kept short."""
    if row["method"] in (ANY_LENGTH, SHORTER):
        return False
    explained = {PAPER: ("distance to h", "no class writes it", "hybrid", "new"), TRUE: ("hybrid",)}
    return row["metric"] in ("string loss", "class loss", *explained.get(row["kernel"], ()))


def notes(rows: Rows) -> list[str]:
    """Compare candidates, construction and enumeration."""

    def value(method: str, metric: str, kernel: str = PAPER) -> float:
        return next(
            float(row["value"])
            for row in rows
            if (row["method"], row["metric"], row["kernel"]) == (method, metric, kernel)
        )

    def both(method: str, kernel: str = PAPER) -> str:
        return f"{value(method, 'string loss', kernel):.3f} / {value(method, 'class loss', kernel):.3f}"

    def hybrid(method: str, kernel: str = PAPER) -> str:
        return f"{value(method, 'hybrid', kernel):.1%}"

    closer = value(CANDIDATES, "distance to h") - value(ENUMERATED, "distance to h")
    worse = value(ENUMERATED, "class loss") - value(CANDIDATES, "class loss")
    verdict = "hurts" if worse > 0 else "does not hurt"
    return [
        f"String loss / class loss with the paper's kernel: training outputs {both(CANDIDATES)}, constructed (no longer than "
        f"a training output) {both(CONSTRUCTED)}, every string of up to 7 letters {both(ENUMERATED)}.",
        f"Enumerating {verdict}: the nearest of all strings is nearer to h(x) by {closer:.3f}, as it must be, and the class loss "
        f"changes by {worse:+.3f}. {hybrid(ENUMERATED)} of the answers are hybrids, strings with the letters of two classes "
        f"(abadbbd for abad and dbbd), against {hybrid(CANDIDATES)} of the training outputs chosen, and "
        f"{value(ENUMERATED, 'no class writes it'):.1%} are strings no class ever writes.",
        f"With the true mean of ψ(y) given x in place of the learned h(x), {hybrid(ENUMERATED, TRUE)} of the answers are hybrid "
        f"and every string has {both(ENUMERATED, TRUE)}, where the strings some class writes have {both(CANDIDATES, TRUE)}. The "
        f"learned h(x) leads to {'more' if value(ENUMERATED, 'hybrid') > value(ENUMERATED, 'hybrid', TRUE) else 'no more'} "
        "hybrids than the true mean, and training outputs as candidates to "
        f"{'fewer' if value(CANDIDATES, 'hybrid') < value(ENUMERATED, 'hybrid') else 'no fewer'} than every string.",
        "Limited to the length of the longest training output, "
        f"{hybrid(CONSTRUCTED)} of the answers are hybrids; with the length predicted, {hybrid(PREDICTED)}, and the losses are "
        f"{both(PREDICTED)}, with {value(PREDICTED, 'new'):.1%} of the answers in no training pair. The clean string of the "
        f"likeliest class, the answer of a model that knows the classes, has {both(CLEAN_STRING, TRUE)}.",
    ]


def blocks(rows: Rows, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Show a table for each kernel, the conditions of hybrids, proven optima and examples."""
    yield section("Kernel by kernel")
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        own = [row for row in rows if row["kernel"] == kernel]
        yield table_html(pivot(own, "method", "metric", title=f"Output kernel: {kernel}", best=None))
    yield section("When the nearest string is a hybrid")
    pairs = np.asarray([pair for outcome in outcomes for pair in outcome["certainty"]])
    lines = []
    for low, high in ((0.0, 0.5), (0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.01)):
        inside = pairs[(pairs[:, 0] >= low) & (pairs[:, 0] < high)]
        if len(inside):
            lines.append([f"{low:.1f} to {min(high, 1.0):.1f}", str(len(inside)), f"{inside[:, 1].mean():.1%}"])
    yield table_html(
        Table(["weight of h(x) on its first class", "points", "hybrids"], lines, "Every string, paper's kernel")
    )
    proven = [each for outcome in outcomes for each in outcome.get("proven", [])]
    if proven:
        yield paragraph(
            f"Branch and bound was run on {len(proven)} points of the first draw: for {sum(proven)} of them it proved that the "
            "beam search had found the best of all strings that are no longer than a training output."
        )
    examples = next((outcome["examples"] for outcome in outcomes if outcome.get("examples")), None)
    if examples:
        yield section("Examples where the answers differ")
        header = ["class", "input", "output", CANDIDATES, CONSTRUCTED, ENUMERATED]
        yield table_html(
            Table(header, examples, "Test strings of the first seed; the class is named by its clean string")
        )
