"""Every kernel keeps the published contract, and the contract catches kernels that do not."""

from dataclasses import dataclass, field

import array_api_strict
import numpy as np
import pytest
import torch

from mercer.core.arrays import NumericalWarning, namespace, to_numpy
from mercer.kernels import (
    Borda,
    Classes,
    Encoded,
    FromDistances,
    FromFunction,
    Gaussian,
    GaussianOf,
    Kemeny,
    Kernel,
    LabelsBySize,
    LabelSets,
    Laplacian,
    Lehmer,
    Linear,
    Matern,
    Mismatch,
    NormalScores,
    Overlap,
    OverlapOf,
    Polynomial,
    Positions,
    Precomputed,
    Prepared,
    RankHamming,
    Spectrum,
    Subsequence,
    SubsetTree,
    Subtree,
    WeightedDegree,
    WordRows,
    ZScores,
)
from mercer.testing import check_kernel

VECTORS = np.vstack([np.random.default_rng(0).standard_normal((7, 3)), np.zeros((2, 3))])
STRINGS = ["abcab", "bca", "ab", "", "🙂bc🙂a", "abcab", "cccc"]
TOKENS = [("the", "cat", "sat"), ["the", "cat"], (), ("sat", "the", "cat", 3, 3.5)]
TREES = [
    "(S (NP I) (VP run))",
    ("S", ("NP", "I"), ("VP", ("V", "see"), "it")),
    "(NP (D the) (N cat))",
    "(X)",
    "(S (NP I) x)",
]
SETS = [{"a", "b"}, frozenset({"b"}), ["c", "a", "a"], (), {3}]
INDICATORS = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]])
RANKINGS = np.array([[1, 2, 3, 4], [4, 1, 3, 2], [2, 1, 3, 4], [1, 2, 3, 4]])
FACTOR = np.random.default_rng(1).standard_normal((6, 4))
GRAM = FACTOR @ FACTOR.T
DISTANCES = np.sqrt(((FACTOR[:, None] - FACTOR[None]) ** 2).sum(-1))
DISTANCES = (DISTANCES + DISTANCES.T) / 2

VECTOR_KERNELS = [
    Linear(),
    Polynomial(),
    Polynomial(degree=1, coef0=0.0, gamma=0.5),
    Gaussian(),
    Gaussian(scale="median"),
    Matern(0.7),
    Matern("median"),
    Matern(2.0, nu=2.5),
    Encoded(ZScores(), Gaussian("median")),
    Encoded(NormalScores(), Laplacian()) + 0.5 * Encoded(ZScores(), Linear()),
    Encoded(WordRows(), Gaussian(1.0)),
    Laplacian(scale=np.float64(2.5)),
    Laplacian(scale="median"),
    Gaussian(scale=2) * Linear() + Polynomial(degree=2),
    (Linear() + Laplacian()) * Gaussian(scale="median"),
    0.5 * (Linear() + Gaussian()),
    Linear().normalized(),
    (Linear() + Gaussian()).normalized(),
    Linear().centered(),
    (Gaussian(scale="median") * Linear()).centered().normalized(),
    GaussianOf(Linear(), scale="median"),
    GaussianOf(Polynomial().centered(), scale=3.0),
    OverlapOf(Linear()),
    OverlapOf(Gaussian(scale="median"), 0.5) + Linear(),
]

OBJECT_KERNELS = [
    (Classes(), ["cat", "dog", "cat", ("a", 1)]),
    (Classes(), np.array([3, 1, 3, 2])),
    (2 * Classes() + Classes().normalized(), [0.5, 1.0, 0.5]),
    (LabelSets(), SETS),
    (LabelSets(), INDICATORS),
    (LabelSets().normalized(), SETS),
    (LabelSets(labels=3), INDICATORS),
    (LabelSets(labels=("a", "b", "c", 3)), SETS),
    (Overlap(), SETS),
    (Overlap(), INDICATORS),
    (Overlap(penalty=1.0), SETS),
    (Overlap(penalty=0.7).centered(), INDICATORS),
    (OverlapOf(Spectrum(length=2)), STRINGS),
    (GaussianOf(LabelSets(), scale=1.5), SETS),
    (LabelsBySize(), SETS),
    (LabelsBySize(), INDICATORS),
    (Kemeny(), RANKINGS),
    (RankHamming(), RANKINGS),
    (Borda(), RANKINGS),
    (Lehmer(), RANKINGS),
    (Kemeny(partial=True).normalized(), [[0, 0, 1], [2, 1, 1], [0, 1, 2]]),
    (Subsequence(), STRINGS),
    (Subsequence(length=1, decay=1.0), STRINGS),
    (Subsequence(length=2), TOKENS),
    (Subsequence().normalized() + 0.1 * Positions(), STRINGS),
    (GaussianOf(Subsequence(length=2).normalized(), scale="median"), STRINGS),
    (Spectrum(), STRINGS),
    (Spectrum(length=(1, 2)), TOKENS),
    (0.5 * Spectrum(length=2).normalized() + Spectrum(length=(1, 3)), STRINGS),
    (Mismatch(), STRINGS),
    (Mismatch(length=2, mismatches=1, alphabet="abx"), STRINGS),
    (Mismatch(length=2, mismatches=1), TOKENS),
    (WeightedDegree(), STRINGS),
    (WeightedDegree(degree=2, shift=2), TOKENS),
    (WeightedDegree(degree=4, shift=1).normalized() + Spectrum(length=2), STRINGS),
    (Subtree(), TREES),
    (SubsetTree(), TREES),
    (Subtree(decay=1.0).normalized() + 0.5 * SubsetTree(decay=0.2), TREES),
    (Positions(), STRINGS),
    (Positions(), TOKENS),
    (Positions().centered(), STRINGS),
    (Precomputed(), GRAM),
    (0.5 * Precomputed() + Precomputed(), GRAM),
    (Precomputed().normalized(), GRAM),
    (Precomputed().centered(), GRAM),
    (GaussianOf(Precomputed(), scale="median"), GRAM),
    (Precomputed(GRAM), [4, 0, 0, 2]),
    (Precomputed(GRAM).centered().normalized(), np.array([4, 0, 1, 2])),
    (FromDistances(DISTANCES), np.arange(6)),
    (FromDistances(lambda x, z: abs(len(x) - len(z))), STRINGS),
    (FromDistances(DISTANCES, weights=np.array([0.5, 0.5, 0, 0, 0, 0])), np.arange(6)),
    (FromFunction(lambda x, z: min(len(x), len(z))), STRINGS),
    (FromFunction(lambda x, z: float(x @ z)) * Gaussian(), VECTORS),
]


