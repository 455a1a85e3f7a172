"""Bad input gets a clear error and leaves no half-fitted model."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mercer import CurveRidge, DependencyEstimator, NeighborsEstimator
from mercer.core import memory
from mercer.decoders import Candidates
from mercer.embeddings import Features, Implicit, PrincipalComponents
from mercer.kernels import Classes, FromFunction, Gaussian, GaussianOf, Linear, Precomputed, Subsequence
from mercer.operators import Covariance
from mercer.solvers import Cholesky, Exact, LowRank, Tridiagonal

X = np.random.default_rng(0).standard_normal((6, 2))
Y = np.random.default_rng(1).standard_normal((6, 2))
WORDS = ["aab", "abb", "bab", "bba", "aba", "baa"]
STRINGS = Subsequence(2)
COSINE = STRINGS.normalized()


def nan_at(i):
    bad = X.copy()
    bad[i, 0] = np.nan
    return bad


@pytest.mark.parametrize(
    ("model", "data", "message"),
    [
        (DependencyEstimator(), (None, Y), "X is None"),
        (DependencyEstimator(), (X, None), "requires y to be passed, but the target y is None"),
        (DependencyEstimator(), (X[:0], Y[:0]), "0 sample|empty|at least one"),
        (DependencyEstimator(STRINGS, Linear()), ([], Y[:0]), "X is empty"),
        (DependencyEstimator(STRINGS, STRINGS), (WORDS, []), "y is empty"),
        (DependencyEstimator(), ([], []), "X is empty; expected at least one object"),
        (DependencyEstimator(), (X, []), "y is empty; expected at least one object"),
        (
            DependencyEstimator(COSINE, COSINE, alpha=0.1),
            (WORDS, list("abcdef")),
            r"y holds 6 objects, and output_kernel=Subsequence\(.*cannot tell any of them apart.*Choose a shorter length, or",
        ),
        (
            DependencyEstimator(GaussianOf(STRINGS), COSINE, alpha=0.1),
            (list("abcdef"), WORDS),
            r"X holds 6 objects, and input_kernel=GaussianOf\(.*cannot tell any of them apart",
        ),
        (NeighborsEstimator(COSINE, COSINE, k=1), (list("abcdef"), WORDS), "X holds 6 objects, and input_kernel"),
        (DependencyEstimator(), (X[:1], Y[:1]), "n_samples=1|1 sample"),
        (DependencyEstimator(), (nan_at(3), Y), "NaN"),
        (DependencyEstimator(), (X, nan_at(3)), "y contains NaN or infinity, first in row 3"),
        (DependencyEstimator(), (X, Y[:5]), "X has 6 objects and y has 5"),
        (DependencyEstimator(STRINGS, STRINGS), ("abab", WORDS), r"X is a single str, 'abab'.*Write \[text\]"),
        (DependencyEstimator(STRINGS, STRINGS), (WORDS, "abab"), "y is a single str"),
        (
            DependencyEstimator(),
            ([[1.0], [1.0, 2.0]], [[1.0], [2.0]]),
            r"X is ragged: X\[0\] has shape \(1,\) and X\[1\]",
        ),
        (DependencyEstimator(), (X, [[1.0], [1.0, 2.0]] * 3), r"y is ragged"),
        (DependencyEstimator(), ([[1.0], ["a"]], [[1.0], [2.0]]), r"X.*expected.*number"),
        (DependencyEstimator(STRINGS, STRINGS), (["ab", 3, "ba"], ["ab", "b", "ba"]), r"X\[1\]"),
        (DependencyEstimator(STRINGS, STRINGS), (["ab", None, "ba"], ["ab", "b", "ba"]), r"X\[1\] is None"),
        (DependencyEstimator(), (X[:, 0], Y), "2D array"),
        (DependencyEstimator(FromFunction(lambda a, b: np.nan), Linear()), (WORDS, Y), "nan"),
        (
            DependencyEstimator(FromFunction(lambda a, b: float(a > b) + 1), Linear()),
            (WORDS, Y),
            "is not symmetric",
        ),
        (
            DependencyEstimator(FromFunction(lambda a, b: -float(a == b)), Linear()),
            (WORDS, Y),
            "not positive semi-definite: its smallest eigenvalue is -1",
        ),
        (
            DependencyEstimator(Gaussian(1.0), FromFunction(lambda a, b: -float(a == b)), alpha=2.0),
            (X, WORDS),
            "output kernel .*not positive semi-definite: its smallest eigenvalue is -1",
        ),
        (
            DependencyEstimator(FromFunction(lambda a, b: -float(a == b)), Linear(), alpha=5.0),
            (WORDS, Y),
            "not positive semi-definite: its smallest eigenvalue is -1",
        ),
        (DependencyEstimator(alpha=0), (X, Y), "alpha=0; expected a positive"),
        (DependencyEstimator(alpha=-1.0), (X, Y), "alpha=-1.0; expected a positive"),
        (DependencyEstimator(alpha=np.nan), (X, Y), "alpha=nan"),
        (DependencyEstimator(alpha="best"), (X, Y), "alpha='best'; expected a positive number, one of"),
        (DependencyEstimator(Precomputed(), Linear()), (np.eye(6)[:4], Y[:4]), "square"),
        (DependencyEstimator("rbf", Linear()), (X, Y), "input_kernel is 'rbf'.*expected a kernel"),
        (DependencyEstimator(operator="identity"), (X, Y), "operator='identity'; expected one of mercer.operators"),
        (DependencyEstimator(solver="fast"), (X, Y), "solver='fast'; expected 'auto'"),
        (DependencyEstimator(decoder="best"), (X, Y), "decoder='best'; expected 'auto'"),
        (DependencyEstimator(embedding="pca"), (X, Y), "embedding='pca'; expected 'auto'"),
        (DependencyEstimator(loss="f1"), (X, Y), "loss='f1'"),
        (DependencyEstimator(solver=Cholesky()), (X, Y), "solves one alpha, and alpha is to be chosen"),
        (
            DependencyEstimator(solver=Tridiagonal(), alpha=0.1),
            (X, Y),
            "is for an operator on the outputs, and came with",
        ),
        (DependencyEstimator(solver=Tridiagonal(), operator=Covariance()), (X, Y), "alpha is to be chosen"),
        (
            DependencyEstimator(solver=Exact("coefficients"), operator=Covariance()),
            (X, Y),
            "goes with operator=Identity",
        ),
        (DependencyEstimator(solver=Exact("norm")), (X, Y), "penalty='norm'; expected"),
        (DependencyEstimator(embedding=Implicit(), operator=Covariance()), (X, Y), "acts on coordinates"),
        (DependencyEstimator(Gaussian(1.0), Gaussian(1.0), embedding=Features()), (X, Y), "finite feature map"),
        (DependencyEstimator(embedding=PrincipalComponents(cutoff=2.0)), (X, Y), "cutoff=2.0; expected"),
        (DependencyEstimator(embedding=PrincipalComponents(n_components=0)), (X, Y), "n_components=0; expected"),
        (DependencyEstimator(solver=LowRank(rank=0)), (X, Y), "rank=0; expected"),
        (NeighborsEstimator(k=0), (X, Y), "k=0; expected a whole number between 1 and the number of pairs, 6"),
        (NeighborsEstimator(k=7), (X, Y), "k=7"),
        (
            DependencyEstimator(Gaussian(1.0), Linear(), embedding=PrincipalComponents()),
            (X, np.ones((6, 2))),
            "same point",
        ),
    ],
)
def test_fit_says_what_is_wrong(model, data, message):
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(*data)
    with pytest.raises((NotFittedError, ValueError, TypeError), match="not fitted"):
        model.predict(X)


def test_predict_before_fit():
    for call in ("predict", "rank", "decision_weights"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(DependencyEstimator(), call)(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        DependencyEstimator().score(X, Y)


def test_a_failed_refit_leaves_the_old_model():
    model = DependencyEstimator(alpha=0.1).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="alpha"):
        model.set_params(alpha=-1).fit(X + 1, Y)
    assert np.array_equal(model.predict(X), before)


def test_gram_of_the_wrong_shape_at_predict():
    model = DependencyEstimator(Precomputed(), Linear(), alpha=0.1).fit(X @ X.T, Y)
    with pytest.raises(ValueError, match="5 features.*expecting 6|5.*6"):
        model.predict(np.ones((2, 5)))


def test_wrong_number_of_features_at_predict():
    with pytest.raises(ValueError, match="3 features"):
        DependencyEstimator(alpha=0.1).fit(X, Y).predict(np.ones((2, 3)))


def test_candidates_that_cannot_be_chosen_from():
    model = DependencyEstimator(STRINGS, STRINGS.normalized(), alpha=0.1).fit(WORDS, WORDS)
    with pytest.raises(ValueError, match=r"candidates\[1\] is empty.*X\[1\]"):
        model.predict(WORDS[:2], candidates=[["aab"], []])
    with pytest.raises(ValueError, match="candidates is empty"):
        model.predict(WORDS[:2], candidates=[])
    with pytest.raises(ValueError, match="candidates holds 3 sets and X has 2 objects"):
        model.predict(WORDS[:2], candidates=[["aab"], ["aab"], ["aab"]])
    with pytest.raises(TypeError, match="candidates is a single str"):
        model.predict(WORDS[:2], candidates="aab")
    with pytest.raises(ValueError, match="k=0; expected a positive whole number"):
        model.rank(WORDS, k=0)


def test_memory_is_checked_before_anything_is_allocated(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda *_: 10_000)
    monkeypatch.setattr(memory, "SMALL", 0)
    with pytest.raises(MemoryError, match=r"3\.26 matrices of 100 × 100 doubles.*ConjugateGradient\(\) or LowRank"):
        DependencyEstimator(Gaussian(1.0), solver=Exact()).fit(np.ones((100, 1)), np.arange(100.0))
    huge = np.zeros((10**6, 1))
    monkeypatch.undo()
    with pytest.raises(MemoryError, match="1000000 × 1000000"):
        DependencyEstimator(Gaussian(1.0), alpha=0.1, solver=Cholesky()).fit(huge, np.zeros(10**6))
    with pytest.raises(MemoryError, match="1000000 × 1000000"):
        DependencyEstimator(Gaussian(1.0), operator=Covariance(), alpha=0.1, solver=Tridiagonal()).fit(
            huge, np.zeros(10**6)
        )
    with pytest.raises(MemoryError, match="1000000 × 1000000"):
        CurveRidge(Linear()).fit(huge, np.zeros((10**6, 2)))


def test_regressor_and_ridge_parameters_exclude_each_other():
    from sklearn.svm import SVR

    with pytest.raises(ValueError, match="alpha=0.5 has no effect with regressor"):
        DependencyEstimator(alpha=0.5, regressor=SVR()).fit(X, Y)
    with pytest.raises(ValueError, match=r"add embedding=PrincipalComponents\(\)"):
        DependencyEstimator(Gaussian(1.0), Gaussian(1.0), regressor=SVR(), embedding=Implicit()).fit(X, Y)
    with pytest.raises(ValueError, match="takes vectors, and the inputs are objects"):
        DependencyEstimator(STRINGS, Linear(), regressor=SVR()).fit(WORDS, Y)


def test_slightly_negative_eigenvalues_are_clipped_and_said():
    from mercer import NumericalWarning

    K = np.diag([1.0, 1.0, 1.0, -1e-8])
    with pytest.warns(NumericalWarning, match="slightly negative eigenvalue, -1e-08"):
        DependencyEstimator(Precomputed(), Classes(), decoder=Candidates(), fit_intercept=False).fit(K, list("abab"))


def test_no_inputs_to_predict_for():
    with pytest.raises(ValueError, match="X is empty; expected at least one object"):
        DependencyEstimator(alpha=0.1).fit(X, Y).predict([])


def test_kernel_values_against_too_few_inputs():
    model = DependencyEstimator(Precomputed(), Linear(), alpha=0.1)
    message = (
        "^X has 3 features, but DependencyEstimator is expecting 6 features as input. X holds kernel values against the 6 "
        "training inputs, one column each"
    )
    with pytest.raises(ValueError, match=message):
        model.fit(np.eye(6), Y).predict(np.eye(6)[:, :3])


def test_candidates_of_another_length_are_named():
    model = DependencyEstimator(alpha=0.1).fit(X, Y)
    with pytest.raises(ValueError, match="candidates has 3 features; expected 2"):
        model.predict(X, candidates=np.ones((4, 3)))
    with pytest.raises(ValueError, match=r"candidates\[1\] has 3 features; expected 2"):
        model.predict(X[:2], candidates=[np.ones((4, 2)), np.ones((4, 3))])
