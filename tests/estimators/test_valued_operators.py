"""Operator-valued kernels on structured outputs: strings, classes and images through their coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer import DependencyEstimator, EntangledRidge, OperatorValuedRidge
from mercer.embeddings import Features, PrincipalComponents, Spectral
from mercer.kernels import Classes, Gaussian, Linear, Subsequence
from mercer.losses import ZeroOne
from mercer.operators import (
    Covariance,
    Entangled,
    Identity,
    Nystroem,
    Separable,
    SumOfSeparable,
    Transformable,
)
from mercer.solvers import Exact, Structured

WORDS = ["abab", "abba", "bbab", "babb", "aaab", "aabb", "baba", "bbba", "bbaa", "abaa"]
NAMES = ["xyxy", "xyyx", "yyxy", "yxyy", "xxxy", "xxyy", "yxyx", "yyyx", "yyxx", "xyxx"]
LETTERS = Subsequence(length=2).normalized()


def vectors(n=18, p=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 2)), rng.standard_normal((n, p)), rng.standard_normal((5, 2))


def reversed_words(X):
    return np.array([word[::-1] for word in X], dtype=object)


def same_words(X):
    return X


def test_a_separable_kernel_with_the_identity_is_the_identity_operator():
    X, Y, new = vectors()
    kernel = Gaussian(1.0)
    valued = DependencyEstimator(kernel, Linear(), Separable(kernel), alpha=0.1).fit(X, Y)
    plain = DependencyEstimator(kernel, Linear(), Identity(), alpha=0.1).fit(X, Y)
    np.testing.assert_allclose(valued.predict(new), plain.predict(new), atol=1e-10)
    chosen = DependencyEstimator(kernel, Linear(), Separable(kernel)).fit(X, Y)
    same = DependencyEstimator(kernel, Linear()).fit(X, Y)
    np.testing.assert_allclose(chosen.loo_path_, same.loo_path_, rtol=1e-8)


def test_a_separable_kernel_with_the_covariance_of_outputs_is_the_covariance_operator():
    X, Y, new = vectors(seed=1)
    kernel, output = Gaussian(1.0), Gaussian(2.0)
    embedding = Spectral().fit(output, Y)
    T = embedding.coordinates_.T @ embedding.coordinates_ / len(Y)
    valued = DependencyEstimator(kernel, output, Separable(kernel, T), Spectral(), alpha=0.1, fit_intercept=False).fit(
        X, Y
    )
    plain = DependencyEstimator(kernel, output, Covariance(), Spectral(), alpha=0.1, fit_intercept=False).fit(X, Y)
    gram = output(Y)
    np.testing.assert_allclose(valued.decision_weights(new) @ gram, plain.decision_weights(new) @ gram, atol=1e-9)
    np.testing.assert_allclose(valued.predict(new), plain.predict(new), atol=1e-9)


def operators():
    p, rng = 3, np.random.default_rng(2)
    half = rng.standard_normal((p, p))
    return {
        "separable": Separable(LETTERS, half @ half.T),
        "sum": SumOfSeparable([Separable(LETTERS, half @ half.T), Separable(LETTERS)]),
        "transformable": Transformable(LETTERS, [same_words, reversed_words, same_words]),
        "entangled": Entangled(Nystroem(LETTERS, rank=4), rng.standard_normal((4 * p, 5)), p),
    }


@pytest.mark.parametrize("name", list(operators()))
def test_every_kernel_works_from_strings_to_strings(name):
    operator = operators()[name]
    embedding = PrincipalComponents(n_components=3)
    model = DependencyEstimator(LETTERS, LETTERS, operator, embedding, alpha=0.05).fit(WORDS, NAMES)
    predicted = model.predict(WORDS)
    assert set(predicted) <= set(NAMES)
    # the same regression by hand
    V = PrincipalComponents(n_components=3).fit(LETTERS, NAMES).coordinates_
    by_hand = OperatorValuedRidge(clone(operator), alpha=0.05).fit(WORDS, V)
    np.testing.assert_allclose(model._points_of(WORDS), by_hand.predict(WORDS), atol=1e-9)


def test_auto_takes_as_many_components_as_the_operator_has_outputs():
    model = DependencyEstimator(LETTERS, LETTERS, Transformable(LETTERS, [same_words, reversed_words]), alpha=0.1)
    model.fit(WORDS, NAMES)
    assert model.embedding_.coordinates_.shape[1] == 2
    assert isinstance(model.solver_, Structured)
    assert "coordinates" in model.reasons_["embedding"]


def test_the_loss_of_decoded_objects_chooses_the_ridge():
    y = ["first" if word.count("a") > 2 else "second" for word in WORDS]
    operator = Separable(LETTERS, [[1.0, 0.3], [0.3, 1.0]])
    model = DependencyEstimator(LETTERS, Classes(), operator, Features(), loss=ZeroOne()).fit(WORDS, y)
    # each ridge by refitting without each pair
    for alpha, figure in list(zip(model.alphas_, model.loo_path_, strict=True))[::7]:
        wrong = 0
        for i in range(len(WORDS)):
            rest = [j for j in range(len(WORDS)) if j != i]
            fitted = DependencyEstimator(LETTERS, Classes(), operator, Features(), alpha=float(alpha), loss=ZeroOne())
            fitted.fit([WORDS[j] for j in rest], [y[j] for j in rest])
            wrong += fitted.predict([WORDS[i]])[0] != y[i]
        assert figure == pytest.approx(wrong / len(WORDS))


def test_a_learned_entangled_kernel_maps_strings_to_strings():
    regressor = EntangledRidge(LETTERS, kraus_rank=4, random_state=0)
    model = DependencyEstimator(LETTERS, LETTERS, embedding=PrincipalComponents(n_components=4), regressor=regressor)
    predicted = model.fit(WORDS, NAMES).predict(WORDS)
    assert np.mean(predicted == np.array(NAMES, dtype=object)) > 0.3
    V = PrincipalComponents(n_components=4).fit(LETTERS, NAMES).coordinates_
    np.testing.assert_allclose(model._points_of(WORDS), clone(regressor).fit(WORDS, V).predict(WORDS), atol=1e-9)


def test_saved_and_loaded_it_predicts_the_same(tmp_path):
    operator = operators()["separable"]
    model = DependencyEstimator(LETTERS, LETTERS, operator, PrincipalComponents(n_components=3), alpha=0.05)
    model.fit(WORDS, NAMES)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert again.predict(WORDS).tolist() == model.predict(WORDS).tolist()


def test_what_does_not_go_together_is_refused():
    X, Y, _ = vectors()
    kernel = Gaussian(1.0)
    with pytest.raises(ValueError, match="expected the same kernel in both places"):
        DependencyEstimator(Gaussian(2.0), Linear(), Separable(kernel)).fit(X, Y)
    with pytest.raises(ValueError, match=r"is for 2 outputs, and .* gives outputs 3 coordinates"):
        DependencyEstimator(kernel, Linear(), Separable(kernel, np.eye(2)), alpha=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="is not one kernel times one matrix"):
        DependencyEstimator(kernel, Linear(), SumOfSeparable([Separable(kernel)] * 2), solver=Exact()).fit(X, Y)
    with pytest.raises(ValueError, match="is for operator-valued kernels"):
        DependencyEstimator(kernel, Linear(), solver=Structured()).fit(X, Y)
    with pytest.raises(TypeError, match="expected one of mercer.operators"):
        DependencyEstimator(kernel, Linear(), operator=kernel).fit(X, Y)
