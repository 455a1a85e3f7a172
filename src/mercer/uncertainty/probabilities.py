"""Probabilities of classes and labels, and the risk of the answers that are given."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.core.arrays import Array, cached_property, to_numpy
from mercer.core.collections import Collection, count, distinct, keys, member, take
from mercer.kernels.base import Kernel
from mercer.kernels.labels import LabelIndicators, LabelSets
from mercer.uncertainty.calibrated import CalibratedAnswers

_BOUNDS = ((-5.0, 5.0), (-20.0, 2.0))  # logarithms of the power and of the floor


@dataclass(frozen=True)
class ProbabilityMap:
    """A monotone map of shares to probabilities, (max(share, 0) + floor)^power over its sum.

    Examples
    --------
    >>> ProbabilityMap(power=2.0)(np.array([[0.2, 0.4, -0.1]]))
    array([[0.2, 0.8, 0. ]])
    """

    power: float = 1.0
    floor: float = 0.0

    def __call__(self, shares: np.ndarray) -> np.ndarray:
        """Return probabilities along the last axis; all the same where no share is above zero."""
        raised = np.maximum(shares, 0.0) + self.floor
        top = np.max(raised, axis=-1, keepdims=True)
        raised = np.where(top > 0, raised / np.where(top > 0, top, 1.0), 1.0) ** self.power
        return raised / np.sum(raised, axis=-1, keepdims=True)

    @classmethod
    def fitted(cls, shares: np.ndarray, right: np.ndarray) -> ProbabilityMap:
        """Return the map of least log loss, with `right` (0 or 1) of the shape of the shares; no change if none is lower."""

        def loss(found: ProbabilityMap) -> float:
            with np.errstate(divide="ignore"):
                return -float(np.mean(np.log(found(shares)[right > 0])))

        def of_logarithms(logarithms: np.ndarray) -> ProbabilityMap:
            return cls(*np.exp(logarithms).tolist())

        if not np.any(right > 0):
            return cls()
        starts = [(0.0, -3.0), (1.0, -6.0)]
        searched = [
            scipy.optimize.minimize(lambda at: loss(of_logarithms(at)), start, bounds=_BOUNDS) for start in starts
        ]
        return min([cls(), *(of_logarithms(each.x) for each in searched)], key=loss)


class RiskCoverage(NamedTuple):
    """Mean loss of the surest answers, for every share of inputs that is answered.

    Attributes
    ----------
    coverage, risk : arrays (q,)
        The share of inputs answered, 1/q to 1, and the mean loss of these answers.
    """

    coverage: np.ndarray
    risk: np.ndarray

    @property
    def area(self) -> float:
        """The mean risk over all shares; lower is better."""
        return float(np.mean(self.risk))


def _of_objects(estimator: Any) -> bool:
    """True unless outputs are vectors, which have no classes."""
    codec = getattr(estimator, "_codec", None)
    if codec is not None:
        return codec.row_shape is None
    return not getattr(getattr(estimator, "output_kernel", None), "takes_vectors", False)


class ProbabilityAnswers(CalibratedAnswers):
    """Probabilities of outputs that are classes or label sets, and curves of risk."""

    @property
    def classes_(self) -> np.ndarray:
        """The distinct training outputs, in ascending order if they have one."""
        if not _of_objects(self):
            raise AttributeError(f"{type(self).__name__} has no classes_: its outputs are vectors")
        check_is_fitted(self, "map_")
        return self._codec.decode(take(self.embedding_.outputs_, self._class_order[0]))

    @available_if(_of_objects)
    def predict_proba(self, X: Any) -> np.ndarray:
        r"""Return the probability of each of `classes_`, one row for each input.

        The share of a class is the weight of its training pairs in :math:`h(x) = \sum_j w_j \psi(y_j)`. Shares below zero count
        as zero, and are taken to a power, with a floor, if that lowers the log loss of pairs held out (`calibrate`) or left out
        in turn. They keep their order: the most likely class is the one of most weight, which a decoder need not predict.

        Examples
        --------
        >>> from mercer import DependencyEstimator
        >>> from mercer.kernels import Classes
        >>> model = DependencyEstimator(output_kernel=Classes()).fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
        >>> model.classes_.tolist(), model.predict_proba([[0.0], [5.0]]).argmax(axis=1).tolist()
        (['a', 'b'], [0, 1])
        """
        points = self._points_of(X)
        return self._class_map_(self._class_shares(points))

    @property
    def labels_(self) -> np.ndarray:
        """The labels of outputs that are label sets; columns of an indicator matrix."""
        check_is_fitted(self, "map_")
        if not _on_label_sets(self.output_kernel_):
            raise AttributeError(f"{type(self).__name__} has no labels_: its outputs are not label sets")
        labels = self._indicators.labels
        found = np.empty(len(labels), dtype=object)
        found[:] = labels
        return found

    @available_if(_of_objects)
    def label_probabilities(self, X: Any) -> np.ndarray:
        """Return the probability of each of `labels_` to be in the output, one row for each input.

        It is the weight of the training pairs whose set has the label, between 0 and 1, mapped as by `predict_proba`.
        """
        points = self._points_of(X)
        return self._label_map_(self._label_shares(points))[..., 0]

    def risk_coverage_curve(self, X: Any, y: Any) -> RiskCoverage:
        """Return the mean loss of the answers with the lowest `abstention_score`, for every share that is answered.

        Answers with the same score count with their mean loss, so that the order of the inputs does not matter.
        """
        points, outputs = self._points_of(X), self._codec.encode(y, self.output_kernel_, "y")
        if count(outputs) != points.shape[0]:
            raise ValueError(f"X has {points.shape[0]} objects and y has {count(outputs)}; expected as many of each")
        losses = to_numpy(self.loss_.paired(outputs, self._answers(X, points))).astype(float)
        _, tied, sizes = np.unique(np.round(self.abstention_score(X), 9), return_inverse=True, return_counts=True)
        ordered = np.repeat(np.bincount(tied, losses) / sizes, sizes)
        answered = np.arange(1, len(losses) + 1)
        return RiskCoverage(answered / len(losses), np.cumsum(ordered) / answered)

    # -- shares of weight, and the maps to probabilities -----------------------------------------------------

    @property
    def _class_order(self) -> tuple[np.ndarray, dict[Hashable, int]]:
        """The first of each kind of output, in order, and the column of each kind."""
        outputs, key = self.embedding_.outputs_, self.output_kernel_.key
        first, _ = distinct(outputs, key)
        try:
            order = sorted(range(len(first)), key=lambda i: member(outputs, int(first[i])))
        except (TypeError, ValueError):  # objects that are not ordered
            order = list(range(len(first)))
        first = first[order]
        return first, {each: column for column, each in enumerate(keys(take(outputs, first), key))}

    def _class_rows(self, outputs: Collection) -> np.ndarray:
        """Indicators of the classes of outputs; no class for one that was not trained on."""
        _, columns = self._class_order
        rows = np.zeros((count(outputs), len(columns)))
        for i, each in enumerate(keys(outputs, self.output_kernel_.key)):
            if each in columns:
                rows[i, columns[each]] = 1.0
        return rows

    def _class_shares(self, points: Array) -> np.ndarray:
        return to_numpy(self.embedding_.weights(points)) @ self._class_rows(self.embedding_.outputs_)

    @property
    def _indicators(self) -> LabelIndicators:
        if not _on_label_sets(self.output_kernel_):
            raise ValueError(
                f"the outputs are not label sets for output_kernel={self.output_kernel_!r}; use predict_proba(X), or "
                "output_kernel=LabelSets()"
            )
        return LabelSets().feature_map(self.embedding_.outputs_)

    def _label_shares(self, points: Array) -> np.ndarray:
        """Shares of sets with each label and without it, (q, labels, 2)."""
        rows = to_numpy(self._indicators(self.embedding_.outputs_))
        shares = np.clip(to_numpy(self.embedding_.weights(points)) @ rows, 0.0, 1.0)
        return np.stack([shares, 1.0 - shares], axis=-1)

    @cached_property
    def _class_map_(self) -> ProbabilityMap:
        points, outputs = self._known_answers()
        return ProbabilityMap.fitted(self._class_shares(points), self._class_rows(outputs))

    @cached_property
    def _label_map_(self) -> ProbabilityMap:
        points, outputs = self._known_answers()
        right = to_numpy(self._indicators(outputs))
        return ProbabilityMap.fitted(self._label_shares(points), np.stack([right, 1.0 - right], axis=-1))


def _on_label_sets(kernel: Kernel) -> bool:
    inner = getattr(kernel, "kernel", kernel)  # of a kernel around that of label sets, such as Overlap
    return isinstance(inner, LabelSets) or any(map(_on_label_sets, kernel.parts()))
