"""Tables of ``bench scale``: methods down and numbers of pairs across, and the rows of a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.bench.timing import Rows
from mercer.report import Table

METRICS = ("core-seconds", "peak memory, GiB", "squared error, share of the mean's")


def scale_tables(rows: Rows) -> list[Table]:
    """Tabulate what has a bar, then each measure against the number of pairs, then the limits of the machine."""
    limits = [row for row in rows if row["method"].startswith("limit")]
    own = [row for row in rows if row not in limits]
    return [_bars(own), *(_against_size(own, metric) for metric in METRICS), _limits(limits)]


def device_table(content: dict[str, Any]) -> Table:
    """Tabulate the rows of ``bench scale --device``: seconds of fit and prediction, their bar, iterations and residual."""
    lines = [
        [
            _named(row),
            f"{row['n']:,}",
            _number(row["seconds"]),
            f"≤ {row['bar']:g}",
            str(row.get("iterations") or ""),
            f"{row['residual']:.1e}" if row.get("iterations") else "",
            _number(row["peak_GiB"]) if "peak_GiB" in row else "",
        ]
        for row in content["rows"]
        if row["method"] != "warm-up" and "seconds" in row
    ]
    columns = ["method", "n", "seconds", "bar", "iterations", "residual", "peak, GiB"]
    return Table(columns, lines, f"{content['hardware']}, double precision")


def _named(row: dict[str, Any]) -> str:
    sizes = f", {row['d']} features, {row['p']} outputs" if "d" in row else ""
    chosen = f" ({row['chosen']})" if row["method"] == "chosen by Auto" else ""
    earlier = f" (an earlier run, at {row['code']})" if "code" in row else ""
    return row["method"] + chosen + sizes + earlier


def _bars(rows: Rows) -> Table:
    lines = []
    for row in rows:
        if row["bar"] is not None:
            size = f", n = {row['n']:,}" if "n" in row else ""
            exponent = f" (exponent {row['exponent']:.2f})" if "exponent" in row else ""
            value, bar = _number(row["value"]) + exponent, f"{row['sense']} {row['bar']:g}"
            lines.append([f"{row['method']}{size}: {row['metric']}", value, bar, "yes" if row["met"] else "no"])
    return Table(["what", "measured", "bar", "met"], lines, "Bars")


def _against_size(rows: Rows, metric: str) -> Table:
    own = {(row["method"], row["n"]): row["value"] for row in rows if row["metric"] == metric}
    sizes = sorted({n for _, n in own})
    methods = dict.fromkeys(method for method, _ in own)
    lines = [[m, *(_number(own[m, n]) if (m, n) in own else "" for n in sizes)] for m in methods]
    return Table(["method", *(f"n = {n:,}" for n in sizes)], lines, metric)


def _limits(rows: Sequence[dict[str, Any]]) -> Table:
    lines = [
        [row["method"].removeprefix("limit: "), f"{row['n']:,}", _number(row["value"]), row["metric"]] for row in rows
    ]
    return Table(["what", "n", "measured", "unit"], lines, "Limits of the machine")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
