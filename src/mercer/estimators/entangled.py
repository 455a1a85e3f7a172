"""Entangled kernel learning."""

from __future__ import annotations

from typing import Any

from mercer.estimators.vectors import VectorEstimator
from mercer.kernels import Gaussian
from mercer.kernels.base import Kernel
from mercer.kernels.vectors import Linear
from mercer.learners.base import Learner
from mercer.learners.entangled import EntangledKernel
from mercer.operators.features import Nystroem, kernel_of


class EntangledRidge(VectorEstimator):
    r"""Learn an operator-valued kernel that need not be separable, then regress with it (Huusari and Kadri).

    .. math:: \max_Q\; (1 - \gamma)\, A(\mathrm{tr}_p G, Y Y^\top) + \gamma\, A(G, y y^\top),
        \qquad K(x, z) = \sum_{s=1}^r M_s \hat\phi(x) \hat\phi(z)^\top M_s^\top

    with A the centred alignment and the matrices :math:`M_s` the columns of Q. Regression is ridge with the learned kernel
    scaled to a mean diagonal of one. The cost of a step does not depend on n, that of the rest is linear in n and p.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian(scale="median")
        Similarity of inputs, by Nyström features to the tolerance `tol`. Ignored if `features` are given.
    features : Nystroem, RandomFourier, FeatureMap, kernel with a finite feature map or function, optional
        :math:`\hat\phi` itself.
    kraus_rank : int, optional
        r, the number of matrices :math:`M_s`, at most m·p with m features; by default 20, or m·p if that is less.
    gamma : float, default=0.5
        γ in [0, 1]: 0 learns the partial trace alone, 1 the whole kernel alone.
    mode : {"partial-trace", "entangled"}, default="partial-trace"
        Predict with the scalar kernel :math:`\mathrm{tr}_p K` (ptrEKL), or with K itself (EKL).
    alpha : float or "loo", default="loo"
        The weight of the norm. "loo" chooses it by leave-one-out, exact with the learned kernel held fixed.
    tol : float, default=1e-6
        Share of the kernel's trace that the Nyström features may leave out.
    max_iter : int, default=100
        Steps of the ascent. Few steps regularise: running on can overfit.
    n_starts : int, default=1
        The number of random starts; the best alignment is kept.
    fit_intercept : bool, default=True
        True for a mean that is not penalised, around which outputs are aligned.
    random_state : int or RandomState, optional
        Seed of the starts.

    Attributes
    ----------
    kernel_ : Entangled
        The learned kernel.
    alignment_, alignment_path_, n_iter_ : float, array, int
        The objective reached and after every step, and the number of steps, for the best start.
    alpha_, alphas_, loo_path_ : float, array, array
        The alpha in use, those tried, and the leave-one-out mean squared error of each.
    feature_residual_ : float
        Share of the kernel's trace that the features leave out.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((30, 2))
    >>> Y = np.column_stack([X[:, 0], X[:, 0] * X[:, 1], X[:, 1]])
    >>> model = EntangledRidge(kraus_rank=5, random_state=0).fit(X, Y)
    >>> model.predict(X[:4]).shape, bool(model.alignment_ > 0.5)
    ((4, 3), True)
    """

    learner_type = EntangledKernel

    def __init__(  # noqa: PLR0913
        self,
        kernel: Kernel = Gaussian(scale="median"),  # noqa: B008 - kernels are values; fit never changes them
        features: Any = None,
        kraus_rank: int | None = None,
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
        self.kraus_rank = kraus_rank
        self.gamma = gamma
        self.mode = mode
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.n_starts = n_starts
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def learner(self) -> Learner:
        """Return the learner, with Nyström features of the kernel if no features are given."""
        found = super().learner()
        if self.features is None:
            found.features = Nystroem(self.kernel, tol=self.tol)  # type: ignore[attr-defined]
        return found

    def _source(self) -> Any:
        return self.kernel if self.features is None else (kernel_of(self.features) or Linear())
