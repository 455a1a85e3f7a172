"""Random Fourier features of a Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from mercer.core.arrays import Array, like, namespace, to_numpy
from mercer.core.collections import Collection
from mercer.kernels import Gaussian
from mercer.kernels.features import FeatureMap


class RandomFourier(BaseEstimator):
    r"""Random cosines for a Gaussian kernel, :math:`\hat\phi(x) = \sqrt{2/m}\,\cos(\omega_i \cdot x + b_i)`.

    Parameters
    ----------
    kernel : Gaussian
        k.
    n_features : int, default=300
        m.
    random_state : int or RandomState, optional
        Seed of the frequencies ω and the phases b.

    Examples
    --------
    >>> X = np.linspace(0, 1, 5)[:, None]
    >>> RandomFourier(Gaussian(1.0), 2000, random_state=0).fit(X).residual < 0.05
    True
    """

    def __init__(self, kernel: Gaussian, n_features: int = 300, random_state: int | None = None) -> None:
        self.kernel = kernel
        self.n_features = n_features
        self.random_state = random_state

    def fit(self, X: Collection) -> FourierFeatures:
        """The map, its frequencies drawn for the kernel resolved on `X`."""
        if not isinstance(self.kernel, Gaussian):
            raise ValueError(f"kernel={self.kernel!r} in RandomFourier; expected a Gaussian. Use Nystroem for others")
        m = self.n_features
        if isinstance(m, bool) or not isinstance(m, int | np.integer) or m < 1:
            raise ValueError(f"n_features={m!r} in RandomFourier; expected a positive whole number")
        kernel = self.kernel.resolve(X)
        assert isinstance(kernel, Gaussian)
        rows = kernel.check(X)
        rng = check_random_state(self.random_state)
        frequencies = rng.standard_normal((rows.shape[1], m)) / float(kernel.scale)
        features = FourierFeatures(kernel, frequencies, rng.uniform(0, 2 * np.pi, m), int(m), 0.0)
        some = to_numpy(rows)[rng.permutation(rows.shape[0])[:500]]
        gram, made = kernel(some), features(some)
        features.residual = float(np.linalg.norm(made @ made.T - gram) / np.linalg.norm(gram))
        return features


@dataclass
class FourierFeatures(FeatureMap):
    """Random cosines with fixed frequencies."""

    kernel: Gaussian
    frequencies: np.ndarray
    phases: np.ndarray
    dimension: int
    residual: float
    """Relative error of the Gram matrix on the training objects (on 500 of them where there are more)."""

    def __call__(self, X: Collection) -> Array:
        """The rows φ̂(x)."""
        rows = self.kernel.check(X)
        waves = rows @ like(self.frequencies, rows) + like(self.phases, rows)
        return (2.0 / self.dimension) ** 0.5 * namespace(waves).cos(waves)
