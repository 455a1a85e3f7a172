"""Candidates compared by distance, by expected loss, and by standardised scores; and candidates in blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone

from mercer.core import memory
from mercer.core.arrays import Array, like, namespace, to_numpy
from mercer.core.collections import Collection, count, distinct, take
from mercer.core.validation import check_real
from mercer.decoders.base import Decoder, is_distance_of, register, unscaled
from mercer.decoders.pool import LeftOut, Pool
from mercer.embeddings.base import Embedding
from mercer.embeddings.implicit import Implicit
from mercer.kernels.base import Kernel
from mercer.losses.base import Loss

_ROUNDING = 1e-10  # spread of a candidate's scores, relative to their mean, that counts as rounding


@register(priority=0)
class Candidates(Decoder):
    r"""The nearest training output, :math:`\arg\max_y 2\langle h, \psi(y)\rangle - l(y,y)`.

    Works with every output kernel. Equal outputs are one candidate, listed where the first of them is; of candidates whose
    scores are equal up to rounding the one listed first wins. Outputs the kernel cannot see (a 2-letter string under a
    length-3 kernel) are not candidates, unless there are no others.

    Parameters
    ----------
    batch_size : int, optional
        Points scored in one matrix product; by default as many as keep the scores under 128 MiB.

    Attributes
    ----------
    pool_ : Pool
        The candidates with their features, prepared once.

    Examples
    --------
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Linear
    >>> embedding = Implicit().fit(Linear(), np.array([[0.0], [1.0], [4.0]]))
    >>> decoder = Candidates().fit(embedding)
    >>> decoder.decode(np.array([[0.0, 0.5, 0.5]])).tolist()  # half way between 1 and 4
    [[1.0]]
    """

    pool_: Pool

    def __init__(self, batch_size: int | None = None) -> None:
        self.batch_size = batch_size

    @classmethod
    def suits(cls, kernel: Kernel, loss: Loss | None, outputs: Collection | None) -> tuple[Decoder, str] | None:
        """For every kernel."""
        return cls(), f"{unscaled(kernel)!r} has no inverse of its own, so training outputs are compared"

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Collect the candidates and their features."""
        super().fit(embedding, loss)
        self.pool_, _ = self._training_pool()
        return self

    def _training_features(self, index: np.ndarray) -> tuple[Array, Array]:
        return 2.0 * self.embedding_.rows(index), self.embedding_.norms(take(self.embedding_.outputs_, index))


