"""Kernels given as a matrix, as distances or as a function."""

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.core import memory
from mercer.core.arrays import NumericalWarning, namespace
from mercer.kernels import FromDistances, FromFunction, Gaussian, GaussianOf, Linear, Precomputed

X = np.random.default_rng(0).standard_normal((7, 3))
Z = np.random.default_rng(1).standard_normal((4, 3))
GRAM = X @ X.T


def euclidean(x, z):
    return float(np.linalg.norm(x - z))


# -- precomputed --------------------------------------------------------------------------------------


def test_a_gram_matrix_is_its_own_kernel():
    kernel = Precomputed()
    assert kernel(GRAM) is GRAM
    rows = Z @ X.T
    assert kernel(rows, GRAM) is rows
    np.testing.assert_array_equal(kernel.diag(GRAM), np.diag(GRAM))
    assert not kernel.is_psd
    assert isinstance(kernel(torch.asarray(GRAM)), torch.Tensor)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda k: k(X), r"shape \(7, 3\); expected a square Gram matrix"),
        (lambda k: k(Z @ X.T[:, :6], GRAM), r"X has shape \(4, 6\) and the training Gram matrix has shape \(7, 7\)"),
        (lambda k: k(GRAM + np.triu(np.ones((7, 7)))), "not symmetric: entries .* differ by 1 "),
        (lambda k: k(np.full((2, 2), np.nan)), "NaN or infinity, first in row 0"),
        (lambda k: k.diag(Z @ X.T), r"k\(x, x\) is not known: X has shape \(4, 7\)"),
        (lambda k: k.normalized()(Z @ X.T, GRAM), r"k\(x, x\) is not known"),
        (lambda k: k(np.ones(3)), "expected a 2D array"),
    ],
)
def test_what_is_no_gram_matrix(call, message):
    with pytest.raises(ValueError, match=message):
        call(Precomputed())


def test_rounding_is_not_asymmetry():
    noise = 1e-10 * np.abs(GRAM).max() * np.triu(np.ones((7, 7)), 1)
    Precomputed()(GRAM + noise)
    with pytest.raises(ValueError, match="not symmetric"):
        Precomputed()(GRAM + 1000 * noise)


def test_asymmetry_is_found_in_any_block_of_rows():
    gram = np.eye(600)
    gram[599, 3] = 0.5
    with pytest.raises(ValueError, match=r"entries \((599, 3|3, 599)\) .* differ by 0.5 "):
        Precomputed()(gram)


@pytest.mark.parametrize("matrix", [GRAM, GRAM.tolist(), torch.asarray(GRAM)], ids=lambda m: type(m).__name__)
def test_positions_in_a_given_matrix(matrix):
    kernel = Precomputed(matrix)
    np.testing.assert_array_equal(kernel([3, 0, 3]), GRAM[np.ix_([3, 0, 3], [3, 0, 3])])
    np.testing.assert_array_equal(kernel([3, 0], np.array([[6]])), GRAM[[3, 0]][:, [6]])
    np.testing.assert_array_equal(kernel.diag(np.array([5, 1])), np.diag(GRAM)[[5, 1]])
    assert not kernel.pairwise


@pytest.mark.parametrize(
    ("positions", "error", "message"),
    [
        ([0, 7], ValueError, r"X\[1\] is 7; expected a position in gram, from 0 to 6"),
        ([-1], ValueError, r"X\[0\] is -1"),
        ([0.0], TypeError, "dtype float64; expected integers"),
        (["a"], TypeError, "expected integers"),
        (X, TypeError, r"shape \(7, 3\)"),
        ([], ValueError, "empty"),
    ],
    ids=repr,
)
def test_what_is_no_position(positions, error, message):
    with pytest.raises(error, match=message):
        Precomputed(GRAM)(positions)


def test_a_given_matrix_is_checked_where_it_is_used():
    with pytest.raises(ValueError, match=r"gram has shape \(7, 3\) in Precomputed; expected a square"):
        Precomputed(X)([0])
    broken = GRAM.copy()
    broken[0, 1] += 1.0
    Precomputed(broken)([2, 3])
    with pytest.raises(ValueError, match="gram is not symmetric"):
        Precomputed(broken)([0, 1])
    broken[0, 1] = np.nan
    with pytest.raises(ValueError, match="gram contains NaN"):
        Precomputed(broken)([0], [1])


# -- distances ----------------------------------------------------------------------------------------


def test_euclidean_distances_give_inner_products_not_minus_them():
    kernel = FromDistances(euclidean).resolve(X)
    wanted = Linear().centered().resolve(X)
    np.testing.assert_allclose(kernel(X), wanted(X), atol=1e-12)
    np.testing.assert_allclose(kernel(Z, X), wanted(Z, X), atol=1e-12)
    np.testing.assert_allclose(kernel(Z), wanted(Z), atol=1e-12)
    np.testing.assert_allclose(kernel.diag(Z), wanted.diag(Z), atol=1e-12)
    assert kernel.negative_mass < 1e-12
    assert abs(kernel.smallest_eigenvalue) < 1e-12


