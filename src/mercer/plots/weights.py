"""The training pairs that a prediction rests on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.plots.base import PREDICTED, QUIET, figure_and_axes
from mercer.structures.written import brief


class WeightsDisplay:
    """Shares of training pairs in a prediction: bars to the right speak for it, bars to the left against it.

    Use `from_estimator` or `from_predictions`; the constructor stores what is drawn.

    Parameters
    ----------
    labels : list of str
        The training pairs, the one of largest share first.
    shares : array (m,)
        Their shares; absolute values of all pairs sum to one.
    rest : float
        The sum of the absolute shares of all other pairs.
    title : str
        The input and its prediction.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    bars_ : matplotlib container
        The bars.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> from mercer.kernels import Classes, Subsequence
    >>> from mercer.plots import WeightsDisplay
    >>> model = DependencyEstimator(Subsequence(2), Classes(), alpha=0.1).fit(["aab", "bba", "abb"], ["x", "y", "x"])
    >>> display = WeightsDisplay.from_estimator(model, "aab", k=2)
    >>> display.labels[0], bool(display.shares[0] == model.explain("aab").carriers[0].share)
    ('aab → x', True)
    """

    def __init__(self, labels: list[str], shares: Any, rest: float = 0.0, title: str = "") -> None:
        self.labels, self.shares, self.rest, self.title = labels, shares, rest, title

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        x: Any,
        *,
        k: int = 10,
        show: Callable[[Any], str] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the training pairs of largest share in the prediction for one input.

        Parameters
        ----------
        estimator : fitted estimator
            One with `explain`.
        x : object
            The input.
        k : int, default=10
            Number of pairs to show.
        show : callable, optional
            Writes an input or an output in a few characters.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs : dict
            Properties of the bars.
        """
        check_is_fitted(estimator)
        return cls.from_predictions(estimator.explain(x, k=k), show=show, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls, explanation: Any, *, show: Callable[[Any], str] | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw an explanation, the answer of ``model.explain(x)``.

        Parameters
        ----------
        explanation : Explanation
            The training pairs with their shares.
        show : callable, optional
            Writes an input or an output in a few characters.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs : dict
            Properties of the bars.
        """
        if not hasattr(explanation, "carriers"):
            raise TypeError(f"explanation is {explanation!r:.60}; expected the answer of model.explain(x)")
        write = show or (lambda thing: brief(thing, 24, str))
        labels = [
            write(one.output) if one.input is None else f"{write(one.input)} → {write(one.output)}"
            for one in explanation.carriers
        ]
        shares = np.array([one.share for one in explanation.carriers])
        title = f"{write(explanation.input)} → {write(explanation.prediction)}"
        return cls(labels, shares, explanation.rest, title).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw a bar for each pair on `ax`, or on new axes."""
        n = len(self.labels)
        self.figure_, self.ax_ = figure_and_axes(ax, figsize=(7.0, 1.0 + 0.3 * n))
        colours = [QUIET if share >= 0 else PREDICTED for share in self.shares]
        self.bars_ = self.ax_.barh(np.arange(n), self.shares, **{"color": colours, **kwargs})
        self.ax_.bar_label(self.bars_, fmt="{:+.1%}", padding=3, fontsize="small")
        self.ax_.axvline(0.0, color="gray", linewidth=0.8)
        self.ax_.set_yticks(np.arange(n), self.labels)
        self.ax_.invert_yaxis()
        self.ax_.margins(x=0.15)
        self.ax_.set(xlabel=f"share in the prediction ({self.rest:.1%} rests on other pairs)", title=self.title)
        return self