@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=repr)
@pytest.mark.parametrize("library", [np, torch, array_api_strict], ids=lambda xp: xp.__name__)
def test_vector_kernels(kernel, library):
    X = library.asarray(VECTORS)
    skipped = check_kernel(kernel, X)
    if "Encoded" in repr(kernel):  # resolved encodings hold arrays
        skipped = [reason for reason in skipped if "cannot be written down" not in reason]
    assert skipped == [] or (len(skipped) == 1 and "pointwise" in skipped[0] and "centered" in repr(kernel))
    gram = kernel.resolve(X)(X)
    assert type(gram) is type(X)
    assert gram.dtype == library.float64
    assert type(kernel.resolve(X).diag(X)) is type(X)
    np.testing.assert_allclose(to_numpy(gram), kernel.resolve(VECTORS)(VECTORS), atol=1e-12)


@pytest.mark.parametrize(("kernel", "X"), OBJECT_KERNELS)
def test_object_kernels(kernel, X):
    allowed = set()
    if kernel.pairwise:
        allowed |= {"pointwise", "k(Z, X)", "another order"}
    if "centered" in repr(kernel) or "Precomputed" in repr(kernel) or "FromDistances" in repr(kernel):
        allowed.add("pointwise")
    if "<" in repr(kernel):
        allowed.add("repr")
    assert {reason.split(":")[0] for reason in check_kernel(kernel, X)} <= allowed


@pytest.mark.parametrize(("kernel", "X"), OBJECT_KERNELS)
def test_the_gram_matrix_is_exactly_symmetric(kernel, X):
    gram = kernel.resolve(X)(X)
    np.testing.assert_array_equal(gram, gram.T)


@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=repr)
@pytest.mark.parametrize("library", [np, torch], ids=lambda xp: xp.__name__)
def test_the_gram_matrix_of_many_vectors_is_exactly_symmetric(kernel, library):
    X = library.asarray(np.random.default_rng(3).standard_normal((311, 17)))
    gram = to_numpy(kernel.resolve(X)(X))
    np.testing.assert_array_equal(gram, gram.T)


def test_torch_classes_and_indicators_give_torch_back():
    for kernel, X in ((Classes(), torch.tensor([0, 1, 0])), (LabelSets(), torch.tensor([[1, 0], [1, 1], [0, 0]]))):
        assert check_kernel(kernel, X) == []
        assert isinstance(kernel(X), torch.Tensor)
        assert isinstance(kernel.feature_map(X)(X), torch.Tensor)


# -- kernels that break the contract, one clause each -----------------------------------------------


@dataclass(eq=False, repr=False)
class Broken(Kernel):
    """x·z in one dimension, unless told otherwise."""

    def pointwise(self, x, z):
        return float(x * z)


class Asymmetric(Broken):
    def _matrix(self, X, Z):
        Z = X if Z is None else Z
        return np.asarray([[x * z + 0.1 * x for z in Z] for x in X], dtype=float)


class Indefinite(Broken):
    def pointwise(self, x, z):
        return -float(abs(x - z))


class WrongDiagonal(Broken):
    def _diag(self, X):
        return np.ones(len(X))


class Remembers(Broken):
    """Hands out the same array whenever it is asked for the same Gram matrix."""

    def _matrix(self, X, Z):
        if Z is not None:
            return super()._matrix(X, Z)
        kept = vars(type(self)).get("kept")
        if kept is None or not np.array_equal(kept[0], X):
            type(self).kept = kept = (X, super()._matrix(X, None))
        return kept[1]


class OtherTwoArguments(Broken):
    def _matrix(self, X, Z):
        return super()._matrix(X, Z) + (0.0 if Z is None else 1.0)