@given(st.integers(0, 1000), st.lists(st.floats(-2, 3), min_size=7, max_size=7))
@settings(max_examples=25, deadline=None)
def test_equation_five_for_any_weights(seed, weights):
    weights = np.array(weights)
    weights[0] += 1.0 - weights.sum()
    objects = np.random.default_rng(seed).standard_normal((7, 2))
    squared = ((objects[:, None] - objects) ** 2).sum(-1)
    literal = np.empty((7, 7))
    for i in range(7):
        for j in range(7):
            mean_i = sum(weights[p] * squared[i, p] for p in range(7))
            mean_j = sum(weights[q] * squared[j, q] for q in range(7))
            grand = sum(weights[p] * weights[q] * squared[p, q] for p in range(7) for q in range(7))
            literal[i, j] = -0.5 * (squared[i, j] - mean_i - mean_j + grand)
    kernel = FromDistances(np.sqrt(squared), weights=weights).resolve(np.arange(7))
    np.testing.assert_allclose(kernel(np.arange(7)), literal, atol=1e-9)
    origin = weights @ objects
    np.testing.assert_allclose(literal, (objects - origin) @ (objects - origin).T, atol=1e-9)


def test_a_matrix_and_a_function_agree():
    both = np.vstack([X, Z])
    matrix = np.array([[euclidean(x, z) for z in both] for x in both])
    by_position = FromDistances(matrix).resolve(np.arange(7))
    np.testing.assert_allclose(by_position([8, 9], [0, 8]), FromDistances(euclidean).resolve(X)(Z[1:3], both[[0, 8]]))


def cubed(x, z):
    return abs(x - z) ** 3


POINTS = [0.0, 1.0, 2.0, 5.0, 5.0]


def test_distances_that_are_not_euclidean_say_how_far():
    with pytest.warns(NumericalWarning, match=r"smallest eigenvalue is -\d.*negative ones make up \d+\.\d+%") as caught:
        kernel = FromDistances(cubed).resolve(POINTS)
    assert len(caught) == 1
    squared = np.array([[cubed(x, z) ** 2 for z in POINTS] for x in POINTS])
    centre = np.eye(5) - 1 / 5
    values = np.linalg.eigvalsh(-0.5 * centre @ squared @ centre)
    assert kernel.smallest_eigenvalue == pytest.approx(values[0], rel=1e-9)
    assert kernel.negative_mass == pytest.approx(-values[values < 0].sum() / np.abs(values).sum(), rel=1e-6)
    assert not kernel.is_psd


def test_a_shift_repairs_training_and_prediction_alike():
    with pytest.warns(NumericalWarning, match="was added to the squares"):
        kernel = FromDistances(cubed, repair="shift").resolve(POINTS)
    assert kernel.is_psd
    gram = kernel(POINTS)
    values = np.linalg.eigvalsh(gram)
    assert -1e-9 * values[-1] <= values[0] <= 1e-9 * values[-1]  # no more than needed
    new = [0.5, 1.0, 9.0]
    norms, others = kernel.diag(new), np.diag(gram)
    squared = norms[:, None] + others - 2 * kernel(new, POINTS)
    plain = np.array([[cubed(x, z) ** 2 for z in POINTS] for x in new])
    added = squared - plain
    # one constant between any two that differ, nothing between equals
    np.testing.assert_allclose(added[plain == 0], 0.0, atol=1e-6)
    np.testing.assert_allclose(added[plain > 0], 2 * kernel.kernel.shift, rtol=1e-6)


def test_a_repair_of_euclidean_distances_changes_nothing():
    plain, repaired = (FromDistances(euclidean, repair=repair).resolve(X) for repair in (None, "shift"))
    np.testing.assert_array_equal(plain(X), repaired(X))


