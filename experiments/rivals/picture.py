"""Critical-difference picture: mean ranks on a line, bars over methods that the test cannot tell apart."""

from __future__ import annotations

from html import escape

from experiments.rivals.ranks import Comparison

_WIDTH, _SIDE, _TOP, _STEP, _BAR = 720.0, 200.0, 46.0, 19.0, 7.0


def critical_difference(comparison: Comparison, title: str = "") -> str:
    """Draw the mean ranks of a comparison as one block of HTML, best on the left.

    Examples
    --------
    >>> found = Comparison({"a": 1.2, "b": 1.9, "c": 2.9}, tasks=8, p_value=0.01, critical_difference=1.17)
    >>> drawn = critical_difference(found)
    >>> drawn.count('class="tie"'), drawn.count('class="method"')
    (3, 3)
    """
    names, k = list(comparison.means), len(comparison.means)
    cliques = comparison.cliques()
    base = _TOP + 12 + _BAR * len(cliques)
    half = (k + 1) // 2
    height = base + 14 + _STEP * half

    def across(rank: float) -> float:
        return _SIDE + (rank - 1) / max(k - 1, 1) * (_WIDTH - 2 * _SIDE)

    marks = [f'<line class="axis" x1="{across(1):.1f}" x2="{across(k):.1f}" y1="{_TOP}" y2="{_TOP}"/>']
    for rank in range(1, k + 1):
        x = across(rank)
        marks.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 5}" y2="{_TOP}"/>')
        marks.append(f'<text x="{x:.1f}" y="{_TOP - 9}" text-anchor="middle">{rank}</text>')
    width = comparison.critical_difference / max(k - 1, 1) * (_WIDTH - 2 * _SIDE)
    marks.append(f'<line class="tie" x1="{across(1):.1f}" x2="{across(1) + width:.1f}" y1="14" y2="14"/>')
    marks.append(
        f'<text x="{across(1) + width + 6:.1f}" y="18">critical difference {comparison.critical_difference:.2f}</text>'
    )
    for number, (first, last) in enumerate(cliques):
        y = _TOP + 9 + _BAR * number
        ends = across(comparison.means[first]) - 3, across(comparison.means[last]) + 3
        marks.append(f'<line class="tie" x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
    for place, name in enumerate(names):
        left = place < half
        y = base + 10 + _STEP * (place if left else k - 1 - place)
        x, end = across(comparison.means[name]), _SIDE - 10 if left else _WIDTH - _SIDE + 10
        text = (
            f"{escape(name)} {comparison.means[name]:.2f}" if left else f"{comparison.means[name]:.2f} {escape(name)}"
        )
        marks.append(f'<polyline class="method" points="{x:.1f},{_TOP} {x:.1f},{y:.1f} {end:.1f},{y:.1f}"/>')
        anchor, shift = ("end", -4) if left else ("start", 4)
        marks.append(f'<text x="{end + shift:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}">{text}</text>')
    heading = f"<figcaption>{escape(title)}</figcaption>" if title else ""
    label = escape(title or "critical difference of mean ranks")
    return (
        f'<style>{_STYLE}</style><figure class="ranks">{heading}'
        f'<svg viewBox="0 0 {_WIDTH:g} {height:g}" role="img" aria-label="{label}">{"".join(marks)}</svg></figure>'
    )


_STYLE = """
.ranks { max-width: 52rem; margin: 1rem 0; color: var(--soft, currentColor); }
.ranks figcaption { font-size: .9rem; } .ranks svg { width: 100%; height: auto; }
.ranks text { fill: currentColor; font-size: 12px; } .ranks .axis { stroke: currentColor; }
.ranks .tie { stroke: var(--accent, #b3261e); stroke-width: 3; stroke-linecap: round; }
.ranks .method { fill: none; stroke: var(--line, currentColor); }
"""
