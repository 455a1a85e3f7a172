"""Label sets decided label by label: the nearest of all sets, and the one of highest expected F1."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, like, namespace, to_numpy
from mercer.core.collections import Collection, as_vectors, is_numeric
from mercer.decoders._f1 import best_sets
from mercer.decoders.base import Decoder
from mercer.embeddings.base import Embedding
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap
from mercer.kernels.labels import LabelIndicators, LabelSets
from mercer.kernels.overlap import LabelsBySize, SizedIndicators
from mercer.losses.sets import F1


class _OfLabelSets(Decoder):
    """Writes chosen labels as the training outputs are written: sets of their kind, or rows of 0 and 1."""

    indicators_: LabelIndicators

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Check that the outputs are label sets, and read off the labels."""
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
        sets = np.empty(len(chosen), dtype=object)
        for i, row in enumerate(chosen):
            sets[i] = kind([labels[j] for j in np.flatnonzero(row)])
        return sets

    def _expectations(self, H: Array, kernel: type[Kernel], features: FeatureMap) -> np.ndarray:
        """The expectation of the features under each point; the points themselves where these are its coordinates."""
        embedding = self.embedding_
        if isinstance(embedding.kernel_, kernel) and hasattr(embedding, "feature_map_"):
            return to_numpy(as_vectors(H, "H"))
        return to_numpy(self._weights(H)) @ to_numpy(features(embedding.outputs_))


class Thresholded(_OfLabelSets):
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

    def __init__(self, threshold: float = 0.5) -> None:
        self.threshold = threshold

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Read off the labels."""
        if (
            isinstance(self.threshold, bool)
            or not isinstance(self.threshold, numbers.Real)
            or not abs(self.threshold) < np.inf
        ):
            raise ValueError(f"threshold={self.threshold!r} in Thresholded; expected a finite number, such as 0.5")
        return super().fit(embedding, loss)

    def decode(self, H: Array, leave_out: np.ndarray | None = None) -> Collection:
        """The set of each point; any set will do, so leaving one out changes nothing."""
        return self._written(self._points(H) > self.threshold)

    def _points(self, H: Array) -> np.ndarray:
        return self._expectations(H, LabelSets, self.indicators_)

    def _features(self, objects: Collection) -> tuple[np.ndarray, np.ndarray]:
        return 2.0 * to_numpy(self.indicators_(objects)), 2.0 * self.threshold * to_numpy(LabelSets().diag(objects))


class ExpectedF1(_OfLabelSets):
    r"""The set of highest expected F1, :math:`\arg\max_y \sum_j w_j\, 2|y \cap y_j| / (|y| + |y_j|)`, of all sets there are.

    With :math:`P_{ls} = \sum_j w_j [l \in y_j][|y_j| = s]`, the best set of size k has the k labels of largest
    :math:`\sum_s 2 P_{ls} / (k + s)`; sizes that cannot win any more are not tried. The empty set is worth the F1 of two empty
    sets times the weight of the empty training outputs, and nothing else. Of equally good sets the smallest wins, and of its
    labels those seen first. Scores of `rank` and `choose` are expected F1.

    Examples
    --------
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import LabelSets
    >>> embedding = Implicit().fit(LabelSets(), [{"sea", "sky"}, {"sea", "sun"}, {"sky"}])
    >>> ExpectedF1().fit(embedding).decode(np.array([[0.4, 0.35, 0.25]]))[0] == {"sea", "sky"}
    True
    """

    loss_: F1
    features_: SizedIndicators

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Read off the labels and the sizes."""
        if loss is not None and not isinstance(loss, F1):
            raise TypeError(
                f"ExpectedF1 decodes by mercer.losses.F1, and came with loss={loss!r:.60}; use decoder='auto' or ExpectedLoss()"
            )
        super().fit(embedding, F1() if loss is None else loss)
        self.loss_.check_parameters()
        self.features_ = LabelsBySize().feature_map(embedding.outputs_)
        return self

    def decode(self, H: Array, leave_out: np.ndarray | None = None) -> Collection:
        """The set of each point; any set will do, so leaving one out changes nothing."""
        found = self.features_
        points = self._points(H)
        sizes, rows = np.unique(found.size, return_inverse=True)
        nothing = self.loss_.empty * points[:, -1] if found.with_empty else np.zeros(len(points))
        labels = len(self.indicators_.labels)
        return self._written(best_sets(np.ascontiguousarray(points), found.label, rows, sizes, labels, nothing))

    def _points(self, H: Array) -> np.ndarray:
        return self._expectations(H, LabelsBySize, self.features_)

    def _features(self, objects: Collection) -> tuple[np.ndarray, np.ndarray]:
        own, sizes = to_numpy(self.indicators_(objects)), to_numpy(LabelSets().diag(objects))
        features = own[:, self.features_.label] * 2.0 / np.maximum(sizes[:, None] + self.features_.size, 1.0)
        if self.features_.with_empty:
            features = np.column_stack([features, self.loss_.empty * (sizes == 0)])
        return features, np.zeros(len(features))
