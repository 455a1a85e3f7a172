"""Compact models: the same predictions from less, and clear errors for what was dropped."""

import numpy as np
import pytest

import mercer
from mercer import AutoEstimator, DependencyEstimator, NeighborsEstimator
from mercer.io import Batches
from mercer.kernels import Classes, Gaussian, LabelSets, Subsequence
from mercer.learners import Forest, Mixture, Ridge
from mercer.operators import Covariance
from mercer.solvers import ConjugateGradient, LowRank

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 3))
Y = np.tanh(X @ RNG.standard_normal((3, 2)))
WORDS = ["".join(RNG.choice(list("abcd"), 5)) for _ in range(40)]

MODELS = {
    "one alpha": (DependencyEstimator(alpha=0.1), X, Y),
    "leave-one-out": (DependencyEstimator(), X, Y),
    "covariance": (DependencyEstimator(operator=Covariance()), X, Y),
    "low rank": (DependencyEstimator(solver=LowRank(20)), X, Y),
    "iteration": (DependencyEstimator(solver=ConjugateGradient(20), alpha=0.1), X, Y),
    "mixture": (DependencyEstimator(regressor=Mixture([Ridge(), Forest(n_estimators=10)])), X, Y),
    "automatic": (AutoEstimator(effort="fast", random_state=0), X, Y),
    "neighbours": (NeighborsEstimator(k=3), X, Y),
    "words, one alpha": (DependencyEstimator(Subsequence(2), Subsequence(2), alpha=0.1), WORDS, WORDS),
    "words": (DependencyEstimator(Subsequence(2), Subsequence(2)), WORDS, WORDS),
    "classes": (DependencyEstimator(Gaussian("median"), Classes()), X, (X[:, 0] > 0).astype(int)),
    "label sets": (
        DependencyEstimator(Gaussian("median"), LabelSets()),
        X,
        [{"a"} if r > 0 else {"b"} for r in X[:, 0]],
    ),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")
def test_a_compact_model_predicts_the_same_and_is_saved(name, tmp_path):
    model, inputs, outputs = MODELS[name]
    model.fit(inputs, outputs)
    small = model.compact()
    expected = model.predict(inputs)
    np.testing.assert_array_equal(small.predict(inputs), expected)
    sizes = [mercer.save(one, tmp_path / "model").stat().st_size for one in (model, small)]
    assert sizes[1] <= sizes[0]
    np.testing.assert_array_equal(mercer.load(tmp_path / "model").predict(inputs), expected)
    np.testing.assert_array_equal(model.predict(inputs), expected)


def test_what_was_dropped_is_named():
    small = DependencyEstimator().fit(X, Y).compact()
    for call in (small.decision_weights, small.predict_interval, lambda x: small.explain(x[0])):
        with pytest.raises(
            ValueError, match=r"not kept in a compact model; ask the model that compact\(\) was called on"
        ):
            call(X)
    with pytest.raises(ValueError, match="does not keep the training outputs to rank; pass candidates"):
        small.rank(X[:2], 3)
    assert len(small.rank(X[:2], 3, candidates=Y[:10])[0].objects) == 3


def test_intervals_of_held_out_pairs_stay():
    model = DependencyEstimator().fit(X[:50], Y[:50]).calibrate(X[50:], Y[50:])
    expected = model.predict_interval(X, 0.8)
    for small in (model.compact(), DependencyEstimator().fit(X[:50], Y[:50]).compact().calibrate(X[50:], Y[50:])):
        np.testing.assert_allclose(small.predict_interval(X, 0.8).lower, expected.lower)


def test_inputs_of_held_out_pairs_have_labels_and_weights_where_training_inputs_are_gone():
    new = DependencyEstimator(solver=LowRank(20, tol=0.1)).fit(Batches([X[:20], X[20:50]]), Y[:50])
    for model in (DependencyEstimator().fit(X[:50], Y[:50]).compact(), new):
        model.calibrate(X[50:], Y[50:])
        for option in ("by", "weights"):
            expected = model.predict_interval(X, 0.5, **{option: (X[50:, 0] > 0, X[:, 0] > 0)})
            found = model.predict_interval(X, 0.5, **{option: lambda x: x[0] > 0})
            np.testing.assert_array_equal(found.lower, expected.lower)


def test_boxes_and_ellipsoids_of_a_compact_model_say_that_left_out_errors_are_gone():
    small = DependencyEstimator().fit(X[:50], Y[:50]).compact().calibrate(X[50:], Y[50:])
    for call in (small.predict_ellipsoid, lambda x: small.predict_interval(x, simultaneous=True)):
        with pytest.raises(ValueError, match="sets and intervals of single coordinates do without"):
            call(X)


def test_a_rule_for_new_candidates_that_was_chosen_before_is_kept(tmp_path):
    random = np.random.default_rng(0)
    inputs = random.standard_normal((80, 6))
    outputs, new = (random.standard_normal((n, 8)) + 3.0 * random.standard_normal((n, 1)) for n in (80, 30))
    model = DependencyEstimator(Gaussian(3.0), alpha=0.1).fit(inputs, outputs)
    expected = model.predict(inputs, candidates=new)
    mercer.save(model.compact(), tmp_path / "model")
    for small in (model.compact(), mercer.load(tmp_path / "model")):
        assert small.candidate_rule_.reason == model.candidate_rule_.reason
        np.testing.assert_array_equal(small.predict(inputs, candidates=new), expected)


def test_a_low_rank_model_of_vectors_keeps_its_pivots_alone(tmp_path):
    many = RNG.standard_normal((2000, 5))
    small = (
        DependencyEstimator(solver=LowRank(10, tol=1e-9), input_kernel=Gaussian(5.0)).fit(many, np.tanh(many)).compact()
    )
    assert mercer.save(small, tmp_path / "model").stat().st_size < 100_000
