"""Ridge regression with a weight for each word."""

import numpy as np
import pytest
from scipy import sparse

from mercer import AutoEstimator, DependencyEstimator
from mercer.embeddings import Distinct
from mercer.kernels import Encoded, Gaussian, LabelSets, Linear, OverlapOf, Spectrum, Subsequence, WordRows
from mercer.learners import RelevantWords, Ridge
from mercer.learners.words import relevance
from mercer.losses import F1
from mercer.testing import check_learner, learning_problem

rng = np.random.default_rng(0)
X = (rng.random((60, 12)) < 0.4).astype(float)
Y = np.column_stack([X[:, 3] + X[:, 5], X[:, 5] * X[:, 7]]) + 0.1 * rng.standard_normal((60, 2))
LABELS = np.column_stack([X[:, 3], X[:, 5] * X[:, 7], 1 - X[:, 5]]).astype(int)


@pytest.mark.parametrize(
    "learner", [RelevantWords(alpha=0.1), RelevantWords(2.0), RelevantWords(0.0, 1.0, False)], ids=repr
)
def test_contract(learner):
    distinct = np.unique(X, axis=0)
    rows = rng.permutation(len(distinct))[:17]
    problem = learning_problem(Linear(), distinct[rows[:14]], Y[:14])
    check_learner(learner, problem, distinct[rows[14:]], held="folds")


@pytest.mark.parametrize("weight", [None, rng.uniform(0.5, 2.0, 60)], ids=["", "weights"])
def test_relevance_is_the_sum_of_squared_correlations(weight):
    expected = np.zeros(12)
    for j in range(12):
        for column in Y.T:
            c = np.cov(X[:, j], column, aweights=weight, ddof=0)
            expected[j] += c[0, 1] ** 2 / (c[0, 0] * c[1, 1])
    np.testing.assert_allclose(relevance(X, Y, weight), expected)
    np.testing.assert_allclose(relevance(sparse.csr_array(X), Y, weight), expected)
    # outputs in other units and with other means are as relevant
    np.testing.assert_allclose(relevance(X, Y * [5.0, 0.1] + 100.0, weight), expected)


def test_columns_and_outputs_that_do_not_change_tell_nothing():
    found = relevance(np.column_stack([X, np.ones(60), np.zeros(60)]), np.column_stack([Y, np.ones(60)]))
    np.testing.assert_allclose(found, [*relevance(X, Y), 0.0, 0.0])


def test_for_labels_it_is_the_statistic_of_a_contingency_table():
    from scipy.stats import chi2_contingency

    expected = [
        sum(
            chi2_contingency(
                [[np.sum((X[:, j] == a) & (label == b)) for b in (0, 1)] for a in (0, 1)], correction=False
            )[0]
            for label in LABELS.T
        )
        / 60
        for j in range(12)
    ]
    np.testing.assert_allclose(relevance(X, LABELS.astype(float)), expected)


def test_the_ridge_is_that_of_the_weighted_rows():
    model = DependencyEstimator(Linear(), regressor=RelevantWords(1.0, alpha=0.3)).fit(X, Y)
    factors = WordRows().resolve(X).factors * np.sqrt(relevance(X, Y))
    kernel = Encoded(WordRows(factors), OverlapOf(Linear()) + Gaussian("median"))
    plain = DependencyEstimator(kernel, regressor=Ridge(alpha=0.3)).fit(X, Y)
    queries = (rng.random((5, 12)) < 0.4).astype(float)
    np.testing.assert_allclose(model.predict(queries), plain.predict(queries), atol=1e-10)


def test_words_that_were_not_seen_do_not_count():
    unseen = np.column_stack([X, np.zeros(60)])
    model = DependencyEstimator(Linear(), regressor=RelevantWords()).fit(unseen, Y)
    query = (rng.random((3, 13)) < 0.5).astype(float)
    with_it, without = query.copy(), query.copy()
    with_it[:, 12], without[:, 12] = 1.0, 0.0
    np.testing.assert_array_equal(model.predict(with_it), model.predict(without))


def test_sparse_rows_are_the_same():
    dense = DependencyEstimator(Linear(), LabelSets(), regressor=RelevantWords()).fit(X, LABELS)
    thin = DependencyEstimator(Linear(), LabelSets(), regressor=RelevantWords()).fit(sparse.csr_array(X), LABELS)
    np.testing.assert_array_equal(dense.predict(X[:9]), thin.predict(sparse.csr_array(X[:9])))
    np.testing.assert_allclose(dense.relevance_, thin.relevance_)


def test_relevant_words_count_among_many_others():
    noise = (rng.random((300, 200)) < 0.3).astype(float)
    y = noise[:, :3].sum(axis=1) + 0.1 * rng.standard_normal(300)
    errors = {}
    for power in (0.0, 1.0):
        model = DependencyEstimator(Linear(), regressor=RelevantWords(power)).fit(noise[:200], y[:200])
        errors[power] = np.mean((model.predict(noise[200:]) - y[200:]) ** 2)
    assert errors[1.0] < 0.5 * errors[0.0]


def test_left_out_points_are_no_better_than_noise_allows():
    """Words are correlated with any noise; left-out points must not know it."""
    words, y = (rng.random((60, 200)) < 0.3).astype(float), rng.standard_normal((60, 1))
    fitted = RelevantWords(2.0).fit(learning_problem(Linear(), words, y))
    assert np.mean((np.asarray(fitted.left_out_points()) - y) ** 2) > 0.95 * np.var(y)


def test_the_automatic_estimator_tries_them_and_keeps_what_left_out_pairs_prefer():
    words = (rng.random((200, 150)) < 0.2).astype(int)
    noise = rng.random((200, 3)) < 0.05
    labels = ((words[:, :3] + words[:, 3:6] > 0) ^ noise).astype(int)
    model = AutoEstimator(loss=F1(), random_state=0).fit(words[:150], labels[:150])
    losses = {(entry.learner, entry.kernel): entry.loss for entry in model.leaderboard_}
    assert min(losses, key=lambda name: losses[name]) == ("words by relevance, power 1", "")
    found = np.asarray(model.predict(words[150:]))
    assert found.shape == (50, 3)


@pytest.mark.parametrize("power", [-1.0, float("nan"), "much"])
def test_bad_parameters(power):
    with pytest.raises((ValueError, TypeError), match="power"):
        RelevantWords(power)


def test_inputs_and_outputs_that_have_no_features_are_refused():
    with pytest.raises(ValueError, match="words are columns"):
        RelevantWords().fit(learning_problem(Spectrum(2), ["abc", "abd", "bcd"], np.eye(3)))
    problem = learning_problem(Linear(), X[:3], ["abc", "abd", "bcd"], Subsequence(2).normalized(), Distinct())
    with pytest.raises(ValueError, match="features of outputs"):
        RelevantWords().fit(problem)
