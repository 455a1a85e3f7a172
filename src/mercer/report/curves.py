"""Curves as a picture in the page itself, in the colours of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log10

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 640.0, 300.0, 62.0, 40.0, 12.0, 14.0
_STYLES = ("", "7 4", "2 3", "10 3 2 3")

Curve = Sequence[tuple[float, float]]


def curves(series: Mapping[str, Curve], *, across: str, up: str, log_up: bool = False) -> str:
    """Curves over a logarithmic axis, each a name and its points (x, y); told apart by their dashes and marks.

    Parameters
    ----------
    series : mapping of str to sequence of (x, y)
        The curves. x has to be above zero, and y too with `log_up`.
    across, up : str
        What the axes show.
    log_up : bool
        Whether the axis upwards is logarithmic as well.

    Examples
    --------
    >>> curves({"squares": [(1, 1), (10, 100)]}, across="n", up="n²").count("<circle")
    2
    """
    points = [point for curve in series.values() for point in curve]
    if not points:
        raise ValueError("series holds no points; expected at least one curve with one point")
    lowest = min(x for x, _ in points), min(y for _, y in points)
    if lowest[0] <= 0 or (log_up and lowest[1] <= 0):
        raise ValueError(f"series has the point {lowest} on a logarithmic axis; expected numbers above zero")
    horizontal = _Axis([x for x, _ in points], _LEFT, _WIDTH - _RIGHT, logarithmic=True)
    vertical = _Axis([y for _, y in points], _HEIGHT - _BOTTOM, _TOP, logarithmic=log_up)
    marks = [
        f'<text x="{horizontal(x):.1f}" y="{_HEIGHT - _BOTTOM + 16:.1f}" text-anchor="middle">{x:g}</text>'
        for x in sorted({x for x, _ in points})
    ]
    for y in vertical.ticks():
        place = vertical(y)
        marks.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{place:.1f}" y2="{place:.1f}" class="grid"/>')
        marks.append(f'<text x="{_LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{y:g}</text>')
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    marks.append(f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(across)}</text>')
    drawn, legend = [], []
    for number, (name, curve) in enumerate(series.items()):
        style = f"stroke-dasharray: {_STYLES[number % len(_STYLES)]}" if number % len(_STYLES) else ""
        placed = [(horizontal(x), vertical(y)) for x, y in curve]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        drawn.append(f'<polyline class="curve c{number % 4}" points="{path}" style="{style}"/>')
        drawn += [f'<circle class="dot c{number % 4}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in placed]
        line = f'<svg viewBox="0 0 34 8"><line class="curve c{number % 4}" x1="0" x2="34" y1="4" y2="4" style="{style}"/></svg>'
        legend.append(f"<li>{line}{escape(name)}</li>")
    label = escape(f"{up} against {across}")
    body = "".join([*marks, *drawn])
    return (
        f'<style>{_STYLE}</style><div class="chart"><p>{escape(up)}</p>'
        f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" aria-label="{label}">{body}</svg>'
        f"<ul>{''.join(legend)}</ul></div>"
    )


_STYLE = """
.chart { max-width: 44rem; margin: 1rem 0; color: var(--soft); font-size: .85rem; }
.chart p { margin: 0; } .chart svg { width: 100%; height: auto; }
.chart text { fill: var(--soft); font-size: 12px; } .chart .grid { stroke: var(--line); }
.chart .curve { fill: none; stroke-width: 2; } .chart ul { list-style: none; margin: .25rem 0; padding: 0; }
.chart li { display: inline-block; margin-right: 1.25rem; } .chart li svg { width: 34px; height: 8px; margin-right: .4rem; }
.chart .c0 { stroke: var(--accent); } .chart .c1 { stroke: var(--ink); } .chart .c2 { stroke: #3b82c4; }
.chart .c3 { stroke: #2e9e6b; } .chart .dot { fill: var(--paper); stroke-width: 1.5; }
"""


class _Axis:
    """Numbers to places between two ends."""

    def __init__(self, values: Sequence[float], start: float, end: float, *, logarithmic: bool) -> None:
        self.start, self.end, self.logarithmic = start, end, logarithmic
        low, high = min(values), max(values)
        if not logarithmic:
            # from zero, so that heights can be compared
            low, high = min(0.0, low), high + 0.05 * (high - min(0.0, low))
        self.low, self.high = self._at(low), self._at(high)
        if self.low == self.high:
            self.high = self.low + 1.0

    def __call__(self, value: float) -> float:
        share = (self._at(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round numbers within the axis."""
        if self.logarithmic:
            powers = range(int(self.low // 1), int(self.high // 1) + 2)
            every = [digit * 10.0**power for power in powers for digit in (1, 3)]
            return [value for value in every if self.low <= log10(value) <= self.high]
        raw = (self.high - self.low) / 4
        size = 10.0 ** (log10(raw) // 1)
        step = next(digit * size for digit in (1, 2, 5, 10) if digit * size >= raw)
        return [round(i * step, 12) for i in range(int(self.low // step), int(self.high // step) + 1)]

    def _at(self, value: float) -> float:
        return log10(value) if self.logarithmic else value
