"""Fitted estimators as HTML, for notebooks: parts, reasons and the path of losses."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from mercer.core.validation import is_real

_PARTS = {
    "input kernel": "input_kernel_",
    "output kernel": "output_kernel_",
    "embedding": "embedding_",
    "operator": "operator_",
    "solver": "solver_",
    "decoder": "decoder_",
}
_CHOSEN = {"alpha": "alpha_", "length": "length_", "k": "k_", "left-out loss": "left_out_loss_", "kinds": "kinds_"}
_BAR = "display:inline-block;height:.7em;background:currentColor;opacity:.45;vertical-align:middle"


def fitted_html(estimator: Any) -> str:
    """Return tables of the parts in use with the reason for each, and of the losses that alpha was chosen by.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> model = DependencyEstimator().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> found = fitted_html(model)
    >>> "reason" in found, "ClosedForm()" in found, found.count("<tr>") > len(model.alphas_)
    (True, True, True)
    """
    reasons = dict(estimator.reasons_)
    rows = []
    for part, name in _PARTS.items():
        used = getattr(estimator, name, None)
        if used is not None:
            rows.append((part, repr(used), reasons.pop(part, "")))
    for part, name in _CHOSEN.items():
        used = getattr(estimator, name, None)
        if used is not None:
            rows.append((part, f"{used:.4g}" if is_real(used) else str(used), ""))
    rows += [(part, "", reason) for part, reason in reasons.items()]
    blocks = [_folded("What was learned", _table(("part", "in use", "reason"), [map(escape, row) for row in rows]))]
    if hasattr(estimator, "leaderboard_"):
        blocks.append(_folded("Learners that were tried", estimator.leaderboard_._repr_html_(), opened=False))
    elif (path := _path(estimator)) is not None:
        blocks.append(_folded("Losses that were compared", path, opened=False))
    return "".join(blocks)


def _path(estimator: Any) -> str | None:
    """Return the loss of each value that was tried, with a bar, the chosen one in bold."""
    parameter = "k" if hasattr(estimator, "ks_") else "alpha"
    losses, tried = getattr(estimator, "loo_path_", None), getattr(estimator, f"{parameter}s_", None)
    if losses is None or tried is None:
        return None
    losses, tried, chosen = np.asarray(losses, dtype=float), np.asarray(tried), getattr(estimator, f"{parameter}_")
    losses = losses.min(axis=0) if losses.ndim == 2 else losses  # of several lengths, the best
    longest, rows = max(float(np.max(losses)), np.finfo(float).tiny), []
    for i in np.argsort(tried):
        value = f"<b>{tried[i]:.3g}</b>" if tried[i] == chosen else f"{tried[i]:.3g}"
        bar = f'<span style="{_BAR};width:{8 * max(losses[i], 0.0) / longest:.2f}em"></span>'
        rows.append((value, f"{losses[i]:.4g}", bar))
    return _table((parameter, "loss", ""), rows)


def _table(head: Any, rows: Any) -> str:
    heads = "".join(f'<th scope="col" style="text-align:left">{each}</th>' for each in head)
    lines = ("".join(f'<td style="text-align:left">{cell}</td>' for cell in row) for row in rows)
    return f"<table><tr>{heads}</tr>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def _folded(title: str, content: str, opened: bool = True) -> str:
    return f"<details{' open' if opened else ''}><summary>{title}</summary>{content}</details>"
