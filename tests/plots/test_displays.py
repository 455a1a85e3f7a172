"""Displays draw the values of the model, and refuse what they cannot draw."""

import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from mercer import AutoEstimator, CurveRidge, DependencyEstimator, NeighborsEstimator, OperatorValuedRidge
from mercer.decoders import Candidates
from mercer.estimators.html import fitted_html
from mercer.kernels import Classes, FromFunction, Gaussian, LabelSets, Linear, Subsequence
from mercer.losses import SquaredError, ZeroOne
from mercer.operators import Covariance
from mercer.plots import (
    CoverageDisplay,
    EmbeddingDisplay,
    LeaderboardDisplay,
    PathDisplay,
    PredictionGridDisplay,
    WeightsDisplay,
)

matplotlib.use("Agg")

TYPOS = ["recieve", "receeve", "recive", "seperate", "seprate", "separete"]
WORDS = 3 * ["receive"] + 3 * ["separate"]
LETTERS = Subsequence(length=2, decay=0.5).normalized()


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def vectors(rng):
    X = rng.normal(size=(120, 2))
    return X, np.stack([np.sin(X[:, 0]), X[:, 1], X[:, 0]], axis=1) + 0.1 * rng.normal(size=(120, 3))


@pytest.fixture(scope="module")
def ridge(vectors):
    return DependencyEstimator().fit(vectors[0][:80], vectors[1][:80])


@pytest.fixture(scope="module")
def speller():
    return DependencyEstimator(LETTERS, LETTERS).fit(TYPOS, WORDS)


# -- path -----------------------------------------------------------------------------------------


def test_path_draws_the_losses_of_the_estimator(ridge):
    display = PathDisplay.from_estimator(ridge)
    order = np.argsort(ridge.alphas_)
    (line,) = display.lines_
    np.testing.assert_array_equal(line.get_xdata(), ridge.alphas_[order])
    np.testing.assert_array_equal(line.get_ydata(), ridge.loo_path_[order])
    assert display.chosen_.get_xdata()[0] == ridge.alpha_
    assert (display.ax_.get_xscale(), display.ax_.get_xlabel(), display.ax_.get_ylabel()) == (
        "log",
        "alpha",
        "leave-one-out loss",
    )


def test_path_names_the_rule(vectors):
    model = DependencyEstimator(alpha="gcv").fit(*vectors)
    assert PathDisplay.from_estimator(model).ax_.get_ylabel() == "generalised cross-validation"


def test_path_of_curves_has_a_line_for_each_length(vectors):
    model = CurveRidge(lengths=[0.0, 1.0]).fit(*vectors)
    display = PathDisplay.from_estimator(model)
    assert [line.get_label() for line in display.lines_] == ["length 0", "length 1"]
    lowest = min(line.get_ydata().min() for line in display.lines_)
    assert lowest == model.loo_path_.min()


def test_path_of_neighbours_is_along_k(vectors):
    model = NeighborsEstimator(Gaussian("median"), Linear(), k="loo").fit(*vectors)
    display = PathDisplay.from_estimator(model)
    assert (display.parameter, display.chosen, display.ax_.get_xscale()) == ("k", model.k_, "linear")


def test_path_is_drawn_on_given_axes():
    _, ax = plt.subplots()
    display = PathDisplay.from_predictions([1.0, 0.1], [0.3, 0.2], ax=ax, color="black")
    assert display.ax_ is ax
    assert display.chosen == 0.1
    assert display.lines_[0].get_color() == "black"
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), [0.1, 1.0])


@pytest.mark.parametrize(
    ("values", "losses", "message"),
    [
        ([1.0], [0.1, 0.2], "values has 1 numbers and losses has 2"),
        ([], [], r"values has shape \(0,\); expected a list of finite numbers"),
        ([1.0], [np.nan], "losses has shape"),
        (["a"], [1.0], "values=\\['a'\\]; expected numbers"),
    ],
)
def test_bad_paths(values, losses, message):
    with pytest.raises(ValueError, match=message):
        PathDisplay.from_predictions(values, losses)


