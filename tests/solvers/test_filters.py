"""Many filters through few products, against each product by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.core.arrays import to_numpy
from mercer.core.gram_eigh import GramEigh
from mercer.solvers import filters
from mercer.solvers.filters import Filters
from mercer.solvers.ridge_path import RidgePath


def orthonormal(n, m, random):
    return np.linalg.qr(random.standard_normal((n, m)))[0]


def one_by_one(vectors, inside, F, added=0.0):
    return np.stack([np.sum((vectors @ (f[:, None] * inside) + added) ** 2, axis=1) for f in F.T], axis=1)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 40),
    share=st.floats(0.1, 1.0),
    columns=st.integers(1, 30),
    alphas=st.lists(st.floats(1e-9, 1e6), min_size=1, max_size=30),
    decades=st.floats(0.0, 16.0),
    seed=st.integers(0, 99),
)
def test_products_are_those_of_each_filter(n, share, columns, alphas, decades, seed):
    random = np.random.default_rng(seed)
    m = max(1, int(share * n))
    vectors, inside, added = orthonormal(n, m, random), random.standard_normal((m, columns)), None
    s = 10 ** random.uniform(-decades, 1.0, m)
    F = np.asarray(alphas) / (s[:, None] + np.asarray(alphas))
    if m < n:
        F, added = F - 1.0, random.standard_normal((n, columns))
    else:
        F = F / np.max(F, axis=0)  # a small filter beside a large one is lost in rounding
    found = Filters(F).squared_norms(vectors, inside, added)
    expected = one_by_one(vectors, inside, F, 0.0 if added is None else added)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.max(expected, axis=0).min())


def test_a_long_path_takes_fewer_products_than_values_of_alpha():
    s, alphas = np.logspace(-3, 3, 400), np.logspace(-6, 2, 50)
    found = Filters(alphas / (s[:, None] + alphas))
    products = sum(few.size for _, few in found.groups) / len(s)
    assert products < 25


def test_rows_and_columns_may_be_more_than_are_worked_on_at_a_time(monkeypatch):
    monkeypatch.setattr(filters, "_ROWS", 7)
    random = np.random.default_rng(0)
    vectors, inside = orthonormal(31, 31, random), random.standard_normal((31, 90))
    F = np.logspace(-2, 1, 12) / (np.linspace(0.1, 2, 31)[:, None] + np.logspace(-2, 1, 12))
    found = Filters(F)
    assert 31 // max(few.shape[1] for _, few in found.groups) < 90  # several rounds of columns
    np.testing.assert_allclose(found.squared_norms(vectors, inside), one_by_one(vectors, inside, F), rtol=1e-11)


def test_filters_that_are_zero():
    vectors = np.eye(3)
    np.testing.assert_array_equal(Filters(np.zeros((3, 2))).squared_norms(vectors, np.ones((3, 4))), np.zeros((3, 2)))


@pytest.mark.parametrize("complete", [True, False], ids=["complete", "low rank"])
@pytest.mark.parametrize("penalty", ["function", "coefficients"])
def test_a_path_is_that_of_its_ridges(complete, penalty):
    random = np.random.default_rng(1)
    vectors = orthonormal(60, 60 if complete else 20, random)
    spectrum = GramEigh(vectors, np.sort(10 ** random.uniform(-8, 2, vectors.shape[1])), vectors, complete=complete)
    ridge = RidgePath(spectrum, random.standard_normal((60, 9)), None, penalty)
    alphas = np.logspace(-8, 3, 40).tolist()
    for alpha, risk in zip(alphas, ridge.risks(alphas), strict=True):
        points = to_numpy(ridge.left_out_points(alpha))
        np.testing.assert_allclose(risk, np.sum((points - ridge.targets) ** 2, axis=1), rtol=1e-9)


def test_pairs_of_very_different_sizes():
    """Eigenvectors that are single pairs: each filter has to be right at its smallest value, not only at its largest."""
    sizes = np.r_[np.ones(7), 1e12, 1e12, 1e12]
    ridge = RidgePath(GramEigh(np.eye(10), sizes, np.eye(10)), np.random.default_rng(0).standard_normal((10, 3)))
    alphas = np.logspace(-1, 5, 20)
    expected = np.sum(ridge.targets**2, axis=1)  # no pair says anything about another
    for risk in ridge.risks(alphas.tolist()):
        np.testing.assert_allclose(risk, expected, rtol=1e-12)


def test_ridges_whose_squares_underflow():
    ridge = RidgePath(GramEigh(np.eye(3), np.ones(3), np.eye(3)), np.eye(3))
    for risk in ridge.risks([1e-200, 1e-160, 1.0]):
        np.testing.assert_allclose(risk, 1.0)
