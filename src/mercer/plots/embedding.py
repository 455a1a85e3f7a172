"""Outputs and predicted points in two dimensions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.core.arrays import to_numpy
from mercer.core.collections import count, listed, take
from mercer.core.validation import check_whole
from mercer.kernels.base import Kernel
from mercer.plots.base import PREDICTED, QUIET, TRUE, figure_and_axes


class EmbeddingDisplay:
    """Outputs and predictions in the two directions of largest variance of the output feature space.

    A prediction is a point h(x) of that space before it is decoded into an object; a line joins it to its true output. Use
    `from_estimator` or `from_predictions`; the constructor stores what is drawn.

    Parameters
    ----------
    outputs : array (n, 2)
        Training outputs.
    points : array (m, 2)
        Predictions.
    truth : array (m, 2), optional
        The outputs that should have been predicted.
    variance : array (2,)
        The share of the variance of the outputs in each direction.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    outputs_, points_ : matplotlib collections
        The dots.
    lines_ : matplotlib collection or None
        The lines from predictions to the truth.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import DependencyEstimator
    >>> from mercer.kernels import Subsequence
    >>> from mercer.plots import EmbeddingDisplay
    >>> kernel = Subsequence(length=2).normalized()
    >>> model = DependencyEstimator(kernel, kernel, alpha=0.01).fit(["aab", "bba", "abb"], ["xxy", "yyx", "xyy"])
    >>> EmbeddingDisplay.from_estimator(model, ["aaab"], ["xxy"]).points.shape
    (1, 2)
    """

    def __init__(self, outputs: Any, points: Any, truth: Any = None, variance: Any = (np.nan, np.nan)) -> None:
        self.outputs, self.points, self.truth, self.variance = outputs, points, truth, variance

    @classmethod
    def from_estimator(  # noqa: PLR0913
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        labels: Any = None,
        most: int = 1000,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the points that a fitted estimator predicts, among its training outputs.

        Parameters
        ----------
        estimator : fitted estimator
            One with `decision_weights`.
        X : collection
            Inputs.
        y : collection, optional
            Their true outputs.
        labels : sequence, optional
            A label for each input, by which predictions are coloured.
        most : int, default=1000
            Most training outputs from which the directions are found; of more, evenly spaced ones are taken.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs : dict
            Properties of the dots of predictions.
        """
        check_is_fitted(estimator)
        check_whole(most, "most", 3)
        kernel, outputs = estimator.output_kernel_, estimator.embedding_.outputs_
        plane = _Plane(kernel, _some(outputs, most))
        products = to_numpy(estimator.decision_weights(X)) @ to_numpy(kernel(outputs, plane.outputs))
        truth = None if y is None else plane(to_numpy(kernel(_checked(kernel, y), plane.outputs)))
        if truth is not None and len(truth) != len(products):
            raise ValueError(f"X has {len(products)} objects and y has {len(truth)}; expected as many of each")
        return cls(plane.coordinates, plane(products), truth, plane.variance).plot(ax, labels=labels, **kwargs)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, kernel: Kernel, *, labels: Any = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw true and predicted objects, under a kernel on them.

        Parameters
        ----------
        y_true, y_pred : collections of the same length
            True outputs, whose directions of largest variance are drawn, and predictions.
        kernel : Kernel
            The similarity of outputs.
        labels : sequence, optional
            A label for each prediction, by which it is coloured.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs : dict
            Properties of the dots of predictions.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.kernels import Linear
        >>> display = EmbeddingDisplay.from_predictions(np.eye(3), np.eye(3), Linear())
        >>> bool(np.allclose(display.points, display.outputs))
        True
        """
        kernel = kernel if kernel.is_resolved else kernel.resolve(kernel.check(listed(y_true), "y_true"))
        true, predicted = _checked(kernel, y_true), _checked(kernel, y_pred)
        if count(true) != count(predicted):
            raise ValueError(
                f"y_true has {count(true)} objects and y_pred has {count(predicted)}; expected as many of each"
            )
        plane = _Plane(kernel, true)
        points = plane(to_numpy(kernel(predicted, true)))
        return cls(plane.coordinates, points, plane.coordinates, plane.variance).plot(ax, labels=labels, **kwargs)

    def plot(self, ax: Any = None, *, labels: Any = None, **kwargs: Any) -> Self:
        """Draw outputs, predictions and the lines between them on `ax`, or on new axes."""
        self.figure_, self.ax_ = figure_and_axes(ax)
        self.outputs_ = self.ax_.scatter(*self.outputs.T, s=12, color=TRUE, alpha=0.6, label="outputs")
        self.lines_ = None
        if self.truth is not None:
            from matplotlib.collections import LineCollection

            lines = LineCollection(
                list(np.stack([self.points, self.truth], axis=1)), color=QUIET, alpha=0.35, linewidth=0.8
            )
            self.lines_ = self.ax_.add_collection(lines)
        style = {"s": 26, "edgecolor": "white", "linewidth": 0.5, **kwargs}
        if labels is None:
            self.points_ = self.ax_.scatter(*self.points.T, color=PREDICTED, label="predicted points", **style)
            self.ax_.legend()
        else:
            names, numbers = np.unique(np.asarray(labels), return_inverse=True)
            self.points_ = self.ax_.scatter(*self.points.T, c=numbers, cmap="tab10", **style)
            self.ax_.legend(
                self.points_.legend_elements()[0], names.tolist(), title="predicted points", fontsize="small"
            )
        first, second = (f" ({share:.0%} of the variance)" if np.isfinite(share) else "" for share in self.variance)
        self.ax_.set(xlabel=f"first direction{first}", ylabel=f"second direction{second}")
        return self


class _Plane:
    """The two directions of largest variance of outputs under a kernel (kernel principal components)."""

    def __init__(self, kernel: Kernel, outputs: Any) -> None:
        n = count(outputs)
        if n < 3:
            raise ValueError(f"there are {n} outputs; expected at least three for two directions")
        gram = to_numpy(kernel(outputs))
        self.outputs, self.means = outputs, gram.mean(axis=0)
        centred = gram - self.means - self.means[:, None] + self.means.mean()
        values, vectors = np.linalg.eigh(centred)
        values, self.vectors = np.clip(values[:-3:-1], 0.0, None), vectors[:, :-3:-1]
        largest = np.abs(self.vectors).argmax(axis=0)
        self.vectors = self.vectors * np.sign(self.vectors[largest, [0, 1]])  # signs that do not depend on the library
        self.roots = np.sqrt(np.maximum(values, np.finfo(float).tiny))
        self.coordinates = self.vectors * np.sqrt(values)
        self.variance = values / max(float(np.trace(centred)), np.finfo(float).tiny)

    def __call__(self, products: np.ndarray) -> np.ndarray:
        """Coordinates of points with the given inner products with the outputs."""
        centred = products - products.mean(axis=1, keepdims=True) - self.means + self.means.mean()
        return np.where(self.roots > 1e-7 * self.roots[0], centred @ self.vectors / self.roots, 0.0)


def _some(outputs: Any, most: int) -> Any:
    n = count(outputs)
    return outputs if n <= most else take(outputs, np.linspace(0, n - 1, most).astype(int))


def _checked(kernel: Kernel, outputs: Any) -> Any:
    outputs = listed(outputs)
    if kernel.takes_vectors and np.ndim(outputs) == 1:
        outputs = np.asarray(outputs, dtype=float)[:, None]
    return kernel.check(outputs, "y")
