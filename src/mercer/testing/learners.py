"""The contract of a learner."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
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
from mercer.solvers.base import sub_inputs


def learning_problem(
    kernel: Kernel,
    inputs: Any,
    outputs: Any,
    output_kernel: Kernel = Linear(),  # noqa: B008 - kernels are values
    embedding: Embedding | None = None,
) -> LearningProblem:
    """Return pairs as an estimator hands them to a learner.

    Parameters
    ----------
    kernel, output_kernel : Kernel
        Similarities of inputs and of outputs.
    inputs, outputs : collections of the same length
        The pairs.
    embedding : Embedding, optional
        Coordinates of the outputs; by default their features, or weights on them where the kernel has no finite features.

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
    r"""Raise an AssertionError that names the first requirement a learner does not meet.

    Points and left-out points have one row each and do not depend on the batch; left-out points are those of a fit without
    the pair, or without its group; weights reproduce the points and sum to one; fitting twice gives the same and changes
    neither the learner nor the problem; adding a constant to vector outputs moves the points by it. The pairs are learned
    from as they are, with sample weights, and in groups.

    Parameters
    ----------
    learner : Learner
        The learner under test. One without an intercept says so by ``fit_intercept = False``.
    problem : LearningProblem
        A small problem, such as `learning_problem` makes.
    queries : collection
        A few new inputs, two at least.
    held : callable or "folds", optional
        Takes the fitted map to the learner that is fitted again without each pair: the same one with what it learned from
        the outputs (alpha, an operator) held. By default the learner itself. "folds" is for learners that leave out by
        folds: only the output of a pair is then known to have no part in its left-out point.
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
    n = count(problem.inputs)
    for weight in (None, np.linspace(0.5, 2.0, n)):
        for groups in (None, np.arange(n) % 3):
            what = f"{learner!r:.60} (weights {weight is not None}, groups {groups is not None})"
            check = _Check(learner, _variant(problem, weight, groups), queries, atol, what)
            check.points()
            check.weights()
            check.left_out(held)
    check = _Check(learner, _variant(problem, None, None), queries, atol, f"{learner!r:.60}")
    check.same_again()
    check.constant()


class _Check:
    """One fit, and what it has to be like."""

    def __init__(self, learner: Learner, problem: LearningProblem, queries: Collection, atol: float, what: str) -> None:
        self.learner, self.problem, self.queries, self.atol, self.what = learner, problem, queries, atol, what
        self.size = count(problem.inputs)
        before = _contents(problem)
        shown = repr(learner)
        self.fitted = learner.fit(problem)
        self.require(repr(learner) == shown, f"fit changed the learner to {learner!r:.60}")
        self._check_unchanged(before, "fit")
        self.require(
            isinstance(self.fitted, FittedMap), "fit gave no FittedMap: points, left_out_points, weights, attributes"
        )
        attributes = self.fitted.attributes
        self.require(isinstance(attributes, dict), f"attributes is a {type(attributes).__name__}; expected a dict")
        self.before = before

    def points(self) -> None:
        """One row for each input, which does not depend on the other inputs."""
        fitted, queries, held = self.fitted, self.queries, dict(vars(self.fitted))
        found = to_numpy(fitted.points(queries))
        expected = (count(queries), self._width())
        self.require(found.shape == expected, f"points has shape {found.shape}; expected {expected}")
        order = np.arange(count(queries))[::-1]
        self.same(fitted.points(take(queries, order)), found[order], "points of a batch in another order")
        for i in range(count(queries)):
            self.same(fitted.points(take(queries, slice(i, i + 1))), found[i : i + 1], f"points of input {i} alone")
        fitted.weights(queries)
        changed = [name for name, value in vars(fitted).items() if held.get(name, fitted) is not value]
        self.require(not changed, f"points or weights wrote to {', '.join(changed)} of the fitted map")

    def weights(self) -> None:
        """Weights reproduce the points, and sum to one unless there is no intercept."""
        weights = self.fitted.weights(self.queries)
        if weights is None:
            return
        weights, n = to_numpy(weights), self.size
        expected = (count(self.queries), n)
        self.require(weights.shape == expected, f"weights has shape {weights.shape}; expected {expected}")
        targets = np.eye(n) if self.problem.targets is None else to_numpy(self.problem.targets)
        self.same(weights @ targets, to_numpy(self.fitted.points(self.queries)), "weights times outputs, and points,")
        if self._intercept():
            self.same(weights.sum(axis=1), np.ones(len(weights)), "sums of weights, and one,")

    def left_out(self, held: Callable[[FittedMap], Learner] | str | None) -> None:
        """Left-out points are those of a fit without the pair, or do not depend on its output."""
        found = self._left_out(self.fitted)
        expected = (self.size, self._width())
        self.require(found.shape == expected, f"left_out_points has shape {found.shape}; expected {expected}")
        self._check_unchanged(self.before, "left_out_points")
        self.same(self._left_out(self.fitted), found, "left-out points asked for twice")
        if held != "folds":
            again = held(self.fitted) if callable(held) else self.learner
            seen = self._observed(slice(None))
            self.same(found * seen, self._refitted(again) * seen, "left-out points and those of fits without the pair")
        if not callable(held):
            self._check_own_output(found)

    def same_again(self) -> None:
        """Two fits are the same."""
        first, again = self.fitted, self.learner.fit(self.problem)
        same = np.array_equal(to_numpy(first.points(self.queries)), to_numpy(again.points(self.queries)))
        same &= np.array_equal(self._left_out(first), self._left_out(again))
        self.require(same, "two fits on the same problem differ")

    def constant(self) -> None:
        """A constant that is added to vector outputs is added to the points."""
        problem = self.problem
        if not self._intercept() or not problem.embedding.coordinates_are_outputs:
            return
        outputs = as_vectors(problem.outputs)
        pairs = [learning_problem(problem.kernel, problem.inputs, outputs + shift) for shift in (1.0, 0.0)]
        above, level = (
            self.learner.fit(replace(each, observed=problem.observed)).points(self.queries) for each in pairs
        )
        self.same(above, to_numpy(level) + 1.0, "points of outputs plus one, and points plus one,")

    # -- pieces ---------------------------------------------------------------------------------------

    def _members(self) -> list[np.ndarray]:
        groups = np.arange(self.size) if self.problem.groups is None else self.problem.groups
        return [np.flatnonzero(groups == group) for group in np.unique(groups)]

    def _refitted(self, learner: Learner) -> np.ndarray:
        """The points of all pairs, each by a fit without its group."""
        problem, n = self.problem, self.size
        found = np.zeros((n, self._width()))
        for own in self._members():
            rest = np.setdiff1d(np.arange(n), own)
            queries = sub_inputs(problem.kernel, problem.inputs, own, rest)
            columns = np.arange(self._width()) if problem.targets is not None else rest
            found[np.ix_(own, columns)] = to_numpy(learner.fit(problem.subset(rest)).points(queries))
        return found

    def _check_own_output(self, found: np.ndarray) -> None:
        """The output of a pair, or of its group, has no part in the left-out point."""
        problem, n = self.problem, self.size
        for own in (self._members()[0], self._members()[-1]):
            if problem.targets is None:
                self.same(
                    found[np.ix_(own, own)], np.zeros((len(own), len(own))), "weights of left-out pairs on themselves"
                )
                continue
            targets = to_numpy(problem.targets)
            other = int(np.argmax(np.sum((targets - targets[own[0]]) ** 2, axis=1)))
            rows = np.arange(n)
            rows[own] = other
            outputs = take(problem.outputs, rows)
            criterion = copy(problem.criterion)
            vars(criterion)["outputs"] = outputs
            parts = {
                "outputs": outputs,
                "targets": take(problem.targets, rows),
                "criterion": criterion,
                "partial": True,
            }
            changed = self.learner.fit(replace(problem, **parts))
            again, seen = self._left_out(changed)[own], self._observed(own)
            what = f"left-out points of pairs {own.tolist()} whose own outputs are changed"
            self.same(again * seen, found[own] * seen, what)

    def _width(self) -> int:
        targets = self.problem.targets
        return self.size if targets is None else int(targets.shape[1])

    def _left_out(self, fitted: FittedMap) -> np.ndarray:
        """Left-out points, zero at missing outputs."""
        points = to_numpy(fitted.left_out_points())
        return points if self.problem.observed is None else np.where(self.problem.observed, points, 0.0)

    def _observed(self, rows: Any) -> Any:
        """One for each target that is known, zero for those that are missing."""
        return 1.0 if self.problem.observed is None else self.problem.observed[rows].astype(float)

    def _intercept(self) -> bool:
        return bool(getattr(self.learner, "fit_intercept", True))

    def _check_unchanged(self, before: dict[str, Any], call: str) -> None:
        after = _contents(self.problem)
        changed = [name for name, value in before.items() if not _equal(value, after[name])]
        self.require(not changed, f"{call} changed {', '.join(changed)} of the problem")

    def same(self, found: object, expected: np.ndarray, what: str) -> None:
        """Require that two arrays are equal up to the tolerance."""
        found = to_numpy(found)
        self.require(found.shape == expected.shape, f"{what} have shapes {found.shape} and {expected.shape}")
        gap = float(np.abs(found - expected).max(initial=0.0))
        self.require(gap <= self.atol, f"{what} differ by {gap:.3g}")

    def require(self, holds: bool, message: str) -> None:
        """Raise AssertionError with the message unless a requirement holds."""
        if not holds:
            raise AssertionError(f"{self.what}: {message}")


def _variant(problem: LearningProblem, weight: np.ndarray | None, groups: np.ndarray | None) -> LearningProblem:
    """The same pairs with other weights and groups."""
    criterion = copy(problem.criterion)
    vars(criterion)["sample_weight"] = weight
    return replace(problem, sample_weight=weight, groups=groups, criterion=criterion)


def _contents(problem: LearningProblem) -> dict[str, Any]:
    """Copies of all that a fit could change."""
    names = ("inputs", "outputs", "targets", "sample_weight", "groups", "observed")
    found = {name: _copied(getattr(problem, name)) for name in names}
    return found | {name: repr(getattr(problem, name)) for name in ("kernel", "embedding", "decoder")}


def _copied(value: Any) -> Any:
    return value if value is None else to_numpy(value).copy() if is_numeric(value) else list(value)


def _equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else a == b
