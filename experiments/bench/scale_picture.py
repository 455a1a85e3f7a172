"""Time, memory and error against the number of pairs, on logarithmic axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.bench.timing import Rows
from experiments.pictures import as_svg, style

_PANELS = ("core-seconds", "peak memory, GiB", "squared error, share of the mean's")


def draw_scale(rows: Rows, path: Path) -> None:
    """Draw a line for each method in each of three panels, rivals dashed."""
    with style():
        path.write_bytes(as_svg(_figure(rows)))


def _figure(rows: Rows) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 7.2), layout="constrained")
    shown = [row for row in rows if not row["method"].startswith("limit")]
    methods = list(dict.fromkeys(row["method"] for row in shown))
    for axes, metric in zip(_places(figure), _PANELS, strict=True):
        for i, method in enumerate(methods):
            own = [(row["n"], row["value"]) for row in shown if (row["method"], row["metric"]) == (method, metric)]
            if own:
                style = {"color": f"C{i % 10}", "marker": "o", "linestyle": "--" if _is_rival(method) else "-"}
                axes.plot(*zip(*sorted(own), strict=True), label=method, **style)
        axes.set(xscale="log", xlabel="number of pairs", title=metric)
        axes.set_yscale("linear" if metric == _PANELS[-1] else "log")
        axes.grid(alpha=0.3, which="both")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure


def _places(figure: Any) -> list[Any]:
    """Two panels above, one below."""
    first, second, third, unused = figure.subplots(2, 2).flat
    unused.remove()
    return [first, second, third]


def _is_rival(method: str) -> bool:
    return any(package in method for package in ("scikit-learn", "himalaya", "GPyTorch"))
