"""Pictures of mean ranks: all methods down, and those of the same tasks with bars over what a test cannot tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.charts import figure_html
from experiments.pictures import as_svg, style
from experiments.rivals.ranks import Comparison
from mercer.report.rendering import chart, figure_style

_TIE = "#c2410c"


def critical_difference(comparison: Comparison, title: str = "") -> str:
    """Draw the mean ranks of a comparison as one block of HTML, best on the left.

    Examples
    --------
    >>> found = Comparison({"a": 1.2, "b": 1.9, "c": 2.9}, tasks=8, p_value=0.01, critical_difference=1.17)
    >>> critical_difference(found)[:30]
    '<figure class="ranks"><img src'
    """
    with figure_style():
        drawn = chart(rank_figure(comparison))
    return figure_html(drawn.uri, "critical difference of mean ranks", title, "ranks")


def rank_figure(comparison: Comparison) -> Any:
    """Return the picture as a figure of matplotlib; lines labelled "tie" are bars of the critical difference."""
    from matplotlib import pyplot

    names, k = list(comparison.means), len(comparison.means)
    cliques, half = comparison.cliques(), (k + 1) // 2
    figure, ax = pyplot.subplots(figsize=(8.2, 1.1 + 0.09 * len(cliques) + 0.24 * half))
    figure.subplots_adjust(0, 0, 1, 1)
    ax.set_axis_off()
    ax.plot([1, k], [0, 0], color="gray", linewidth=1)
    for rank in range(1, k + 1):
        ax.plot([rank, rank], [0, 0.25], color="gray", linewidth=1)
        ax.text(rank, 0.35, str(rank), ha="center", va="bottom")
    ends = [1, 1 + comparison.critical_difference]
    ax.plot(ends, [1.7, 1.7], color=_TIE, linewidth=3, solid_capstyle="round", label="tie")
    ax.text(ends[1] + 0.1, 1.7, f"critical difference {comparison.critical_difference:.2f}", va="center")
    for number, (first, last) in enumerate(cliques):
        y = -0.4 - 0.35 * number
        ax.plot(
            [comparison.means[first], comparison.means[last]],
            [y, y],
            color=_TIE,
            linewidth=3,
            solid_capstyle="round",
            label="tie",
        )
    base, side = -0.8 - 0.35 * len(cliques), 0.04 * max(k - 1, 1)
    for place, name in enumerate(names):
        left, mean = place < half, comparison.means[name]
        y = base - (place if left else k - 1 - place)
        end = 1 - side if left else k + side
        ax.plot([mean, mean, end], [0, y, y], color="gray", linewidth=0.8)
        text = f"{name} {mean:.2f}" if left else f"{mean:.2f} {name}"
        ax.text(end, y, f" {text} ", ha="right" if left else "left", va="center")
    ax.set(xlim=(1 - 0.75 * max(k - 1, 1), k + 0.75 * max(k - 1, 1)), ylim=(base - half + 0.4, 2.2))  # room for names
    return figure


def draw_ranks(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw the mean rank of each method, with the number of tasks it can do."""
    with style():
        path.write_bytes(as_svg(_ranks_figure(rows)))


def _ranks_figure(rows: Sequence[dict[str, Any]]) -> Any:
    from matplotlib.figure import Figure

    ranked = sorted((row for row in rows if row["metric"] == "mean rank"), key=lambda row: row["value"])
    figure = Figure(figsize=(9.6, 0.24 * len(ranked) + 0.9), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(ranked):
        ours = row["method"].startswith(("AutoEstimator", "DependencyEstimator"))
        axes.plot(row["value"], place, "o", color="C1" if ours else "C0")
        tasks = f"{row['tasks']} task{'s' if row['tasks'] > 1 else ''}"
        axes.annotate(tasks, (row["value"], place), (8, 0), textcoords="offset points", va="center")
    axes.set_yticks(range(len(ranked)), [row["method"] for row in ranked])
    axes.invert_yaxis()
    axes.set(xlabel="mean rank", xlim=(1, max(row["value"] for row in ranked) + 2))
    axes.grid(alpha=0.3, axis="x")
    return figure
