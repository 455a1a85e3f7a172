"""Predictions beside the truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.core.arrays import is_array, to_numpy
from mercer.core.collections import count, listed, member
from mercer.core.validation import check_choice, check_whole
from mercer.plots.base import PREDICTED, TRUE, pyplot
from mercer.structures.graphs import is_graph
from mercer.structures.written import brief

KINDS = ("images", "curves", "molecules", "graphs", "text")


class PredictionGridDisplay:
    """Inputs, true outputs and predictions in a grid, drawn as what they are.

    Images, molecules, graphs and text have a column for each example and a row each for input, truth and prediction. Curves
    have one panel for each example, with a band where intervals are given. Use `from_estimator` or `from_predictions`; the
    constructor stores what is drawn.

    Parameters
    ----------
    y_pred : collection
        Predictions.
    y_true, inputs : collections, optional
        The truth, and the inputs.
    kind : {"images", "curves", "molecules", "graphs", "text"}
        The way to draw an output.
    lower, upper : arrays, optional
        Ends of bands around curves.
    grid : array, optional
        Points at which curves are observed.
    picture, input_picture : callable, optional
        Turn an output, and an input, into pixels; inputs without one are written as text.

    Attributes
    ----------
    figure_ : matplotlib figure
    axes_ : array of matplotlib axes
        One row each for inputs, truth and predictions, or panels of curves.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import CurveRidge
    >>> from mercer.plots import PredictionGridDisplay
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> curves = np.sin(6 * X + np.linspace(0, 3, 15))
    >>> model = CurveRidge().fit(X, curves)
    >>> display = PredictionGridDisplay.from_estimator(model, X[:4], curves[:4], coverage=0.9)
    >>> display.kind, display.axes_.shape
    ('curves', (1, 4))
    """

    def __init__(  # noqa: PLR0913 - what is drawn, and how
        self,
        y_pred: Any,
        y_true: Any = None,
        inputs: Any = None,
        *,
        kind: str = "text",
        lower: Any = None,
        upper: Any = None,
        grid: Any = None,
        picture: Callable[[Any], Any] | None = None,
        input_picture: Callable[[Any], Any] | None = None,
    ) -> None:
        self.y_pred, self.y_true, self.inputs, self.kind = y_pred, y_true, inputs, kind
        self.lower, self.upper, self.grid = lower, upper, grid
        self.picture, self.input_picture = picture, input_picture

    @classmethod
    def from_estimator(  # noqa: PLR0913
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        most: int = 8,
        coverage: float | None = None,
        candidates: Any = None,
        columns: int | None = None,
        **parts: Any,
    ) -> Self:
        """Draw the predictions of a fitted estimator for the first inputs.

        Parameters
        ----------
        estimator : fitted estimator
            Any with `predict`.
        X, y : collections
            Inputs, and their true outputs if they are known.
        most : int, default=8
            Most examples to draw.
        coverage : float, optional
            Draw bands around curves that hold the whole curve with this probability.
        candidates : collection, optional
            Candidates for `predict`.
        columns : int, optional
            Panels of curves side by side; 4 by default.
        **parts : dict
            `kind`, `grid`, `picture` and `input_picture`, as for `from_predictions`.
        """
        check_is_fitted(estimator)
        X = listed(X)
        n = min(check_whole(most, "most"), count(X))
        some = X[:n]
        predicted = estimator.predict(some) if candidates is None else estimator.predict(some, candidates=candidates)
        if coverage is not None:
            parts["intervals"] = estimator.predict_interval(some, coverage, simultaneous=True)
        truth = None if y is None else listed(y)[:n]
        return cls.from_predictions(truth, predicted, inputs=some, columns=columns, **parts)

    @classmethod
    def from_predictions(  # noqa: PLR0913
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        inputs: Any = None,
        intervals: Any = None,
        kind: str = "auto",
        grid: Any = None,
        picture: Callable[[Any], Any] | None = None,
        input_picture: Callable[[Any], Any] | None = None,
        columns: int | None = None,
    ) -> Self:
        """Draw predictions that were made before.

        Parameters
        ----------
        y_true : collection or None
            True outputs, None if they are not known.
        y_pred : collection
            Predictions.
        inputs : collection, optional
            Inputs. Those of curves are written as titles if they are short.
        intervals : Intervals, or pair of arrays, optional
            Lower and upper ends of bands around curves.
        kind : {"auto", "images", "curves", "molecules", "graphs", "text"}
            The way to draw an output. "auto" draws arrays of two axes (or with `picture`) as images, of one as curves,
            networkx graphs and rdkit molecules as such, and writes anything else. SMILES are drawn by ``kind="molecules"``.
        grid : array, optional
            Points at which curves are observed; 0, 1, … by default.
        picture, input_picture : callable, optional
            Turn an output, and an input, into pixels, such as ``lambda y: y.reshape(8, 8)``.
        columns : int, optional
            Panels of curves side by side; 4 by default.

        Examples
        --------
        >>> import numpy as np
        >>> images = np.random.default_rng(0).random((3, 8, 8))
        >>> PredictionGridDisplay.from_predictions(images, images).axes_.shape
        (2, 3)
        """
        y_pred, y_true = listed(y_pred), listed(y_true)
        n = count(y_pred)
        if n == 0:
            raise ValueError("y_pred is empty; expected at least one prediction")
        for name, others in (("y_true", y_true), ("inputs", inputs)):
            if others is not None and count(others) != n:
                raise ValueError(f"y_pred has {n} objects and {name} has {count(others)}; expected as many of each")
        check_choice(kind, "kind", ("auto", *KINDS))
        kind = _recognised(y_pred, picture) if kind == "auto" else kind
        if intervals is not None and kind != "curves":
            raise ValueError(f"intervals are drawn around curves, and these are {kind}; leave them out")
        lower, upper = (None, None) if intervals is None else map(np.asarray, intervals)
        display = cls(
            y_pred,
            y_true,
            inputs,
            kind=kind,
            lower=lower,
            upper=upper,
            grid=grid,
            picture=picture,
            input_picture=input_picture,
        )
        return display.plot(columns)

    def plot(self, columns: int | None = None) -> Self:
        """Draw the grid on a new figure."""
        if self.kind == "curves":
            return self._plot_curves(4 if columns is None else check_whole(columns, "columns"))
        n = count(self.y_pred)
        draw = {"images": self._image, "molecules": _molecule, "graphs": _graph, "text": _text}[self.kind]
        rows: list[tuple[str, Any, Any]] = []
        if self.inputs is not None:
            rows.append(("input", self.inputs, _text if self.input_picture is None else self._input_image))
        if self.y_true is not None:
            rows.append(("true", self.y_true, draw))
        rows.append(("predicted", self.y_pred, draw))
        heights = [0.35 if one is _text else 1.0 for _, _, one in rows]
        width = 2.2 if self.kind in ("text", "molecules", "graphs") else 1.1
        self.figure_, self.axes_ = pyplot().subplots(
            len(rows),
            n,
            squeeze=False,
            figsize=(width * n + 0.6, max(width, 1.3) * sum(heights) + 0.2),
            height_ratios=heights,
            layout="constrained",
        )
        for line, (name, objects, one) in zip(self.axes_, rows, strict=True):
            for i, ax in enumerate(line):
                ax.set(xticks=[], yticks=[])
                for spine in ax.spines.values():
                    spine.set_visible(False)
                one(ax, member(objects, i))
            colour = PREDICTED if name == "predicted" else "black"
            line[0].set_ylabel(name, rotation=0, ha="right", va="center", color=colour)
        return self

    def _plot_curves(self, columns: int) -> Self:
        predicted = to_numpy(self.y_pred)
        n = len(predicted)
        columns = min(columns, n)
        lines = -(-n // columns)
        self.figure_, self.axes_ = pyplot().subplots(
            lines,
            columns,
            squeeze=False,
            sharex=True,
            sharey=True,
            figsize=(2.4 * columns + 0.6, 2.0 * lines + 0.5),
            layout="constrained",
        )
        grid = np.arange(predicted.shape[1]) if self.grid is None else np.asarray(self.grid)
        for i, ax in enumerate(self.axes_.flat):
            if i >= n:
                ax.set_visible(False)
                continue
            if self.lower is not None:
                ax.fill_between(grid, self.lower[i], self.upper[i], color=PREDICTED, alpha=0.18, linewidth=0)
            if self.y_true is not None:
                ax.plot(grid, to_numpy(self.y_true)[i], color=TRUE, linewidth=2.4, label="true")
            ax.plot(grid, predicted[i], color=PREDICTED, label="predicted")
            if self.inputs is not None and len(text := brief(member(self.inputs, i), text=str)) <= 30:
                ax.set_title(text, fontsize="small")
        self.axes_.flat[0].legend(fontsize="small")
        return self

    def _image(self, ax: Any, thing: Any) -> None:
        _pixels(ax, thing if self.picture is None else self.picture(thing), "outputs, by picture=")

    def _input_image(self, ax: Any, thing: Any) -> None:
        assert self.input_picture is not None
        _pixels(ax, self.input_picture(thing), "inputs, by input_picture=")


def _recognised(outputs: Any, picture: Any) -> str:
    first = member(outputs, 0)
    if picture is not None or (is_array(first) and first.ndim in (2, 3)):
        return "images"
    if is_array(first) and first.ndim == 1:
        return "curves"
    if is_graph(first):
        return "graphs"
    return "molecules" if type(first).__module__.startswith("rdkit") else "text"


def _pixels(ax: Any, image: Any, what: str) -> None:
    image = np.asarray(to_numpy(image) if is_array(image) else image, dtype=float)
    if image.ndim not in (2, 3):
        raise ValueError(f"an image has shape {image.shape}; expected rows × columns. Reshape the {what}")
    ax.imshow(image, cmap="gray_r", interpolation="nearest")


def _text(ax: Any, thing: Any) -> None:
    ax.text(0.5, 0.5, brief(thing, 28, str), ha="center", va="center", transform=ax.transAxes)


def _molecule(ax: Any, thing: Any) -> None:
    try:
        from rdkit import Chem
        from rdkit.Chem.Draw import MolToImage
    except ImportError as error:
        raise ImportError("drawing molecules needs rdkit; run 'pip install mercer[molecules]'") from error
    found = Chem.MolFromSmiles(thing) if isinstance(thing, str) else thing
    if found is None:
        raise ValueError(f"{thing!r:.60} is not a molecule that rdkit reads; expected SMILES or an rdkit Mol")
    ax.imshow(MolToImage(found, size=(360, 300)))


def _graph(ax: Any, thing: Any) -> None:
    import networkx

    labels = networkx.get_node_attributes(thing, "label")
    places = networkx.kamada_kawai_layout(thing)
    networkx.draw_networkx(
        thing, places, ax=ax, labels=labels, with_labels=bool(labels), node_size=180, font_size=8, node_color="#cfdcec"
    )
