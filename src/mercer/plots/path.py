"""The loss along a parameter that was chosen by it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.plots.base import PREDICTED, QUIET, as_numbers, figure_and_axes

_RULES = {"LeaveOneOut": "leave-one-out loss", "KFold": "loss over folds", "GCV": "generalised cross-validation"}
_RULES |= {"loo": _RULES["LeaveOneOut"], "kfold": _RULES["KFold"], "gcv": _RULES["GCV"]}


class PathDisplay:
    """The left-out loss of each value of a parameter, and the value that was chosen.

    Use `from_estimator` or `from_predictions`; the constructor stores what is drawn.

    Parameters
    ----------
    values : array (m,)
        The values tried, in the order of the estimator.
    losses : array (m,) or (l, m)
        The loss of each; one row for each line if there are several.
    chosen : float, optional
        The value in use.
    parameter, loss_name : str
        Names for the axes.
    labels : list of str, optional
        A name for each line.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : list of matplotlib lines
        The paths.
    chosen_ : matplotlib line or None
        The mark at the chosen value.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import DependencyEstimator
    >>> from mercer.plots import PathDisplay
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> model = DependencyEstimator().fit(X, np.sin(X))
    >>> display = PathDisplay.from_estimator(model)
    >>> display.chosen == model.alpha_, len(display.values) == len(model.alphas_)
    (True, True)
    """

    def __init__(  # noqa: PLR0913 - what is drawn
        self,
        values: Any,
        losses: Any,
        chosen: float | None = None,
        *,
        parameter: str = "alpha",
        loss_name: str = "left-out loss",
        labels: list[str] | None = None,
    ) -> None:
        self.values, self.losses, self.chosen = values, losses, chosen
        self.parameter, self.loss_name, self.labels = parameter, loss_name, labels

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the path of a fitted estimator that chose alpha (or k, or a length) by left-out loss.

        Parameters
        ----------
        estimator : fitted estimator
            One with ``loo_path_``, such as `DependencyEstimator` with ``alpha="loo"``.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs : dict
            Properties of the lines.
        """
        check_is_fitted(estimator)
        losses = getattr(estimator, "loo_path_", None)
        parameter = "k" if hasattr(estimator, "ks_") else "alpha"
        values = getattr(estimator, f"{parameter}s_", None)
        if losses is None or values is None:
            name, cure = type(estimator).__name__, 'fit it with alpha="loo"'
            if hasattr(estimator, "leaderboard_"):
                cure = "its members are shown by LeaderboardDisplay"
            raise ValueError(f"{name} has no path of losses, as nothing was chosen along one; {cure}")
        rule = getattr(estimator, parameter, "loo")
        loss_name = _RULES.get(rule if isinstance(rule, str) else type(rule).__name__, "left-out loss")
        labels = None
        if np.ndim(losses) == 2:
            labels = [f"length {length:.3g}" for length in estimator.lengths_]
        chosen = getattr(estimator, f"{parameter}_")
        found = cls(
            np.asarray(values), np.asarray(losses), chosen, parameter=parameter, loss_name=loss_name, labels=labels
        )
        return found.plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        values: Any,
        losses: Any,
        chosen: float | None = None,
        *,
        parameter: str = "alpha",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw losses that were measured elsewhere.

        Parameters
        ----------
        values, losses : arrays (m,)
            The values of the parameter, and the loss of each.
        chosen : float, optional
            The value to mark; by default that of least loss.
        parameter : str
            Name of the parameter.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs : dict
            Properties of the line.

        Examples
        --------
        >>> from mercer.plots import PathDisplay
        >>> PathDisplay.from_predictions([0.1, 1.0, 10.0], [0.4, 0.2, 0.9]).chosen
        1.0
        """
        values, losses = as_numbers(values, "values"), as_numbers(losses, "losses")
        if len(values) != len(losses):
            raise ValueError(f"values has {len(values)} numbers and losses has {len(losses)}; expected as many of each")
        chosen = float(values[np.argmin(losses)]) if chosen is None else chosen
        return cls(values, losses, chosen, parameter=parameter).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the paths on `ax`, or on new axes; alpha has a logarithmic axis."""
        self.figure_, self.ax_ = figure_and_axes(ax)
        order = np.argsort(self.values)
        self.lines_ = []
        for i, losses in enumerate(np.atleast_2d(self.losses)):
            style = {
                "marker": ".",
                **({"color": QUIET} if self.labels is None else {"label": self.labels[i]}),
                **kwargs,
            }
            self.lines_ += self.ax_.plot(self.values[order], losses[order], **style)
        self.chosen_ = None
        if self.chosen is not None:
            label = f"chosen: {self.chosen:.3g}"
            self.chosen_ = self.ax_.axvline(self.chosen, color=PREDICTED, linestyle="--", label=label)
            self.ax_.legend()
        if self.parameter == "alpha":
            self.ax_.set_xscale("log")
        self.ax_.set(xlabel=self.parameter, ylabel=self.loss_name)
        return self
