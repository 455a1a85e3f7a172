"""The share of right answers that sets and intervals hold, against the share asked for."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Self

import numpy as np
from scipy.stats import binom
from sklearn.utils.validation import check_is_fitted

from mercer.core.collections import count, keys, listed
from mercer.kernels.base import Kernel
from mercer.plots.base import PREDICTED, QUIET, as_numbers, figure_and_axes

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


class CoverageDisplay:
    """The measured coverage of sets or intervals against the one asked for, with the range that chance allows.

    Use `from_estimator` or `from_predictions`; the constructor stores what is drawn.

    Parameters
    ----------
    asked, measured : arrays (m,)
        The coverage asked for, and the share of right answers inside.
    size : int
        Number of answers that were checked.
    sizes : array (m,)
        Mean number of objects in a set, or mean width of an interval.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_ : matplotlib line
        The measured coverage.
    band_ : matplotlib collection
        The middle 95% of measured values for a model that is right by the binomial distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OperatorValuedRidge
    >>> from mercer.plots import CoverageDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=300)
    >>> model = OperatorValuedRidge().fit(X[:150], y[:150])
    >>> display = CoverageDisplay.from_estimator(model, X[150:], y[150:], levels=[0.8])
    >>> bool(display.measured[0] == model.predict_interval(X[150:], 0.8).contains(y[150:]).mean())
    True
    """

    def __init__(self, asked: Any, measured: Any, size: int, sizes: Any = None) -> None:
        self.asked, self.measured, self.size, self.sizes = asked, measured, size, sizes

    @classmethod
    def from_estimator(  # noqa: PLR0913
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        levels: Any = LEVELS,
        candidates: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the coverage of a fitted estimator on new pairs.

        Outputs that are vectors have boxes, which hold all coordinates at once; other objects have conformal sets.

        Parameters
        ----------
        estimator : fitted estimator
            One with `predict_interval` or `predict_set`.
        X, y : collections
            Pairs that were not trained on.
        levels : sequence of float
            Shares to ask for.
        candidates : collection, optional
            Candidates for the sets; see `predict_set`.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs : dict
            Properties of the line.
        """
        check_is_fitted(estimator)
        levels, regions = as_numbers(levels, "levels"), {}
        vectors = getattr(estimator.output_kernel_, "takes_vectors", False)
        for level in levels.tolist():
            if vectors:
                regions[level] = estimator.predict_interval(X, level, simultaneous=True)
            else:
                regions[level] = estimator.predict_set(X, level, candidates=candidates)
        return cls._measured(y, regions, None if vectors else estimator.output_kernel_).plot(ax, **kwargs)

    @classmethod
    def from_predictions(cls, y_true: Any, regions: Mapping[float, Any], *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the coverage of regions that were predicted before.

        Parameters
        ----------
        y_true : collection
            The true outputs.
        regions : mapping of float to regions
            The intervals of `predict_interval`, or the sets of `predict_set` (or any lists of objects), for each coverage
            asked for.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs : dict
            Properties of the line.

        Examples
        --------
        >>> sets = {0.5: [["a"], ["a"]], 0.9: [["a"], ["a", "b"]]}
        >>> CoverageDisplay.from_predictions(["a", "b"], sets).measured.tolist()
        [0.5, 1.0]
        """
        if not isinstance(regions, Mapping) or not regions:
            raise ValueError(f"regions={regions!r:.60}; expected a dict, the regions for each coverage asked for")
        return cls._measured(y_true, dict(regions), None).plot(ax, **kwargs)

    @classmethod
    def _measured(cls, y_true: Any, regions: dict[float, Any], kernel: Kernel | None) -> Self:
        """Count the right answers inside, objects compared as the kernel distinguishes them."""
        y_true = listed(y_true)
        asked = sorted(regions)
        found = [_inside(regions[level], y_true, kernel) for level in asked]
        sizes = np.array([size for _, size in found])
        return cls(np.array(asked), np.array([share for share, _ in found]), count(y_true), sizes)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the measured coverage on `ax`, or on new axes."""
        self.figure_, self.ax_ = figure_and_axes(ax)
        ideal = np.linspace(max(0.0, self.asked.min() - 0.05), min(1.0, self.asked.max() + 0.03), 50)
        low, high = (binom.ppf(share, self.size, ideal) / self.size for share in (0.025, 0.975))
        self.band_ = self.ax_.fill_between(
            ideal, low, high, color=QUIET, alpha=0.15, label=f"chance, {self.size} answers"
        )
        self.ax_.plot(ideal, ideal, color=QUIET, linewidth=1, label="as asked for")
        style = {"marker": "o", "color": PREDICTED, "label": "measured", **kwargs}
        (self.line_,) = self.ax_.plot(self.asked, self.measured, **style)
        self.ax_.set(xlabel="coverage asked for", ylabel="share of right answers inside")
        self.ax_.legend()
        return self


def _inside(region: Any, y_true: Any, kernel: Kernel | None) -> tuple[float, float]:
    """The share of right answers inside a region, and the mean size of the region."""
    if hasattr(region, "contains"):
        return float(np.mean(region.contains(y_true))), float(np.mean(region.width))
    sets = [getattr(each, "objects", each) for each in region]
    unbounded = [getattr(each, "any_object", False) for each in region]
    if len(sets) != count(y_true):
        raise ValueError(f"there are {len(sets)} sets and y_true has {count(y_true)} objects; expected as many of each")
    right = _keys(y_true, kernel)
    inside = [
        every or answer in _keys(objects, kernel) for every, answer, objects in zip(unbounded, right, sets, strict=True)
    ]
    return float(np.mean(inside)), float(np.mean([count(objects) for objects in sets]))


def _keys(objects: Any, kernel: Kernel | None) -> list[Hashable]:
    if kernel is None or count(objects) == 0:
        return list(keys(objects))
    return list(keys(kernel.check(objects), kernel.key))
