"""Candidates compared with how they score for everyone."""

from __future__ import annotations

from typing import Self

import numpy as np

from mercer.arrays import Array, like, namespace
from mercer.decoders.candidates import Candidates
from mercer.objects import Objects

_ROUNDING = 1e-10
"""Spread of a candidate's scores, relative to their mean, that is taken as rounding."""


class Standardized(Candidates):
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

    def calibrate(self, points: Array) -> Self:
        """Take the leave-one-out points of the training inputs as what is usual."""
        self.calibration_ = points
        self.pool_, self.hidden_ = super(Candidates, self)._training_pool()
        return self

    def _training_features(self, index: np.ndarray) -> tuple[Array, Array]:
        return self._standardized(*super()._training_features(index))

    def _features(self, objects: Objects) -> tuple[Array, Array]:
        return self._standardized(*super()._features(objects))

    def _standardized(self, features: Array, offsets: Array) -> tuple[Array, Array]:
        if self.calibration_ is None:
            return features, offsets
        xp = namespace(features)
        usual = like(self.calibration_, features) @ features.T
        mean, spread = xp.mean(usual, axis=0), xp.std(usual, axis=0)
        # a candidate that scores the same for everyone, up to rounding, is never better than usual
        varies = spread > _ROUNDING * xp.abs(mean)
        scale = xp.where(varies, 1.0 / xp.where(varies, spread, xp.ones_like(spread)), xp.zeros_like(spread))
        return features * scale[:, None], mean * scale
