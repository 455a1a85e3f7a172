"""Weston Table 2, small: the digits are read, k-NN is beaten, better kernels are better, and twice gives the same."""

import numpy as np
import pytest

from experiments.papers.weston_classifiers import OneVersusRest, kernel_classes, neighbour_classes, support_vectors
from experiments.papers.weston_recipes import CHOSEN, PIXELS, RECIPES, STEPS, Recipe, slants
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import load_usps
from mercer.kernels import Gaussian
from mercer.kernels.images import deslanted


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    try:
        load_usps()
    except FileNotFoundError as missing:
        pytest.skip(f"the USPS digits are not here: {missing}")
    folder = tmp_path_factory.mktemp("table2")
    return folder, reproduce(experiment("weston-table2"), folder, small=True)


@pytest.mark.data
def test_errors_are_plausible(small):
    _, result = small
    found = {(row["method"], row["on"]): row["value"] for row in result.rows}
    assert found["KDE", PIXELS] < found["k-NN", PIXELS]
    assert found["1-vs-rest SVM", PIXELS] < found["k-NN", PIXELS]
    assert found["KDE", PIXELS] == pytest.approx(0.093, abs=0.03)
    assert found["KDE", CHOSEN] <= 0.035
    assert {row["on"] for row in result.rows} == set(STEPS)
    assert {row["edition"] for row in result.rows if "paper" in row} == {"NIPS", "report"}


@pytest.mark.data
def test_a_second_run_gives_the_same_rows(small, tmp_path):
    _, result = small
    assert reproduce(experiment("weston-table2"), tmp_path, small=True).rows == result.rows


@pytest.mark.data
def test_the_page_shows_the_ladder_and_the_digits_misread(small):
    folder, result = small
    page = (folder / "weston-table2.html").read_text()
    assert "Gain of each choice" in page
    assert page.count("data:image/png") > 10
    for note in experiment("weston-table2").notes(result.rows):
        assert "nan" not in note


@pytest.mark.data
def test_the_digits_of_the_files_are_upright_already():
    """Why deslanting buys nothing here."""
    try:
        images = load_usps().images[:200]
    except FileNotFoundError as missing:
        pytest.skip(f"the USPS digits are not here: {missing}")
    assert np.mean(np.abs(slants(images))) < 0.005


def test_slants_are_those_that_deslanting_removes():
    rng = np.random.default_rng(0)
    images = np.zeros((3, 16, 16))
    for image, lean in zip(images, (-0.4, 0.1, 0.5), strict=True):
        for r in range(3, 13):
            image[r, round(7.5 + lean * (r - 7.5))] = rng.uniform(0.9, 1.0)
    assert np.all(np.abs(slants(deslanted(images))) < 0.1 * np.max(np.abs(slants(images))))


def test_recipes_stand_side_by_side():
    images = np.random.default_rng(1).standard_normal((4, 16, 16))
    both = Recipe(views=("plain", "blurred")).features(images)
    np.testing.assert_array_equal(both[:, :128], Recipe().features(images))
    assert len(set(RECIPES)) == len(RECIPES)


@pytest.fixture
def clouds():
    rng = np.random.default_rng(2)
    y = np.repeat([3, 5, 8], 15)
    return rng.standard_normal((45, 2)) + 4.0 * np.array([[0, 0], [1, 0], [0, 1]])[np.repeat([0, 1, 2], 15)], y


@pytest.mark.parametrize(
    "learn", [kernel_classes, neighbour_classes, lambda X, y: support_vectors(X, y, 0)], ids=["KDE", "k-NN", "SVM"]
)
def test_classifiers_tell_three_clouds_apart(learn, clouds):
    X, y = clouds
    assert np.mean(learn(X[::2], y[::2]).predict(X[1::2]) != y[1::2]) <= 0.1


def test_the_machines_have_squared_errors(clouds):
    """A ridge on the diagonal and a hard margin: at the optimum each slack is ridge times its multiplier."""
    X, y = clouds
    model = OneVersusRest(Gaussian(1.0), ridge=0.5).fit(X, y)
    machine, sign = model.machines_[0], np.where(y == model.classes_[0], 1.0, -1.0)
    multipliers = np.zeros(len(y))
    multipliers[machine.support_] = np.abs(machine.dual_coef_[0])
    slack = 1.0 - sign * machine.decision_function(Gaussian(1.0)(X))
    np.testing.assert_allclose(slack[multipliers > 0], 0.5 * multipliers[multipliers > 0], atol=5e-3)
