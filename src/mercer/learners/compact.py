"""Fitted maps reduced to what predictions take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from mercer.core.arrays import Array
from mercer.core.collections import Collection


@dataclass
class CompactMap:
    """The points of a fitted map, without what leaves pairs out or explains predictions.

    Attributes
    ----------
    inner : object with ``points(inputs)``
        The map.
    attributes : dict
        Fitted attributes of the estimator.
    """

    inner: Any
    attributes: dict[str, Any]

    def points(self, inputs: Collection) -> Array:
        """Return the point of each input."""
        return self.inner.points(inputs)

    @property
    def origin(self) -> Array | None:
        """The point of an input that is like no training input."""
        return getattr(self.inner, "origin", None)

    def left_out_points(self) -> NoReturn:
        """Raise ValueError."""
        raise _gone("predictions for training pairs that are left out")

    def weights(self, inputs: Collection) -> NoReturn:
        """Raise ValueError."""
        raise _gone("weights on the training pairs")

    def variances(self, inputs: Collection) -> NoReturn:
        """Raise ValueError."""
        raise _gone("standard deviations")


def _gone(what: str) -> ValueError:
    return ValueError(
        f"{what} are not kept in a compact model; ask the model that compact() was called on. After calibrate(X, y) with pairs "
        "that were held out, sets and intervals of single coordinates do without"
    )


def compacted(fitted: Any) -> CompactMap:
    """Return a fitted map without what predictions do not take; a map that cannot be reduced is kept whole."""
    inner = fitted.reduced() if hasattr(fitted, "reduced") else fitted
    return CompactMap(inner, fitted.attributes)