def test_models_without_a_path(vectors):
    with pytest.raises(NotFittedError):
        PathDisplay.from_estimator(DependencyEstimator())
    with pytest.raises(
        ValueError, match=r'has no path of losses, as nothing was chosen along one; fit it with alpha="loo"'
    ):
        PathDisplay.from_estimator(DependencyEstimator(alpha=0.1).fit(*vectors))


# -- leaderboard ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def automatic(vectors):
    return AutoEstimator(effort="fast", random_state=0).fit(vectors[0][:60], vectors[1][:60, 0])


def test_leaderboard_draws_losses_errors_and_weights(automatic):
    display = LeaderboardDisplay.from_estimator(automatic, most=4)
    rows = [row for row in automatic.leaderboard_ if row.weight > 0][:4]
    assert set(np.round([row.loss for row in rows], 12)) <= set(np.round(display.losses, 12))
    assert list(display.losses) == sorted(display.losses)
    drawn = display.points_.lines[0]
    np.testing.assert_array_equal(drawn.get_xdata(), display.losses)
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == display.names
    written = [text.get_text() for text in display.ax_.texts]
    assert written == [f"{weight:.2f}" for weight in display.weights if weight > 0]


def test_whole_leaderboard(automatic):
    display = LeaderboardDisplay.from_estimator(automatic, most=1000)
    assert display.losses.tolist() == [row.loss for row in automatic.leaderboard_]
    assert display.errors.tolist() == [row.error for row in automatic.leaderboard_]
    with pytest.raises(ValueError, match="its members are shown by LeaderboardDisplay"):
        PathDisplay.from_estimator(automatic)


def test_leaderboard_of_predictions(vectors):
    y = vectors[1]
    display = LeaderboardDisplay.from_predictions(y, {"zero": 0 * y, "near": y + 0.1}, SquaredError())
    assert display.names == ["near", "zero"]
    losses = np.sum(y**2, axis=1)
    np.testing.assert_allclose(display.losses, [0.03, losses.mean()])
    np.testing.assert_allclose(display.errors[1], losses.std(ddof=1) / np.sqrt(len(y)))


def test_bad_leaderboards(ridge):
    with pytest.raises(ValueError, match="DependencyEstimator has no leaderboard_; expected a fitted AutoEstimator"):
        LeaderboardDisplay.from_estimator(ridge)
    with pytest.raises(ValueError, match=r"predictions=\{\}; expected a dict"):
        LeaderboardDisplay.from_predictions("ab", {}, ZeroOne())
    with pytest.raises(ValueError, match="expected one prediction for each"):
        LeaderboardDisplay.from_predictions("ab", {"one": "a"}, ZeroOne())


# -- coverage -------------------------------------------------------------------------------------


def test_coverage_of_boxes(vectors):
    (X, y) = vectors
    model = OperatorValuedRidge().fit(X[:80], y[:80])
    display = CoverageDisplay.from_estimator(model, X[80:], y[80:], levels=[0.9, 0.5])
    np.testing.assert_array_equal(display.asked, [0.5, 0.9])
    expected = [model.predict_interval(X[80:], c, simultaneous=True).contains(y[80:]).mean() for c in (0.5, 0.9)]
    np.testing.assert_array_equal(display.line_.get_ydata(), expected)
    assert display.size == 40
    assert display.sizes[0] < display.sizes[1]


def test_coverage_of_sets(speller):
    X, y = ["recieve", "sepparate", "recve", "zzz"], ["receive", "separate", "separate", "receive"]
    display = CoverageDisplay.from_estimator(speller, X, y, levels=[0.6])
    sets = speller.predict_set(X, 0.6)
    expected = np.mean([truth in list(found.objects) for truth, found in zip(y, sets, strict=True)])
    assert display.measured.tolist() == [expected]
    assert display.sizes.tolist() == [np.mean([len(found.objects) for found in sets])]


