"""Charts of a report: accuracy, coverage and doubts."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.cli.evaluate import CONSTANT, MODEL, NEIGHBORS, Evaluation, is_numeric
from mercer.core.arrays import to_numpy
from mercer.core.collections import count, member
from mercer.io.cells import written
from mercer.io.file_model import FileModel
from mercer.plots import CoverageDisplay
from mercer.plots.base import PREDICTED, QUIET, TRUE
from mercer.report.rendering import chart, figure_style

_MOST_CLASSES, _MOST_POINTS, _LEVELS = 12, 1500, (0.5, 0.7, 0.8, 0.9, 0.95)
_SIZE, _BLUE = (4.4, 3.2), (0.145, 0.388, 0.659)


def charts_of(model: FileModel, found: Evaluation) -> list[dict[str, Any]]:
    """Return the charts with captions and descriptions."""
    with figure_style():
        return [_accuracy(found), _coverage(model, found), _doubts(found)]


def _axes() -> tuple[Any, Any]:
    from matplotlib import pyplot

    return pyplot.subplots(figsize=_SIZE, layout="constrained")


def _accuracy(found: Evaluation) -> dict[str, Any]:
    """Predicted against true numbers, a table of classes, or the losses of the methods."""
    figure, ax = _axes()
    if is_numeric(found.predictions):
        a, b = (np.asarray(to_numpy(each), dtype=float).ravel() for each in (found.truth, found.predictions))
        some = np.random.default_rng(0).permutation(len(a))[:_MOST_POINTS]
        ends = [min(a.min(), b.min()), max(a.max(), b.max())]
        ax.plot(ends, ends, color=TRUE, linewidth=1)
        ax.scatter(a[some], b[some], s=9, color=PREDICTED, alpha=0.6, linewidths=0, rasterized=len(some) > 500)
        ax.set(xlabel="true", ylabel="predicted")
        correlation = float(np.corrcoef(a, b)[0, 1]) if a.std() > 0 and b.std() > 0 else 0.0
        alt = f"Predicted against true values of {len(a)} numbers; their correlation is {correlation:.3f}."
        return {"image": chart(figure), "caption": "Predicted against true values.", "alt": alt}
    truth, answers = (
        [written(member(each, i)) for i in range(count(found.truth))] for each in (found.truth, found.predictions)
    )
    names = sorted({*truth, *answers})
    if len(names) <= _MOST_CLASSES:
        place = {name: i for i, name in enumerate(names)}
        table = np.zeros((len(names), len(names)), dtype=int)
        np.add.at(table, ([place[name] for name in truth], [place[name] for name in answers]), 1)
        ax.imshow(table, cmap=_shades())
        for (i, j), value in np.ndenumerate(table):
            if value:
                ink = {"color": "white"} if value > 0.8 * table.max() else {}
                ax.text(j, i, str(value), ha="center", va="center", **ink)
        ax.set(xticks=range(len(names)), yticks=range(len(names)), xlabel="predicted", ylabel="true")
        ax.set_xticklabels(names, rotation=45, ha="right")
        ax.set_yticklabels(names)
        alt = f"Counts of true and predicted classes; {int(np.trace(table))} of {int(table.sum())} agree."
        return {"image": chart(figure), "caption": "True classes (rows) and predicted ones (columns).", "alt": alt}
    for name, colour in ((CONSTANT, TRUE), (NEIGHBORS, QUIET), (MODEL, PREDICTED)):
        ordered = np.sort(found.losses[name])
        ax.plot(np.arange(1, len(ordered) + 1) / len(ordered), ordered, color=colour, label=name)
    ax.set(xlabel="share of pairs", ylabel="loss")
    ax.legend()
    alt = f"Losses of all pairs in order; half of them are below {float(np.median(found.losses[MODEL])):.3g} for this model."
    return {"image": chart(figure), "caption": "Losses of all pairs, in order.", "alt": alt}


def _shades() -> Any:
    """From the colour of the page, whatever it is, to blue."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("shades", [(*_BLUE, 0.0), (*_BLUE, 1.0)])


def _coverage(model: FileModel, found: Evaluation) -> dict[str, Any]:
    figure, ax = _axes()
    pairs = (found.inputs, found.truth)
    display = CoverageDisplay.from_estimator(
        model.estimator, *pairs, levels=_LEVELS, candidates=found.candidates, ax=ax
    )
    told = ", ".join(f"{b:.0%} for {a:.0%}" for a, b in zip(display.asked, display.measured, strict=True))
    caption = "Calibration: the share of right answers that sets or intervals hold, against the share asked for."
    return {"image": chart(figure), "caption": caption, "alt": f"Measured coverage: {told}."}


def _doubts(found: Evaluation) -> dict[str, Any]:
    """The mean loss of the answers that are left when the most doubtful are withheld."""
    assert found.doubts is not None
    losses = found.losses[MODEL][np.argsort(found.doubts.doubt, kind="stable")]
    kept = np.arange(1, len(losses) + 1)
    means = np.cumsum(losses) / kept
    figure, ax = _axes()
    first = max(1, len(losses) // 20)
    ax.plot(kept[first - 1 :] / len(losses), means[first - 1 :], color=PREDICTED)
    ax.axhline(means[-1], color=TRUE, linewidth=1)
    ax.set(xlabel="share of answers given, the surest first", ylabel="mean loss", ylim=(0.0, None))
    half = means[max(0, len(means) // 2 - 1)]
    alt = f"The surer half of the answers has a mean loss of {half:.3g}, all of them {means[-1]:.3g}."
    return {"image": chart(figure), "caption": "Loss if only the surest answers are given.", "alt": alt}