@register(priority=10)
class ExpectedLoss(Candidates):
    r"""The candidate with the least expected loss, :math:`\arg\min_y \sum_j w_j \Delta(y_j, y)`.

    The weights of a point on the training outputs stand for the distribution of the answer, so the answer is matched to the
    loss it is scored on. Scores are minus the expected loss; parameters, candidates and ties are those of `Candidates`.

    Examples
    --------
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Gaussian
    >>> embedding = Implicit().fit(Gaussian(1.0), np.array([[0.0], [1.0], [9.0]]))
    >>> decoder = ExpectedLoss().fit(embedding, loss=lambda y, z: abs(y[0] - z[0]))
    >>> decoder.decode(np.array([[0.3, 0.3, 0.4]])).tolist()  # the weighted median
    [[1.0]]
    """

    loss_: Loss

    @classmethod
    def suits(cls, kernel: Kernel, loss: Loss | None, outputs: Collection | None) -> tuple[Decoder, str] | None:
        """For every loss but the distance of the kernel."""
        if is_distance_of(loss, kernel):
            return None
        return cls(), f"{loss!r} is scored, which is not the distance of {kernel!r}"

    def preferred_embedding(self, kernel: Kernel, outputs: Collection) -> tuple[Embedding, str]:
        """`Implicit`, whose points are weights."""
        return Implicit(), "the expected loss is taken over the weights on the training outputs"

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Collect the candidates, and the loss of each against every distinct output that may have weight."""
        if loss is None:
            raise ValueError(
                "ExpectedLoss needs a loss and got None; pass loss=..., a callable "
                "loss(y_true, y_pred) such as mercer.losses.ZeroOne(), or decode with Candidates()"
            )
        weighted = embedding.weighted_outputs
        first, group = distinct(weighted)
        self.distinct_, self.group_ = take(weighted, first), group
        return super().fit(embedding, loss)

    def support(self, H: Array, origin: Array | None = None) -> np.ndarray:
        """The sum of the weights of each point or, with an intercept, half of their distance to those of `origin`."""
        weights = self._own_weights(H)
        if origin is None:
            return weights.sum(axis=1)
        return 0.5 * np.abs(weights - self._own_weights(origin[None, :])).sum(axis=1)

    def _own_weights(self, H: Array) -> np.ndarray:
        return to_numpy(self.embedding_.own_weights(self._checked_points(H)))

    def _points(self, H: Array) -> Array:
        weights = self._own_weights(H)
        if count(self.distinct_) == len(self.group_):
            return weights
        # equal outputs have the same loss: their weights add up
        members = (np.ones(len(self.group_)), (np.arange(len(self.group_)), self.group_))
        return weights @ csr_array(members, shape=(len(self.group_), count(self.distinct_)))

    def _features(self, objects: Collection) -> tuple[Array, Array]:
        purpose = "the losses of all outputs against each other"
        advice = "pass fewer outputs, or decode by the output kernel: decoder=Candidates(), or loss=None"
        memory.require(count(self.distinct_), count(objects), 2, purpose, advice)
        losses = to_numpy(self.loss_.matrix(self.distinct_, objects))
        return -losses.T, np.zeros(losses.shape[1])

    def _training_features(self, index: np.ndarray) -> tuple[Array, Array]:
        # the losses of the candidates, not their coordinates
        return self._features(take(self.embedding_.outputs_, index))


class Standardized(Decoder):
    r"""The candidate with the highest standardised score, :math:`\arg\max_y (\langle h, \psi(y)\rangle - \mu_y) / \sigma_y`.

    Some candidates are close to everything, and outrank the right one for many inputs. :math:`\mu_y` and :math:`\sigma_y` are
    the mean and standard deviation of the score of y over the training inputs, each predicted by the fit without its own pair
    (exact leave-one-out), so that a candidate has to score better than it usually does. Made for candidates that were not
    trained on.

    The value of alpha is chosen before scores are standardised. Without `calibrate`, scores are those of `Candidates`.

    Parameters
    ----------
    batch_size : int, optional
        As for `Candidates`.
    strength : float, default=1.0
        p, from 0 (the plain inner product) to 1 (the standardised one):
        :math:`(\langle h, \psi(y)\rangle - p\,\mu_y) / \sigma_y^p`.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> model = DependencyEstimator(Gaussian(0.2), Gaussian(0.2), decoder=Standardized()).fit(X, X[:, 0])
    >>> model.predict([[0.52]], candidates=[0.1, 0.5, 0.9])
    array([0.5])
    """

    needs_left_out_points = True
    calibration_: Array | None = None

    def __init__(self, batch_size: int | None = None, strength: float = 1.0) -> None:
        self.batch_size = batch_size
        self.strength = strength

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Prepare to decode; scores are those of `Candidates` until `calibrate`."""
        check_real(self.strength, "strength", 0, 1, closed="both", expected="a number from 0 to 1 in Standardized")
        return super().fit(embedding, loss).calibrate(None)

    def calibrate(self, points: Array | None) -> Self:
        """Take the mean and the spread of scores from the leave-one-out points of the training inputs."""
        self.calibration_ = points
        self.__dict__.pop("_pool", None)
        return self

    def scores(self, H: Array) -> Array:
        """The inner product with each default candidate, not yet standardised."""
        plain = self if self.calibration_ is None else clone(self).fit(self.embedding_)
        features = plain._training_pool()[0].features
        return like(self._points(H), features) @ features.T

    def decode_scores(self, scores: Array, leave_out: np.ndarray | LeftOut | None = None) -> Collection:
        """The candidate of highest score in each row, standardised by the rows."""
        scale, offsets = _standard(scores, float(self.strength))
        return super().decode_scores(scores * scale - offsets, leave_out)

    def _features(self, objects: Collection) -> tuple[Array, Array]:
        features, offsets = super()._features(objects)
        if self.calibration_ is None:
            return features, offsets
        return standardized(features, like(self.calibration_, features) @ features.T, float(self.strength))


def standardized(features: Array, usual: Array, strength: float) -> tuple[Array, Array]:
    """Return the features and offsets of candidates whose scores are standardised by their `usual` scores, a column each."""
    scale, offsets = _standard(usual, strength)
    return features * scale[:, None], offsets


def _standard(usual: Array, strength: float) -> tuple[Array, Array]:
    """Factor and offset of each candidate that standardise its scores."""
    xp = namespace(usual)
    mean, spread = xp.mean(usual, axis=0), xp.std(usual, axis=0)
    # a candidate that scores the same for all inputs, up to rounding, never scores better than usual
    varies = spread > _ROUNDING * xp.abs(mean)
    scale = xp.where(varies, xp.where(varies, spread, xp.ones_like(spread)) ** -strength, xp.zeros_like(spread))
    return scale, strength * mean * scale


@dataclass
class Blocks:
    """Candidates block by block, for ``predict`` and ``rank``: only one block is held at a time.

    Candidates in a memory map, in files and batches (`mercer.io`) or in a collection of Dask need no such mark.

    Parameters
    ----------
    blocks : iterable of collections
        For example a generator that reads a file; one call uses it up.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> model = DependencyEstimator(alpha=0.1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> blocks = (np.arange(start, start + 1.0, 0.25) for start in range(3))
    >>> model.predict([[1.0]], candidates=Blocks(blocks))
    array([1.])
    """

    blocks: Iterable[Any]


@dataclass
class EachOf:
    """Candidates of each input: one collection per input, whatever outputs look like.

    Parameters
    ----------
    sets : sequence of collections
        The outputs to choose from, for each input.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> model = DependencyEstimator(alpha=0.1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> model.predict([[0.0], [2.0]], candidates=EachOf([[0.0, 1.0], [0.0, 1.0]]))
    array([0., 1.])
    """

    sets: Any
