"""Line charts with error bands, drawn into the page itself in the page's colours."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import floor, isfinite, log10

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 560.0, 280.0, 58.0, 44.0, 12.0, 14.0
_DASHES = ("", "7 4", "2 3", "10 3 2 3", "1 4", "12 4")


@dataclass(frozen=True)
class Line:
    """Points of a line, and the half-widths of its error band (no band without `errors`)."""

    across: Sequence[float]
    up: Sequence[float]
    errors: Sequence[float] | None = None
    dots: bool = field(default=True, kw_only=True)
    """Mark the points; not for curves of many points."""


def line_chart(lines: Mapping[str, Line], *, across: str, up: str, title: str = "", log: Collection[str] = ()) -> str:
    """Draw named lines over a common axis, as one block of HTML.

    Parameters
    ----------
    lines : mapping of str to Line
        The lines by name; the names make the legend. Lines differ in colour and in dash.
    across, up : str
        Titles of the axes.
    title : str
        Heading of the chart.
    log : collection of str
        The axes that are logarithmic, "across" or "up" or both; their values must be above zero.

    Examples
    --------
    >>> chart = line_chart({"ridge": Line([5, 10], [0.9, 0.7], [0.1, 0.05])}, across="n", up="error")
    >>> chart.count("<circle"), chart.count("<polygon")
    (2, 1)
    """
    if not lines:
        raise ValueError("lines is empty; expected at least one Line")
    for name, line in lines.items():
        errors = [0.0] * len(line.up) if line.errors is None else line.errors
        if not len(line.across) == len(line.up) == len(errors) > 0:
            raise ValueError(
                f"line {name!r} has {len(line.across)} places, {len(line.up)} values and {len(errors)} errors; expected as many "
                "of each, at least one"
            )
        if not all(map(isfinite, [*line.across, *line.up, *errors])):
            raise ValueError(f"line {name!r} contains NaN or infinity; expected finite numbers")
    horizontal = _Axis([x for line in lines.values() for x in line.across], _LEFT, _WIDTH - _RIGHT, "across" in log)
    vertical = _Axis([y for line in lines.values() for y in _reach(line)], _HEIGHT - _BOTTOM, _TOP, "up" in log)
    marks = [
        f'<text x="{horizontal(x):.1f}" y="{_HEIGHT - _BOTTOM + 17:.1f}" text-anchor="middle">{x:g}</text>'
        for x in horizontal.ticks()
    ]
    for y in vertical.ticks():
        place = vertical(y)
        marks.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{place:.1f}" y2="{place:.1f}"/>')
        marks.append(f'<text x="{_LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{y:g}</text>')
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    marks.append(f'<text x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(across)}</text>')
    marks.append(
        f'<text x="{-(_TOP + _HEIGHT - _BOTTOM) / 2}" y="14" text-anchor="middle" transform="rotate(-90)">{escape(up)}</text>'
    )
    drawn: list[str] = []
    legend: list[str] = []
    for number, (name, line) in enumerate(lines.items()):
        colour, dash = f"l{number % 6}", _DASHES[number % 6]
        style = f' stroke-dasharray="{dash}"' if dash else ""
        places = [(horizontal(x), vertical(y)) for x, y in zip(line.across, line.up, strict=True)]
        if line.errors is not None:
            ends = list(zip(line.across, line.up, line.errors, strict=True))
            edge = [(x, y + e) for x, y, e in ends] + [(x, y - e) for x, y, e in reversed(ends)]
            drawn.insert(
                0, f'<polygon class="band {colour}" points="{_path([(horizontal(x), vertical(y)) for x, y in edge])}"/>'
            )
        drawn.append(f'<polyline class="line {colour}"{style} points="{_path(places)}"/>')
        if line.dots:
            drawn += [f'<circle class="dot {colour}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places]
        key = f'<svg viewBox="0 0 34 8"><line class="line {colour}"{style} x1="0" x2="34" y1="4" y2="4"/></svg>'
        legend.append(f"<li>{key}{escape(name)}</li>")
    heading = f"<figcaption>{escape(title)}</figcaption>" if title else ""
    label = escape(f"{title}: {up} against {across}" if title else f"{up} against {across}")
    return (
        f'<style>{_STYLE}</style><figure class="lines">{heading}'
        f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" aria-label="{label}">{"".join([*marks, *drawn])}</svg>'
        f"<ul>{''.join(legend)}</ul></figure>"
    )


_STYLE = """
.lines { max-width: 40rem; margin: 1rem 0; color: var(--soft, currentColor); font-size: .85rem; }
.lines figcaption { font-size: .9rem; } .lines > svg { width: 100%; height: auto; }
.lines text { fill: currentColor; font-size: 12px; } .lines .grid { stroke: var(--line, currentColor); }
.lines .line { fill: none; stroke-width: 2; } .lines .band { opacity: .16; stroke: none; }
.lines .dot { fill: var(--paper, none); stroke-width: 1.5; }
.lines ul { list-style: none; margin: .25rem 0; padding: 0; } .lines li { display: inline-block; margin-right: 1.25rem; }
.lines li svg { width: 34px; height: 8px; margin-right: .4rem; }
.lines .l0 { stroke: var(--ink, currentColor); } .lines .band.l0 { fill: var(--ink, currentColor); }
.lines .l1 { stroke: #3b82c4; } .lines .band.l1 { fill: #3b82c4; }
.lines .l2 { stroke: var(--accent, #b3261e); } .lines .band.l2 { fill: var(--accent, #b3261e); }
.lines .l3 { stroke: #2e9e6b; } .lines .band.l3 { fill: #2e9e6b; }
.lines .l4 { stroke: #c27c0e; } .lines .band.l4 { fill: #c27c0e; }
.lines .l5 { stroke: #8a63d2; } .lines .band.l5 { fill: #8a63d2; }
"""


class _Axis:
    """Map from numbers to positions between two ends."""

    def __init__(self, values: Sequence[float], start: float, end: float, logarithmic: bool = False) -> None:
        if logarithmic and min(values) <= 0:
            raise ValueError(f"a logarithmic axis has the value {min(values):g}; expected numbers above zero")
        self.logarithmic, self.start, self.end = logarithmic, start, end
        low, high = self._at(min(values)), self._at(max(values))
        if low == high:
            low, high = low - 0.5, high + 0.5
        self.low, self.high = low, high

    def __call__(self, value: float) -> float:
        return self.start + (self._at(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def _at(self, value: float) -> float:
        return log10(value) if self.logarithmic else value

    def ticks(self) -> list[float]:
        """Return about four round numbers within the axis."""
        if self.logarithmic:
            powers = range(floor(self.low), floor(self.high) + 2)
            every = [digit * 10.0**power for power in powers for digit in (1, 3)]
            return [value for value in every if self.low - 1e-9 <= log10(value) <= self.high + 1e-9]
        raw = (self.high - self.low) / 4
        size = 10.0 ** floor(log10(raw))
        step = next(digit * size for digit in (1, 2, 5, 10) if digit * size >= raw * 0.999)
        first, last = -floor(-(self.low / step - 1e-9)), floor(self.high / step + 1e-9)
        return [float(f"{number * step:.10g}") for number in range(first, last + 1)]


def _reach(line: Line) -> list[float]:
    errors = [0.0] * len(line.up) if line.errors is None else line.errors
    return [y + sign * e for y, e in zip(line.up, errors, strict=True) for sign in (-1, 1)]


def _path(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
