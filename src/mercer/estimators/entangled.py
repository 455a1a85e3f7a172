"""Entangled kernel learning."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted

from mercer.core.arrays import to_numpy
from mercer.core.collections import Collection
from mercer.estimators.data import check_inputs, check_lengths, listed
from mercer.estimators.operator_valued import OperatorValuedRidge
from mercer.estimators.values import ValueParameters
from mercer.kernels import Gaussian, Linear
from mercer.kernels.base import Kernel
from mercer.operators.entangled import Entangled
from mercer.operators.features import Nystroem, fixed_features, kernel_of
from mercer.operators.separable import Separable
from mercer.operators.valued import OperatorValuedKernel
from mercer.selection.entanglement import EntanglementObjective, learn_maps, span_of_outputs


class EntangledRidge(RegressorMixin, MultiOutputMixin, ValueParameters):
    r"""Learn an operator-valued kernel that need not be separable, then regress with it (Huusari and Kadri).

    .. math:: \max_Q\; (1 - \gamma)\, A(\mathrm{tr}_p G, Y Y^\top) + \gamma\, A(G, y y^\top),
        \qquad K(x, z) = \sum_{s=1}^r M_s \hat\phi(x) \hat\phi(z)^\top M_s^\top

    with A the centred alignment and the matrices :math:`M_s` the columns of Q. Regression is ridge with the learned kernel
    scaled to a mean diagonal of one. The cost of a step does not depend on n, that of the rest is linear in n and p.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian(scale="median")
        Similarity of inputs; its features are Nyström's, as many as `tol` asks for. Ignored where `features` are given.
    features : Nystroem, RandomFourier, FeatureMap, kernel with a finite feature map or function, optional
        :math:`\hat\phi` itself.
    rank : int, default=20
        r, the number of matrices :math:`M_s`, at most m·p.
    gamma : float, default=0.5
        γ in [0, 1]: 0 learns the partial trace alone, 1 the whole kernel alone.
    mode : {"partial-trace", "entangled"}, default="partial-trace"
        Predict with the scalar kernel :math:`\mathrm{tr}_p K` (ptrEKL), or with K itself (EKL).
    alpha : float or "loo", default="loo"
        The ridge. "loo" chooses it by leave-one-out, exact with the learned kernel held fixed.
    tol : float, default=1e-6
        Share of the kernel's trace that the Nyström features may leave out.
    max_iter : int, default=100
        Steps of the ascent. Few steps regularise: running on can overfit.
    n_starts : int, default=1
        How many random starts; the best alignment is kept.
    fit_intercept : bool, default=True
        Regress around the mean output.
    random_state : int or RandomState, optional
        Seed of the starts.

    Attributes
    ----------
    kernel_ : Entangled
        The learned kernel.
    alignment_, alignment_path_ : float, array
        The objective reached, and after every step.
    alpha_, alphas_, loo_path_ : float, array, array
        The ridge, those tried, and the leave-one-out mean squared error of each.
    n_iter_ : int
        Steps of the ascent that was kept.
    feature_residual_ : float
        What the features leave out of the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((30, 2))
    >>> Y = np.column_stack([X[:, 0], X[:, 0] * X[:, 1], X[:, 1]])
    >>> model = EntangledRidge(rank=5, random_state=0).fit(X, Y)
    >>> model.predict(X[:4]).shape, bool(model.alignment_ > 0.5)
    ((4, 3), True)
    """

    def __init__(
        self,
        kernel: Kernel = Gaussian(scale="median"),  # noqa: B008 - kernels are values; fit never changes them
        features: Any = None,
        rank: int = 20,
        gamma: float = 0.5,
        mode: str = "partial-trace",
        alpha: Any = "loo",
        tol: float = 1e-6,
        max_iter: int = 100,
        n_starts: int = 1,
        fit_intercept: bool = True,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.features = features
        self.rank = rank
        self.gamma = gamma
        self.mode = mode
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.n_starts = n_starts
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the kernel, then the regression."""
        self._check_parameters()
        recipe = Nystroem(self.kernel, tol=self.tol) if self.features is None else self.features
        kernel = kernel_of(recipe) or self.kernel
        inputs = check_inputs(self, listed(X), kernel, reset=True)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        outputs = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        column = outputs.ndim == 1
        outputs = outputs.reshape(len(outputs), -1)
        check_lengths(inputs, outputs)
        features = fixed_features(recipe, inputs)
        rows = to_numpy(features(inputs))
        p, m = outputs.shape[1], rows.shape[1]
        if self.rank > p * m:
            raise ValueError(f"rank={self.rank!r}; expected at most {p * m}, the {p} outputs times the {m} features")
        mean = outputs.mean(axis=0) if self.fit_intercept else np.zeros(p)
        basis = span_of_outputs(outputs - mean)
        objective = EntanglementObjective(rows, outputs - mean, self.gamma, basis)
        learned = learn_maps(
            objective, self.rank, starts=self.n_starts, max_iter=self.max_iter, random_state=self.random_state
        )
        maps = np.einsum("pq,sqm->spm", basis, learned.maps)
        maps *= np.sqrt(len(rows) * p / np.sum((maps @ rows.T) ** 2))
        learned_kernel = Entangled(features, maps.transpose(2, 1, 0).reshape(m * p, self.rank), p)
        projection = self._projection(maps, p)
        ridge = OperatorValuedRidge(self._on_features(learned_kernel), alpha=self.alpha).fit(
            rows @ projection, outputs - mean
        )
        self.alpha_, self.alphas_, self.loo_path_ = ridge.alpha_, ridge.alphas_, ridge.loo_path_
        self.alignment_, self.alignment_path_ = learned.alignment, learned.path
        self.n_iter_ = max(len(learned.path) - 1, 1)
        self.feature_residual_ = float(getattr(features, "residual", 0.0))
        self._ridge, self._projection_matrix, self._features = ridge, projection, features
        self._mean, self._column, self._input_kernel = mean, column, kernel
        self.kernel_ = learned_kernel
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The vector predicted for each input."""
        check_is_fitted(self, "kernel_")
        inputs: Collection = check_inputs(self, listed(X), self._input_kernel, reset=False)
        predicted = self._ridge.predict(to_numpy(self._features(inputs)) @ self._projection_matrix) + self._mean
        return predicted[:, 0] if self._column else predicted

    def _projection(self, maps: np.ndarray, p: int) -> np.ndarray:
        """What turns features into inputs of the ridge: for tr_p K = φᵀ S φ / p, a root of S; else nothing."""
        if self.mode == "entangled":
            return np.eye(maps.shape[2])
        flat = maps.reshape(-1, maps.shape[2])
        values, vectors = np.linalg.eigh(flat.T @ flat / p)
        return vectors * np.sqrt(np.maximum(values, 0.0))

    def _on_features(self, kernel: Entangled) -> OperatorValuedKernel:
        """The learned kernel as one on rows of features."""
        if self.mode == "entangled":
            return Entangled(Linear(), kernel.Q, kernel.outputs)
        return Separable(Linear())

    def _check_parameters(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel={self.kernel!r:.60}; expected a kernel such as mercer.kernels.Gaussian()")
        if self.mode not in ("entangled", "partial-trace"):
            raise ValueError(f"mode={self.mode!r}; expected 'entangled' or 'partial-trace'")
        if not isinstance(self.gamma, Real) or not 0 <= float(self.gamma) <= 1:
            raise ValueError(f"gamma={self.gamma!r}; expected a number between 0 and 1")
        for name, least in (("rank", 1), ("max_iter", 0), ("n_starts", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise ValueError(f"{name}={value!r}; expected a whole number, {least} or more")

    def __sklearn_tags__(self) -> Tags:
        """Tags that follow the kernel of the inputs."""
        tags = super().__sklearn_tags__()
        kernel = self.kernel if self.features is None else kernel_of(self.features)
        vectors = kernel is None or (isinstance(kernel, Kernel) and kernel.takes_vectors)
        tags.input_tags.two_d_array, tags.input_tags.string = vectors, not vectors
        return tags
