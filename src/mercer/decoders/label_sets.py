"""Label sets decided label by label: the nearest of all sets, and the one of highest expected F1."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, like, namespace, to_numpy
from mercer.core.collections import Collection, count, is_numeric
from mercer.core.compiled import compiled
from mercer.core.validation import check_instance, check_real
from mercer.decoders.base import Decoder, register, unscaled
from mercer.decoders.pool import LeftOut, snapped
from mercer.embeddings.base import Embedding
from mercer.embeddings.explicit import FeaturesOf
from mercer.embeddings.implicit import Implicit
from mercer.kernels.base import Kernel
from mercer.kernels.labels import LabelIndicators, LabelSets
from mercer.kernels.overlap import LabelsBySize, SizedIndicators
from mercer.losses import F1, Hamming, Loss

_TIE = 1e-12  # difference of two expected values, relative to the larger, at which they tie


class _LabelSetDecoder(Decoder):
    """Writes answers as the training outputs are written: sets of their type, or rows of 0 and 1."""

    indicators_: LabelIndicators

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Check that the outputs are label sets, and collect the labels."""
        try:
            outputs = LabelSets().check(embedding.outputs_, "outputs")
        except (TypeError, ValueError) as error:
            raise type(error)(f"{type(self).__name__} decodes label sets: {error}") from error
        super().fit(embedding, loss)
        self.indicators_ = LabelSets().feature_map(outputs)
        return self

    def _written(self, chosen: np.ndarray) -> Collection:
        """The sets with a label for each True."""
        outputs = self.embedding_.outputs_
        if is_numeric(outputs):
            return namespace(outputs).astype(like(chosen, outputs), outputs.dtype)
        kind, labels = type(outputs[0]), self.indicators_.labels
        sets = (kind([labels[j] for j in np.flatnonzero(row)]) for row in chosen)
        return np.fromiter(sets, dtype=object, count=len(chosen))


