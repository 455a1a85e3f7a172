"""Kernel ridge regressions of other packages, as a user would call them, for ``bench scale``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

Predict = Callable[[np.ndarray], np.ndarray]
Fit = Callable[[np.ndarray, np.ndarray, float, float, np.ndarray], Predict]
"""Takes inputs, outputs, the scale of the Gaussian, alpha and a grid of alphas to a prediction."""


@dataclass(frozen=True)
class Rival:
    """A method of another package, and the numbers of pairs it is measured at."""

    fit: Fit
    pairs: tuple[int, ...]
    package: str = "sklearn"
    also: tuple[int, ...] = ()
    """Further numbers of pairs, which do not count for the exponent."""

    @property
    def installed(self) -> bool:
        """True if its package can be imported."""
        return find_spec(self.package) is not None


def _kernel_ridge(X: np.ndarray, Y: np.ndarray, scale: float, alpha: float, alphas: np.ndarray) -> Predict:
    from sklearn.kernel_ridge import KernelRidge

    return KernelRidge(alpha=alpha, kernel="rbf", gamma=0.5 / scale**2).fit(X, Y).predict


def _grid(X: np.ndarray, Y: np.ndarray, scale: float, alpha: float, alphas: np.ndarray) -> Predict:
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV

    model = KernelRidge(kernel="rbf", gamma=0.5 / scale**2)
    return GridSearchCV(model, {"alpha": alphas}, cv=5).fit(X, Y).predict


def _nystroem(X: np.ndarray, Y: np.ndarray, scale: float, alpha: float, alphas: np.ndarray) -> Predict:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    features = Nystroem(gamma=0.5 / scale**2, n_components=min(500, len(X)), random_state=0)
    return make_pipeline(features, Ridge(alpha)).fit(X, Y).predict


def _himalaya(X: np.ndarray, Y: np.ndarray, scale: float, alpha: float, alphas: np.ndarray) -> Predict:
    from himalaya.kernel_ridge import KernelRidgeCV

    options = {"gamma": 0.5 / scale**2}
    return KernelRidgeCV(alphas=alphas, kernel="rbf", kernel_params=options, cv=5).fit(X, Y).predict


def _gpytorch(X: np.ndarray, Y: np.ndarray, scale: float, alpha: float, alphas: np.ndarray) -> Predict:
    """The mean of an exact Gaussian process with the same kernel and noise, an output each as a batch."""
    import gpytorch
    import torch

    class Process(gpytorch.models.ExactGP):
        def __init__(self, inputs: Any, outputs: Any, likelihood: Any) -> None:
            super().__init__(inputs, outputs, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.RBFKernel()

        def forward(self, inputs: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean_module(inputs), self.covar_module(inputs))

    centre = Y.mean(axis=0)
    inputs, outputs = torch.from_numpy(X), torch.from_numpy((Y - centre).T.copy())
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    model = Process(inputs.expand(len(outputs), *inputs.shape), outputs, likelihood).double()
    model.covar_module.lengthscale, likelihood.noise = scale, alpha
    model.eval()

    def predict(new: np.ndarray) -> np.ndarray:
        queries = torch.from_numpy(new)
        with torch.no_grad(), gpytorch.settings.skip_posterior_variances(True):
            return model(queries.expand(len(outputs), *queries.shape)).mean.T.numpy() + centre

    predict(X[:1])  # the mean cache is the fit
    return predict


RIVALS = {
    "scikit-learn KernelRidge": Rival(_kernel_ridge, (2000, 4000, 8000)),
    "scikit-learn grid of 20 alphas": Rival(_grid, (1000, 2000, 3000)),
    "scikit-learn Nystroem + Ridge": Rival(_nystroem, (10_000, 20_000, 40_000)),
    "himalaya KernelRidgeCV, 20 alphas": Rival(_himalaya, (1000, 2000, 3000), "himalaya"),
    "GPyTorch exact": Rival(_gpytorch, (1000, 2000), "gpytorch"),
}
