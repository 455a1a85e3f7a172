"""OperatorValuedRidge against the dense np×np system, in every way it is solved."""

import numpy as np
import pytest
from expected_failures import expected_failures
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import NumericalWarning, OperatorValuedRidge
from mercer.core.arrays import to_numpy
from mercer.kernels import Gaussian, Laplacian, Linear, Precomputed, Subsequence
from mercer.operators import (
    CurlFree,
    DivergenceFree,
    Entangled,
    PartialTrace,
    Separable,
    SumOfSeparable,
    Transformable,
)
from mercer.selection import LeaveOneOut

N, P, D = 7, 3, 3


def psd(rng, p=P, rank=None):
    root = rng.standard_normal((p, rank or p))
    return root @ root.T


def many_features(X):
    return np.hstack([X, X**2, np.sin(X), np.cos(X)])


def family(seed=0):
    """Kernels by name, and how each is solved."""
    rng = np.random.default_rng(seed)
    T, S, one = psd(rng), psd(rng), np.ones((P, P)) / P
    k, l = Gaussian(1.5), Laplacian(2.0)
    return {
        "identity": (Separable(Gaussian("median")), "Cholesky"),
        "separable": (Separable(k, T), "tridiagonal"),
        "separable, rank one": (Separable(k, psd(rng, rank=1)), "tridiagonal"),
        "diagonal": (Separable(k, np.array([1.0, 0.0, 2.0])), "tridiagonal"),
        "sum, T₂ = I": (SumOfSeparable([(k, T), (l, None)]), "pencil"),
        "sum, T₂ = I − T₁": (SumOfSeparable([(k, one), (l, np.eye(P) - one)]), "pencil"),
        "sum, T₂ ∝ T₁": (SumOfSeparable([(k, T), (l, 3.0 * T)]), "pencil"),
        "sum, T₂ = T₁²": (SumOfSeparable([(k, T), (l, T @ T)]), "the output matrices commute"),
        "sum of three, commuting": (
            SumOfSeparable([(k, T), (l, T @ T), (Linear(), None)]),
            "the output matrices commute",
        ),
        "sum, same k": (SumOfSeparable([(k, T), (2.0 * k, S)]), "the input Gram matrices commute"),
        "sum, nothing commutes": (SumOfSeparable([(k, T), (l, S)]), "nearest separable"),
        "sum of three, nothing commutes": (SumOfSeparable([(k, T), (l, S), (Linear(), psd(rng))]), "nearest separable"),
        "transformable, linear": (
            Transformable(Linear(), [rng.standard_normal((2, D)) for _ in range(P)]),
            "finite features",
        ),
        "transformable, Gaussian": (Transformable(k, [np.sin, np.cos, lambda X: X]), "sketch"),
        "partial trace": (PartialTrace([(Linear(), T)], rng.standard_normal((P * D, P * D))), "finite features"),
        "entangled": (Entangled(Linear(), rng.standard_normal((P * D, 4))), "finite features"),
        "entangled, more columns than rows": (
            Entangled(many_features, rng.standard_normal((P * 4 * D, 30))),
            "finite features",
        ),
        "curl-free": (CurlFree(1.5), "sketch"),
        "divergence-free": (DivergenceFree("median"), "sketch"),
    }


def blocks(kernel, X, Z):
    return np.block([[to_numpy(kernel.block(x, z)) for z in Z] for x in X])


def dense(kernel, X, Y, alpha, new, intercept=True, weight=None):
    """The definition: one np×np system on the entries that are there, bordered where each output has a mean."""
    n, p = Y.shape
    seen = ~np.isnan(Y).ravel()
    weight = np.repeat(np.ones(n) if weight is None else weight, p)[seen]
    G = blocks(kernel, X, X)[np.ix_(seen, seen)] + alpha * np.diag(1.0 / weight)
    ones = np.kron(np.ones((n, 1)), np.eye(p))[seen]
    if not intercept:
        c, b = np.linalg.solve(G, Y.ravel()[seen]), np.zeros(p)
    else:
        system = np.block([[G, ones], [ones.T, np.zeros((p, p))]])
        found = np.linalg.solve(system, np.append(Y.ravel()[seen], np.zeros(p)))
        c, b = found[:-p], found[-p:]
    return (blocks(kernel, new, X)[:, seen] @ c).reshape(len(new), p) + b


