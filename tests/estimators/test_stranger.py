"""What a stranger tried: shared defaults, odd collections, losses on the user's own objects, indefinite kernels."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import DependencyEstimator, NeighborsEstimator, NumericalWarning
from mercer.decoders import Candidates
from mercer.kernels import Classes, FromFunction, Gaussian, Kernel, LabelSets, Linear, Precomputed, Subsequence
from mercer.solvers import Cholesky, LowRank

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((12, 3)), rng.standard_normal((12, 2))
WORDS = ["aab", "abb", "bab", "bba", "aba", "baa"] * 2


@pytest.mark.parametrize("estimator", [DependencyEstimator, NeighborsEstimator])
def test_nested_parameters_never_reach_the_defaults_or_the_users_kernel(estimator):
    estimator().set_params(input_kernel__scale=2.0)
    assert estimator().input_kernel.scale == "median"
    mine = Gaussian(1.0)
    model = estimator(mine).set_params(input_kernel__scale=3.0)
    assert (mine.scale, model.input_kernel.scale) == (1.0, 3.0)


def test_losses_see_outputs_as_the_user_writes_them():
    seen = []

    def gap(y, z):
        seen.append((type(y), np.shape(y)))
        return float(np.abs(np.asarray(y) - np.asarray(z)).sum())

    DependencyEstimator(alpha=0.1, loss=gap).fit(X, Y[:, 0]).score(X, Y[:, 0])
    assert set(seen) == {(float, ())}
    seen.clear()
    images = rng.standard_normal((12, 4, 3))
    DependencyEstimator(Gaussian(1.0), Gaussian(3.0), alpha=0.1, loss=gap).fit(X, images).score(X, images)
    assert set(seen) == {(np.ndarray, (4, 3))}


def test_tables_columns_of_vectors_and_iterators_go_in():
    expected = DependencyEstimator(alpha=0.1).fit(X, Y).predict(X)
    objects = np.empty(12, dtype=object)
    objects[:] = list(Y)
    for inputs, outputs in [
        (X, pd.DataFrame(Y, columns=["a", "b"])),
        (X, objects),
        (X, pd.Series(list(Y))),
        (pd.Series(list(X)), Y),
        (iter(X), iter(Y)),
    ]:
        model = DependencyEstimator(alpha=0.1).fit(inputs, outputs)
        assert np.allclose(model.predict(X), expected)


def test_a_gram_block_that_happens_to_be_square_has_no_diagonal():
    both = np.concatenate([X, X[::-1] + 1.0])
    gram = Linear()(both) ** 2 + 1.0
    model = DependencyEstimator(Precomputed().normalized(), Linear(), alpha=0.1).fit(gram[:12, :12], Y)
    with pytest.raises(ValueError, match=r"k\(x, x\) is not known"):
        model.predict(gram[12:, :12])


@dataclass(eq=False, repr=False)
class Minus(Kernel):
    def pointwise(self, x, z):
        return -float(abs(len(x) - len(z)))


@dataclass(eq=False, repr=False)
class Nothing(Kernel):
    def pointwise(self, x, z):
        return float("nan")


@dataclass(eq=False, repr=False)
class OneWay(Kernel):
    def pointwise(self, x, z):
        return 5.0 * (x == z) + len(x)


LENGTHS = ["a", "bb", "ccc", "dddd"]


@pytest.mark.parametrize(
    ("kernel", "message"),
    [(Minus(), "not positive semi-definite"), (Nothing(), "returned nan"), (OneWay(), "is not symmetric")],
)
@pytest.mark.parametrize("alpha", [0.1, "loo"])
def test_kernels_of_the_users_own_are_measured_on_both_sides(kernel, message, alpha):
    with pytest.raises(ValueError, match=message):
        DependencyEstimator(kernel, Linear(), alpha=alpha).fit(LENGTHS, Y[:4])
    with pytest.raises(ValueError, match=message):
        DependencyEstimator(Linear(), kernel, alpha=alpha).fit(X[:4], LENGTHS)
    with pytest.raises(ValueError, match=message):
        NeighborsEstimator(Linear(), kernel, k=1).fit(X[:4], LENGTHS)
    for k in (1, "loo"):
        with pytest.raises(ValueError, match=message):
            NeighborsEstimator(kernel, Linear(), k=k).fit(LENGTHS, Y[:4])


def test_the_low_rank_solver_measures_too():
    bad = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="not positive semi-definite: what is left"):
        DependencyEstimator(Precomputed(), Linear(), solver=LowRank(3), alpha=0.1).fit(bad, Y[:3])
    asymmetric = FromFunction(lambda a, b: 30.0 * (a == b) + 0.05 * len(a))
    with pytest.raises(ValueError, match="is not symmetric|is not positive semi-definite"):
        DependencyEstimator(asymmetric, Classes(), solver=LowRank(3), alpha=0.1).fit(LENGTHS, [0, 1, 2, 3])


def test_a_gram_matrix_for_outputs_is_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r"pass Precomputed\(gram\) as the kernel, and positions in it as y"):
        DependencyEstimator(Precomputed(), Precomputed()).fit(X @ X.T, Y @ Y.T)


def test_a_failed_refit_leaves_the_number_of_features():
    model = DependencyEstimator(alpha=0.1).fit(X, Y)
    with pytest.raises(ValueError, match="X has 12 objects and y has 5"):
        model.fit(X[:, :2], Y[:5])
    assert model.predict(X).shape == (12, 2)
    fresh = DependencyEstimator()
    with pytest.raises(ValueError, match="X has 12 objects and y has 5"):
        fresh.fit(X, Y[:5])
    assert not hasattr(fresh, "n_features_in_")


def test_an_alpha_lost_in_rounding_is_not_blamed_on_the_kernel():
    X, model = 1e4 * rng.standard_normal((60, 2)), DependencyEstimator(Linear(), Linear(), alpha=1e-10)
    with pytest.warns(NumericalWarning, match=r"alpha=1e-10 is lost in the rounding of .* was used"):
        model.set_params(solver=Cholesky()).fit(X, X @ [1.0, 2.0])
    assert np.allclose(model.predict(X), X @ [1.0, 2.0])


def test_candidates_for_each_in_every_form():
    indicators = rng.integers(0, 2, (12, 3))
    model = DependencyEstimator(Gaussian(1.0), LabelSets(), alpha=0.1).fit(X, indicators)
    assert model.predict(X[:2], candidates=[indicators[:3], indicators[3:6]]).shape == (2, 3)
    assert model.predict(X[:2], candidates=indicators).shape == (2, 3)
    words = DependencyEstimator(Subsequence(2), LabelSets(), alpha=0.1)
    words.fit(WORDS, [[], ["a"], ["b"], ["a", "b"], ["c"], ["a", "c"]] * 2)
    assert words.predict(WORDS[:2], candidates=[[["a"], ["b"]], [["c"], []]])[0] in (["a"], ["b"])
    truths = DependencyEstimator(Subsequence(2), Classes(), alpha=0.1).fit(WORDS, np.array([True, False] * 6))
    assert truths.predict(WORDS[:2], candidates=[[True], [False]]).tolist() == [True, False]
    mixed = DependencyEstimator(Subsequence(2), Classes(), alpha=0.1).fit(WORDS, ["a", 1] * 6)
    assert list(mixed.predict(WORDS[:2], candidates=[["a"], [1]])) == ["a", 1]
    assert set(mixed.predict(WORDS[:2], candidates=iter(["a", 1]))) <= {"a", 1}


def test_equal_label_sets_are_one_candidate():
    model = DependencyEstimator(Linear(), LabelSets(), alpha=0.1, decoder=Candidates())
    model.fit(X[:4], [["a", "b"], ["b", "a"], {"a", "b"}, ["c"]])
    assert len(model.rank(X[:1], k=10)[0].objects) == 2


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (np.ones((2, 3)), "extra_outputs has 3 features; expected 2"),
        ([], "extra_outputs is empty"),
    ],
)
def test_extra_outputs_are_checked_against_y(extra, message):
    with pytest.raises(ValueError, match=message):
        DependencyEstimator().fit(X, Y, extra_outputs=extra)


@pytest.mark.parametrize("value", [0.1, 0.3, 1e5])
def test_constant_outputs_have_no_components_whatever_their_value(value):
    from mercer.embeddings import PrincipalComponents

    with pytest.raises(ValueError, match="all outputs are the same point"):
        DependencyEstimator(Gaussian(1.0), Linear(), embedding=PrincipalComponents()).fit(X, np.full((12, 2), value))


@pytest.mark.parametrize("missing", [pd.NA, pd.NaT, np.float32("nan"), None, float("nan")])
def test_missing_values_are_named(missing):
    with pytest.raises(ValueError, match=r"y\[1\] is"):
        DependencyEstimator(Linear(), Classes()).fit(X[:3], ["a", missing, "b"])


def test_tables_and_masks_where_objects_are_expected():
    table = pd.DataFrame({"abc": ["aab", "bba"], "bcd": ["abb", "bab"]})
    with pytest.raises(TypeError, match=r"table of 2 columns.*X\['abc'\]"):
        DependencyEstimator(Subsequence(2), Classes(), alpha=0.1).fit(table, [0, 1])
    with pytest.raises(ValueError, match="masked"):
        DependencyEstimator().fit(np.ma.masked_less(X, 0.0), Y)


def test_functions_without_a_name_are_not_saved(tmp_path):
    nameless = DependencyEstimator(Linear(), Linear(), alpha=0.1, loss=lambda y, z: 0.0).fit(X, Y)
    with pytest.raises(TypeError, match="which cannot be imported; define it with a name"):
        mercer.save(nameless, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_reprs_read_as_maths():
    model = DependencyEstimator(Subsequence(2).normalized(), 0.5 * Classes(), alpha=0.1)
    assert repr(model) == (
        "DependencyEstimator(input_kernel=Subsequence(length=2, decay=0.5).normalized(), "
        "output_kernel=0.5 * Classes(), alpha=0.1)"
    )
