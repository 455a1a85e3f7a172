"""Tables on the pages of the multi-label experiments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mercer.report import Table, table_html


def loo_table(trials: Sequence[dict[str, Any]], title: str) -> str:
    """Tabulate leave-one-out F1: a line for each input kernel, a column for each way to decode."""
    recipes = list(dict.fromkeys(trial["recipe"] for trial in trials))
    ways = list(dict.fromkeys(trial["way"] for trial in trials))
    found = {(trial["recipe"], trial["way"]): trial for trial in trials}
    best = max(found.values(), key=lambda trial: trial["f1"])
    lines, marked = [], set()
    for i, recipe in enumerate(recipes):
        cells = []
        for j, way in enumerate(ways):
            trial = found[recipe, way]
            cells.append(f"{100 * trial['f1']:.2f} (α = {trial['alpha']:g})")
            if trial is best:
                marked.add((i, j + 1))
        lines.append([recipe, *cells])
    return table_html(Table(["input kernel", *ways], lines, title, marked))


def scores_by(key: str, methods: Sequence[str], parts: Sequence[Sequence[dict[str, Any]]], title: str) -> str:
    """Tabulate scores of several methods side by side, a line for each value of `key`."""
    merged: dict[str, dict[str, Any]] = {}
    for part in parts:
        for row in part:
            merged.setdefault(row[key], {}).update(row)
    lines, marked = [], set()
    for i, row in enumerate(merged.values()):
        lines.append([row[key], str(row["examples"]), *(f"{100 * row[method]:.1f}" for method in methods)])
        top = max(row[method] for method in methods)
        marked |= {(i, j + 2) for j, method in enumerate(methods) if row[method] == top}
    return table_html(Table([key, "test examples", *methods], lines, title, marked))


def examples_table(parts: Sequence[Sequence[dict[str, Any]]]) -> str:
    """Tabulate predicted and true sets."""
    lines = []
    for rows in zip(*parts, strict=True):
        first = rows[0]
        predicted = [f"{', '.join(row['predicted']) or '–'} ({row['f1']:.2f})" for row in rows]
        lines.append([first["input"], ", ".join(first["true"]) or "–", *predicted])
    methods = [rows[0]["method"] for rows in parts]
    return table_html(Table(["input", "true labels", *(f"{method} (F1)" for method in methods)], lines))
