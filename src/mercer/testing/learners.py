"""The contract of a learner."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.core.arrays import to_numpy
from mercer.core.collections import Collection, as_vectors, count, is_numeric, take
from mercer.decoders import auto_decoder
from mercer.embeddings import Embedding, Features, Implicit
from mercer.kernels.base import Kernel
from mercer.kernels.vectors import Linear
from mercer.learners.base import FittedMap, Learner, LearningProblem, fit_embedding
from mercer.selection.alpha import FeatureDistance
from mercer.solvers.kernel_values import sub_inputs


def learning_problem(
    kernel: Kernel,
    inputs: Any,
    outputs: Any,
    output_kernel: Kernel = Linear(),  # noqa: B008 - kernels are values
    embedding: Embedding | None = None,
) -> LearningProblem:
    """Return pairs as an estimator hands them to a learner.

    `embedding` gives the coordinates of the outputs; by default explicit features, or weights on the outputs if their kernel
    has no finite features.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> learning_problem(Gaussian(1.0), np.eye(3), np.eye(3)[:, :2]).targets.shape
    (3, 2)
    """
    inputs, outputs = kernel.check(inputs, "inputs"), output_kernel.check(outputs, "outputs")
    kernel, output_kernel = kernel.resolve(inputs), output_kernel.resolve(outputs)
    if embedding is None:
        embedding = Implicit() if output_kernel.feature_map(outputs) is None else Features()
    embedding = clone(embedding)
    fit_embedding(embedding, output_kernel, outputs, count(outputs), kernel, inputs)
    decoder = auto_decoder(output_kernel, None, outputs)[0].fit(embedding)
    criterion = FeatureDistance(embedding, outputs)
    return LearningProblem(kernel, inputs, outputs, embedding, decoder, criterion, targets=embedding.coordinates_)


def check_learner(
    learner: Learner,
    problem: LearningProblem,
    queries: Collection,
    held: Callable[[FittedMap], Learner] | str | None = None,
    atol: float = 1e-7,
) -> None:
    """Raise an AssertionError that names the first requirement a learner does not meet.

    Points do not depend on the batch; left-out points are those of a fit without the pair, or without its group; weights
    reproduce the points and sum to one; two fits are the same and change neither the learner nor the problem; a constant added
    to vector outputs is added to the points. The pairs are learned from as they are, with sample weights, and in groups.

    Parameters
    ----------
    learner : Learner
        The learner under test; without an intercept it has the attribute ``fit_intercept = False``.
    problem, queries : LearningProblem, collection
        A small problem, such as `learning_problem` makes, and a few new inputs, two at least.
    held : callable or "folds", optional
        Takes the fitted map to the learner to fit without each pair: the same one with what it learned from the outputs (alpha,
        an operator) held; by default the learner itself. "folds" is for learners that leave out by folds: the output of a pair
        must have no part in its left-out point.
    atol : float
        Absolute tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.learners import Ridge
    >>> X = np.random.default_rng(0).standard_normal((8, 2))
    >>> check_learner(Ridge(alpha=0.1), learning_problem(Gaussian(1.0), X, X), X[:3] + 0.1)
    """
    weights, groups = np.linspace(0.5, 2.0, problem.size), np.arange(problem.size) % 3
    for weight, group in product((None, weights), (None, groups)):
        what = f"{learner!r:.60} (weights {weight is not None}, groups {group is not None})"
        check = _Check(learner, _variant(problem, weight, group), queries, atol, what)
        check.points()
        check.weights()
        check.left_out(held)
    check = _Check(learner, _variant(problem, None, None), queries, atol, f"{learner!r:.60}")
    check.same_again()
    check.constant()


class _Check:
    """One fit under test."""

    def __init__(self, learner: Learner, problem: LearningProblem, queries: Collection, atol: float, what: str) -> None:
        self.learner, self.problem, self.queries, self.atol, self.what = learner, problem, queries, atol, what
        self.intercept = bool(getattr(learner, "fit_intercept", True))
        self.width = problem.size if problem.targets is None else int(problem.targets.shape[1])
        groups = np.arange(problem.size) if problem.groups is None else problem.groups
        self.members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
        self.before, shown = _contents(problem), repr(learner)
        self.fitted = learner.fit(problem)
        self.require(repr(learner) == shown, f"fit changed the learner to {learner!r:.60}")
        self.check_unchanged("fit")
        protocol = "points, left_out_points, weights, attributes"
        self.require(isinstance(self.fitted, FittedMap), f"fit gave no FittedMap: {protocol}")
        kind = type(self.fitted.attributes)
        self.require(issubclass(kind, dict), f"attributes is a {kind.__name__}; expected a dict")

    def points(self) -> None:
        """Points have one row for each input, which does not depend on the other inputs."""
        fitted, queries, held = self.fitted, self.queries, dict(vars(self.fitted))
        found = self.shaped(fitted.points(queries), (count(queries), self.width), "points")
        order = np.arange(count(queries))[::-1]
        self.same(fitted.points(take(queries, order)), found[order], "points of a batch in another order")
        for i in range(count(queries)):
            self.same(fitted.points(take(queries, slice(i, i + 1))), found[i : i + 1], f"points of input {i} alone")
        fitted.weights(queries)
        changed = [name for name, value in vars(fitted).items() if held.get(name, fitted) is not value]
        self.require(not changed, f"points or weights wrote to {', '.join(changed)} of the fitted map")

    def weights(self) -> None:
        """Weights reproduce the points, and sum to one with an intercept."""
        found, n, targets = self.fitted.weights(self.queries), self.problem.size, self.problem.targets
        if found is None:
            return
        weights = self.shaped(found, (count(self.queries), n), "weights")
        made = weights @ (np.eye(n) if targets is None else to_numpy(targets))
        self.same(made, to_numpy(self.fitted.points(self.queries)), "weights times outputs, and points,")
        if self.intercept:
            self.same(weights.sum(axis=1), np.ones(len(weights)), "sums of weights, and one,")

    def left_out(self, held: Callable[[FittedMap], Learner] | str | None) -> None:
        """Left-out points are those of a fit without the pair, or do not depend on its output."""
        shape = (self.problem.size, self.width)
        found = self.shaped(self.known(self.fitted.left_out_points()), shape, "left_out_points")
        self.check_unchanged("left_out_points")
        self.same(self.known(self.fitted.left_out_points()), found, "left-out points asked for twice")
        if held != "folds":
            again = held(self.fitted) if callable(held) else self.learner
            self.same(found, self.refitted(again), "left-out points and those of fits without the pair")
        if not callable(held):
            self.check_own_output(found)

    def same_again(self) -> None:
        """Two fits are the same."""
        first, again = self.fitted, self.learner.fit(self.problem)
        same = np.array_equal(to_numpy(first.points(self.queries)), to_numpy(again.points(self.queries)))
        same &= np.array_equal(self.known(first.left_out_points()), self.known(again.left_out_points()))
        self.require(same, "two fits on the same problem differ")

    def constant(self) -> None:
        """A constant that is added to vector outputs is added to the points."""
        problem = self.problem
        if not self.intercept or not problem.embedding.coordinates_are_outputs:
            return
        observed, outputs = problem.observed, as_vectors(problem.outputs)
        level, above = (learning_problem(problem.kernel, problem.inputs, each) for each in (outputs, outputs + 1.0))
        expected = self.learner.fit(replace(level, observed=observed)).points(self.queries)
        found = self.learner.fit(replace(above, observed=observed)).points(self.queries)
        self.same(found, to_numpy(expected) + 1.0, "points of outputs plus one, and points plus one,")

    def known(self, points: Any) -> np.ndarray:
        """Points of all pairs, zero at missing outputs."""
        observed = self.problem.observed
        return to_numpy(points) if observed is None else np.where(observed, to_numpy(points), 0.0)

    def refitted(self, learner: Learner) -> np.ndarray:
        """The points of all pairs, each by a fit without its group."""
        problem, found = self.problem, np.zeros((self.problem.size, self.width))
        for own in self.members:
            rest = np.setdiff1d(np.arange(problem.size), own)
            queries = sub_inputs(problem.kernel, problem.inputs, own, rest)
            columns = rest if problem.targets is None else np.arange(self.width)
            found[np.ix_(own, columns)] = to_numpy(learner.fit(problem.subset(rest)).points(queries))
        return self.known(found)

    def check_own_output(self, found: np.ndarray) -> None:
        """The output of a pair, or of its group, has no part in the left-out point."""
        problem = self.problem
        for own in (self.members[0], self.members[-1]):
            if problem.targets is None:
                on_own = found[np.ix_(own, own)]
                self.same(on_own, np.zeros_like(on_own), "weights of left-out pairs on themselves")
                continue
            targets, rows = to_numpy(problem.targets), np.arange(problem.size)
            rows[own] = int(np.argmax(np.sum((targets - targets[own[0]]) ** 2, axis=1)))
            other = _variant(problem, problem.sample_weight, problem.groups)
            outputs = vars(other.criterion)["outputs"] = take(problem.outputs, rows)
            other = replace(other, outputs=outputs, targets=take(problem.targets, rows), partial=True)
            again = self.known(self.learner.fit(other).left_out_points())
            self.same(again[own], found[own], f"left-out points of pairs {own.tolist()} whose own outputs are changed")

    def check_unchanged(self, call: str) -> None:
        after = _contents(self.problem)
        changed = [name for name, value in self.before.items() if value != after[name]]
        self.require(not changed, f"{call} changed {', '.join(changed)} of the problem")

    def shaped(self, found: Any, expected: tuple[int, ...], what: str) -> np.ndarray:
        array = to_numpy(found)
        self.require(array.shape == expected, f"{what} has shape {array.shape}; expected {expected}")
        return array

    def same(self, found: Any, expected: np.ndarray, what: str) -> None:
        array = to_numpy(found)
        self.require(array.shape == expected.shape, f"{what} have shapes {array.shape} and {expected.shape}")
        gap = float(np.abs(array - expected).max(initial=0.0))
        self.require(gap <= self.atol, f"{what} differ by {gap:.3g}")

    def require(self, holds: bool, message: str) -> None:
        if not holds:
            raise AssertionError(f"{self.what}: {message}")


def _variant(problem: LearningProblem, weight: np.ndarray | None, groups: np.ndarray | None) -> LearningProblem:
    """The same pairs with other weights and groups."""
    criterion = copy(problem.criterion)
    vars(criterion)["sample_weight"] = weight
    return replace(problem, sample_weight=weight, groups=groups, criterion=criterion)


def _contents(problem: LearningProblem) -> dict[str, Any]:
    """Copies of all that a fit could change."""
    found: dict[str, Any] = {name: repr(getattr(problem, name)) for name in ("kernel", "embedding", "decoder")}
    for name in ("inputs", "outputs", "targets", "sample_weight", "groups", "observed"):
        value = getattr(problem, name)
        found[name] = to_numpy(value).tobytes() if is_numeric(value) else None if value is None else list(value)
    return found
