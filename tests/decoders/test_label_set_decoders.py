"""Label sets decided label by label, against all 2^L sets one by one."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from mercer import DependencyEstimator, load, save
from mercer.core.collections import as_objects
from mercer.decoders import Candidates, ClosedForm, ExpectedF1, ExpectedLoss, Standardized, Thresholded, auto_decoder
from mercer.embeddings import Features, FeaturesOf, Implicit
from mercer.kernels import Gaussian, GaussianOf, LabelsBySize, LabelSets, Linear, Overlap, Subsequence
from mercer.learners import LearnedMetric, RelevantWords
from mercer.losses import F1, Hamming, Jaccard, RocAuc, TopK
from mercer.testing import check_decoder

LABELS = ["a", "b", "c", "d"]
EVERYTHING = [frozenset(chosen) for k in range(5) for chosen in combinations(LABELS, k)]
sets_of_labels = st.lists(st.frozensets(st.sampled_from(LABELS)), min_size=2, max_size=7)


def expected(loss, weights, outputs, answer):
    return sum(w * (1 - loss(y, answer)) for w, y in zip(weights, outputs, strict=True))


@settings(max_examples=60, deadline=None)
@given(sets_of_labels, st.integers(0, 10_000), st.booleans(), st.sampled_from([0.0, 0.4, 1.0]))
def test_expected_f1_is_the_best_of_all_sets(outputs, seed, signed, empty):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(5, len(outputs))) if signed else rng.dirichlet(np.full(len(outputs), 0.5), size=5)
    loss = F1(empty)
    implicit = Implicit().fit(LabelSets(), as_objects(outputs))
    decoder = ExpectedF1().fit(implicit, loss)
    known = set().union(*outputs)
    everything = [answer for answer in EVERYTHING if answer <= known]
    found = decoder.decode(W)
    for w, answer in zip(W, found, strict=True):
        values = [expected(loss, w, outputs, other) for other in everything]
        assert answer <= known
        np.testing.assert_allclose(expected(loss, w, outputs, answer), max(values), atol=1e-10)
        smallest = min(
            len(other) for other, value in zip(everything, values, strict=True) if value > max(values) - 1e-13
        )
        assert len(answer) <= smallest
    np.testing.assert_allclose(
        decoder.objective(W, found), [-expected(loss, w, outputs, y) for w, y in zip(W, found, strict=True)], atol=1e-10
    )
    # the same from the expectation of labels and sizes
    sized = FeaturesOf(LabelsBySize()).fit(LabelSets(), as_objects(outputs))
    again = clone(decoder).fit(sized, loss)
    H = W @ sized.coordinates_
    np.testing.assert_allclose(again.objective(H, again.decode(H)), decoder.objective(W, found), atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(sets_of_labels, st.integers(0, 10_000))
def test_thresholded_is_the_nearest_of_all_sets(outputs, seed):
    W = np.random.default_rng(seed).normal(0.3, 0.5, size=(5, len(outputs)))
    known = set().union(*outputs)
    for kernel in (LabelSets(), 2.0 * LabelSets()):
        decoder = Thresholded().fit(Implicit().fit(kernel, as_objects(outputs)))
        for w, answer in zip(W, decoder.decode(W), strict=True):
            distances = [
                len(other) - 2 * sum(w * [len(y & other) for y in outputs]) for other in EVERYTHING if other <= known
            ]
            own = len(answer) - 2 * sum(w * [len(y & answer) for y in outputs])
            np.testing.assert_allclose(own, min(distances), atol=1e-10)


def test_thresholds_other_than_a_half():
    embedding = Implicit().fit(LabelSets(), as_objects([{"a"}, {"b"}]))
    W = np.array([[0.4, 0.2]])
    assert Thresholded(0.3).fit(embedding).decode(W)[0] == {"a"}
    assert Thresholded(0.1).fit(embedding).decode(W)[0] == {"a", "b"}
    with pytest.raises(ValueError, match="threshold='half'; expected a finite number in Thresholded"):
        Thresholded("half").fit(embedding)


CONTRACT = [
    pytest.param(LabelSets(), [{"a"}, {"b", "c"}, set(), {"a", "c"}, {"a"}], id="sets"),
    pytest.param(LabelSets(), [["a"], ["c", "b"], ["a", "c"]], id="lists"),
    pytest.param(Overlap(1.0), np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]]), id="indicators"),
    pytest.param(GaussianOf(LabelSets(), 1.0), [{"a"}, {"b", "c"}, set()], id="a Gaussian of sets"),
    pytest.param(Linear(), np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]]), id="linear indicators"),
]


@pytest.mark.parametrize(("kernel", "outputs"), CONTRACT)
@pytest.mark.parametrize(
    ("decoder", "loss"),
    [
        (ExpectedF1(), F1()),
        (ExpectedF1(), None),
        (ExpectedF1(0.3), None),
        (Thresholded(), None),
        (Thresholded(0.2), Hamming()),
    ],
)
def test_the_contract(decoder, loss, kernel, outputs):
    rng = np.random.default_rng(0)
    embedding = Implicit().fit(kernel, outputs)
    check_decoder(decoder, embedding, rng.normal(size=(6, len(outputs))), loss=loss)
    sized = FeaturesOf(LabelsBySize() if isinstance(decoder, ExpectedF1) else LabelSets()).fit(kernel, outputs)
    check_decoder(decoder, sized, rng.normal(size=(6, sized.coordinates_.shape[1])), loss=loss)


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
@pytest.mark.parametrize("decoder", [ExpectedF1(), Thresholded()])
def test_indicators_of_other_array_libraries(library, decoder):
    xp = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    Y, W = rng.integers(0, 2, size=(8, 4)), rng.dirichlet(np.ones(8), size=3)
    expected_sets = decoder.fit(Implicit().fit(LabelSets(), Y)).decode(W)
    assert expected_sets.dtype == Y.dtype
    found = decoder.fit(Implicit().fit(LabelSets(), xp.asarray(Y))).decode(xp.asarray(W))
    assert found.dtype == xp.asarray(Y).dtype
    np.testing.assert_array_equal(np.asarray(found), expected_sets)


def test_many_labels_and_sizes_against_each_size_sorted():
    """The sizes that are not tried could not have won."""
    rng = np.random.default_rng(3)
    Y = rng.random((60, 40)) < rng.beta(0.5, 2, size=40)
    sizes = Y.sum(axis=1)
    for W in (rng.dirichlet(np.full(60, 0.1), size=20), rng.normal(size=(20, 60)) / 60):
        found = ExpectedF1().fit(Implicit().fit(LabelSets(), Y)).decode(W)
        for w, row in zip(W, found, strict=True):
            values = [w[sizes == 0].sum()]
            for k in range(1, 41):
                worth = (w[:, None] * Y * 2 / (k + sizes[:, None])).sum(axis=0)
                values.append(np.sort(worth)[::-1][:k].sum())
            assert row.sum() == np.argmax(values)


def test_scores_standardised_by_halves(problem):
    X, Y = problem
    kernel = Overlap(0.8)
    model = DependencyEstimator(
        Gaussian(2.0), kernel, alpha=0.3, fit_intercept=False, decoder=Standardized(strength=0.4)
    ).fit(X, Y)
    plain = DependencyEstimator(Gaussian(2.0), kernel, alpha=0.3, fit_intercept=False, decoder=Candidates()).fit(X, Y)
    inverse = np.linalg.inv(Gaussian(2.0)(X) + 0.3 * np.eye(60))
    usual = (np.eye(60) - inverse / np.diag(inverse)[:, None]) @ kernel(Y) * 2.0
    scores = plain.decision_weights(X[:5]) @ kernel(Y) * 2.0
    wanted = (scores - 0.4 * usual.mean(axis=0)) / usual.std(axis=0) ** 0.4
    for ranked, row in zip(model.rank(X[:5], 2, candidates=Y), wanted, strict=True):
        np.testing.assert_allclose(ranked.scores[0], row.max())
    whole = DependencyEstimator(
        Gaussian(2.0), kernel, alpha=0.3, fit_intercept=False, decoder=Standardized(strength=0.0)
    ).fit(X, Y)
    np.testing.assert_array_equal(whole.predict(X), plain.predict(X))
    with pytest.raises(ValueError, match="strength=2; expected a number from 0 to 1 in Standardized"):
        DependencyEstimator(
            Gaussian(2.0), kernel, alpha=0.3, fit_intercept=False, decoder=Standardized(strength=2)
        ).fit(X, Y)


def test_the_usual_is_taken_off(problem):
    X, Y = problem
    kernels, plain = (Gaussian(2.0), LabelSets()), Implicit().fit(LabelSets(), Y)
    model = DependencyEstimator(*kernels, alpha=0.3, fit_intercept=False, decoder=ExpectedF1(0.4), loss=F1()).fit(X, Y)
    inverse = np.linalg.inv(Gaussian(2.0)(X) + 0.3 * np.eye(60))
    usual = np.mean(np.eye(60) - inverse / np.diag(inverse)[:, None], axis=0)
    new = np.random.default_rng(1).normal(size=(200, 5))
    shifted, direct = (ExpectedF1().fit(plain).decode(model.decision_weights(new) - p * usual) for p in (0.4, 0.0))
    np.testing.assert_array_equal(model.predict(new), shifted)
    assert np.any(shifted != direct)
    # labels that most sets have are predicted less
    assert shifted.sum() < direct.sum()
    ranked = model.rank(new[:3], 1, candidates=Y)
    assert [each.objects[0].tolist() for each in ranked] == [
        Y[np.argmax(row)].tolist()
        for row in (model.decision_weights(new[:3]) - 0.4 * usual) @ (1.0 - F1().matrix(Y, Y))
    ]
    with pytest.raises(ValueError, match="strength=2; expected a number from 0 to 1 in ExpectedF1"):
        ExpectedF1(2).fit(plain)


def test_what_is_no_label_set_or_no_f1_is_refused():
    with pytest.raises(TypeError, match=r"ExpectedF1 decodes label sets: outputs\[0\] is 'ab'"):
        ExpectedF1().fit(Implicit().fit(Subsequence(1), as_objects(["ab", "b"])))
    with pytest.raises(TypeError, match=r"loss=Jaccard.*; expected mercer.losses.F1\(\) in ExpectedF1"):
        ExpectedF1().fit(Implicit().fit(LabelSets(), [{1}, {2}]), Jaccard())
    with pytest.raises(ValueError, match=r"Thresholded decodes label sets: row 0 of outputs holds 0.5"):
        Thresholded().fit(Implicit().fit(Linear(), np.full((2, 2), 0.5)))


# -- which decoder is picked, and what an estimator does with it -----------------------------------------


@pytest.mark.parametrize(
    ("kernel", "loss", "kind"),
    [
        (LabelSets(), F1(), ExpectedF1),
        (Overlap(1.0), F1(), ExpectedF1),
        (Linear(), F1(), ExpectedF1),
        (LabelSets(), Hamming(), Thresholded),
        (LabelSets(), None, Candidates),
        (LabelSets(), Jaccard(), ExpectedLoss),
        (Linear(), RocAuc(), ClosedForm),
        (Linear(), TopK(3), ClosedForm),
        (Gaussian(1.0), RocAuc(), ExpectedLoss),
    ],
    ids=repr,
)
def test_the_loss_decides(kernel, loss, kind):
    decoder, reason = auto_decoder(kernel, loss)
    assert type(decoder) is kind
    assert "\n" not in reason


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    Y = (X @ rng.normal(size=(5, 4)) + 0.5 * rng.normal(size=(60, 4)) > 0.4).astype(int)
    return X, Y


def as_sets(Y, kind=set):
    return [kind(np.array(LABELS)[row > 0].tolist()) for row in Y]


def test_one_loss_named_chooses_decodes_and_scores(problem):
    X, Y = problem
    model = DependencyEstimator(Gaussian(2.0), LabelSets(), loss=F1()).fit(X, Y)
    assert isinstance(model.decoder_, ExpectedF1)
    assert isinstance(model.embedding_, FeaturesOf)
    whole = DependencyEstimator(Gaussian(2.0), LabelSets(), loss=F1(), embedding=Implicit()).fit(X, Y)
    np.testing.assert_allclose(model.loo_path_, whole.loo_path_)  # either way, the same choice
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    np.testing.assert_allclose(model.decision_weights(X), whole.decision_weights(X), atol=1e-8)
    np.testing.assert_allclose(model.score(X, Y), -F1().paired(Y, model.predict(X)).mean())
    # leave-one-out against fitting again without each pair
    losses = []
    for j in range(12):
        rest = np.arange(60) != j
        other = DependencyEstimator(Gaussian(2.0), LabelSets(), loss=F1(), alpha=model.alpha_, fit_intercept=False).fit(
            X[rest], Y[rest]
        )
        losses.append(F1().paired(Y[j : j + 1], other.predict(X[j : j + 1]))[0])
    ridge = DependencyEstimator(
        Gaussian(2.0), LabelSets(), loss=F1(), alpha=model.alpha_, fit_intercept=False, embedding=Implicit()
    )
    gram = Gaussian(2.0)(X)
    inverse = np.linalg.inv(gram + model.alpha_ * np.eye(60))
    held_out = np.eye(60) - inverse / np.diag(inverse)[:, None]
    np.fill_diagonal(held_out, 0.0)
    decoded = ridge.fit(X, Y).decoder_.decode(held_out)
    np.testing.assert_allclose(F1().paired(Y, decoded)[:12], losses)


@pytest.mark.parametrize("loss", [F1(), Hamming(), Jaccard(), None], ids=repr)
@pytest.mark.parametrize("form", ["bool", "uint8", "float", "csr_array", "csr_matrix", "csc_array", "coo_array"])
def test_indicators_come_back_as_they_were_given(problem, loss, form):
    X, Y = problem
    dense = DependencyEstimator(Gaussian(2.0), LabelSets(), loss=loss).fit(X, Y).predict(X[:9])
    given_as = getattr(sparse, form)(Y) if "_" in form else Y.astype(form)
    model = DependencyEstimator(Gaussian(2.0), LabelSets(), loss=loss).fit(X, given_as)
    found = model.predict(X[:9])
    assert type(found) is type(given_as)
    assert found.dtype == given_as.dtype
    np.testing.assert_array_equal(found.toarray() if "_" in form else found, dense)
    assert model.score(X, given_as) == DependencyEstimator(Gaussian(2.0), LabelSets(), loss=loss).fit(X, Y).score(X, Y)
    for ranked in model.rank(X[:2], 2):
        assert type(ranked.objects) is type(given_as)
    if form != "coo_array":  # which cannot be sliced
        among = model.predict(X[:9], candidates=given_as[:5])
        assert type(among) is type(given_as)
        kept = {tuple(row) for row in Y[:5].astype(float).tolist()}
        assert {tuple(row) for row in (among.toarray() if "_" in form else among).astype(float).tolist()} <= kept


@pytest.mark.parametrize("kind", [set, frozenset, list, tuple])
@pytest.mark.parametrize("loss", [F1(), Jaccard(), None], ids=repr)
def test_sets_come_back_as_they_were_given(problem, loss, kind):
    X, Y = problem
    dense = DependencyEstimator(Gaussian(2.0), LabelSets(), loss=loss).fit(X, Y).predict(X[:9])
    found = DependencyEstimator(Gaussian(2.0), LabelSets(), loss=loss).fit(X, as_sets(Y, kind)).predict(X[:9])
    assert all(type(y) is kind for y in found)
    assert [set(y) for y in found] == as_sets(dense)


def test_multi_label_binarizer_there_and_back(problem):
    from sklearn.preprocessing import MultiLabelBinarizer

    X, Y = problem
    sets = as_sets(Y, tuple)
    for sparse_output in (False, True):
        binarizer = MultiLabelBinarizer(sparse_output=sparse_output)
        indicators = binarizer.fit_transform(sets)
        model = DependencyEstimator(Gaussian(2.0), LabelSets(), loss=F1()).fit(X, indicators)
        direct = DependencyEstimator(Gaussian(2.0), LabelSets(), loss=F1()).fit(X, sets)
        back = binarizer.inverse_transform(model.predict(X[:9]))
        assert [set(y) for y in back] == [set(y) for y in direct.predict(X[:9])]


def test_a_saved_model_still_answers_with_sparse_indicators(problem, tmp_path):
    pytest.importorskip("skops", reason="skops is not installed")
    X, Y = problem
    model = DependencyEstimator(Gaussian(2.0), LabelSets(), loss=F1()).fit(X, sparse.csc_array(Y))
    loaded = load(save(model, tmp_path / "model.skops"))
    found = loaded.predict(X[:5])
    assert type(found) is sparse.csc_array
    np.testing.assert_array_equal(found.toarray(), model.predict(X[:5]).toarray())


def test_scores_of_labels_are_chosen_by_their_order(problem):
    X, Y = problem
    for loss in (RocAuc(), TopK(2)):
        model = DependencyEstimator(Gaussian(2.0), Linear(), loss=loss).fit(X[:40], Y[:40].astype(float))
        scores = model.predict(X[40:])
        assert 0 <= loss.paired(Y[40:], scores).mean() < 0.4
        assert model.loo_path_.min() < model.loo_path_.max()


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (np.array([[0, 1], [-1, 0]]), ValueError, "row 1 of y holds -1 in column 0; expected 0 or 1"),
        (sparse.csr_array([[0.0, 2.0], [1.0, 0.0]]), ValueError, "row 0 of y holds 2.0 in column 1"),
        ([[0, 1, 1], [0, 0]], ValueError, r"y is a list of lists of zeros and ones.*np.asarray\(y\).*2 to 3 entries"),
        ([np.array([0, 1]), np.array([1])], ValueError, r"y is ragged: y\[0\] has shape \(2,\) and y\[1\]"),
    ],
)
def test_bad_label_sets(y, error, message):
    with pytest.raises(error, match=message):
        DependencyEstimator(Gaussian(1.0), LabelSets(), loss=F1()).fit(np.eye(2), y)


def test_labels_out_of_range():
    with pytest.raises(ValueError, match=r"y\[1\] has the label 7; expected one from 0 to 4"):
        DependencyEstimator(Gaussian(1.0), LabelSets(labels=5), loss=F1()).fit(np.eye(2), [{0, 4}, {7}])
    with pytest.raises(ValueError, match="has the label 'c'; expected one of the 2 named"):
        LabelSets(labels=["a", "b"])([{"a"}, {"c"}])
    with pytest.raises(ValueError, match="X has 3 columns; expected one for each of the 5 labels"):
        LabelSets(labels=5)(np.eye(3))
    with pytest.raises(ValueError, match=r"labels=0 in LabelSets"):
        LabelSets(labels=0)([{1}])
    assert LabelSets(labels=5)([{0, 4}])[0, 0] == 2.0


def test_overlap_kernels():
    sets = [set("ab"), set("b"), set(), set("abc")]
    np.testing.assert_allclose(Overlap()(sets), 1 - F1().matrix(sets, sets))
    np.testing.assert_allclose(Overlap(1.0)(sets), 1 - Jaccard().matrix(sets, sets))
    assert not Overlap(0.3).is_psd
    everything = [set(s) for s in EVERYTHING]
    for penalty in (0.5, 0.8, 2.0):
        assert np.linalg.eigvalsh(Overlap(penalty)(everything)).min() > -1e-12
    with pytest.raises(ValueError, match="penalty=0 in Overlap"):
        Overlap(0)(sets)
    assert isinstance(Features().fit(LabelsBySize(), as_objects(sets)).coordinates_, np.ndarray)


@pytest.mark.parametrize("loss", [F1(), Jaccard()], ids=repr)
@pytest.mark.parametrize("learner", [RelevantWords(), LearnedMetric(diagonal=True), LinearRegression()], ids=repr)
def test_learners_without_weights_predict_what_expected_losses_need(learner, loss):
    """They predicted one number for each label, from which sizes of sets cannot be told."""
    own = np.random.default_rng(0)
    rows = (own.random((200, 20)) < 0.3).astype(float)
    sets = [{name for name, column in zip("abc", row[1:4], strict=True) if column} for row in rows]
    model = DependencyEstimator(Linear(), LabelSets(), regressor=learner, loss=loss).fit(rows[:150], sets[:150])
    assert model.score(rows[150:], sets[150:]) > -0.05
