"""Explanations of predictions as tables and pictures."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.report.page import Card, Picture, gallery, table_html
from mercer.report.tables import Table
from mercer.structures.written import brief

if TYPE_CHECKING:
    from mercer.uncertainty.answers import Explanation

_WIDTH, _LINE, _LABEL = 560.0, 22.0, 250.0
_STYLE = """
.parts { max-width: 40rem; margin: .5rem 0 1rem; color: var(--soft, currentColor); }
.parts svg { width: 100%; height: auto; } .parts text { fill: currentColor; font-size: 12px; }
.parts .for { fill: #3b82c4; } .parts .against { fill: var(--accent, #b3261e); }
"""

Show = Callable[[Any], str]


def explanation_table(explanation: Explanation, show: Show | None = None) -> Table:
    """Return the training pairs with the largest shares of a prediction as a table.

    The explanation comes from ``model.explain(x)``; `show` writes an input or an output, by default with `brief`.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> from mercer.kernels import Classes, Subsequence
    >>> model = DependencyEstimator(Subsequence(2), Classes(), alpha=0.1).fit(["aab", "bba", "abb"], ["x", "y", "x"])
    >>> explanation_table(model.explain("aab", k=1)).rows[0][:3]
    ['0', "'aab'", "'x'"]
    """
    write = show or brief
    rows = []
    for one in explanation.carriers:
        pair = [str(one.position), "" if one.input is None else write(one.input), write(one.output)]
        rows.append([*pair, f"{one.weight:+.3f}", f"{one.similarity:.3f}", f"{one.share:+.1%}"])
    rows.append(["others", "", "", "", "", f"{explanation.rest:.1%}"])
    title = f"{write(explanation.input)} → {write(explanation.prediction)}"
    return Table(["pair", "input", "output", "weight", "similarity", "share"], rows, title)


def explanation_html(explanation: Explanation, show: Show | None = None) -> str:
    """Return the table of an explanation with a bar for each share: to the right if positive, to the left if negative."""
    write = show or brief
    shares = [(f"{one.position}: {write(one.output)}", one.share) for one in explanation.carriers]
    longest = max([abs(share) for _, share in shares] + [1e-12])
    zero = _LABEL + (_WIDTH - _LABEL) * (0.5 if any(share < 0 for _, share in shares) else 0.0)
    unit = (_WIDTH - zero - 60) / longest
    drawn = []
    for i, (label, share) in enumerate(shares):
        y, length = i * _LINE, abs(share) * unit
        left = zero if share >= 0 else zero - length
        side = zero + length + 5 if share >= 0 else left - 5
        anchor, kind = ("start", "for") if share >= 0 else ("end", "against")
        drawn.append(
            f'<text x="0" y="{y + 15:.0f}">{escape(label[:36])}</text>'
            f'<rect class="{kind}" x="{left:.1f}" y="{y + 4:.0f}" width="{length:.1f}" height="14"/>'
            f'<text x="{side:.1f}" y="{y + 15:.0f}" text-anchor="{anchor}">{share:+.1%}</text>'
        )
    bars = (
        f'<style>{_STYLE}</style><figure class="parts"><svg viewBox="0 0 {_WIDTH:g} {len(shares) * _LINE:g}" role="img" '
        f'aria-label="shares of training pairs in the prediction">{"".join(drawn)}</svg></figure>'
    )
    return table_html(explanation_table(explanation, show)) + bars


def explanation_gallery(explanation: Explanation, image: Callable[[Any], np.ndarray], show: Show | None = None) -> str:
    """Return pictures of the input and of the training inputs with the largest shares of its prediction.

    `image` turns an input into pixels from −1 (paper) to 1 (ink); `show` writes an output.
    """
    write = show or brief
    pictures = [Picture(image(explanation.input), f"→ {write(explanation.prediction)}", "the input")]
    for one in explanation.carriers:
        if one.input is not None:
            pictures.append(Picture(image(one.input), write(one.output), f"{one.share:+.0%}"))
    return gallery([Card("An input, and the training pairs its prediction rests on", pictures)])