def problem(seed=0, n=N):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, D)), rng.standard_normal((n, P)), rng.standard_normal((3, D))


def holes(Y, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    there = rng.random(Y.shape) > share
    there[0] = True
    return np.where(there, Y, np.nan)


@pytest.mark.parametrize("name", family())
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("alpha", [0.05, 3.0])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weight", [None, np.linspace(0.5, 2.0, N)], ids=["equal", "weighted"])
def test_predictions_are_those_of_the_dense_system(name, missing, alpha, intercept, weight):
    kernel, how = family()[name]
    X, Y, new = problem()
    Y = holes(Y) if missing else Y
    model = OperatorValuedRidge(kernel, alpha=alpha, tol=1e-13, fit_intercept=intercept).fit(X, Y, weight)
    expected = dense(model.kernel_, X, Y, alpha, new, intercept, weight)
    np.testing.assert_allclose(model.predict(new), expected, atol=1e-9)
    if not missing:
        assert how in model.reasons_["solver"]
    assert (model.n_iter_ > 1 and model.residual_ > 0.0) == ("conjugate gradients" in model.reasons_["solver"])
    assert model.residual_ < 1e-12


@given(seed=st.integers(0, 10**6), name=st.sampled_from(sorted(family())), share=st.sampled_from([0.0, 0.1, 0.6]))
@settings(max_examples=25, deadline=None)
def test_any_problem(seed, name, share):
    kernel, _ = family(seed)[name]
    X, Y, new = problem(seed)
    Y = holes(Y, seed, share)
    model = OperatorValuedRidge(kernel, alpha=0.5, tol=1e-13).fit(X, Y)
    np.testing.assert_allclose(model.predict(new), dense(model.kernel_, X, Y, 0.5, new), atol=1e-8)


EXACT = [name for name, (_, how) in family().items() if "nearest" not in how and "sketch" not in how]


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("alpha", [0.1, 2.0])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("groups", [None, [0, 0, 1, 2, 2, 2, 1]], ids=["one by one", "groups"])
@pytest.mark.parametrize("weight", [None, np.linspace(0.5, 2.0, N)], ids=["equal", "weighted"])
def test_leave_one_out_is_refitting_without_each_sample(name, alpha, intercept, groups, weight):
    X, Y, _ = problem()
    kernel = family()[name][0].resolve(X, P)  # what is learned from inputs stays fixed
    labels, total = np.arange(N) if groups is None else np.asarray(groups), 0.0
    share = np.ones(N) if weight is None else weight
    for i in range(N):
        rest = labels != labels[i]
        found = dense(kernel, X[rest], Y[rest], alpha, X[i : i + 1], intercept, share[rest])[0]
        total += share[i] * np.sum((Y[i] - found) ** 2)
    model = OperatorValuedRidge(kernel, alpha=LeaveOneOut([alpha]), fit_intercept=intercept).fit(X, Y, weight, groups)
    assert model.loo_path_ == pytest.approx([total / share.sum()], rel=1e-8)


@pytest.mark.parametrize("name", ["identity", "diagonal", "entangled", "transformable, linear"])
def test_leave_one_out_with_missing_outputs(name):
    X, Y, _ = problem()
    Y, alpha = holes(Y), 0.4
    kernel, expected = family()[name][0].resolve(X, P), 0.0
    for i in range(N):
        rest, there = np.arange(N) != i, ~np.isnan(Y[i])
        expected += np.sum((Y[i] - dense(kernel, X[rest], Y[rest], alpha, X[i : i + 1])[0])[there] ** 2) / N
    model = OperatorValuedRidge(kernel, alpha=LeaveOneOut([alpha])).fit(X, Y)
    assert model.loo_path_ == pytest.approx([expected], rel=1e-8)


def test_alpha_loo_takes_the_best_of_its_path():
    X, Y, new = problem(n=12)
    for name in EXACT:
        model = OperatorValuedRidge(family()[name][0], alpha="loo").fit(X, Y)
        assert len(model.alphas_) == len(model.loo_path_) >= 21
        assert model.alpha_ == model.alphas_[np.argmin(model.loo_path_)]
        again = OperatorValuedRidge(model.kernel_, alpha=model.alpha_).fit(X, Y)
        np.testing.assert_allclose(again.predict(new), model.predict(new), atol=1e-10)


def test_alpha_is_chosen_by_folds_where_the_system_is_iterated():
    X, Y, _ = problem(n=10)
    model = OperatorValuedRidge(CurlFree(1.0), alpha=LeaveOneOut([0.1, 1.0])).fit(X, Y)
    for alpha, score in zip(model.alphas_, model.loo_path_, strict=True):
        total = 0.0
        for fold in np.array_split(np.arange(10), 5):
            rest = np.setdiff1d(np.arange(10), fold)
            part = OperatorValuedRidge(CurlFree(1.0), alpha=alpha, tol=1e-12).fit(X[rest], Y[rest])
            total += np.sum((part.predict(X[fold]) - Y[fold]) ** 2) / 10
        assert score == pytest.approx(total, rel=1e-6)
    with pytest.raises(
        ValueError, match="choosing alpha with missing outputs needs exact leave-one-out, .*GridSearchCV"
    ):
        OperatorValuedRidge(Separable(Gaussian(1.0), psd(np.random.default_rng(0)))).fit(X, holes(Y))


@pytest.mark.parametrize("name", family())
def test_conjugate_gradients_agree_with_every_exact_way(name):
    X, Y, new = problem()
    kernel = family()[name][0]
    exact = OperatorValuedRidge(kernel, alpha=0.3, tol=1e-13).fit(X, Y).predict(new)
    iterated = OperatorValuedRidge(kernel, alpha=0.3, tol=1e-13, solver="cg").fit(X, Y)
    assert "conjugate gradients" in iterated.reasons_["solver"]
    np.testing.assert_allclose(iterated.predict(new), exact, atol=1e-9)


def test_permuting_the_samples_changes_nothing():
    X, Y, new = problem()
    order = np.random.default_rng(3).permutation(N)
    for name, (kernel, _) in family().items():
        for targets in (Y, holes(Y)):
            one = OperatorValuedRidge(kernel, alpha=0.5, tol=1e-13).fit(X, targets).predict(new)
            other = OperatorValuedRidge(kernel, alpha=0.5, tol=1e-13).fit(X[order], targets[order]).predict(new)
            np.testing.assert_allclose(one, other, atol=1e-9, err_msg=name)


def test_an_identity_operator_is_kernel_ridge_per_output():
    X, Y, new = problem()
    Y = holes(Y)
    model = OperatorValuedRidge(Separable(Gaussian(1.0)), alpha=0.1).fit(X, Y)
    for l in range(P):
        there = ~np.isnan(Y[:, l])
        alone = OperatorValuedRidge(Separable(Gaussian(1.0)), alpha=0.1).fit(X[there], Y[there, l])
        np.testing.assert_allclose(model.predict(new)[:, l], alone.predict(new), atol=1e-10)
        assert alone.predict(new).shape == (3,)


@pytest.mark.parametrize("name", ["identity", "separable", "entangled", "transformable, Gaussian"])
def test_a_row_without_outputs_is_as_if_it_were_not_there(name):
    X, Y, new = problem()
    Y[2] = np.nan
    rest = np.arange(N) != 2
    kernel = family()[name][0]
    one = OperatorValuedRidge(kernel, alpha=0.2).fit(X, Y)
    other = OperatorValuedRidge(kernel, alpha=0.2).fit(X[rest], Y[rest])
    np.testing.assert_array_equal(one.predict(new), other.predict(new))
    assert one.dual_coef_.shape == (N - 1, P)


def test_precomputed_grams_with_a_row_without_outputs():
    X, Y, new = problem()
    Y[2] = np.nan
    T = psd(np.random.default_rng(0))
    k = Gaussian(1.0)
    given_gram = OperatorValuedRidge(Separable(Precomputed(), T), alpha=0.2).fit(k(X), Y)
    made = OperatorValuedRidge(Separable(k, T), alpha=0.2).fit(X, Y)
    np.testing.assert_allclose(given_gram.predict(k(new, X)), made.predict(new), atol=1e-12)


def test_related_outputs_fill_in_what_is_missing():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (60, 1))
    Y = np.hstack([np.sin(2 * X), np.sin(2 * X)]) + 0.02 * rng.standard_normal((60, 2))
    truth = Y[:, 1].copy()
    Y[10:, 1] = np.nan
    k = Gaussian(0.5)
    alone = OperatorValuedRidge(Separable(k), alpha=0.1).fit(X, Y).predict(X)[:, 1]
    together = (
        OperatorValuedRidge(Separable(k, np.array([[1.0, 0.95], [0.95, 1.0]])), alpha=0.1).fit(X, Y).predict(X)[:, 1]
    )
    assert np.mean((together - truth) ** 2) < 0.2 * np.mean((alone - truth) ** 2)


