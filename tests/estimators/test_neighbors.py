"""Nearest neighbours refuse what is no kernel, at fit and at predict."""

from dataclasses import dataclass

import numpy as np
import pytest

from mercer import NeighborsEstimator
from mercer.kernels import Classes, FromFunction, Linear, Polynomial, Precomputed, Subsequence
from mercer.kernels.base import Kernel

X = np.random.default_rng(0).standard_normal((6, 2))
Y = np.random.default_rng(1).standard_normal((6, 2))
WORDS = ["aab", "abb", "bab", "bba", "aba", "baa"]
STRINGS = Subsequence(2)


@pytest.mark.parametrize("k", [1, "loo"])
def test_similarities_that_are_no_kernels_are_refused(k):
    with pytest.raises(ValueError, match=r"input kernel FromFunction.*not positive semi-definite.*eigenvalue is -1 "):
        NeighborsEstimator(FromFunction(lambda a, b: float(a != b)), STRINGS, k=k).fit(WORDS, WORDS)
    with pytest.raises(ValueError, match=r"input kernel Precomputed.*not positive semi-definite.*eigenvalue is -1 "):
        NeighborsEstimator(Precomputed(), STRINGS, k=k).fit(-np.eye(6), WORDS)
    with pytest.raises(ValueError, match=r"output kernel FromFunction.*not positive semi-definite"):
        NeighborsEstimator(STRINGS, FromFunction(lambda a, b: float(a != b)), k=k).fit(WORDS, WORDS)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_values_too_large_for_doubles_are_refused():
    cubes = Polynomial(degree=3)
    with pytest.raises(ValueError, match=r"input kernel Polynomial.* gave inf for X\[0\] with itself.*scale the data"):
        NeighborsEstimator(cubes, Linear(), k=1).fit(X * 1e90, Y)
    model = NeighborsEstimator(cubes, Linear(), k=1).fit(X * 1e50, Y)
    with pytest.raises(ValueError, match=r"input kernel Polynomial.* gave -?inf for the pair \(0, 0\)"):
        model.predict(np.array([[1e99, 0.0]]))


def test_values_that_fit_into_doubles_only_just_are_compared():
    # twice the kernel values of the query with both would be infinite
    large = [0.6 * 1.3e154, 1.3e154]
    model = NeighborsEstimator(FromFunction(lambda x, z: x * z), Classes(), k=1).fit(large, ["near", "here"])
    assert model.predict(large[1:]).tolist() == ["here"]


@dataclass(eq=False, repr=False)
class Holes(Kernel):
    """A Gaussian that knows nothing beyond 10, and says that it is a kernel."""

    @property
    def is_psd(self):
        return True

    def _matrix(self, X, Z):
        X, Z = (np.asarray(side, dtype=float) for side in (X, X if Z is None else Z))
        values = np.exp(-((X[:, None] - Z[None, :]) ** 2))
        values[X > 10.0] = np.nan
        return values

    def _diag(self, X):
        return np.ones(len(X))


def test_nan_for_a_query_is_named():
    model = NeighborsEstimator(Holes(), Classes(), k=1).fit([0.0, 1.0, 2.0], list("abc"))
    assert model.predict([1.1]).tolist() == ["b"]
    with pytest.raises(ValueError, match=r"gave nan for the pair \(1, 0\)"):
        model.predict([1.1, 11.0])


def test_clearly_negative_squared_distances_are_an_error():
    # a kernel on the training inputs, where it is the identity, and none with the query
    kernel = FromFunction(lambda a, b: 1.0 if a == b else 3.0 * ("z" in (a, b)))
    model = NeighborsEstimator(kernel, Classes(), k=1).fit(list("abc"), list("abc"))
    assert model.predict(["b"]).tolist() == ["b"]
    with pytest.raises(ValueError, match=r"X\[1\] and training input 0 have the squared distance -4"):
        model.predict(["b", "z"])


def test_a_fixed_k_measures_some_of_many_inputs():
    calls = []

    def counted(a, b):
        calls.append(1)
        return float(np.exp(-((a - b) ** 2)))

    inputs = np.linspace(0.0, 100.0, 1000).tolist()
    NeighborsEstimator(FromFunction(counted), Classes(), k=1).fit(inputs, [i % 3 for i in range(1000)])
    assert len(calls) < 1000**2 / 10
    with pytest.raises(ValueError, match="not positive semi-definite"):
        NeighborsEstimator(FromFunction(lambda a, b: -abs(a - b)), Classes(), k=1).fit(inputs, [0, 1] * 500)


def test_a_whole_gram_matrix_is_looked_at_whole():
    # one bad pair among 500, which a sample may miss
    gram = np.eye(500)
    gram[7, 8] = gram[8, 7] = 5.0
    with pytest.raises(ValueError, match="not positive semi-definite"):
        NeighborsEstimator(Precomputed(), Classes(), k=1).fit(gram, [0, 1] * 250)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        NeighborsEstimator(Precomputed(gram), Classes(), k="loo").fit(np.arange(500), [0, 1] * 250)


@pytest.mark.filterwarnings("ignore:.*was clipped")
def test_clipping_is_the_way_out():
    kernel = FromFunction(lambda a, b: 2.0 * (a == b) - float(a[0] != b[0])).clipped()
    assert NeighborsEstimator(kernel, Classes(), k=1).fit(WORDS, WORDS).predict(WORDS).tolist() == WORDS


@pytest.mark.parametrize("kernel", [Linear(), Linear().normalized()], ids=repr)
@pytest.mark.parametrize("pairwise", [False, True])
def test_empty_rows_are_nobodys_neighbours_by_accident(kernel, pairwise):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.2, (60, 40)).astype(float)
    counts[counts.sum(axis=1) == 0, 0] = 1.0
    counts[:6] = 0.0
    empty, labels = np.arange(6), ["empty"] * 6 + list("ab") * 27
    queries = np.vstack([rng.poisson(0.2, (30, 40)) + np.eye(30, 40), np.zeros(40)])
    given = Precomputed() if pairwise else kernel
    X = kernel(counts) if pairwise else counts
    model = NeighborsEstimator(given, Classes(), k=5).fit(X, labels)
    weights = model.decision_weights(kernel(queries, counts) if pairwise else queries)
    assert not weights[:30, empty].any()
    assert np.flatnonzero(weights[30]).tolist() == [0, 1, 2, 3, 4]
    left_out = model.map_.left_out_points()
    assert not left_out[6:, empty].any()
    np.testing.assert_array_equal((left_out[:6] > 0).sum(axis=1), 5)
    assert left_out[0, 1:6].all()


def test_k_is_chosen_by_default():
    model = NeighborsEstimator(Linear(), Linear()).fit(X, Y)
    assert model.k == "loo"
    assert model.k_ == model.ks_[np.argmin(model.loo_path_)]
