"""Strings → strings: the generator, the methods against the library's estimators, and the small experiment."""

import warnings
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from experiments.papers.toy_strings import CLEAN, likeliest_class, make_string_pairs
from experiments.papers.weston_strings_methods import (
    METRICS,
    RULES,
    Task,
    bell,
    decomposed,
    kde_losses,
    neighbour_losses,
    nested,
    parts,
)
from experiments.papers.weston_strings_recipe import ALPHAS, CLASS_WEIGHTS, STEPS, Recipes
from experiments.protocol import paper_estimator
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer import NeighborsEstimator
from mercer.core.arrays import NumericalWarning
from mercer.decoders import Candidates
from mercer.embeddings import PrincipalComponents
from mercer.kernels import GaussianOf, Subsequence

OUT = RULES.index("left out")


@pytest.fixture(scope="module")
def task():
    return Task(make_string_pairs(60, random_state=3))


@pytest.fixture(scope="module")
def split():
    test = parts(60, 4, [0])[0]
    return np.setdiff1d(np.arange(60), test), test


# -- the generator ------------------------------------------------------------------------------------


def test_inputs_follow_the_three_chains():
    pairs = make_string_pairs(1500, random_state=0)
    assert {len(x) for x in pairs.inputs} == set(range(10, 16))
    assert np.allclose(np.bincount(pairs.classes) / 1500, 1 / 3, atol=0.05)
    for label, stays, letters in ((0, 0.25, "abcd"), (1, 0.7, "abcd"), (2, 0.7, "cd")):
        strings = pairs.inputs[pairs.classes == label]
        assert set("".join(strings)) == set(letters)
        steps = [a == b for x in strings for a, b in pairwise(x)]
        assert abs(np.mean(steps) - stays) < 0.03
        firsts = Counter(x[0] for x in strings)
        assert min(firsts.values()) > 0.7 * len(strings) / len(letters)


def test_outputs_have_the_noise_of_the_paper():
    pairs = make_string_pairs(4000, random_state=1)
    longer = np.array([len(y) for y in pairs.outputs]) - 4
    # insertions minus deletions, each 0, 1 or 2 with probability .55, .3, .15
    expected = {-2: 0.0825, -1: 0.21, 0: 0.415, 1: 0.21, 2: 0.0825}
    assert set(longer) == set(expected)
    for difference, share in expected.items():
        assert abs(np.mean(longer == difference) - share) < 0.025
    clean = np.array([CLEAN[label] for label in pairs.classes])
    assert 0.55**2 < np.mean(pairs.outputs == clean) < 0.45


def test_the_generator_is_seeded_and_takes_other_letters():
    one, two = (make_string_pairs(30, random_state=5) for _ in range(2))
    assert one.inputs.tolist() == two.inputs.tolist()
    assert one.outputs.tolist() == two.outputs.tolist()
    assert one.inputs.tolist() != make_string_pairs(30, random_state=6).inputs.tolist()
    letters = make_string_pairs(200, random_state=5, inserted="z").outputs
    assert set("".join(letters)) == set("abcdz")


def test_bad_arguments_of_the_generator():
    with pytest.raises(ValueError, match="n=0; expected a positive whole number"):
        make_string_pairs(0)
    with pytest.raises(ValueError, match="inserted is empty"):
        make_string_pairs(3, inserted="")


def test_likeliest_class_is_what_the_letters_say():
    # class 2 beats class 1 wherever only c and d occur and repeats are common; one a rules it out
    assert likeliest_class(["ccccdddddc", "ccccddddda", "abcdbadcad"]).tolist() == [2, 1, 0]
    pairs = make_string_pairs(1000, random_state=2)
    assert 0.02 < np.mean(likeliest_class(pairs.inputs) != pairs.classes) < 0.08


# -- the methods --------------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
def test_kde_is_the_librarys_estimator(task, split, penalty):
    from mercer.solvers import Exact

    train, test = split
    kernel, scale, gamma = Subsequence(3, 0.01).normalized(), 0.7, 0.01
    scores = kde_losses(task, np.array([scale]), np.array([gamma]), penalty)(train, test)[0, OUT]
    model = paper_estimator(
        GaussianOf(kernel, scale),
        kernel,
        embedding=PrincipalComponents(),
        decoder=Candidates(),
        solver=Exact(penalty=penalty),
        alpha=gamma * (len(train) if penalty == "function" else 1),
    )
    inputs, outputs, classes = task.pairs.inputs, task.pairs.outputs, task.pairs.classes
    predicted, weights = _predicted(model, inputs, outputs, train, test)
    _compare(scores, predicted, weights, kernel, outputs, classes, train, test)


@pytest.mark.parametrize("k", [2, 5])
def test_neighbours_are_the_librarys_estimator(task, split, k):
    train, test = split
    kernel = Subsequence(3, 0.01).normalized()
    scores = neighbour_losses(task)(train, test)[k - 1, OUT]
    model = NeighborsEstimator(kernel, kernel, k=k, decoder=Candidates())
    inputs, outputs, classes = task.pairs.inputs, task.pairs.outputs, task.pairs.classes
    predicted, weights = _predicted(model, inputs, outputs, train, test)
    _compare(scores, predicted, weights, kernel, outputs, classes, train, test)


def _predicted(model, inputs, outputs, train, test):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        model.fit(inputs[train], outputs[train])
    return model.predict(inputs[test]), model.decision_weights(inputs[test])


