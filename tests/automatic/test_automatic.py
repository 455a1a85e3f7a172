"""AutoEstimator: all answers for all kinds, invariances, noise, weights, groups, time and interrupts."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import AutoEstimator, NumericalWarning
from mercer.automatic import Leaderboard
from mercer.automatic.search import EFFORTS, Search
from mercer.losses import F1, EditDistance, Hamming, Jaccard, SquaredError, ZeroOne

rng = np.random.default_rng(0)
X = rng.standard_normal((24, 3))
NEW = rng.standard_normal((4, 3))
Y = np.column_stack([X[:, 0], X[:, 0] * X[:, 1]]) + 0.1 * rng.standard_normal((24, 2))
TEXTS = ["".join("abc"[i] for i in rng.integers(0, 3, 6)) for _ in range(24)]
NEW_TEXTS = ["abcabc", "ccc", "ba", "aaaaab"]
SETS = [frozenset(text[:2]) for text in TEXTS]
TABLE = pd.DataFrame({"size": np.where(X[:, 0] > 1, np.nan, X[:, 0]), "city": [text[0] for text in TEXTS]})
WORDS = sparse.csr_array((rng.random((24, 30)) < 0.2).astype(float))
FAST = AutoEstimator(effort="fast")

KINDS = {
    "numbers": (X, Y[:, 0], NEW),
    "vectors": (X, Y, NEW),
    "curves": (X, np.outer(X[:, 0], np.sin(np.linspace(0, 3, 16))) + X[:, [1]], NEW),
    "images": (X, X[:, :1, None] * np.ones((2, 2)) + 0.1 * rng.standard_normal((24, 2, 2)), NEW),
    "classes": (X, np.where(X[:, 0] > 0, "up", "down"), NEW),
    "label sets": (TEXTS, SETS, NEW_TEXTS),
    "indicator rows": (X, (X > 0).astype(int), NEW),
    "rankings": (X, np.argsort(X, axis=1), NEW),
    "strings": (TEXTS, [text[::-1] for text in TEXTS], NEW_TEXTS),
    "sequences": (X, [tuple(text) for text in TEXTS], NEW),
    "trees": (X, [("S", ("A", text[0]), ("B", text[1])) for text in TEXTS], NEW),
    "a table": (TABLE, Y[:, 0], TABLE[:4]),
    "sparse rows": (WORDS, Y, WORDS[:4]),
    "sparse labels": (X, sparse.csr_array((X > 0).astype(int)), NEW),
}
MODELS: dict = {}


def quiet(model, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        return model.fit(*args, **kwargs)


def model_of(kind):
    if kind not in MODELS:
        MODELS[kind] = quiet(clone(FAST), *KINDS[kind][:2])
    return MODELS[kind]


def listed(predicted):
    return [repr(each) for each in (predicted.toarray() if sparse.issparse(predicted) else predicted)]


# -- all answers for all kinds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")
def test_every_answer(kind):
    inputs, y, new = KINDS[kind]
    model = model_of(kind)
    assert len(listed(model.predict(new))) == 4
    assert [len(found.scores) for found in model.rank(new, 2)] == [2] * 4
    assert len(model.predict_set(new, 0.8)) == 4
    assert np.all((model.abstention_score(new) >= 0) & (model.abstention_score(new) <= 1))
    assert model.decision_weights(new).shape == (4, 24)
    with_mean = model.kinds_["outputs"] != "label sets"
    if with_mean and model.map_.weights(model._inputs_of(new)) is not None:  # else of least norm
        assert np.allclose(model.decision_weights(new).sum(axis=1), 1.0)
    one = new.iloc[:1] if kind == "a table" else new[[0]].toarray()[0] if kind == "sparse rows" else new[0]
    if kind != "a table":
        assert model.explain(one).carriers
    assert np.isfinite(model.score(inputs, y))
    assert model.score(inputs, y) <= 0
    assert np.isfinite(model.left_out_loss_)
    assert set(model.reasons_) >= {"inputs", "outputs", "loss", "decoder", "mixture"}
    assert sum(row.weight for row in model.leaderboard_) == pytest.approx(1.0)
    assert [row.loss for row in model.leaderboard_] == sorted(row.loss for row in model.leaderboard_)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_models_predict_the_same(kind, tmp_path):
    model, new = model_of(kind), KINDS[kind][2]
    same = mercer.load(mercer.save(model, tmp_path / "model.skops"))
    assert listed(same.predict(new)) == listed(model.predict(new))
    assert str(same.leaderboard_) == str(model.leaderboard_)


def test_the_leaderboard():
    board = model_of("numbers").leaderboard_
    assert isinstance(board, Leaderboard)
    assert str(board).startswith("learner")
    assert len(board) == len(list(board)) == len(board.to_dicts()) == board._repr_html_().count("<tr>") - 1
    assert {"mean output", "extra trees", "ridge"} <= {row.learner for row in board}
    assert board[0].loss <= board[-1].loss


def test_nothing_is_known_before_a_fit():
    for call in (lambda: FAST.predict(X), lambda: FAST.loss_, lambda: FAST.rank(X), lambda: FAST.score(X, Y)):
        with pytest.raises(NotFittedError):
            call()


@pytest.mark.parametrize("effort", list(EFFORTS))
def test_every_effort(effort, monkeypatch):
    small = {"seconds": 0.05, "trees": 10}
    monkeypatch.setitem(EFFORTS, effort, type(EFFORTS[effort])(**vars(EFFORTS[effort]) | small))
    model = AutoEstimator(effort=effort).fit(X, Y)
    tried = {row.learner for row in model.leaderboard_}
    assert "extra trees" in tried
    assert ("random forest, 0.33 of the columns" in tried) == (effort != "fast")


# -- scikit-learn ---------------------------------------------------------------------------------------------------


def test_asking_for_probabilities_changes_nothing():
    model = quiet(clone(FAST), *KINDS["classes"][:2])
    before = dict(vars(model))
    model.predict_proba(NEW)
    assert vars(model) == before


def test_pipelines_and_searches():
    model = make_pipeline(StandardScaler(), clone(FAST)).fit(X, Y[:, 0])
    assert np.allclose(model.predict(NEW), model_of("numbers").predict(NEW), atol=0.01)
    search = GridSearchCV(clone(FAST), {"time_limit": [1e-9, None]}, cv=2, error_score="raise").fit(X, Y[:, 0])
    assert search.best_score_ < 0
    predicted = cross_val_predict(clone(FAST), TEXTS, SETS, cv=2)
    assert all(isinstance(each, frozenset | set) for each in predicted)
    model = clone(FAST).set_params(loss=SquaredError(), random_state=3)
    assert repr(clone(model)) == repr(model) == "AutoEstimator(loss=SquaredError(), effort='fast', random_state=3)"


def test_frames_of_outputs_keep_their_names():
    predicted = clone(FAST).fit(X, pd.DataFrame(Y, columns=["a", "b"])).predict(NEW)
    assert list(predicted.columns) == ["a", "b"]
    assert np.allclose(predicted, model_of("vectors").predict(NEW))


# -- invariances --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("constant", [1.0, 1e3])
@pytest.mark.parametrize("loss", [None, SquaredError()], ids=repr)
def test_a_constant_added_to_outputs_is_added_to_predictions(constant, loss):
    model = AutoEstimator(loss=loss, effort="fast")
    found = clone(model).fit(X, Y + constant).predict(NEW) - constant
    assert np.allclose(found, clone(model).fit(X, Y).predict(NEW), rtol=0, atol=1e-9 * constant)


@pytest.mark.parametrize("factors", [np.array([1e-6, 3.0]), np.array([1e30, 1e-30])])
def test_units_of_outputs_do_not_matter(factors):
    found = clone(FAST).fit(X, Y * factors)
    assert np.allclose(found.predict(NEW) / factors, model_of("vectors").predict(NEW), atol=1e-8)
    assert found.left_out_loss_ == pytest.approx(model_of("vectors").left_out_loss_)


def test_units_and_origins_of_columns_of_inputs_matter_to_kernels_of_columns_as_they_are_alone():
    scale, shift = np.array([1e4, 1e-3, 7.0]), np.array([5.0, -1.0, 0.0])
    moved = clone(FAST).fit(X * scale + shift, Y)
    losses = [
        {row.kernel: row.loss for row in model.leaderboard_ if row.learner == "ridge"}
        for model in (moved, model_of("vectors"))
    ]
    differ = {
        kernel for kernel in losses[0].keys() & losses[1].keys() if abs(losses[0][kernel] - losses[1][kernel]) > 1e-6
    }
    assert differ
    assert all("as they are" in kernel for kernel in differ)
    # others take their place
    assert moved.left_out_loss_ < 1.2 * model_of("vectors").left_out_loss_


def test_names_of_classes_do_not_matter():
    y = KINDS["classes"][1]
    other = clone(FAST).fit(X, np.where(y == "up", "b", "a")).predict(NEW)
    assert [each == "b" for each in other] == [each == "up" for each in model_of("classes").predict(NEW)]


# -- losses ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "loss"),
    [
        ("label sets", Jaccard()),
        ("indicator rows", Hamming()),
        ("indicator rows", F1()),
        ("classes", lambda a, b: 3.0 * (a != b)),
        ("strings", EditDistance()),
        ("numbers", lambda a, b: float(abs(a - b))),
        ("vectors", SquaredError()),
        ("numbers", ZeroOne()),
    ],
)
def test_the_loss_that_is_named_is_scored(kind, loss):
    inputs, y, _ = KINDS[kind]
    model = quiet(AutoEstimator(loss=loss, effort="fast"), inputs, y)
    assert model.reasons_["loss"] == "given"
    lost = model.loss_.paired(
        *(model._codec.encode(each, model.output_kernel_, "y") for each in (y, model.predict(inputs)))
    )
    assert model.score(inputs, y) == pytest.approx(-np.mean(lost))


# -- noise ------------------------------------------------------------------------------------------------------------------


def noise(kind, seed):
    """Outputs that have nothing to do with inputs, and the loss of the mean output on as many others."""
    own = np.random.default_rng(seed)
    n = 80
    inputs, new = own.standard_normal((n, 4)), own.standard_normal((400, 4))
    draw = {
        "numbers": lambda m: own.standard_normal(m),
        "classes": lambda m: own.choice(["a", "b", "c"], m, p=[0.5, 0.3, 0.2]),
        "label sets": lambda m: (own.random((m, 5)) < [0.6, 0.4, 0.3, 0.2, 0.1]).astype(int),
        "rankings": lambda m: np.argsort(np.linspace(0.0, 1.5, 4) + own.standard_normal((m, 4)), axis=1),
    }[kind]
    return inputs, draw(n), new, draw(400)


@pytest.mark.parametrize("kind", ["numbers", "classes", "label sets", "rankings"])
def test_pure_noise_is_not_learned(kind):
    lost, least = [], []
    for seed in range(3):
        inputs, y, new, truth = noise(kind, seed)
        model = quiet(AutoEstimator(effort="fast", outputs=kind), inputs, y)
        lost.append(-model.score(new, truth))
        constant = np.zeros((len(y), 1))
        mean = quiet(AutoEstimator(effort="fast", outputs=kind, time_limit=1e-9), constant, y)
        least.append(-mean.score(np.zeros((len(truth), 1)), truth))
    assert np.mean(lost) <= 1.02 * np.mean(least)


# -- weights, groups and copies -----------------------------------------------------------------------------------------------


def test_weights_of_zero_take_pairs_away():
    some = np.arange(24) < 18
    weighted = clone(FAST).fit(X, Y, sample_weight=some.astype(float))
    assert np.allclose(weighted.predict(NEW), clone(FAST).fit(X[some], Y[some]).predict(NEW), atol=1e-9)


def test_a_constant_weight_changes_nothing():
    weighted = clone(FAST).fit(X, Y, sample_weight=np.full(24, 7.0))
    assert weighted.left_out_loss_ == pytest.approx(model_of("vectors").left_out_loss_, rel=0.05)
    assert np.allclose(weighted.predict(NEW), model_of("vectors").predict(NEW), atol=0.05)


def test_pairs_that_weigh_more_are_fitted_better():
    y = X[:, 0] * np.where(np.arange(24) < 12, 1.0, -1.0)
    first = clone(FAST).fit(X, y, sample_weight=np.where(np.arange(24) < 12, 1.0, 1e-3)).predict(NEW)
    assert np.abs(first - NEW[:, 0]).mean() < 0.7 * np.abs(first + NEW[:, 0]).mean()


def test_groups_are_left_out_together():
    own = np.random.default_rng(5)
    base, y = own.standard_normal((15, 4)), own.standard_normal(15)
    copies = np.repeat(base, 4, axis=0) + 1e-3 * own.standard_normal((60, 4))
    leaky = clone(FAST).fit(copies, np.repeat(y, 4))
    grouped = clone(FAST).fit(copies, np.repeat(y, 4), groups=np.repeat(np.arange(15), 4))
    assert leaky.left_out_loss_ < 0.1
    assert grouped.left_out_loss_ > 0.7
    assert np.abs(grouped.predict(own.standard_normal((50, 4)))).mean() < 0.6
    names = clone(FAST).fit(copies, np.repeat(y, 4), groups=np.repeat([f"g{i}" for i in range(15)], 4))
    assert names.left_out_loss_ == grouped.left_out_loss_


@pytest.mark.parametrize("kind", ["numbers", "classes", "label sets", "strings", "a table", "sparse rows"])
def test_copies_leave_together(kind):
    inputs, y, _ = KINDS[kind]
    twice = np.concatenate([np.arange(24), np.arange(24)])
    rows = getattr(inputs, "iloc", inputs)
    doubled = rows[twice] if hasattr(inputs, "shape") else [inputs[i] for i in twice]
    with pytest.warns(NumericalWarning, match="are copies of others") as said:
        found = clone(FAST).fit(doubled, [y[i] for i in twice] if isinstance(y, list) else y[twice])
    assert sum("copies of others" in str(each.message) for each in said) == 1
    assert found.left_out_loss_ >= 0.5 * model_of(kind).left_out_loss_


def test_extra_outputs_can_be_predicted():
    model = AutoEstimator(effort="fast", outputs="strings", time_limit=1e-9)
    model.fit(TEXTS, TEXTS, extra_outputs=["abcabcabc"])
    assert model.decision_weights(TEXTS[:2]).shape == (2, 25)
    assert "abcabcabc" in [each for found in model.rank(TEXTS[:1], 25) for each in found.objects]
    assert set(model.predict(TEXTS)) <= {*TEXTS, "abcabcabc"}


# -- time, interrupts, words ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["numbers", "label sets", "rankings", "a table"])
def test_a_limit_too_short_for_anything_fits_one_learner_and_the_mean(kind):
    inputs, y, new = KINDS[kind]
    model = AutoEstimator(time_limit=1e-9).fit(inputs, y)
    assert len(model.leaderboard_) == 2
    assert "mean output" in {row.learner for row in model.leaderboard_}
    assert model.reasons_["stopped"] == "time_limit=1e-09 seconds"
    assert len(listed(model.predict(new))) == 4


def test_one_learner_is_drawn_to_the_mean_on_noise():
    random = np.random.default_rng(4)
    inputs, y = random.standard_normal((30, 8)), random.standard_normal((30, 2))
    predicted = AutoEstimator(time_limit=1e-9).fit(inputs, y).predict(random.standard_normal((50, 8)))
    assert np.abs(predicted - y.mean(axis=0)).max() < 0.05


@pytest.mark.parametrize("at", [1, 2, 3, 5, 9])
def test_an_interrupt_keeps_what_was_found(at, monkeypatch):
    calls, add = [], Search._add

    def interrupted(self, fit):
        calls.append(fit)
        if len(calls) == at:
            raise KeyboardInterrupt
        return add(self, fit)

    monkeypatch.setattr(Search, "_add", interrupted)
    model = clone(FAST)
    if at <= 2:  # the mean output alone is no model
        model.fitted = "as it was"
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, Y)
        assert not hasattr(model, "map_")
        return
    with pytest.warns(UserWarning, match="interrupted"):
        model.fit(X, Y)
    assert len(model.leaderboard_) == at - 1
    assert model.reasons_["stopped"] == "an interrupt"
    assert np.isfinite(model.predict(NEW)).all()
    assert len(model.predict_set(NEW, candidates=Y)) == 4


def test_an_interrupt_while_mixing_leaves_the_model_as_it_was(monkeypatch):
    model = clone(FAST).fit(X, Y)
    before = dict(vars(model))

    def interrupted(*parts):
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.automatic.estimator.mixture_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, -Y)
    assert vars(model) == before


def test_a_member_that_fails_is_left_out(monkeypatch):
    def fails(*parts):
        raise np.linalg.LinAlgError("no trees today")

    monkeypatch.setattr("mercer.learners.forest.Forest.fit", fails)
    with pytest.warns(NumericalWarning, match="a member was left out: no trees today"):
        model = clone(FAST).fit(X, Y)
    assert "extra trees" not in {row.learner for row in model.leaderboard_}


def test_lines_for_each_learner(capsys):
    AutoEstimator(effort="fast", verbose=1, time_limit=100).fit(X, Y)
    lines = capsys.readouterr().err.strip().split("\n")
    assert lines[0].startswith("mean output: left-out loss")
    assert lines[1].startswith("ridge linear: left-out loss")
    assert all("s left)" in line for line in lines)
    AutoEstimator(effort="fast", verbose=1, time_limit=None).fit(X[:9], Y[:9])
    assert "left)" not in capsys.readouterr().err
    clone(FAST).fit(X, Y)
    assert not capsys.readouterr().err


def test_the_seed_decides():
    a, b, c = (AutoEstimator(effort="fast", random_state=seed).fit(X, Y).predict(NEW) for seed in (1, 1, 2))
    assert np.array_equal(a, b)
    assert a.shape == c.shape
    assert np.array_equal(
        *(AutoEstimator(effort="fast", random_state=np.random.RandomState(3)).fit(X, Y).predict(NEW) for _ in range(2))
    )


def test_a_second_fit_forgets_pairs_held_out():
    model = clone(FAST).fit(X, Y).calibrate(NEW, Y[:4])
    model.fit(X, Y)
    assert model._held_out_ is None
    assert model.calibration_ is None


def test_a_second_fit_gives_the_same_predictions():
    model = AutoEstimator(effort="fast", random_state=0)
    first = quiet(model, X, Y).predict(X)
    np.testing.assert_allclose(quiet(model, X, Y).predict(X), first)


def test_the_order_of_the_pairs_does_not_matter_for_ridges():
    """What holds: the same order gives the same model, and another order the same left-out losses of ridges."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((24, 3))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(24)
    order = rng.permutation(24)
    one, same, moved = (
        AutoEstimator(effort="fast").fit(X[rows], y[rows]) for rows in (slice(None), slice(None), order)
    )
    assert np.array_equal(one.predict(X), same.predict(X))
    losses = [
        {entry.kernel: entry.loss for entry in model.leaderboard_ if entry.learner == "ridge"} for model in (one, moved)
    ]
    assert len(losses[0]) >= 5
    assert losses[1] == pytest.approx(losses[0], rel=1e-6)


def test_tables_whose_rows_repeat_are_answered():
    colours, names = ["red", "green", "blue"], ["rot", "gruen", "blau"]
    model = AutoEstimator(effort="fast", random_state=0).fit(colours * 40, names * 40)
    assert model.predict(colours).tolist() == names


def test_few_pairs_of_which_most_are_right_are_not_drawn_to_the_mean():
    """Fewer pairs than any test by ranks could decide for."""
    words = ["receive", "definitely", "separate"]
    typos = [
        "recieve",
        "definately",
        "seperate",
        "receve",
        "definitly",
        "separrate",
        "rceive",
        "definetely",
        "sepparate",
    ]
    model = AutoEstimator(loss=ZeroOne(), effort="fast", random_state=0).fit(typos, words * 3)
    assert model.predict(["reciive", "definittely", "separete"]).tolist() == words
