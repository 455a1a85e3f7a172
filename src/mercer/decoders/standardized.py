"""Candidates compared with how they score for everyone."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, like, namespace
from mercer.core.collections import Collection
from mercer.decoders.base import Decoder
from mercer.decoders.pool import Pool
from mercer.embeddings.base import Embedding

_ROUNDING = 1e-10
"""Spread of a candidate's scores, relative to their mean, that is taken as rounding."""


class Standardized(Decoder):
    r"""The candidate that scores highest by its own standard, :math:`\arg\max_y (\langle h, \psi(y)\rangle - \mu_y) / \sigma_y`.

    Some candidates lie close to everything, and outrank the right one for many inputs. :math:`\mu_y` and :math:`\sigma_y` are
    mean and standard deviation of the score of y over the training inputs, each predicted by the fit without its own pair (exact
    leave-one-out), so that a candidate is only as good as it is better than usual. Made for candidates that were not
    trained on.

    The ridge is chosen, and training outputs are ranked during that choice, before scores are standardised. An estimator that
    has no leave-one-out points (`NeighborsEstimator`, ``regressor=...``) leaves the scores as they are in `Candidates`.

    Parameters
    ----------
    batch_size : int, optional
        Points scored in one matrix product; by default as many as keep the scores under 128 MiB.
    strength : float, default=1.0
        p, how far to go from the plain inner product, 0, to the standardised one, 1:
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

    calibration_: Array | None = None
    _pool: tuple[Pool, np.ndarray] | None = None

    def __init__(self, batch_size: int | None = None, strength: float = 1.0) -> None:
        self.batch_size = batch_size
        self.strength = strength

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Prepare to decode; scores are those of `Candidates` until there are points to standardise by."""
        if isinstance(self.strength, bool) or not isinstance(self.strength, Real) or not 0 <= self.strength <= 1:
            raise ValueError(f"strength={self.strength!r} in Standardized; expected a number from 0 to 1")
        self.calibration_ = self._pool = None
        return super().fit(embedding, loss)

    def calibrate(self, points: Array) -> Self:
        """Take the leave-one-out points of the training inputs as what is usual."""
        self.calibration_, self._pool = points, None
        return self

    def _training_pool(self) -> tuple[Pool, np.ndarray]:
        # made when it is first asked for: standardising all training outputs costs as much as the fit
        if self._pool is None:
            self._pool = super()._training_pool()
        return self._pool

    def _features(self, objects: Collection) -> tuple[Array, Array]:
        return self._standardized(*super()._features(objects))

    def _standardized(self, features: Array, offsets: Array) -> tuple[Array, Array]:
        if self.calibration_ is None:
            return features, offsets
        xp = namespace(features)
        usual = like(self.calibration_, features) @ features.T
        mean, spread = xp.mean(usual, axis=0), xp.std(usual, axis=0)
        # a candidate that scores the same for everyone, up to rounding, is never better than usual
        varies = spread > _ROUNDING * xp.abs(mean)
        power = float(self.strength)
        scale = xp.where(varies, xp.where(varies, spread, xp.ones_like(spread)) ** -power, xp.zeros_like(spread))
        return features * scale[:, None], power * mean * scale