def _compare(scores, predicted, weights, kernel, outputs, classes, train, test):
    gram = kernel(outputs)
    position = [train[outputs[train].tolist().index(y)] for y in predicted]
    squared = np.array([gram[i, i] + gram[j, j] - 2 * gram[i, j] for i, j in zip(test, position, strict=True)])
    before = [
        gram[i, i] - 2 * w @ gram[train, i] + w @ gram[np.ix_(train, train)] @ w
        for i, w in zip(test, weights, strict=True)
    ]
    wrong = classes[position] != classes[test]
    squared = np.maximum(squared, 0)
    expected = [squared.mean(), np.sqrt(squared).mean(), np.mean(before), np.sqrt(before).mean(), wrong.mean()]
    assert np.allclose(scores, expected, atol=1e-7)


def test_one_neighbour_returns_its_output(task, split):
    train, test = split
    scores = neighbour_losses(task)(train, test)[0]
    nearest = train[np.argmin(-task.inputs[np.ix_(test, train)], axis=1)]
    wrong = np.mean(task.pairs.classes[nearest] != task.pairs.classes[test])
    assert np.allclose(scores[:, METRICS.index("class")], wrong)


def test_zero_norm_outputs_are_chosen_only_where_kept():
    pairs = make_string_pairs(40, random_state=0)
    pairs.outputs[:10] = "ab"
    task, train, test = Task(pairs), np.arange(30), np.arange(30, 40)
    # a point at the origin is nearest to what has no norm; left out, it ties with all others and the first is taken
    distances = np.tile(np.diag(task.outputs)[train], (len(test), 1))
    scores = task.losses_of_nearest(distances, np.zeros(len(test)), train, test)
    first = np.flatnonzero(task.seen)[0]
    assert np.allclose(scores[RULES.index("kept"), 0], np.diag(task.outputs)[test].mean())
    expected = 1 + np.diag(task.outputs)[test] - 2 * task.outputs[first, test]
    assert np.allclose(scores[OUT, 0], expected.mean())


def test_nested_chooses_inside_the_training_part():
    train, test = np.arange(20), np.arange(20, 25)
    seen = []

    def losses(inside, held_out):
        seen.append((inside, held_out))
        # setting 1 is better on training examples, setting 0 on the test
        good = 1 if held_out.max() < 20 else 0
        values = np.ones((2, len(RULES), len(METRICS)))
        values[good] = 0.0
        return values

    assert np.all(nested(losses, train, test, [0]) == 1.0)
    assert all(np.array_equal(np.sort(np.concatenate(pair)), train) for pair in seen[:-1])


def test_recipes_leave_one_out_is_refitting():
    task = Task(make_string_pairs(24, random_state=8))
    recipes, train = Recipes(task), np.arange(24)
    losses = recipes._leave_one_out([decomposed(gram) for gram in recipes.inputs], train)
    classes = task.pairs.classes
    for i, a, o, c in ((0, 3, 0, 0), (7, 5, 1, 1), (17, 2, 1, 2)):
        gram = recipes.outputs[o] + CLASS_WEIGHTS[c] * recipes.same
        for rule in RULES:
            wrong = []
            for j in train:
                rest = np.delete(train, j)
                inside = recipes.inputs[i][np.ix_(rest, rest)] + ALPHAS[a] * np.eye(23)
                weights = np.linalg.solve(inside, recipes.inputs[i][rest, j])
                distances = np.round(np.diag(gram)[rest] - 2 * weights @ gram[np.ix_(rest, rest)], 9)
                usable = task.seen[rest] | (rule == "kept")
                wrong.append(classes[rest[np.argmin(np.where(usable, distances, np.inf))]] != classes[j])
            assert abs(losses[rule][i, a, o, c] - np.mean(wrong)) < 1e-4


def test_the_test_part_does_not_choose_the_recipe():
    pairs = make_string_pairs(40, random_state=9)
    test = np.arange(30, 40)
    _, chosen = Recipes(Task(pairs)).tried(np.arange(30), test)
    pairs.outputs[test] = "dddd"
    pairs.classes[test] = 0
    _, again = Recipes(Task(pairs)).tried(np.arange(30), test)
    assert chosen == again
    assert len(chosen) == 5


def test_bell_is_the_gaussian_of_the_kernel(task):
    kernel = GaussianOf(Subsequence(3, 0.01).normalized(), 0.5)
    assert np.allclose(bell(task.inputs, 0.5), kernel(task.pairs.inputs))


# -- the experiment -----------------------------------------------------------------------------------


def test_small_experiment(tmp_path):
    table = experiment("weston-table1")
    result = reproduce(table, tmp_path / "one", small=True)
    rows = {(row["method"], row["metric"], row["setting"], row["reading"]): row["value"] for row in result.rows}
    for setting in ("NIPS", "report"):
        for metric, reading in (("class loss", "by string loss"), ("string loss", "squared")):
            assert rows["KDE", metric, setting, reading] < rows["k-NN", metric, setting, reading]
    before = "squared, before pre-image"
    assert rows["KDE", "string loss", "NIPS", before] < rows["KDE", "string loss", "NIPS", "squared"]
    # zero-norm candidates take over, and kernels that are not normalised tell nothing apart
    plain = rows["KDE", "class loss", "NIPS", "by string loss"]
    assert rows["KDE", "class loss", "NIPS", "by string loss, zero norm kept"] > plain + 0.1
    assert rows["KDE", "class loss", "report", "not normalised"] > 0.5
    best = rows[STEPS[4].name, "class loss", "ours", "by class loss"]
    assert rows["the true class model", "class loss", "floor", ""] < best < plain
    assert table.notes(result.rows)
    page = (tmp_path / "one" / "weston-table1.html").read_text()
    for text in ("Gain of each choice", "Readings", "Outputs of zero norm", "Examples"):
        assert text in page


def test_same_seed_same_losses():
    table = experiment("weston-table1")
    piece = table.pieces(small=True)[0]
    piece.settings["n"] = 40
    assert table.run(piece) == table.run(piece)
