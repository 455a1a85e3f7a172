"""Estimators on frames: mixed columns as X, and frames as y."""

import numpy as np
import pandas as pd
import pytest
from expected_failures import expected_failures
from mixed_tables import frames, mixed
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import AutoEstimator, DependencyEstimator, NeighborsEstimator, OperatorValuedRidge
from mercer.kernels import Classes, Columns, Gaussian, LabelSets, Linear, Subsequence
from mercer.operators import Separable
from mercer.report import explanation_table
from mercer.solvers import LowRank
from mercer.structures import Table

LIBRARIES = ["pandas", "polars"]


def frame_of(library, columns):
    found = frames(columns)
    if library not in found:
        pytest.skip("polars is not installed")
    return found[library]


def outputs(columns):
    """A number for each row that follows from its city, its rooms and its note."""
    rows = zip(columns["city"], columns["rooms"], columns["note"], strict=True)
    return np.asarray([len(city or "") + 0.5 * rooms + 0.2 * len(note or "") for city, rooms, note in rows])


@parametrize_with_checks([DependencyEstimator(Columns(), alpha=0.1)], expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("library", LIBRARIES)
class TestMixedInputs:
    def test_fit_and_predict(self, library):
        columns = mixed(80)
        frame, y = frame_of(library, columns), outputs(columns)
        model = DependencyEstimator(Columns()).fit(frame, y)
        assert model.feature_names_in_.tolist() == list(columns)
        assert model.n_features_in_ == 6
        assert model.score(frame, y) > -0.1 * y.var()
        reference = DependencyEstimator(Columns()).fit(Table.of(columns), y).predict(Table.of(columns))
        np.testing.assert_allclose(model.predict(frame), reference, atol=1e-12)
        np.testing.assert_allclose(model.predict(frame[list(columns)[::-1]]), reference, atol=1e-12)
        fresh = frame_of(library, mixed(9, seed=7))
        assert np.isfinite(model.predict(fresh)).all()
        alone = model.predict(fresh[:1])
        np.testing.assert_allclose(alone, model.predict(fresh)[:1], atol=1e-12)

    def test_columns_that_are_not_those_of_training(self, library):
        frame = frame_of(library, mixed(20))
        model = DependencyEstimator(Columns(), alpha=0.1).fit(frame, outputs(mixed(20)))
        with pytest.raises(ValueError, match=r"X lacks the columns \['age'\]"):
            model.predict(frame[["rooms", "city", "member", "since", "note"]])

    def test_a_vector_kernel_names_the_column_and_the_cure(self, library):
        frame = frame_of(library, mixed(20))
        with pytest.raises(ValueError, match=r"X has the column 'city', which is not of numbers.*kernels.Columns\(\)"):
            DependencyEstimator().fit(frame[["rooms", "city"]], outputs(mixed(20)))
        numbers = DependencyEstimator(alpha=0.1).fit(frame[["rooms"]], outputs(mixed(20)))
        assert numbers.feature_names_in_.tolist() == ["rooms"]

    def test_selection_by_scikit_learn(self, library):
        columns = mixed(40)
        frame, y = frame_of(library, columns), outputs(columns)
        assert np.isfinite(cross_val_score(DependencyEstimator(Columns()), frame, y, cv=3)).all()
        search = GridSearchCV(DependencyEstimator(Columns()), {"input_kernel__scale": [0.3, 1.0]}, cv=2).fit(frame, y)
        assert search.best_params_["input_kernel__scale"] in (0.3, 1.0)


@pytest.mark.filterwarnings("ignore:2 of the 36 distinct outputs")  # notes of less than two letters
def test_rows_to_objects_weights_groups_and_answers(tmp_path):
    columns = mixed(40)
    frame, words = pd.DataFrame(columns), [note or "none" for note in columns["note"]]
    model = DependencyEstimator(Columns(), Subsequence(2).normalized(), alpha=0.01)
    model.fit(frame, words, sample_weight=np.arange(40.0), groups=np.arange(40) // 2)
    assert set(model.predict(frame)) <= set(words)
    for row in frame.iloc[[3]], frame.iloc[3]:
        assert str(model.explain(row)).splitlines()[0].startswith("Table(age=")
    explained = explanation_table(model.explain(frame.iloc[[3]], k=2))
    assert "Table(age=" in explained.rows[0][1]
    loaded = mercer.load(mercer.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    np.testing.assert_allclose(loaded.decision_weights(frame), model.decision_weights(frame), atol=1e-12)
    near = NeighborsEstimator(Columns(), Classes(), k=1).fit(frame, columns["rooms"])
    assert near.predict(frame).tolist() == columns["rooms"]


@pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")
def test_other_solvers_and_kernels_take_tables():
    columns = mixed(50)
    frame, y = pd.DataFrame(columns), outputs(columns)
    exact = DependencyEstimator(Columns(), alpha=0.1).fit(frame, y).predict(frame)
    low = DependencyEstimator(Columns(), alpha=0.1, solver=LowRank(tol=1e-12)).fit(frame, y).predict(frame)
    np.testing.assert_allclose(low, exact, atol=1e-6)
    double = DependencyEstimator(0.5 * Columns() + 0.5 * Columns(), alpha=0.1).fit(frame, y)
    np.testing.assert_allclose(double.predict(frame), exact, atol=1e-9)


def test_a_fit_that_fails_changes_nothing():
    frame, y = pd.DataFrame(mixed(20)), outputs(mixed(20))
    model = DependencyEstimator(Columns(), alpha=0.1).fit(frame, y)
    before = model.predict(frame)
    with pytest.raises(ValueError, match="one output for each input"):
        model.fit(frame[["age", "city"]], y[:5])
    np.testing.assert_array_equal(model.predict(frame), before)


X = np.random.default_rng(0).standard_normal((30, 3))
Y = {"up": X[:, 0] + 1.0, "down": -X[:, 0]}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "model",
    [
        DependencyEstimator(alpha=0.1),
        NeighborsEstimator(Gaussian(1.0), Linear(), k=2),
        OperatorValuedRidge(Separable(Gaussian(1.0), np.eye(2)), alpha=0.1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_frames_of_numbers_come_back_as_frames(library, model, tmp_path):
    frame = frame_of(library, Y)
    predicted = model.fit(X, frame).predict(X)
    assert type(predicted) is type(frame)
    assert list(predicted.columns) == ["up", "down"]
    score = model.score(X, frame)
    plain = model.fit(X, np.column_stack(list(Y.values())))
    assert type(plain.predict(X)) is np.ndarray
    np.testing.assert_allclose(predicted.to_numpy(), plain.predict(X), atol=1e-12)
    assert plain.score(X, np.column_stack(list(Y.values()))) == pytest.approx(score)
    model.fit(X, frame)
    loaded = mercer.load(mercer.save(model, tmp_path / "model"))
    assert list(loaded.predict(X[:2]).columns) == ["up", "down"]
    assert isinstance(model.rank(X[:1], k=2)[0].objects, np.ndarray)


@pytest.mark.parametrize("library", LIBRARIES)
def test_candidates_and_one_column(library):
    frame = frame_of(library, Y)
    model = DependencyEstimator(alpha=0.1).fit(X, frame)
    assert type(model.predict(X[:2], candidates=frame)) is type(frame)
    one = DependencyEstimator(alpha=0.1).fit(X, frame[["up"]]).predict(X[:4])
    assert one.shape == (4, 1)
    assert DependencyEstimator(alpha=0.1).fit(X, frame["up"]).predict(X[:4]).shape == (4,)


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_of_indicators_are_label_sets(library):
    frame = frame_of(library, {"a": [1, 0, 1] * 10, "b": [0, 1, 1] * 10})
    expected = DependencyEstimator(output_kernel=LabelSets(), alpha=0.1).fit(X, frame.to_numpy()).predict(X)
    got = DependencyEstimator(output_kernel=LabelSets(), alpha=0.1).fit(X, frame).predict(X)
    np.testing.assert_array_equal(got, expected)


def test_rows_of_object_frames_are_read_and_not_the_names_of_columns():
    y = pd.DataFrame(np.eye(2), columns=pd.MultiIndex.from_tuples([(7.0, 8.0), (9.0, 1.0)]), dtype=object)
    model = DependencyEstimator(Linear(), alpha=1e-9, fit_intercept=False).fit(np.eye(2), y)
    np.testing.assert_allclose(model.predict(np.eye(2)).to_numpy(), np.eye(2), atol=1e-6)
    flat = pd.DataFrame(np.eye(2), dtype=object)
    flat.columns = pd.Index([(7.0, 8.0), (9.0, 1.0)], tupleize_cols=False)
    for kernel in (Linear(), Gaussian(1.0)):
        np.testing.assert_array_equal(kernel(flat), kernel(np.eye(2)))


def test_a_row_of_a_frame_is_explained_as_a_frame_of_one_row():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=30), "c": rng.choice(["x", "y"], 30), "m": rng.random(30) < 0.5})
    model = DependencyEstimator(Columns(), Classes(), alpha=0.1).fit(X, np.where(X["a"] > 0, "p", "n"))
    row, frame = model.explain(X.iloc[3], k=3), model.explain(X.iloc[[3]], k=3)
    assert [(each.position, each.share) for each in row.carriers] == [
        (each.position, each.share) for each in frame.carriers
    ]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("estimator", [AutoEstimator(effort="fast"), DependencyEstimator(output_kernel=LabelSets())])
def test_labels_in_named_columns_come_back_so(library, estimator):
    labels = {"up": (X[:, 0] > 0).astype(int), "down": (X[:, 0] < 0).astype(int)}
    frame = frame_of(library, labels)
    model = estimator.fit(X, frame)
    found = model.predict(X)
    assert type(found) is type(frame)
    assert list(found.columns) == ["up", "down"]
    np.testing.assert_array_equal(
        np.asarray(found), estimator.fit(X, np.column_stack(list(labels.values()))).predict(X)
    )
    assert model.score(X, frame) > -1


def test_two_columns_of_one_name_are_named():
    frame = pd.DataFrame(X, columns=["a", "a", "b"])
    for estimator in AutoEstimator(), DependencyEstimator(), OperatorValuedRidge():
        with pytest.raises(ValueError, match="X has several columns called a; expected distinct names. Rename them$"):
            estimator.fit(frame, X[:, 0])


def test_gaps_in_numbers_are_named_with_what_takes_them():
    gaps = np.where(np.eye(30, 3), np.nan, X)
    with pytest.raises(ValueError, match=r"X contains NaN. Use mercer.kernels.Columns\(\) or AutoEstimator\(\)"):
        DependencyEstimator().fit(gaps, X[:, 0])


@pytest.mark.parametrize("missing", [None, pd.NA])
@pytest.mark.parametrize("estimator", [AutoEstimator(outputs="numbers"), DependencyEstimator()])
def test_missing_outputs_are_named(missing, estimator):
    y = pd.Series([missing, *range(29)], dtype="object" if missing is None else "Int64")
    with pytest.raises(ValueError, match=r"y\[0\] is .*; expected a number. Drop or fill missing entries first$"):
        estimator.fit(X, y)