# -- scikit-learn -------------------------------------------------------------------------------------


@parametrize_with_checks(
    [
        OperatorValuedRidge(),
        OperatorValuedRidge(alpha="loo"),
        OperatorValuedRidge(SumOfSeparable([(Gaussian("median"), None), (Linear(), None)])),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_grid_search_over_nested_parameters():
    X, Y, _ = problem(n=12)
    grid = {"alpha": [0.1, 1.0], "kernel__kernel__scale": [0.5, 2.0]}
    search = GridSearchCV(OperatorValuedRidge(Separable(Gaussian(1.0))), grid, cv=3, error_score="raise").fit(X, Y)
    assert set(search.best_params_) == set(grid)


def test_cross_validation_slices_precomputed_grams():
    X, Y, _ = problem(n=12)
    k, T = Gaussian(1.0), psd(np.random.default_rng(0))
    on_gram = cross_val_score(OperatorValuedRidge(Separable(Precomputed(), T)), k(X), Y, cv=3)
    np.testing.assert_allclose(on_gram, cross_val_score(OperatorValuedRidge(Separable(k, T)), X, Y, cv=3))


def test_inputs_may_be_objects():
    words = ["abab", "abba", "bbaa", "aabb", "baba", "bbab"]
    Y = np.array([[word.count("a"), len(word)] for word in words], dtype=float)
    model = OperatorValuedRidge(Separable(Subsequence(2), np.eye(2)), alpha=0.1).fit(words, Y)
    assert model.predict(["abab", "ba"]).shape == (2, 2)


@pytest.mark.parametrize(
    "name", ["separable", "sum, T₂ = I", "sum, same k", "sum, nothing commutes", "entangled", "curl-free"]
)
@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
def test_arrays_of_other_libraries(name, library):
    xp = pytest.importorskip(library)
    X, Y, new = problem()
    kernel = family()[name][0]
    expected = OperatorValuedRidge(kernel, alpha=0.3, tol=1e-13).fit(X, Y).predict(new)
    found = OperatorValuedRidge(kernel, alpha=0.3, tol=1e-13).fit(xp.asarray(X), xp.asarray(Y)).predict(xp.asarray(new))
    assert isinstance(found, type(xp.asarray(X)))
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-9)
    if name == "separable":
        holed = (
            OperatorValuedRidge(Separable(), alpha=0.3)
            .fit(xp.asarray(X), xp.asarray(holes(Y)))
            .predict(xp.asarray(new))
        )
        expected = OperatorValuedRidge(Separable(), alpha=0.3).fit(X, holes(Y)).predict(new)
        np.testing.assert_allclose(to_numpy(holed), expected, atol=1e-9)


@pytest.mark.parametrize("name", ["identity", "sum, nothing commutes", "entangled", "curl-free", "partial trace"])
def test_saving(tmp_path, name):
    pytest.importorskip("skops", reason="skops is not installed")
    X, Y, new = problem()
    model = OperatorValuedRidge(family()[name][0], alpha=0.3).fit(X, Y)
    loaded = mercer.load(mercer.save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    X, Y, new = problem()
    model = OperatorValuedRidge(Separable(Gaussian(1.0), np.eye(P))).fit(X, Y)
    before = model.predict(new)
    with pytest.raises(ValueError, match="is for 3 outputs"):
        model.fit(X[:, :1], Y[:, :2])
    np.testing.assert_array_equal(model.predict(new), before)


def test_fit_changes_no_parameter():
    X, Y, _ = problem()
    for kernel, _ in family().values():
        model = OperatorValuedRidge(kernel)
        before = repr(model)
        assert repr(clone(model.fit(X, Y))) == before


# -- what goes wrong ----------------------------------------------------------------------------------


def test_no_convergence_is_said_with_the_figure():
    X, Y, _ = problem(n=30)
    kernel = family()["sum, nothing commutes"][0]
    with pytest.warns(NumericalWarning, match=r"stopped after 1 iterations at a relative residual of .*tol=1e-10"):
        model = OperatorValuedRidge(kernel, alpha=1e-3, max_iter=1).fit(X, Y)
    assert model.n_iter_ == 1
    assert model.residual_ > 1e-10


def column_gone(Y):
    Y = Y.copy()
    Y[:, 1:] = np.nan
    return Y


@pytest.mark.parametrize(
    ("change", "parameters", "error", "message"),
    [
        (lambda Y: np.full_like(Y, np.nan), {}, ValueError, "y is missing .* everywhere"),
        (column_gone, {}, ValueError, r"column 1 of y is missing \(NaN\) in every row \(and 1 more\)"),
        (lambda Y: np.where(Y > 0, np.inf, Y), {}, ValueError, "y contains infinity"),
        (lambda Y: Y[:4], {}, ValueError, "X has 7 objects and y has 4"),
        (
            lambda Y: Y,
            {"kernel": Separable(Gaussian(1.0), np.eye(2))},
            ValueError,
            "is for 2 outputs, and .* gives outputs 3 coordinates",
        ),
        (lambda Y: Y, {"kernel": Gaussian(1.0)}, TypeError, "expected an operator-valued kernel such as"),
        (lambda Y: Y, {"alpha": 0.0}, ValueError, "alpha=0.0; expected a positive finite number"),
        (lambda Y: Y, {"alpha": "kfold"}, ValueError, "alpha='kfold'; .*GridSearchCV"),
        (lambda Y: Y, {"solver": "lu"}, ValueError, "solver='lu'; expected 'auto', 'exact' or 'cg'"),
        (lambda Y: Y, {"tol": 0.0}, ValueError, "tol=0.0"),
        (lambda Y: Y, {"max_iter": 0}, ValueError, "max_iter=0"),
        (lambda Y: Y, {"kernel": CurlFree(1.0), "solver": "exact"}, ValueError, "nothing takes this system apart"),
        (holes, {"kernel": family()["separable"][0], "solver": "exact"}, ValueError, "with missing outputs apart"),
    ],
)
def test_bad_input(change, parameters, error, message):
    X, Y, _ = problem()
    with pytest.raises(error, match=message):
        OperatorValuedRidge(**parameters).fit(X, change(Y))


def test_a_matrix_that_is_no_gram_matrix_is_refused():
    _, Y, _ = problem()
    with pytest.raises(ValueError, match="not positive semi-definite: its smallest eigenvalue is -1"):
        OperatorValuedRidge(Separable(Precomputed())).fit(-np.eye(N), Y)


def test_a_separable_kernel_with_few_features_costs_no_n_by_n_and_gives_the_same():
    rng = np.random.default_rng(5)
    X, Y = rng.standard_normal((30, 4)), rng.standard_normal((30, 3))
    T = psd(rng)
    few = OperatorValuedRidge(Separable(Linear(), T), alpha="loo").fit(X, Y)
    assert "few features" in few.reasons_["solver"]
    # the same kernel as a Gram matrix has no features
    gram = OperatorValuedRidge(Separable(Precomputed(), T), alpha="loo").fit(X @ X.T, Y)
    np.testing.assert_allclose(few.loo_path_, gram.loo_path_, rtol=1e-6)
    new = rng.standard_normal((5, 4))
    np.testing.assert_allclose(few.predict(new), gram.predict(new @ X.T), atol=1e-8)
    np.testing.assert_allclose(few.dual_coef_ * few.alpha_, gram.dual_coef_ * gram.alpha_, atol=1e-8)
