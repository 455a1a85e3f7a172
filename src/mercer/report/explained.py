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

_STYLE = """
.parts { display: grid; grid-template-columns: minmax(6rem, 16rem) 1fr; gap: .25rem .6rem; max-width: 40rem;
  margin: .5rem 0 1rem; color: var(--soft, currentColor); font-size: .85rem; }
.parts dt, .parts dd { margin: 0; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
.parts i { display: inline-block; height: .8em; margin-right: .4em; vertical-align: -.1em; background: #3b82c4; }
.parts i.against { background: var(--accent, #b3261e); }
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
    """Return the table of an explanation with a bar for each share, in another colour for pairs against the prediction."""
    write = show or brief
    longest = max([abs(one.share) for one in explanation.carriers] + [1e-12])
    drawn = []
    for one in explanation.carriers:
        kind, width = "for" if one.share >= 0 else "against", 75 * abs(one.share) / longest
        bar = f'<i class="{kind}" style="width:{width:.1f}%"></i>{one.share:+.1%}'
        drawn.append(f"<dt>{escape(f'{one.position}: {write(one.output)}')}</dt><dd>{bar}</dd>")
    bars = f'<style>{_STYLE}</style><dl class="parts">{"".join(drawn)}</dl>'
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
