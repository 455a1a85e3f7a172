"""Candidates compared with their usual scores."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, like, namespace
from mercer.core.collections import Collection
from mercer.core.validation import check_real
from mercer.decoders.base import Decoder
from mercer.decoders.pool import Pool
from mercer.embeddings.base import Embedding

_ROUNDING = 1e-10
"""Spread of a candidate's scores, relative to their mean, that counts as rounding."""


class Standardized(Decoder):
    r"""The candidate with the highest standardised score, :math:`\arg\max_y (\langle h, \psi(y)\rangle - \mu_y) / \sigma_y`.

    Some candidates are close to everything, and outrank the right one for many inputs. :math:`\mu_y` and :math:`\sigma_y` are
    the mean and standard deviation of the score of y over the training inputs, each predicted by the fit without its own pair
    (exact leave-one-out), so that a candidate has to score better than it usually does. Made for candidates that were not
    trained on.

    The value of alpha is chosen, and training outputs are ranked during that choice, before scores are standardised. An
    estimator without leave-one-out points (`NeighborsEstimator`, ``regressor=...``) leaves the scores as they are in
    `Candidates`.

    Parameters
    ----------
    batch_size : int, optional
        Points scored in one matrix product; by default as many as keep the scores under 128 MiB.
    strength : float, default=1.0
        p, from 0 (the plain inner product) to 1 (the standardised one):
        :math:`(\langle h, \psi(y)\rangle - p\,\mu_y) / \sigma_y^p`.

    Examples
    --------
    >>> import numpy as np
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
        expected = "a number from 0 to 1 in Standardized"
        check_real(self.strength, "strength", 0, 1, closed="both", expected=expected)
        self._set_calibration(None)
        return super().fit(embedding, loss)

    def calibrate(self, points: Array) -> Self:
        """Take the mean and the spread of scores from the leave-one-out points of the training inputs."""
        self._set_calibration(points)
        return self

    def _set_calibration(self, points: Array | None) -> None:
        self.calibration_ = points
        self.__dict__.pop("_pool", None)

    @cached_property
    def _pool(self) -> tuple[Pool, np.ndarray]:
        # not computed in `calibrate`: it costs as much as the fit, and is not needed where candidates are given
        return super()._training_pool()

    def _training_pool(self) -> tuple[Pool, np.ndarray]:
        return self._pool

    def _features(self, objects: Collection) -> tuple[Array, Array]:
        features, offsets = super()._features(objects)
        if self.calibration_ is None:
            return features, offsets
        xp = namespace(features)
        usual = like(self.calibration_, features) @ features.T
        mean, spread = xp.mean(usual, axis=0), xp.std(usual, axis=0)
        # a candidate that scores the same for all inputs, up to rounding, never scores better than usual
        varies = spread > _ROUNDING * xp.abs(mean)
        power = float(self.strength)
        scale = xp.where(varies, xp.where(varies, spread, xp.ones_like(spread)) ** -power, xp.zeros_like(spread))
        return features * scale[:, None], power * mean * scale