def test_coverage_of_label_sets_does_not_depend_on_the_order_of_labels():
    X, y = np.arange(8.0)[:, None], [["a", "b"], ["a"]] * 4
    model = DependencyEstimator(output_kernel=LabelSets()).fit(X, y)
    same = CoverageDisplay.from_estimator(model, X, y, levels=[0.5])
    turned = CoverageDisplay.from_estimator(model, X, [each[::-1] for each in y], levels=[0.5])
    assert same.measured.tolist() == turned.measured.tolist() != [0.0]


def test_bad_coverage(speller):
    with pytest.raises(ValueError, match="there are 1 sets and y_true has 2 objects"):
        CoverageDisplay.from_predictions(["a", "b"], {0.5: [["a"]]})
    with pytest.raises(ValueError, match=r"regions=\[\]; expected a dict"):
        CoverageDisplay.from_predictions(["a"], [])
    with pytest.raises(ValueError, match="levels has shape"):
        CoverageDisplay.from_estimator(speller, TYPOS, WORDS, levels=[])


# -- grids of predictions ---------------------------------------------------------------------------


def test_curves_with_bands(vectors):
    X, y = vectors
    model = CurveRidge().fit(X[:80], y[:80])
    display = PredictionGridDisplay.from_estimator(model, X[80:], y[80:], most=5, coverage=0.8, columns=3)
    assert display.axes_.shape == (2, 3)
    true, predicted = display.axes_[0, 1].lines
    np.testing.assert_array_equal(true.get_ydata(), y[81])
    np.testing.assert_array_equal(predicted.get_ydata(), model.predict(X[80:85])[1])
    lower, upper = model.predict_interval(X[80:85], 0.8, simultaneous=True)
    edge = display.axes_[0, 1].collections[0].get_paths()[0].vertices[:, 1]
    assert edge.min() == lower[1].min()
    assert edge.max() == upper[1].max()
    assert not display.axes_[1, 2].get_visible()


def test_images(rng):
    images = rng.random((4, 6, 5))
    display = PredictionGridDisplay.from_predictions(
        images, images[::-1], inputs=images[:, :3], input_picture=lambda x: x
    )
    assert display.axes_.shape == (3, 4)
    np.testing.assert_array_equal(display.axes_[2, 0].images[0].get_array(), images[3])
    np.testing.assert_array_equal(display.axes_[0, 1].images[0].get_array(), images[1, :3])


def test_rows_become_images_by_picture(rng):
    rows = rng.random((2, 6))
    display = PredictionGridDisplay.from_predictions(None, rows, picture=lambda y: y.reshape(2, 3))
    np.testing.assert_array_equal(display.axes_[0, 1].images[0].get_array(), rows[1].reshape(2, 3))


def test_text_of_predictions(speller):
    display = PredictionGridDisplay.from_estimator(speller, ["recve", "seperat"], WORDS[2:4], candidates=WORDS)
    written = [[ax.texts[0].get_text() for ax in line] for line in display.axes_]
    assert written == [["recve", "seperat"], ["receive", "separate"], ["receive", "separate"]]


def test_molecules_and_graphs():
    pytest.importorskip("rdkit")
    networkx = pytest.importorskip("networkx")
    display = PredictionGridDisplay.from_predictions(["CCO"], ["CCN"], kind="molecules")
    shapes = [line[0].images[0].get_array().shape for line in display.axes_]
    assert shapes == [(300, 360, 3)] * 2
    true, predicted = (line[0].images[0].get_array() for line in display.axes_)
    assert not np.array_equal(true, predicted)
    graph = networkx.path_graph(4)
    display = PredictionGridDisplay.from_predictions([graph], [graph])
    assert display.kind == "graphs"
    assert len(display.axes_[0, 0].collections[0].get_offsets()) == 4
    with pytest.raises(ValueError, match="is not a molecule that rdkit reads"):
        PredictionGridDisplay.from_predictions(None, ["no molecule"], kind="molecules")


