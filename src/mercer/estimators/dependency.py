"""The estimator: a map from any objects to any others."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import clone

from mercer.estimators.base import ObjectEstimator
from mercer.estimators.data import check_pairs
from mercer.kernels import Gaussian, Linear
from mercer.kernels.base import Kernel
from mercer.learners.base import Learner
from mercer.learners.regressor import as_learner
from mercer.learners.ridge import Ridge
from mercer.operators import Identity
from mercer.operators.base import Operator


class DependencyEstimator(ObjectEstimator):
    r"""Learn a map from objects to objects, given what "similar" means on both sides.

    Inputs are compared by a kernel k, outputs by a kernel l with feature map ψ. The estimator solves

    .. math:: \min_{h, b} \sum_i \|h(x_i) + b - \psi(y_i)\|^2 + \alpha \|h\|^2_K, \qquad K(x, z) = k(x, z)\, C,

    and decodes the point h(x) + b into an object y close to it. Each method of the literature is a choice of parts, with
    ``fit_intercept=False`` for the form in which it was published:

    ================================  ==============================================================
    method                            parts
    ================================  ==============================================================
    Cortes et al. 2005, IOKR          ``operator=Identity()``
    Weston et al. 2002                ``embedding=PrincipalComponents()``
    the same, looking at the inputs   ``embedding=KernelPLS()``, ``KernelCCA()`` or ``ReducedRank()``
    Kadri et al. 2013                 ``operator=Covariance()`` or ``ConditionalCovariance(eps)``
    the same, low rank                ``solver=LowRank(rank)``
    any operator-valued kernel        ``operator=Transformable(kernel, maps)``, ``Entangled(features, Q)``, …
    Huusari and Kadri, learned        ``regressor=EntangledRidge(kernel)``
    ================================  ==============================================================

    Parameters
    ----------
    input_kernel : Kernel, default=Gaussian(scale="median")
        Similarity of inputs.
    output_kernel : Kernel, default=Linear()
        Similarity of outputs. Its loss is :math:`\|\psi(y) - \psi(\hat y)\|^2`.
    operator : Operator, default=Identity()
        The interaction of output features. An operator-valued kernel (`Separable`, `Transformable`, `Entangled`, …) acts on the
        coordinates of a finite embedding, and has kernels of its own, of which `input_kernel` has to be one.
    embedding : "auto" or Embedding
        Coordinates of the outputs. "auto" takes explicit features if the kernel has them, else those the operator needs.
    alpha : float, {"loo", "kfold", "gcv"} or a rule from `mercer.selection`, default="loo"
        The weight of the norm, λ of Kadri eq. 3: :math:`(K + \alpha I)` with the operator-valued K, the sum of squared errors
        not divided by n. It stands as nα in Kadri's Prop. 1. Weston's γ weighs a mean of squares in the NIPS edition,
        so α = nγ there; eq. 6 of the technical report is α = γ with ``solver=Exact(penalty="coefficients")``.
    decoder : "auto" or Decoder
        Turns a point into an object.
    solver : "auto" or Solver
        Solves the system. "auto" is exact, by conjugate gradients if n×n matrices do not fit in memory; with too many pairs
        even for those it is `LowRank`. ``reasons_["solver"]`` says which, and why.
    loss : None, "kernel", "rkhs" or callable Δ(y_true, y_pred)
        The metric you are scored on. A callable chooses alpha, decodes by least expected loss and scores. "kernel" is the
        output kernel's loss of decoded objects, "rkhs" the distance before decoding. None chooses by "rkhs", which is
        fast, and scores by "kernel".
    regressor : learner or scikit-learn regressor, optional
        Replaces the ridge: one of `mercer.learners`, an estimator of this library such as `EntangledRidge`, or any scikit-learn
        regressor, which is given the Gram matrix if it takes precomputed kernels, else X.
    fit_intercept : bool, default=True
        True for a mean b that is not penalised: a constant added to vector outputs is added to predictions, and weights on the
        training outputs sum to one.
    device : str, optional
        Where the algebra runs, through PyTorch, such as ``"cuda"``, for strings, graphs and other objects: their kernels are
        computed on the host, tile by tile, while others travel. Vectors are better passed as tensors on the device.
    n_jobs : int, optional
        Most threads for kernels on objects, linear algebra and folds; -1 for one for each processor. By default as many as
        numba and the linear algebra library are set to, and folds one after another.

    Attributes
    ----------
    alpha_, alphas_, loo_path_ : float, array, array
        The alpha in use, those tried, and the score of each (leave-one-out loss, or that of the rule chosen by `alpha`).
    input_kernel_, output_kernel_ : Kernel
        The kernels with everything that depends on data fixed.
    embedding_, operator_, solver_, decoder_ : objects
        The parts in use.
    map_ : FittedMap
        The learned map from inputs to points.
    residual_ : float
        Share of the input Gram matrix that the solver leaves out; 0 for exact solvers.
    reasons_ : dict
        The reason for each part that "auto" has chosen.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> from mercer.kernels import Subsequence
    >>> kernel = Subsequence(length=2).normalized()
    >>> model = DependencyEstimator(kernel, kernel, alpha=0.01)
    >>> model.fit(["aab", "bba", "abb"], ["xxy", "yyx", "xyy"]).predict(["aaab"])
    array(['xxy'], dtype=object)
    """

    def __init__(  # noqa: PLR0913
        self,
        input_kernel: Kernel = Gaussian(scale="median"),  # noqa: B008 - kernels are values; fit never changes them
        output_kernel: Kernel = Linear(),  # noqa: B008
        operator: Any = Identity(),  # noqa: B008
        embedding: Any = "auto",
        alpha: Any = "loo",
        decoder: Any = "auto",
        solver: Any = "auto",
        loss: Any = None,
        regressor: Any = None,
        fit_intercept: bool = True,
        device: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.input_kernel = input_kernel
        self.output_kernel = output_kernel
        self.operator = operator
        self.embedding = embedding
        self.alpha = alpha
        self.decoder = decoder
        self.solver = solver
        self.loss = loss
        self.regressor = regressor
        self.fit_intercept = fit_intercept
        self.device = device
        self.n_jobs = n_jobs

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, extra_outputs: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Learn from pairs.

        Parameters
        ----------
        X, y : collections of the same length
            Inputs and outputs: arrays with one row per object, or lists, object arrays, pandas columns of objects. X may be
            read in blocks, in bounded memory: a memory map, files and batches by `mercer.io`, or a collection of Dask. Kernels
            then learn their parameters from 20,000 inputs drawn at random, and copies of a pair are not looked for.
        extra_outputs : collection, optional
            Outputs without an input (Weston §5), for the embedding, the covariance and the candidates.
        sample_weight : array (n,), optional
            How much each pair counts; a pair of weight 2 counts as two, one of weight 0 as none.
        groups : sequence of n labels, optional
            Pairs that belong together (pictures of one person, virtual examples of one image), which are left out together.
        """
        self.learner()  # parameters are checked before the data
        self._check_operator()
        pairs = check_pairs(self, X, y, extra_outputs, sample_weight, groups)
        return self._learn(pairs, self.decoder, self.embedding)

    @property
    def reads_blocks(self) -> bool:
        """True if training inputs may be read in blocks: for ridge regression."""
        return self.regressor is None

    def learner(self) -> Learner:
        """Return the ridge with these parameters, or the learner of `regressor`."""
        operator = self.operator
        if not isinstance(operator, Operator):
            raise TypeError(f"operator={operator!r:.60}; expected one of mercer.operators, such as Identity()")
        if self.regressor is None:
            return Ridge(clone(operator), self.alpha, self.solver, self.fit_intercept, self.device)
        changed = {
            "operator": not operator.is_identity,
            "alpha": self.alpha != "loo",
            "solver": self.solver != "auto",
            "device": self.device is not None,
        }
        for name, set_by_user in changed.items():
            if set_by_user:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} has no effect with regressor={self.regressor!r}, which replaces the "
                    f"ridge; leave {name} at its default, or set the regressor's own parameters"
                )
        return as_learner(self.regressor)

    def _check_operator(self) -> None:
        """Raise ValueError if the input kernel is not one of the kernels of the operator."""
        own = self.operator.kernels() if self.operator.has_kernels else []
        if own and all(kernel != self.input_kernel for kernel in own):
            names = " and ".join(map(repr, own))
            raise ValueError(
                f"input_kernel={self.input_kernel!r} and operator={self.operator!r}, which compares inputs by {names}; "
                "expected the same kernel in both places"
            )
