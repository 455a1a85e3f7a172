"""Forests grown on the coordinates of outputs, whose leaves are weights on the training outputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from mercer.core.arrays import Array, is_sparse, like, to_numpy
from mercer.core.collections import Collection, count
from mercer.core.compiled import compiled
from mercer.core.validation import check_choice, check_whole
from mercer.embeddings.base import Embedding
from mercer.embeddings.implicit import Implicit
from mercer.embeddings.spectral import PrincipalComponents
from mercer.kernels.base import Kernel
from mercer.learners.base import Learner, LearningProblem, enough_folds, left_out_by_folds

_WIDE = 64  # most coordinates of outputs that trees are grown on
_ROWS = 2048  # rows that are sent down the trees at a time
_FEWEST = 50  # least number of trees that are grown to leave pairs out
_GRID = 2.0**26  # steps of coordinates from the mean to the outermost


@dataclass
class Forest(Learner):
    r"""The mean of the outputs in the leaves of many trees, :math:`h(x) = \sum_j w_j(x)\,\psi(y_j)`.

    .. math:: w_j(x) = \frac{1}{T} \sum_t \frac{[x_j \in \ell_t(x)]}{|\ell_t(x)|}

    The trees are scikit-learn's, grown on the coordinates of the outputs (output kernel trees, Geurts et al. 2006): label sets,
    rankings, strings and graphs are decoded from a forest as from a ridge. Outputs without few coordinates give the trees their
    first 64 principal components.

    Parameters
    ----------
    kind : {"extra", "random"}
        Extremely randomised trees, on all pairs, or a random forest on bootstrap samples. Pairs are left out by folds, or out of
        bag where there is one and no groups.
    n_estimators : int
        The number of trees.
    max_features : float
        Share of the columns that are tried at each split.
    min_samples_leaf : int
        The least number of pairs in a leaf.
    random_state : int
        Seed of the trees.
    n_jobs : int, optional
        Trees grown at a time, as in scikit-learn.
    encoder : transformer, optional
        Fitted; turns inputs that are not vectors into rows of numbers, such as `mercer.structures.table_encoder.TableEncoder`.

    Examples
    --------
    >>> Forest("random").has_weights
    True
    """

    kind: str = "extra"
    n_estimators: int = 200
    max_features: float = 1.0
    min_samples_leaf: int = 1
    random_state: int = 0
    n_jobs: int | None = None
    encoder: Any = None
    has_weights = True

    def __post_init__(self) -> None:
        check_choice(self.kind, "kind", ("extra", "random"))
        for name in ("n_estimators", "min_samples_leaf"):
            check_whole(getattr(self, name), name)

    def preferred_embedding(self, kernel: Kernel, outputs: Collection) -> tuple[Embedding, str] | None:
        """Return weights on the training outputs."""
        return Implicit(), "leaves are weights on training outputs"

    def rows(self, kernel: Kernel, inputs: Collection) -> Any:
        """Return the inputs as rows of numbers that trees can split; raise ValueError for other objects."""
        if self.encoder is not None:
            return self.encoder.transform(inputs)
        if not kernel.takes_vectors:
            raise ValueError(
                f"a forest splits columns of numbers, and the inputs are objects for {kernel!r}; pass encoder=..."
            )
        return inputs if is_sparse(inputs) else to_numpy(inputs)

    def fit(self, problem: LearningProblem) -> FittedForest:
        """Grow the trees, and keep their splits and the leaf of each pair."""
        from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

        kinds = {"extra": ExtraTreesRegressor, "random": RandomForestRegressor}
        options = {"n_jobs": self.n_jobs, "random_state": self.random_state, "min_samples_leaf": self.min_samples_leaf}
        forest = kinds[self.kind](self.n_estimators, max_features=self.max_features, **options)
        rows = self.rows(problem.kernel, problem.inputs)
        growth = _growth(problem)
        forest.fit(rows, growth[:, 0] if growth.shape[1] == 1 else growth, sample_weight=problem.sample_weight)
        trees = Trees.of(forest)
        leaves, bags = trees.leaves(rows), None if self.kind == "extra" else _bags(forest, problem.size)
        weight = None if _drawn_by_weight(forest, bags) else problem.sample_weight
        members = _members(leaves, bags, weight, len(trees.feature))
        return FittedForest(trees, leaves, members, bags, self, problem.held(), {"n_trees_": self.n_estimators})


@dataclass
class FittedForest:
    """Trees, and the leaf of each training pair in each."""

    trees: Trees
    leaf_of: np.ndarray
    members: sparse.csr_array
    """The weight of each pair in each leaf; those of a leaf sum to one."""
    bags: np.ndarray | None
    """The number of times each tree saw each pair, (T, n); None for once."""
    learner: Forest
    problem: LearningProblem
    attributes: dict[str, Any]

    @property
    def groups(self) -> np.ndarray | None:
        """The group of each training pair."""
        return self.problem.groups

    def points(self, inputs: Collection) -> Array:
        """Return the mean over trees of the outputs in the leaf, in coordinates if outputs have them, else as weights."""
        return self._in_coordinates(self._sparse_weights(inputs))

    def left_out_points(self) -> Array:
        """Return the points of the trees that have not seen a pair, or of forests grown without its fold."""
        groups, bags = self.problem.groups, self.bags
        if bags is None or groups is not None or not (bags == 0).any(axis=0).all():
            return self.points_without(groups)
        return self._in_coordinates(self._averaged(self.leaf_of, bags == 0))

    def points_without(self, groups: np.ndarray | None) -> Array:
        """Return the points of forests grown without the fold of each pair, which holds whole groups."""
        # half of the trees are enough to tell how good the forest is
        fewer = replace(self.learner, n_estimators=max(_FEWEST, self.learner.n_estimators // 2))
        return left_out_by_folds(fewer.fit, replace(self.problem, groups=groups), enough_folds(self.problem.size))

    def reduced(self) -> FittedForest:
        """Return the trees and the outputs in their leaves."""
        return replace(self, leaf_of=self.leaf_of[:, :0], bags=None, problem=self.problem.reduced())

    def weights(self, inputs: Collection) -> np.ndarray:
        """Return the share of each training pair in the leaves of each input."""
        return self._sparse_weights(inputs).toarray()

    def _in_coordinates(self, weights: sparse.csr_array) -> Array:
        targets = self.problem.targets
        return weights.toarray() if targets is None else like(weights @ to_numpy(targets), targets)

    def _sparse_weights(self, inputs: Collection) -> sparse.csr_array:
        leaves = self.trees.leaves(self.learner.rows(self.problem.kernel, inputs))
        return self._averaged(leaves, np.ones(leaves.shape, dtype=bool))

    def _averaged(self, leaves: np.ndarray, seen: np.ndarray) -> sparse.csr_array:
        """Weights of rows in these leaves (T, q), by the trees that are seen."""
        queries = np.broadcast_to(np.arange(leaves.shape[1]), leaves.shape)[seen]
        shares = np.broadcast_to(1.0 / seen.sum(axis=0), leaves.shape)[seen]
        shape = (leaves.shape[1], self.members.shape[0])
        return sparse.csr_array((shares, (queries, leaves[seen])), shape=shape) @ self.members


@dataclass
class Trees:
    """The splits of all trees, one after another; a node with no children is a leaf."""

    roots: np.ndarray
    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray

    @classmethod
    def of(cls, forest: Any) -> Trees:
        """Take the splits of a fitted forest of scikit-learn."""
        trees = [one.tree_ for one in forest.estimators_]
        roots = np.cumsum([0, *(tree.node_count for tree in trees[:-1])])
        parts = zip(trees, roots, strict=True)
        sides = [
            (tree.children_left + root, tree.children_right + root, tree.children_left < 0) for tree, root in parts
        ]
        left, right = (
            np.concatenate([np.where(leaf, -1, side) for *both, leaf in sides for side in (both[i],)]) for i in (0, 1)
        )
        feature, threshold = (
            np.concatenate([getattr(tree, name) for tree in trees]) for name in ("feature", "threshold")
        )
        return cls(roots, left, right, feature, threshold)

    def leaves(self, rows: Any) -> np.ndarray:
        """Return the node each row ends in, (trees, rows)."""
        found = np.empty((len(self.roots), rows.shape[0]), dtype=np.int64)
        for start in range(0, rows.shape[0], _ROWS):
            part = rows[start : start + _ROWS]
            part = np.ascontiguousarray(part.toarray() if is_sparse(part) else part, dtype=np.float32)
            _descend(
                part, self.roots, self.left, self.right, self.feature, self.threshold, found[:, start : start + _ROWS]
            )
        return found


@compiled
def _descend(  # noqa: PLR0913
    rows: np.ndarray, roots: Any, left: Any, right: Any, feature: Any, threshold: Any, found: np.ndarray
) -> None:
    for t in range(len(roots)):
        for i in range(rows.shape[0]):
            node = roots[t]
            while left[node] >= 0:
                node = left[node] if rows[i, feature[node]] <= threshold[node] else right[node]
            found[t, i] = node


def _growth(problem: LearningProblem) -> np.ndarray:
    """Coordinates of the outputs for the impurity of a split."""
    embedding, kernel = problem.embedding, problem.embedding.kernel_
    if problem.targets is not None and embedding.euclidean and problem.targets.shape[1] <= _WIDE:
        targets = to_numpy(problem.targets)
        return _on_grid(targets) if kernel.takes_vectors else targets
    features = kernel.feature_map(problem.outputs)
    if features is not None and features.dimension <= _WIDE:
        return to_numpy(features(problem.outputs))
    components = PrincipalComponents(cutoff=0.0, n_components=min(_WIDE, count(problem.outputs) - 1))
    return to_numpy(components.fit(kernel, problem.outputs).coordinates_)


def _on_grid(coordinates: np.ndarray) -> np.ndarray:
    """Centred coordinates, rounded so that sums of them are exact.

    Splits that part the pairs in the same way then tie exactly, and a constant added to outputs changes no tree.
    """
    centred = coordinates - coordinates.mean(axis=0)
    largest = float(np.abs(centred).max(initial=0.0))
    return np.round(centred / largest * _GRID) / _GRID if largest > 0 else centred


def _bags(forest: Any, n: int) -> np.ndarray:
    """The number of times each tree saw each pair."""
    return np.stack([np.bincount(own, minlength=n) for own in forest.estimators_samples_]).astype(np.uint8)


def _drawn_by_weight(forest: Any, bags: np.ndarray | None) -> bool:
    """True if weights decided how often a pair is in a bag, as in newer versions of scikit-learn; they then count no more."""
    return bags is not None and np.isclose(forest.estimators_[0].tree_.weighted_n_node_samples[0], bags[0].sum())


def _members(leaf_of: np.ndarray, bags: Any, sample_weight: np.ndarray | None, nodes: int) -> sparse.csr_array:
    """The weight of each pair in each leaf."""
    seen = np.ones(leaf_of.shape) if bags is None else bags.astype(float)
    seen = seen if sample_weight is None else seen * sample_weight
    total, inside = np.bincount(leaf_of.ravel(), seen.ravel(), minlength=nodes), seen > 0
    pairs = np.broadcast_to(np.arange(leaf_of.shape[1]), leaf_of.shape)[inside]
    shares = seen[inside] / total[leaf_of[inside]]
    return sparse.csr_array((shares, (leaf_of[inside], pairs)), shape=(nodes, leaf_of.shape[1]))
