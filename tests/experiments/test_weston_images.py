"""Weston Table 3 and Figure 2, small: the orders of the paper, the ratio of continuous pre-images, and twice the same."""

import numpy as np
import pytest

from experiments.papers.weston_completion import (
    ALIGNED,
    BEFORE,
    BEST,
    CLASS,
    FREE,
    HOPFIELD,
    KDE,
    KNN,
    LOSS,
    ORACLE,
    TOP,
    WHOLE,
    Completion,
    gradients,
    halves,
)
from experiments.papers.weston_images_pictures import DigitReader
from experiments.protocol import block_folds
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import load_usps


@pytest.fixture(scope="module")
def _digits():
    try:
        load_usps()
    except FileNotFoundError as missing:
        pytest.skip(f"the USPS digits are not here: {missing}")


@pytest.fixture(scope="module")
def table(_digits, tmp_path_factory):
    folder = tmp_path_factory.mktemp("table3")
    return folder, reproduce(experiment("weston-table3"), folder, small=True)


@pytest.fixture(scope="module")
def figure(_digits, tmp_path_factory):
    folder = tmp_path_factory.mktemp("figure2")
    return folder, reproduce(experiment("weston-figure2"), folder, small=True)


@pytest.mark.data
def test_losses_come_in_the_order_of_the_paper_and_continuous_pre_images_are_far_better(table):
    _, result = table
    found = {(row["metric"], row["method"]): row["value"] for row in result.rows if row.get("setting") == "σ′ = 7"}
    assert found[LOSS, KDE] < found[LOSS, KNN] < found[LOSS, WHOLE] < found[LOSS, HOPFIELD]
    assert found[LOSS, KDE] / found[LOSS, KNN] == pytest.approx(0.936, abs=0.03)
    assert found[LOSS, FREE] <= 0.72 * found[LOSS, KNN]
    assert found[LOSS, BEST] <= 0.70 * found[LOSS, KNN]
    assert found[LOSS, ORACLE] < found[LOSS, BEST]
    assert found[CLASS, KDE] < found[CLASS, HOPFIELD]


@pytest.mark.data
def test_before_the_pre_image_the_papers_scale_gives_the_papers_losses(table):
    _, result = table
    rows = {row["method"]: row for row in result.rows if row["metric"] == BEFORE and row["setting"] == ALIGNED}
    for name in (KDE, KNN):
        assert rows[name]["value"] == pytest.approx(rows[name]["paper"], abs=0.04)


@pytest.mark.data
def test_classes_from_the_upper_half_are_those_of_the_paper(table):
    _, result = table
    for row in result.rows:
        if row["metric"] == TOP:
            assert row["value"] == pytest.approx(row["paper"], abs=0.04)


@pytest.mark.data
@pytest.mark.parametrize("name", ["table", "figure"])
def test_a_second_run_gives_the_same_rows(name, request, tmp_path):
    _, result = request.getfixturevalue(name)
    assert reproduce(experiment(result.experiment), tmp_path, small=True).rows == result.rows


@pytest.mark.data
@pytest.mark.parametrize("name", ["table", "figure"])
def test_the_page_has_its_pictures(name, request):
    folder, result = request.getfixturevalue(name)
    page = (folder / f"{result.experiment}.html").read_text()
    assert page.count("data:image/png") >= 60
    assert "nan" not in " ".join(experiment(result.experiment).notes(result.rows))


@pytest.mark.data
def test_counts_are_of_all_test_digits_and_continuous_pre_images_are_read_best(figure):
    _, result = figure
    for pre_image in ("training half", "continuous"):
        counts = {row["method"]: row["value"] for row in result.rows if row["pre-image"] == pre_image}
        assert sum(counts.values()) == 800
    assert counts["KDE right, k-NN wrong"] > 5 * counts["k-NN right, KDE wrong"]


@pytest.mark.data
@pytest.mark.usefixtures("_digits")
def test_the_loss_before_decoding_is_the_distance_in_feature_space():
    """From weights, against the estimator's own score, which the identity operator measures in the whole space."""
    fold = Completion(block_folds(1000, 5)[1], 4.0)
    model = fold.neighbours("rkhs")
    assert fold.before_decoding(model) == pytest.approx(-model.score(fold.test_top, fold.truth), rel=1e-9)


@pytest.mark.data
@pytest.mark.usefixtures("_digits")
def test_training_never_sees_the_test_digits():
    """Other test digits change no prediction for the digits that stay."""
    splits = block_folds(1000, 5)
    whole, part = Completion(splits[0], 7.0), Completion(splits[0], 7.0)
    kept = np.arange(0, 800, 7)
    part.test_top, part.truth = part.test_top[kept], part.truth[kept]
    np.testing.assert_allclose(part.weston().predict(part.test_top), whole.weston().predict(whole.test_top)[kept])
    np.testing.assert_array_equal(part.paper()[WHOLE], whole.paper()[WHOLE][kept])


@pytest.mark.data
@pytest.mark.usefixtures("_digits")
def test_features_of_the_upper_half_do_not_look_below_it():
    digits = halves()
    assert gradients(4).shape == (1000, 4 * 4 * 8)
    np.testing.assert_array_equal(digits.whole(digits.inputs, digits.outputs)[:, :8].reshape(1000, -1), digits.inputs)


@pytest.mark.data
@pytest.mark.usefixtures("_digits")
def test_the_reader_reads_true_digits():
    digits = halves()
    reader = DigitReader(500)
    assert reader.errors(digits.inputs, digits.outputs, digits.labels) <= 40