class OtherPointwise(Broken):
    def _matrix(self, X, Z):
        return 2.0 * super()._matrix(X, Z)

    def _diag(self, X):
        return 2.0 * super()._diag(X)


class PreparedDiffers(Broken):
    def __call__(self, X, Z=None):
        values = super().__call__(X, Z)
        return values * 2.0 if any(isinstance(side, Prepared) for side in (X, Z)) else values


class KeepsCollections(Broken):
    def _encode(self, X, name):
        self.last = X
        return X


class OneIsNotMany(Broken):
    def _matrix(self, X, Z):
        values = super()._matrix(X, Z)
        return values + 1.0 if len(X) == 1 and Z is not None else values


class OrderMatters(Kernel):
    def _matrix(self, X, Z):
        return np.outer(X, X if Z is None else Z).astype(float) * float(X[0])

    def _diag(self, X):
        return X.astype(float) ** 2 * float(X[0])


class NotFinite(Broken):
    def pointwise(self, x, z):
        return float("nan")


class ChangesObjects(Broken):
    def _check(self, X, name):
        return np.asarray(X)

    def _diag(self, X):
        result = super()._diag(X)
        X[0] = 7.0
        return result


class WrongFeatures(Broken):
    def feature_map(self, X):
        class Map:
            dimension = 1

            def __call__(self, X):
                return np.asarray(X, dtype=float)[:, None] + 1.0

        return Map()


@dataclass(eq=False)
class WrongRepr(Broken):
    offset: float = 0.0

    def __repr__(self):
        return "WrongRepr(offset=5)"


@dataclass(eq=False, repr=False)
class ResolvesItself(Broken):
    offset: float = 0.0

    def resolve(self, X):
        self.offset += 1.0
        return self


@dataclass(eq=False, repr=False)
class ResolvesAgain(Broken):
    offset: float = 0.0

    def _resolved(self, X):
        return ResolvesAgain(self.offset + 1.0)


@dataclass(repr=False)
class AlwaysEqual(Broken):
    offset: float = field(default=0.0, compare=False)


class BlindToShape(Broken):
    def sees(self, X):
        return [True for _ in X]


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Asymmetric(), "is not symmetric"),
        (Indefinite(), "not positive semi-definite: its smallest eigenvalue is -"),
        (WrongDiagonal(), "diag\\(X\\) is not the diagonal"),
        (OtherTwoArguments(), "k\\(X, X\\) is not k\\(X\\)"),
        (OtherPointwise(), "not what pointwise gives"),
        (Remembers(), "returns the same Gram matrix twice"),
        (PreparedDiffers(), "k\\(prepared\\) is not k\\(X\\)"),
        (KeepsCollections(), "keeps something of a collection"),
        (OneIsNotMany(), "of one object is not its row"),
        (OrderMatters(), "in another order"),
        (NotFinite(), "returned nan for object 0 = 1.0"),
        (WrongFeatures(), "feature map whose inner products are not"),
        (WrongRepr(), "reads back from its repr"),
        (ResolvesItself(), "was changed by resolve"),
        (ResolvesAgain(), "resolved a second time"),
        (AlwaysEqual(), "equal to itself with another offset"),
        (BlindToShape(), "sees\\(X\\)"),
        ("linear", "not a mercer.kernels.Kernel"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_broken_kernel_is_caught(kernel, message):
    with pytest.raises(AssertionError, match=message):
        check_kernel(kernel, [1.0, 2.0, 3.0, -1.0])


def test_a_kernel_that_changes_its_objects_is_caught():
    with pytest.raises(AssertionError, match="changed the objects"):
        check_kernel(ChangesObjects(), np.array([7.0, 2.0, 3.0, -1.0]) - np.array([1e-9, 0, 0, 0]))


def test_the_sound_twin_of_the_broken_kernels_passes():
    assert check_kernel(Broken(), [1.0, 2.0, 3.0, -1.0]) == []


def test_distances_that_are_not_euclidean_are_caught_and_repaired():
    def cube(x, z):
        return abs(x - z) ** 3

    with (
        pytest.warns(NumericalWarning, match="not Euclidean"),
        pytest.raises(AssertionError, match="not positive semi-definite"),
    ):
        check_kernel(FromDistances(cube), [0.0, 1.0, 2.0, 5.0])
    with pytest.warns(NumericalWarning, match="was added to the squares"):
        check_kernel(FromDistances(cube, repair="shift"), [0.0, 1.0, 2.0, 5.0, 5.0])


def test_strict_arrays_stay_strict_in_the_algebra():
    X = array_api_strict.asarray(VECTORS)
    gram = (2 * Linear() + Gaussian())(X)
    assert namespace(gram) == namespace(X)


def test_a_matrix_of_the_wrong_shape_is_named():
    class Flat(Kernel):
        def _matrix(self, X, Z):
            return np.ones(len(X))

    with pytest.raises(
        ValueError, match=r"_matrix of Flat\(\) returned shape \(2,\); expected \(2, 3\), a row for each"
    ):
        Flat()(["a", "b"], ["a", "b", "c"])
