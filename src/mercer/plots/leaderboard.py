"""Losses of several learners or models, best first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.core.arrays import to_numpy
from mercer.core.validation import check_whole
from mercer.losses.base import as_loss
from mercer.plots.base import PREDICTED, QUIET, figure_and_axes


class LeaderboardDisplay:
    """Mean losses with their standard errors, best on top; those with a weight in a mixture are in colour.

    Use `from_estimator` or `from_predictions`; the constructor stores what is drawn.

    Parameters
    ----------
    names : list of str
        Names, best first.
    losses, errors : arrays (m,)
        Mean losses, and their standard errors.
    weights : array (m,), optional
        Weights in the mixture.
    loss_name : str
        Name for the axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    points_ : matplotlib container
        The losses with their error bars.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import AutoEstimator
    >>> from mercer.plots import LeaderboardDisplay
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> model = AutoEstimator(effort="fast").fit(X, np.sin(X[:, 0]))
    >>> display = LeaderboardDisplay.from_estimator(model, most=3)
    >>> len(display.names), bool(display.losses[0] == model.leaderboard_[0].loss)
    (3, True)
    """

    def __init__(
        self, names: list[str], losses: Any, errors: Any, weights: Any = None, *, loss_name: str = "left-out loss"
    ) -> None:
        self.names, self.losses, self.errors, self.weights, self.loss_name = names, losses, errors, weights, loss_name

    @classmethod
    def from_estimator(cls, estimator: Any, *, most: int = 12, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the leaderboard of a fitted `AutoEstimator`.

        Parameters
        ----------
        estimator : fitted AutoEstimator
            An estimator with ``leaderboard_``.
        most : int, default=12
            Most members to show; those with a weight are shown before others, in the order of their loss.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs : dict
            Properties of the error bars.
        """
        check_is_fitted(estimator)
        check_whole(most, "most")
        board = getattr(estimator, "leaderboard_", None)
        if board is None:
            raise ValueError(f"{type(estimator).__name__} has no leaderboard_; expected a fitted AutoEstimator")
        kept = sorted(sorted(board, key=lambda row: (row.weight == 0.0, row.loss))[:most], key=lambda row: row.loss)
        names = [f"{row.learner}, {row.kernel}" if row.kernel else row.learner for row in kept]
        losses, errors, weights = np.array([[row.loss, row.error, row.weight] for row in kept]).T
        return cls(names, losses, errors, weights).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls, y_true: Any, predictions: Mapping[str, Any], loss: Any, *, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the mean losses of several predictions of the same outputs.

        Parameters
        ----------
        y_true : collection
            The true outputs.
        predictions : mapping of str to collection
            The predictions of each model by its name.
        loss : Loss or callable Δ(y_true, y_pred)
            The loss.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs : dict
            Properties of the error bars.

        Examples
        --------
        >>> from mercer.losses import ZeroOne
        >>> display = LeaderboardDisplay.from_predictions("ab", {"worse": "bb", "better": "ab"}, ZeroOne())
        >>> display.names, display.losses.tolist()
        (['better', 'worse'], [0.0, 0.5])
        """
        if not isinstance(predictions, Mapping) or not predictions:
            raise ValueError(
                f"predictions={predictions!r:.60}; expected a dict, the predictions of each model by its name"
            )
        cost, rows = as_loss(loss), []
        for name, predicted in predictions.items():
            losses = to_numpy(cost.paired(_collection(y_true), _collection(predicted))).astype(float)
            rows.append(
                (name, float(losses.mean()), float(losses.std(ddof=min(1, len(losses) - 1)) / len(losses) ** 0.5))
            )
        rows.sort(key=lambda row: row[1])
        means, errors = np.array([row[1:] for row in rows]).T
        return cls(
            [row[0] for row in rows],
            means,
            errors,
            loss_name=f"mean {getattr(loss, '__name__', type(cost).__name__)} loss",
        ).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw a line for each member on `ax`, or on new axes."""
        n = len(self.names)
        self.figure_, self.ax_ = figure_and_axes(ax, figsize=(7.5, 0.9 + 0.32 * n))
        places = np.arange(n)
        mixed = np.zeros(n, dtype=bool) if self.weights is None else np.asarray(self.weights) > 0
        style = {"fmt": "o", "color": QUIET, "capsize": 2, **kwargs}
        self.points_ = self.ax_.errorbar(self.losses, places, xerr=self.errors, **style)
        self.ax_.plot(self.losses[mixed], places[mixed], "o", color=PREDICTED, label="in the mixture, with its weight")
        for place in places[mixed]:
            text = f"{self.weights[place]:.2f}"
            self.ax_.annotate(
                text, (self.losses[place], place), (0, 5), textcoords="offset points", ha="center", fontsize="small"
            )
        if mixed.any():
            self.ax_.legend(fontsize="small", frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0))
        self.ax_.set_yticks(places, self.names)
        self.ax_.invert_yaxis()
        self.ax_.margins(y=0.6 / max(n, 2))
        self.ax_.set_xlabel(self.loss_name)
        return self


def _collection(objects: Any) -> Any:
    return list(objects) if isinstance(objects, str) else objects