@pytest.mark.parametrize(
    ("kernel", "objects", "error", "message"),
    [
        (FromDistances(lambda x, z: x - z), POINTS, ValueError, r"^FromDistances\(.*not symmetric.*\(d\(x, z\)"),
        (FromDistances(lambda x, z: -abs(x - z)), POINTS, ValueError, "is -.*; expected a finite number, zero or more"),
        (FromDistances(lambda x, z: 1.0 + abs(x - z)), POINTS, ValueError, "distance of object 0 to itself is 1"),
        (FromDistances(lambda x, z: np.nan), POINTS, ValueError, r"^FromDistances\(.* returned nan for object 0"),
        (FromDistances(X), [0], ValueError, r"distance has shape \(7, 3\) in FromDistances"),
        (FromDistances(np.array([[0.0, 1.0], [2.0, 0.0]])), [0, 1], ValueError, "distance is not symmetric"),
        (FromDistances(np.eye(3) - 1), [0, 1], ValueError, "is -1; expected a finite number"),
        (FromDistances(np.zeros((3, 3))), [0, 3], ValueError, "expected a position in distance, from 0 to 2"),
        (FromDistances(euclidean, weights=[1.0]), X, ValueError, "one finite number for each of 7 objects"),
        (FromDistances(euclidean, weights=np.ones(7)), X, ValueError, "sum to 7; expected 1"),
        (FromDistances(euclidean, repair="clip"), X, ValueError, "repair='clip' in FromDistances; expected None"),
    ],
)
def test_what_is_no_distance(kernel, objects, error, message):
    with pytest.raises(error, match=message):
        kernel.resolve(objects)


def test_distances_need_training_objects_first():
    with pytest.raises(ValueError, match="learned from data"):
        FromDistances(euclidean)(X)


def test_a_gaussian_of_distances_is_the_gaussian_of_those_distances():
    kernel = GaussianOf(FromDistances(euclidean), scale=2.0).resolve(X)
    wanted = np.exp(-np.array([[euclidean(z, x) ** 2 for x in X] for z in Z]) / 8)
    np.testing.assert_allclose(kernel(Z, X), wanted, rtol=1e-10)


# -- functions ----------------------------------------------------------------------------------------


def test_a_function_of_two_objects():
    kernel = FromFunction(lambda x, z: np.float32(min(len(x), len(z))))
    strings = ["a", "bcd", ""]
    wanted = [[min(len(x), len(z)) for z in strings] for x in strings]
    np.testing.assert_array_equal(kernel(strings), wanted)
    np.testing.assert_array_equal(kernel(strings, strings[:2]), np.array(wanted)[:, :2])
    np.testing.assert_array_equal(kernel.diag(strings), np.diag(wanted))
    assert FromFunction(lambda x, z: torch.tensor(2.0))(strings)[0, 0] == 2.0
    assert repr(FromFunction(min)) == "FromFunction(function=min)"


@pytest.mark.parametrize("value", [np.nan, np.inf, None, "1", 1j, np.ones(2)], ids=repr)
def test_a_function_that_gives_no_number(value):
    def odd(x, z):
        return value if {x, z} == {"b", "c"} else 1.0

    kernel = FromFunction(odd)
    with pytest.raises(
        ValueError, match=r"returned .* for object 2 = 'c' and object 1 = 'b'; expected a finite real number"
    ):
        kernel(["a", "b", "c"])
    with pytest.raises(ValueError, match="for object 0 = 'b' and object 1 = 'c'"):
        kernel(["b"], ["a", "c"])


def test_a_function_that_is_not_symmetric():
    with pytest.raises(ValueError, match="not symmetric: it gives .* expected the same value"):
        FromFunction(lambda x, z: x * z + 0.01 * x)([1.0, 2.0, 3.0, 4.0])


def test_a_function_that_is_none():
    with pytest.raises(TypeError, match="function='min' in FromFunction; expected a callable"):
        FromFunction("min")([1.0])


@pytest.mark.parametrize("library", [np, torch, array_api_strict], ids=lambda library: library.__name__)
def test_functions_see_the_rows_of_any_library(library):
    def product(x, z):
        assert x.shape == z.shape == (3,)
        return namespace(x, z).sum(x * z)  # a 0-dimensional array of that library

    def distance(x, z):
        return namespace(x, z).sum((x - z) ** 2) ** 0.5

    own, few = library.asarray(X), library.asarray(Z)
    np.testing.assert_allclose(FromFunction(product)(own), GRAM, rtol=1e-10)
    np.testing.assert_allclose(FromFunction(product)(few, own), Z @ X.T, rtol=1e-10)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(FromDistances(distance).resolve(own)(own), centred @ centred.T, atol=1e-10)
    for numbers in (own[:, 0], own[:, :1]):
        np.testing.assert_allclose(FromFunction(lambda x, z: x * z)(numbers), np.outer(X[:, 0], X[:, 0]), rtol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Gaussian(1.0).centered(), r"the mean of Gaussian.*without \.centered\(\), and solver=LowRank"),
        (
            Gaussian(1.0).clipped(),
            r"the eigenvectors of Gaussian.*without \.clipped\(\), if it is one, and solver=LowRank",
        ),
        (FromDistances(euclidean), "the distances of FromDistances.*fewer objects: .* whatever the solver"),
    ],
)
def test_what_is_learned_from_all_pairs_asks_for_memory_with_a_way_out(kernel, message, monkeypatch):
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_bytes", lambda *_: 7)
    with pytest.raises(MemoryError, match=message):
        kernel.resolve(X)
