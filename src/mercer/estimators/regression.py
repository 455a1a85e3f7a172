"""From parts to a fitted map: the ridge of the library, or a scikit-learn regressor in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import get_tags

from mercer.core.arrays import Array, eye, like, namespace, to_numpy
from mercer.core.collections import Collection, concatenate, count, is_numeric, take
from mercer.decoders import Decoder, Standardized
from mercer.embeddings import Directions, Embedding, Implicit, InputAware, Pivoted
from mercer.kernels.base import Kernel
from mercer.kernels.precomputed import Precomputed
from mercer.operators import Identity, Operator, OperatorSpectrum, OperatorValuedKernel, Outputs
from mercer.operators.base import Inputs
from mercer.selection.judges import Judge
from mercer.selection.ridge import Trial, ridge_selection
from mercer.solvers import Cholesky, Exact, GramEigh, LowRank, Ridge, Solver, SpectralSolver, Tridiagonal
from mercer.solvers.base import CholeskyMap, LinearMap
from mercer.solvers.gram import check_finite, gram_matrix, warn_low_rank


@dataclass
class Basis:
    """The training inputs that predictions compare new inputs with: all of them, or the pivots of a low-rank factor."""

    inputs: Collection
    pivots: np.ndarray | None

    def values(self, kernel: Kernel, inputs: Collection) -> Array:
        """Kernel values of each input against the basis."""
        if self.pivots is None:
            values = kernel(inputs, self.inputs)
        elif kernel.pairwise:
            values = take(kernel(inputs, self.inputs).T, self.pivots).T
        else:
            values = kernel(inputs, take(self.inputs, self.pivots))
        check_finite(values, kernel, "input")
        return values


@dataclass
class Raw:
    """Hands the inputs over as they are, to a regressor that has its own kernel or none."""

    def values(self, kernel: Kernel, inputs: Collection) -> Collection:
        """The inputs."""
        return inputs


@dataclass
class Fitted:
    """A learned map and how its ridge was chosen."""

    map: Callable[[Array], Array]
    basis: Basis | Raw
    alpha: float | None
    alphas: np.ndarray | None
    path: np.ndarray | None


@dataclass
class Regression:
    """The problem: pairs, kernels and parts, the embedding and the decoder fitted."""

    kernel: Kernel
    inputs: Collection
    outputs: Collection
    everything: Collection
    operator: Operator | OperatorValuedKernel
    solver: Solver
    embedding: Embedding
    decoder: Decoder

    @property
    def paired(self) -> int:
        """n, the number of pairs."""
        return count(self.outputs)

    def targets(self, reference: Array) -> Array | None:
        """V of the paired outputs, in the library and on the device of `reference`."""
        coordinates = self.embedding.coordinates_
        return None if coordinates is None else like(coordinates[: self.paired, :], reference)

    def ridge(self, spectrum: GramEigh) -> Ridge:
        """The ridge problem on a decomposed input Gram matrix."""
        penalty = getattr(self.solver, "penalty", "function")
        assert isinstance(self.operator, Operator)
        if isinstance(self.operator, Identity):
            return Ridge(spectrum, self.targets(spectrum.vectors), penalty=penalty)
        outputs = self.outputs_on(spectrum, spectrum.vectors)
        operator = self.operator.spectrum(outputs)
        return Ridge(spectrum, outputs.coordinates[: self.paired, :], operator, penalty, outputs.inside)

    def outputs_on(self, inputs: Inputs, reference: Array) -> Outputs:
        """What the operator looks at, in the library and on the device of `reference`."""
        rows = self.embedding.coordinates_
        if rows is None:
            raise ValueError(f"operator={self.operator!r} needs an embedding with coordinates")
        return Outputs(like(rows, reference), self.paired, self.embedding.orthogonal_, inputs)

    def on(self, train: np.ndarray) -> Regression:
        """The same problem on some of the pairs; the embedding and the decoder are fitted anew."""
        outputs = take(self.outputs, train)
        everything = outputs
        if count(self.everything) > self.paired:
            everything = concatenate(outputs, take(self.everything, slice(self.paired, None)))
        inputs = sub_inputs(self.kernel, self.inputs, train, train)
        embedding = clone(self.embedding)
        fit_embedding(embedding, self.embedding.kernel_, everything, count(outputs), self.kernel, inputs)
        decoder = clone(self.decoder).fit(embedding, self.decoder.loss_)
        return replace(
            self,
            inputs=inputs,
            outputs=outputs,
            everything=everything,
            embedding=embedding,
            decoder=decoder,
        )


def fit_embedding(
    embedding: Embedding, kernel: Kernel, outputs: Collection, paired: int, input_kernel: Kernel, inputs: Collection
) -> None:
    """Fit the embedding to the outputs, and to the Gram matrix of the inputs if it looks at them."""
    if isinstance(embedding, InputAware):
        embedding.fit(kernel, outputs, paired, gram_matrix(input_kernel, inputs, "input", 4))
    else:
        embedding.fit(kernel, outputs, paired)


def sub_inputs(kernel: Kernel, inputs: Collection, rows: np.ndarray, columns: np.ndarray) -> Collection:
    """Some of the inputs; of a Gram matrix, some rows and some columns."""
    chosen = take(inputs, rows)
    return take(chosen.T, columns).T if kernel.pairwise else chosen


def fit_ridge(problem: Regression, alpha: Any, judge: Judge) -> Fitted:
    """Solve for one alpha, or choose it first."""
    rule = ridge_selection(alpha)
    if isinstance(problem.solver, Cholesky):
        return _fit_cholesky(problem, problem.solver, float(alpha))
    if isinstance(problem.solver, Tridiagonal):
        return _fit_tridiagonal(problem, problem.solver, float(alpha), judge)
    assert isinstance(problem.solver, SpectralSolver)
    spectrum = problem.solver.factorize(problem.kernel, problem.inputs)
    if isinstance(problem.solver, LowRank):
        _report_low_rank(problem, problem.solver, spectrum)
    ridge = problem.ridge(spectrum)
    alphas = path = None
    if rule is None:
        chosen = float(alpha)
    else:
        fixed = isinstance(problem.operator, Identity) and not isinstance(problem.embedding, Directions | Pivoted)
        closed_form = fixed and ridge.penalty == "function" and spectrum.complete
        trial = Trial(ridge, judge, _refitter(problem), closed_form)
        chosen, alphas, path = rule.select(trial)
    basis = Basis(problem.inputs, spectrum.pivots)
    if isinstance(problem.decoder, Standardized):
        problem.decoder.calibrate(ridge.leave_one_out(chosen))
    return Fitted(LinearMap(ridge.coefficients(chosen)), basis, chosen, alphas, path)


def _fit_cholesky(problem: Regression, solver: Cholesky, alpha: float) -> Fitted:
    found = solver.factorize(problem.kernel, problem.inputs, alpha)
    targets = problem.targets(found.factor)
    fitted = found if targets is None else LinearMap(found.solve(targets))
    if isinstance(problem.decoder, Standardized):
        problem.decoder.calibrate(_leave_one_out(found, targets))
    return Fitted(fitted, Basis(problem.inputs, None), alpha, None, None)


def _fit_tridiagonal(problem: Regression, solver: Tridiagonal, alpha: float, judge: Judge) -> Fitted:
    assert isinstance(problem.operator, Operator)
    form = solver.factorize(problem.kernel, problem.inputs)
    if not form.definite:
        return fit_ridge(replace(problem, solver=Exact()), alpha, judge)
    outputs = problem.outputs_on(form, form.diagonal)
    operator = problem.operator.spectrum(outputs) or OperatorSpectrum(np.ones(outputs.coordinates.shape[1]), None)
    inside = outputs.inside
    del outputs  # what is not needed any more is not held while there is more to come
    inside = inside if operator.vectors is None else inside @ operator.vectors
    inside = form.solve(inside, operator.values, alpha)
    inside *= operator.values
    coefficients = form.outside(inside if operator.vectors is None else inside @ operator.vectors.T)
    if isinstance(problem.decoder, Standardized):
        del form, inside, operator
        problem.decoder.calibrate(left_out_points(replace(problem, solver=Exact()), alpha))
    return Fitted(LinearMap(coefficients), Basis(problem.inputs, None), alpha, None, None)


def _leave_one_out(found: CholeskyMap, targets: Array | None) -> Array:
    """h₋ⱼ(xⱼ) for each training pair, from the inverse of k + αI."""
    xp, identity = namespace(found.factor), eye(found.factor.shape[0], found.factor)
    inverse = found.solve(identity)
    residual = inverse if targets is None else inverse @ targets
    return (identity if targets is None else targets) - residual / xp.linalg.diagonal(inverse)[:, None]


def left_out_points(problem: Regression, alpha: float) -> Array:
    """The point of each training pair, predicted by the fit without it."""
    assert isinstance(problem.solver, SpectralSolver)
    return problem.ridge(problem.solver.factorize(problem.kernel, problem.inputs)).leave_one_out(alpha)


def weights_map(solver: Solver, kernel: Kernel, basis: Basis | Raw, alpha: float) -> Callable[[Array], Array]:
    """The map from kernel values to weights on the training outputs, identity operator."""
    assert isinstance(basis, Basis)
    if isinstance(solver, Cholesky):
        return solver.factorize(kernel, basis.inputs, alpha)
    assert isinstance(solver, SpectralSolver)
    spectrum = solver.factorize(kernel, basis.inputs)
    return LinearMap(Ridge(spectrum, None, None, solver.penalty).coefficients(alpha))


def _refitter(problem: Regression) -> Any:
    """For folds: the Gram matrix is made once and sliced, but for the low-rank solver, which never makes it."""
    shared: list[Regression] = []

    def refit(train: np.ndarray, held_out: np.ndarray) -> Any:
        if not shared:
            if isinstance(problem.solver, LowRank) or problem.kernel.pairwise:
                shared.append(problem)
            else:
                gram = gram_matrix(problem.kernel, problem.inputs, "input", 3)
                shared.append(replace(problem, kernel=Precomputed(), inputs=gram))
        source = shared[0]
        part = source.on(train)
        assert isinstance(part.solver, SpectralSolver)
        spectrum = part.solver.factorize(part.kernel, part.inputs)
        ridge = part.ridge(spectrum)
        queries = sub_inputs(source.kernel, source.inputs, held_out, train)
        values = Basis(part.inputs, spectrum.pivots).values(part.kernel, queries)
        outputs = take(problem.outputs, held_out)
        return ridge, like(values, spectrum.vectors), part.embedding, part.decoder, outputs

    return refit


def _report_low_rank(problem: Regression, solver: LowRank, spectrum: GramEigh) -> None:
    """Put the residuals where the user looks for them."""
    solver.rank_, solver.residual_ = spectrum.values.shape[0], spectrum.residual
    solver.output_residual_ = getattr(problem.embedding, "residual_", 0.0)
    if isinstance(problem.embedding, Pivoted):
        columns = problem.embedding.coordinates_.shape[1]
        warn_low_rank(problem.embedding.residual_, "output", columns)


@dataclass
class RegressorMap:
    """Points from a scikit-learn regressor."""

    regressor: Any
    reference: Array

    def __call__(self, features: Collection) -> Array:
        """One row of coordinates per query."""
        rows = to_numpy(features) if is_numeric(features) else features
        predicted = np.asarray(self.regressor.predict(rows), dtype=float)
        return like(predicted.reshape(len(predicted), -1), self.reference)


def fit_regressor(problem: Regression, regressor: Any) -> Fitted:
    """Fit a scikit-learn regressor to the output coordinates."""
    targets = problem.embedding.coordinates_
    if targets is None or isinstance(problem.embedding, Implicit):
        raise ValueError(
            f"regressor={regressor!r} predicts coordinates, and the output kernel {problem.embedding.kernel_!r} is implicit; "
            "add embedding=PrincipalComponents()"
        )
    targets = targets[: problem.paired, :]
    model, tags = clone(regressor), get_tags(regressor)
    if not tags.target_tags.multi_output:
        model = MultiOutputRegressor(model)
    basis: Basis | Raw
    if tags.input_tags.pairwise:
        basis = Basis(problem.inputs, None)
        features = to_numpy(gram_matrix(problem.kernel, problem.inputs, "input", 3))
    elif problem.kernel.takes_vectors:
        basis, features = Raw(), to_numpy(problem.inputs)
    elif not tags.input_tags.two_d_array:
        basis, features = Raw(), problem.inputs
    else:
        raise ValueError(
            f"regressor={regressor!r} takes vectors, and the inputs are objects for {problem.kernel!r}; use one that takes "
            "a precomputed kernel, such as SVR(kernel='precomputed')"
        )
    model.fit(features, to_numpy(targets))
    return Fitted(RegressorMap(model, targets), basis, None, None, None)