def test_bad_grids(rng):
    rows = rng.random((2, 6))
    with pytest.raises(ValueError, match="y_pred has 2 objects and y_true has 1"):
        PredictionGridDisplay.from_predictions(rows[:1], rows)
    with pytest.raises(ValueError, match="y_pred is empty"):
        PredictionGridDisplay.from_predictions(None, [])
    with pytest.raises(ValueError, match="kind='pictures'; expected 'auto', 'images'"):
        PredictionGridDisplay.from_predictions(rows, rows, kind="pictures")
    with pytest.raises(
        ValueError, match=r"an image has shape \(6,\); expected rows × columns. Reshape the outputs, by picture="
    ):
        PredictionGridDisplay.from_predictions(rows, rows, kind="images")
    with pytest.raises(ValueError, match="intervals are drawn around curves, and these are text"):
        PredictionGridDisplay.from_predictions(None, ["a"], intervals=(rows, rows))


# -- embedding --------------------------------------------------------------------------------------


@pytest.mark.parametrize("operator", [None, Covariance()])
def test_points_of_vectors_are_their_principal_components(vectors, operator):
    """Under the linear kernel the picture is that of ordinary principal components."""
    X, y = vectors
    model = DependencyEstimator(**({} if operator is None else {"operator": operator})).fit(X[:80], y[:80])
    display = EmbeddingDisplay.from_estimator(model, X[80:], y[80:])
    mean = y[:80].mean(axis=0)
    _, sizes, directions = np.linalg.svd(y[:80] - mean, full_matrices=False)
    expected = (y[:80] - mean) @ directions[:2].T
    signs = np.sign(np.sum(expected * display.outputs, axis=0))
    np.testing.assert_allclose(display.outputs, expected * signs, atol=1e-7)
    np.testing.assert_allclose(display.points, (model.predict(X[80:]) - mean) @ directions[:2].T * signs, atol=1e-6)
    np.testing.assert_allclose(display.truth, (y[80:] - mean) @ directions[:2].T * signs, atol=1e-7)
    np.testing.assert_allclose(display.variance, sizes[:2] ** 2 / np.sum(sizes**2))
    assert len(display.lines_.get_segments()) == 40


def test_points_of_objects(speller):
    display = EmbeddingDisplay.from_estimator(speller, ["recve", "seperat"], ["receive", "separate"], labels=["r", "s"])
    distances = np.linalg.norm(display.points[:, None] - display.truth, axis=2)
    assert distances.argmin(axis=1).tolist() == [0, 1]
    np.testing.assert_allclose(display.points_.get_offsets(), display.points)


def test_embedding_takes_some_of_many_outputs(vectors):
    model = DependencyEstimator().fit(*vectors)
    assert EmbeddingDisplay.from_estimator(model, vectors[0], most=50).outputs.shape == (50, 2)


def test_embedding_of_predictions():
    words = ["receive", "separate", "review", "relieve"]
    display = EmbeddingDisplay.from_predictions(words, [*words[:3], "review"], LETTERS)
    np.testing.assert_allclose(display.points[:3], display.outputs[:3], atol=1e-12)
    np.testing.assert_allclose(display.points[3], display.outputs[2], atol=1e-12)


def test_bad_embeddings(speller):
    with pytest.raises(ValueError, match="X has 1 objects and y has 2"):
        EmbeddingDisplay.from_estimator(speller, ["a"], ["a", "b"])
    with pytest.raises(ValueError, match="y_true has 3 objects and y_pred has 1"):
        EmbeddingDisplay.from_predictions(["a", "b", "c"], ["a"], LETTERS)
    with pytest.raises(ValueError, match="there are 2 outputs; expected at least three"):
        EmbeddingDisplay.from_predictions(["a", "b"], ["a", "b"], LETTERS)