@register(priority=40)
class Thresholded(_LabelSetDecoder):
    r"""The labels that are likely enough, :math:`\hat y = \{l : \sum_j w_j [l \in y_j] > t\}`.

    With t = ½ this is the set of least expected Hamming loss, and the nearest under `LabelSets`, of all sets of the labels
    seen in training.

    Parameters
    ----------
    threshold : float, default=0.5
        t.

    Examples
    --------
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import LabelSets
    >>> embedding = Implicit().fit(LabelSets(), [{"sea"}, {"sea", "sun"}, {"sky"}])
    >>> Thresholded().fit(embedding).decode(np.array([[0.4, 0.4, 0.2]]))
    array([{'sea'}], dtype=object)
    """

    kernels = (LabelSets,)

    def __init__(self, threshold: float = 0.5) -> None:
        self.threshold = threshold

    @classmethod
    def suits(cls, kernel: Kernel, loss: Loss | None, outputs: Collection | None) -> tuple[Decoder, str] | None:
        """For `LabelSets` with the loss `Hamming`."""
        if type(unscaled(kernel)) is not LabelSets or loss != Hamming():
            return None
        return cls(), f"{loss!r} is scored on {unscaled(kernel)!r}, so each label can be decided alone"

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Collect the labels."""
        check_real(self.threshold, "threshold", -np.inf, np.inf, expected="a finite number in Thresholded, such as 0.5")
        return super().fit(embedding, loss)

    def decode(self, H: Array, leave_out: np.ndarray | LeftOut | None = None) -> Collection:
        """The set of each point; any set is possible, so leaving one out changes nothing."""
        points = self._points(H)
        # rounded together, a mass and the threshold tie where they are equal up to rounding
        mass = snapped(np.column_stack([points, np.full(len(points), float(self.threshold))]))
        return self._written(mass[:, :-1] > mass[:, -1:])

    def _points(self, H: Array) -> np.ndarray:
        return self._expectations(H, LabelSets, self.indicators_)

    def _features(self, objects: Collection) -> tuple[np.ndarray, np.ndarray]:
        return 2.0 * to_numpy(self.indicators_(objects)), 2.0 * self.threshold * to_numpy(LabelSets().diag(objects))


@register(priority=40)
class ExpectedF1(_LabelSetDecoder):
    r"""The set of highest expected F1, :math:`\arg\max_y \sum_j w_j\, 2|y \cap y_j| / (|y| + |y_j|)`, of all sets there are.

    With :math:`P_{ls} = \sum_j w_j [l \in y_j][|y_j| = s]`, the best set of size k has the k labels of largest
    :math:`\sum_s 2 P_{ls} / (k + s)`; sizes that cannot win any more are not tried. The expected F1 of the empty set is the F1
    of two empty sets times the weight of the empty training outputs. Of equally good sets the smallest wins, and of its labels
    those seen first. Scores of `rank` and `choose` are expected F1.

    Frequent labels are expected everywhere. With ``strength=p`` the weights are :math:`w_j - p\,\bar w_j`, where
    :math:`\bar w_j` is the mean weight over the training inputs, each predicted by the fit without its own pair (exact
    leave-one-out): a set has to do better than it usually does, as in `Standardized`. Alpha is chosen before that.

    Parameters
    ----------
    strength : float, default=0.0
        p, from 0 to 1; a quarter is often better than nothing.

    Examples
    --------
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import LabelSets
    >>> embedding = Implicit().fit(LabelSets(), [{"sea", "sky"}, {"sea", "sun"}, {"sky"}])
    >>> ExpectedF1().fit(embedding).decode(np.array([[0.4, 0.35, 0.25]]))[0] == {"sea", "sky"}
    True
    """

    losses = (F1,)
    loss_: F1
    features_: SizedIndicators
    usual_: np.ndarray | None = None

    def __init__(self, strength: float = 0.0) -> None:
        self.strength = strength

    @property
    def needs_left_out_points(self) -> bool:  # type: ignore[override]
        """True if something is taken off."""
        return self.strength > 0

    @classmethod
    def suits(cls, kernel: Kernel, loss: Loss | None, outputs: Collection | None) -> tuple[Decoder, str] | None:
        """For the loss `F1`, under any kernel."""
        return cls(), f"{loss!r} is scored, and its expectation is highest at a set that can be found exactly"

    def preferred_embedding(self, kernel: Kernel, outputs: Collection) -> tuple[Embedding, str]:
        """The features of labels by size, where they are fewer than the outputs."""
        if LabelsBySize().feature_map(outputs).dimension <= count(outputs):
            return FeaturesOf(LabelsBySize()), "the expected F1 depends on labels and sizes of sets alone"
        return Implicit(), "the expected F1 is taken over the weights on the training outputs"

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Collect the labels and the sizes."""
        loss = F1() if loss is None else loss
        expected = "mercer.losses.F1() in ExpectedF1; use decoder='auto' or ExpectedLoss()"
        check_instance(loss, "loss", F1, expected=expected)
        check_real(self.strength, "strength", 0, 1, closed="both", expected="a number from 0 to 1 in ExpectedF1")
        super().fit(embedding, loss)
        self.loss_.check_parameters()
        self.features_ = LabelsBySize().feature_map(embedding.outputs_)
        return self.calibrate(None)

    def calibrate(self, points: Array | None) -> Self:
        """Take the usual masses of labels and sizes from the leave-one-out points of the training inputs."""
        self.usual_ = None  # so that points are not yet shifted
        if points is not None:
            self.usual_ = float(self.strength) * self._points(points).mean(axis=0)
        return self

    def decode(self, H: Array, leave_out: np.ndarray | LeftOut | None = None) -> Collection:
        """The set of each point; any set is possible, so leaving one out changes nothing."""
        found, points = self.features_, snapped(self._points(H))
        sizes, rows = np.unique(found.size, return_inverse=True)
        empty = self.loss_.empty * points[:, -1] if found.with_empty else np.zeros(len(points))
        return self._written(_best_sets(points, found.label, rows, sizes, len(self.indicators_.labels), empty))

    def _points(self, H: Array) -> np.ndarray:
        found = self._expectations(H, LabelsBySize, self.features_)
        return found if self.usual_ is None else found - self.usual_

    def _features(self, objects: Collection) -> tuple[np.ndarray, np.ndarray]:
        own, sizes = to_numpy(self.indicators_(objects)), to_numpy(LabelSets().diag(objects))
        features = own[:, self.features_.label] * 2.0 / np.maximum(sizes[:, None] + self.features_.size, 1.0)
        if self.features_.with_empty:
            features = np.column_stack([features, self.loss_.empty * (sizes == 0)])
        return features, np.zeros(len(features))


@compiled
def _best_sets(  # noqa: PLR0913
    points: np.ndarray, label: np.ndarray, row: np.ndarray, sizes: np.ndarray, labels: int, empty: np.ndarray
) -> np.ndarray:
    """For each point, the labels of the best set; P_ls is column c where l = label[c] and s = sizes[row[c]]."""
    chosen = np.zeros((len(points), labels), dtype=np.bool_)
    mass = np.empty((len(sizes), labels))
    worth = np.empty(labels)
    for i in range(len(points)):
        mass[:] = 0.0
        for c in range(len(label)):
            mass[row[c], label[c]] = points[i, c]
        best = empty[i]
        for k in range(1, labels + 1):
            # no set of k labels or more is worth more than `most`, none of k labels more than `hope`
            most = 0.0
            hope = 0.0
            worth[:] = 0.0
            for s in range(len(sizes)):
                share = 2.0 / (k + sizes[s])
                for one in range(labels):
                    part = share * mass[s, one]
                    worth[one] += part
                    most += max(part, 0.0)
            if most <= best:
                break
            for one in range(labels):
                hope += max(worth[one], 0.0)
            if hope <= best:
                continue
            order = np.argsort(-worth, kind="mergesort")[:k]
            value = worth[order].sum()
            if value > best + _TIE * abs(value):
                best = value
                chosen[i] = False
                chosen[i, order] = True
    return chosen
