"""The estimator: a map from any objects to any others."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils.validation import check_is_fitted

from mercer.core.arrays import Array, eye, to_numpy
from mercer.core.collections import Collection, count, take
from mercer.decoders import Decoder, Ranked, Standardized
from mercer.embeddings import Directions, Embedding, Implicit, Pivoted
from mercer.estimators.base import ObjectEstimator
from mercer.estimators.data import check_inputs, check_pairs, listed
from mercer.estimators.parts import choose_decoder, choose_embedding, choose_solver, on_numpy
from mercer.estimators.regression import (
    Basis,
    Regression,
    fit_embedding,
    fit_regressor,
    fit_ridge,
    left_out_points,
    weights_map,
)
from mercer.estimators.valued_regression import check_same_inputs, fit_valued
from mercer.kernels import Gaussian, Linear
from mercer.kernels.base import Kernel
from mercer.losses import resolve_loss
from mercer.operators import Identity, Operator, OperatorValuedKernel
from mercer.selection.judges import DecodedLoss, FeatureDistance, Judge, beside
from mercer.selection.ridge import ridge_selection
from mercer.solvers import Exact, SpectralSolver
from mercer.solvers.gram import gram_matrix
from mercer.uncertainty.jackknife import LeftOutFits


class DependencyEstimator(ObjectEstimator):
    r"""Learn a map from objects to objects, given what "similar" means on both sides.

    Inputs are compared by a kernel k, outputs by a kernel l with feature map ψ. The estimator solves

    .. math:: \min_h \sum_i \|h(x_i) - \psi(y_i)\|^2 + \alpha \|h\|^2_K, \qquad K(x, z) = k(x, z)\, C,

    and decodes the point h(x) into an object y close to it. Each method of the literature is a choice of parts:

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
    operator : Operator or OperatorValuedKernel, default=Identity()
        How output features act on each other. An operator-valued kernel (`Separable`, `Transformable`, `Entangled`, …) acts
        on the coordinates of a finite embedding, and compares inputs by kernels of its own, of which `input_kernel` has to
        be one.
    embedding : "auto" or Embedding
        Coordinates of the outputs. "auto" takes explicit features where the kernel has them, and otherwise what the
        operator needs.
    alpha : float, {"loo", "kfold", "gcv"} or a rule from `mercer.selection`, default="loo"
        The ridge, λ of Kadri eq. 3: :math:`(K + \alpha I)` with the operator-valued K, the sum of squared errors not
        divided by n. It stands as nα in Kadri's Prop. 1. Weston's γ weighs a mean of squares in the NIPS edition,
        so α = nγ there; eq. 6 of the technical report is α = γ with ``solver=Exact(penalty="coefficients")``.
    decoder : "auto" or Decoder
        How a point becomes an object.
    solver : "auto" or Solver
        How the system is solved. "auto" is always exact.
    loss : None, "kernel", "rkhs" or callable Δ(y_true, y_pred)
        The metric you are scored on. A callable chooses alpha, decodes by least expected loss and scores. "kernel" is the
        output kernel's loss of decoded objects, "rkhs" the distance before decoding. None chooses by "rkhs", which is
        fast, and scores by "kernel".
    regressor : scikit-learn regressor, optional
        Predicts the output coordinates in place of ridge (an SVR, say). It is given the Gram matrix if it takes
        precomputed kernels, else X itself (objects too, where it takes them, as `EntangledRidge` does). Needs an
        embedding with coordinates.

    Attributes
    ----------
    alpha_ : float
        The ridge in use.
    alphas_, loo_path_ : array
        The ridges tried and the figure of each (leave-one-out loss, or that of the rule chosen by `alpha`).
    input_kernel_, output_kernel_ : Kernel
        The kernels with what depends on data filled in.
    embedding_, operator_, solver_, decoder_ : objects
        The parts in use.
    reasons_ : dict
        Why each part that was left open was chosen.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> from mercer.kernels import Subsequence
    >>> kernel = Subsequence(length=2).normalized()
    >>> model = DependencyEstimator(kernel, kernel, alpha=0.01)
    >>> model.fit(["aab", "bba", "abb"], ["xxy", "yyx", "xyy"]).predict(["aaab"])
    array(['xxy'], dtype=object)
    """

    def __init__(
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

    def fit(self, X: Any, y: Any, extra_outputs: Any = None) -> Self:
        """Learn from pairs.

        Parameters
        ----------
        X, y : collections of the same length
            Inputs and outputs: arrays with one row per object, or lists, object arrays, pandas columns of objects.
        extra_outputs : collection, optional
            Outputs that have no input (Weston §5): they sharpen the embedding and the covariance, and join the
            candidates.
        """
        self._check_arguments()
        pairs = check_pairs(self, X, y, extra_outputs)
        one_alpha = ridge_selection(self.alpha) is None
        operator = clone(self.operator)
        if isinstance(operator, OperatorValuedKernel):
            check_same_inputs(operator, self.input_kernel)
        decoder, decoder_reason = choose_decoder(self.decoder, pairs.output_kernel, self.loss, pairs.everything)
        spectral = not on_numpy(pairs.inputs) or isinstance(decoder, Standardized)
        solver, solver_reason = choose_solver(self.solver, operator, one_alpha, spectral)
        embedding, embedding_reason = choose_embedding(self.embedding, pairs, operator, solver, decoder)
        if not pairs.output_kernel.is_psd and not embedding.decomposes:
            gram_matrix(pairs.output_kernel, pairs.everything, "output", 2)
        fit_embedding(
            embedding, pairs.output_kernel, pairs.everything, count(pairs.outputs), pairs.input_kernel, pairs.inputs
        )
        loss = resolve_loss(self.loss, pairs.output_kernel, pairs.form.row_shape)
        decoder.fit(embedding, loss)

        regression = Regression(
            pairs.input_kernel, pairs.inputs, pairs.outputs, pairs.everything, operator, solver, embedding, decoder
        )
        judge = self._judge(loss, embedding, decoder, pairs.outputs)
        if self.regressor is not None:
            fitted = fit_regressor(regression, self.regressor)
        elif isinstance(operator, OperatorValuedKernel):
            fitted, solver_reason = fit_valued(regression, self.alpha, judge)
        else:
            fitted = fit_ridge(regression, self.alpha, judge)

        if self.regressor is not None:
            solver, solver_reason = None, f"{self.regressor!r:.60} takes the place of the ridge"
        self.operator_, self.solver_ = operator, solver
        self.map_, self._basis = fitted.map, fitted.basis
        self.alpha_, self.alphas_, self.loo_path_ = fitted.alpha, fitted.alphas, fitted.path
        self.reasons_ = {"solver": solver_reason, "decoder": decoder_reason, "embedding": embedding_reason}
        self._keep(pairs, loss, decoder, embedding)
        return self

    def decision_weights(self, X: Any) -> Array:
        r"""h(x) as weights on the training outputs, then on the extra outputs; one row per input.

        For the identity operator these are :math:`(k + \alpha I)^{-1} k_x`. Operators and principal components learned
        from the outputs leave only the point itself determined: then the weights of least norm. Low-rank coordinates have
        weights on their pivots alone.
        """
        check_is_fitted(self, "embedding_")
        coupled = not isinstance(self.operator_, Identity) or isinstance(self.embedding_, Directions | Pivoted)
        if coupled or self.alpha_ is None or isinstance(self.embedding_, Implicit):
            return super().decision_weights(X)
        # coordinates were enough for predicting; the weights take the factor of k once more
        implicit = Implicit().fit(self.output_kernel_, self.embedding_.outputs_, self.embedding_.paired_)
        return implicit.weights(self._ridge_weights(X))

    # -- pieces -------------------------------------------------------------------------------------

    def _points(self, inputs: Collection) -> Array:
        return self.map_(self._basis.values(self.input_kernel_, inputs))

    def _left_out_points(self) -> Array:
        if self.alpha_ is None or not isinstance(self._basis, Basis):
            return super()._left_out_points()
        embedding, inputs = self.embedding_, self._basis.inputs
        outputs = take(embedding.outputs_, slice(0, embedding.paired_))
        solver = self.solver_ if isinstance(self.solver_, SpectralSolver) else Exact()
        problem = Regression(
            self.input_kernel_, inputs, outputs, embedding.outputs_, self.operator_, solver, embedding, self.decoder_
        )
        return left_out_points(problem, self.alpha_)

    def _jackknife_sets(self, X: Any, coverage: float, candidates: Any) -> list[Ranked]:
        if self.alpha_ is None or not isinstance(self.operator_, Identity):
            return super()._jackknife_sets(X, coverage, candidates)
        outputs = self.embedding_.outputs_
        left_out = beside(self._left_out_points(), outputs)
        own = self.embedding_.coordinates_
        own = eye(left_out.shape[0], left_out) if own is None else own[: left_out.shape[0], :]
        fits = LeftOutFits(self._points_of(X), self._ridge_weights(X), beside(own, outputs), left_out)
        pool, calibration = self._pool(candidates), self._left_out(left_out)
        return fits.sets(self.decoder_, pool, calibration, coverage, candidates is None)

    def _ridge_weights(self, X: Any) -> Array:
        """(k + αI)⁻¹k_x, on the pairs: the operator is the identity."""
        assert self.alpha_ is not None
        inputs = check_inputs(self, listed(X), self.input_kernel_, reset=False)
        solve = weights_map(self.solver_, self.input_kernel_, self._basis, self.alpha_)
        return beside(solve(self._basis.values(self.input_kernel_, inputs)), self.embedding_.outputs_)

    def _training_inputs(self) -> Collection | None:
        basis = self._basis
        return basis.inputs if isinstance(basis, Basis) and not self.input_kernel_.pairwise else None

    def _judge(self, loss: Any, embedding: Embedding, decoder: Decoder, outputs: Collection) -> Judge:
        if self.loss not in (None, "rkhs"):
            return DecodedLoss(loss, decoder, outputs)
        chosen = ridge_selection(self.alpha) is not None
        if chosen and isinstance(embedding, Implicit):
            return FeatureDistance(gram_matrix(embedding.kernel_, outputs, "output", 8))
        if chosen and isinstance(embedding, Directions):
            return FeatureDistance(outside=float(np.mean(to_numpy(embedding.outside(outputs)))))
        return FeatureDistance()

    def _check_arguments(self) -> None:
        if not isinstance(self.operator, Operator | OperatorValuedKernel):
            raise TypeError(f"operator={self.operator!r}; expected one of mercer.operators, such as Identity()")
        if self.regressor is None:
            return
        if not hasattr(self.regressor, "fit") or not is_regressor(self.regressor):
            raise TypeError(f"regressor={self.regressor!r:.60}; expected a scikit-learn regressor, such as SVR()")
        defaults = {"operator": isinstance(self.operator, Identity)}
        for name, default in (("alpha", "loo"), ("solver", "auto")):
            defaults[name] = isinstance(getattr(self, name), str) and getattr(self, name) == default
        for name, untouched in defaults.items():
            if not untouched:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} has no effect with regressor={self.regressor!r}, which replaces the "
                    f"ridge; leave {name} at its default, or set the regressor's own parameters"
                )