# -- weights ------------------------------------------------------------------------------------------


def test_weights_draw_the_shares_of_the_explanation(speller):
    display = WeightsDisplay.from_estimator(speller, "recve", k=4)
    explanation = speller.explain("recve", k=4)
    assert [bar.get_width() for bar in display.bars_] == [one.share for one in explanation.carriers]
    assert display.labels == [f"{one.input} → {one.output}" for one in explanation.carriers]
    assert display.ax_.get_title() == "recve → receive"
    assert f"{explanation.rest:.1%}" in display.ax_.get_xlabel()


def test_weights_for_and_against_differ_in_colour():
    model = DependencyEstimator(Subsequence(2), Classes(), alpha=0.1).fit(["aab", "bba", "abb"], ["x", "y", "x"])
    display = WeightsDisplay.from_predictions(model.explain("aab"), show=str.upper)
    assert display.ax_.get_title() == "AAB → X"
    colours = {bar.get_facecolor() for bar, share in zip(display.bars_, display.shares, strict=True) if share < 0}
    assert len(colours) <= 1
    with pytest.raises(TypeError, match="expected the answer of model.explain"):
        WeightsDisplay.from_predictions([0.1, 0.2])


# -- without matplotlib -----------------------------------------------------------------------------------


def test_missing_matplotlib_is_named_with_its_extra():
    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.pyplot'] = None\n"
        "from mercer.plots import PathDisplay\n"
        "try: PathDisplay.from_predictions([1.0], [1.0])\n"
        "except ImportError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found.strip() == "displays need matplotlib; run 'pip install mercer[plots]'"


# -- HTML of fitted models ---------------------------------------------------------------------------------


def test_html_shows_parts_reasons_and_the_path(ridge):
    html = ridge._repr_html_()
    assert "ClosedForm()" in html
    assert ridge.reasons_["solver"].split(",")[0] in html
    assert f"<b>{ridge.alpha_:.3g}</b>" in html
    assert html.count('<span style="display:inline-block') == len(ridge.alphas_)
    assert "What was learned" not in DependencyEstimator()._repr_html_()
    assert "What was learned" in ridge._repr_mimebundle_()["text/html"]


def test_html_of_other_models(automatic, vectors):
    html = automatic._repr_html_()
    assert automatic.leaderboard_[0].kernel in html
    assert automatic.reasons_["mixture"].split(":")[0] in html
    assert "length" in CurveRidge().fit(*vectors)._repr_html_()
    fixed = DependencyEstimator(alpha=0.1).fit(*vectors)._repr_html_()
    assert "Losses that were compared" not in fixed


def test_html_and_dir_compute_nothing(speller, monkeypatch):
    """scikit-learn looks at every attribute; those that take time, or are not defined for the outputs, are left alone."""

    def refuse(self):
        raise RuntimeError("computed")

    monkeypatch.setattr(type(speller), "_choose_rule", refuse)
    monkeypatch.setattr(type(speller), "_left_out_points", refuse)
    assert {"predict", "predict_proba", "candidate_rule_", "alpha_"} <= set(dir(speller))
    assert "predict_proba" not in dir(DependencyEstimator())
    html = make_pipeline(speller)._repr_html_()
    assert "input_kernel_" in html
    assert speller.classes_.tolist() == ["receive", "separate"]
    with pytest.raises(AttributeError, match="has no labels_: its outputs are not label sets"):
        speller.labels_  # noqa: B018


def test_html_is_escaped():
    def same(x, z):
        return float(x == z)

    same.__name__ = same.__qualname__ = "<i>same</i>"
    kernel = FromFunction(same)
    model = DependencyEstimator(kernel, kernel, decoder=Candidates()).fit(["a", "b", "c"], ["x", "y", "z"])
    assert "<i>same" in repr(model.output_kernel_)
    assert "<i>same" not in fitted_html(model)
