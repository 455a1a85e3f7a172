"""Methods of the comparison, each on tiny problems of the kinds it can do."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from experiments.fingerprint import imported_modules
from experiments.rivals.methods.targets import Targets
from experiments.rivals.methods.windows import aligned
from experiments.rivals.problem import (
    CLASSES,
    CURVES,
    DICTIONARY,
    INFLECTION,
    LABELS,
    RANKINGS,
    TABLES,
    TRANSDUCTION,
    VECTORS,
    Problem,
)
from experiments.rivals.registry import METHODS
from experiments.rivals.scores import SCORES
from experiments.rivals.spelling import misspelled
from mercer.losses import F1, Kendall

SLOW = ("RealMLP", "xRFM", "CatBoost")  # one kind of task each: seconds
CASES = [
    (name, kind)
    for name, method in METHODS.items()
    if method.module != "auto"
    for kind in (method.kinds if name not in SLOW else (LABELS, VECTORS) if name == "CatBoost" else (VECTORS,))
]


def problem(kind):
    random = np.random.default_rng(0)
    if kind in TABLES:
        X = random.normal(size=(80, 4))
        points = X @ random.normal(size=(4, 3)) + 0.1 * random.normal(size=(80, 3))
        y = {
            VECTORS: points,
            CURVES: points @ np.sin(np.arange(24) / 4 * np.arange(1, 4)[:, None]),
            LABELS: (points > 0.3).astype(np.int8),
            RANKINGS: points.argsort(axis=1).argsort(axis=1),
            CLASSES: points.argmax(axis=1),
        }[kind]
        return Problem(kind, X[:60], y[:60], X[60:]), y[60:]
    words = ["walk", "talk", "play", "stay", "jump", "bump", "call", "fall"]
    if kind == INFLECTION:
        return Problem(kind, [(word, "V;PST") for word in words], [f"{w}ed" for w in words], [("talk", "V;PST")]), [
            "talked"
        ]
    if kind == TRANSDUCTION:
        sounds = [[letter.upper() for letter in word] for word in words]
        return Problem(kind, words[:7], sounds[:7], ["walk", "stall"]), [["W", "A", "L", "K"], list("STALL")]
    return Problem(kind, ["wlak", "tallk", "plya"], words[:3], ["jmup", "calll"], words[3:]), ["jump", "call"]


@pytest.fixture(autouse=True)
def _few_settings(monkeypatch):
    """Keep the grids of forests and boosting short."""
    boosting = import_module("experiments.rivals.methods.boosting")
    monkeypatch.setattr(import_module("experiments.rivals.methods.forests"), "TREES", 10)
    monkeypatch.setattr(boosting, "SETTINGS", ((20, 0.2, 7), (20, 0.1, 7)))
    monkeypatch.setattr(boosting, "CAT_SETTINGS", ((20, 0.2, 3), (20, 0.1, 3)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_method_is_better_than_the_plainest_guess(name, kind):
    method = METHODS[name]
    if method.missing:
        pytest.skip(f"needs {method.missing}")
    given, truth = problem(kind)
    predicted = method.load()(given)
    assert len(predicted) == len(truth)
    found = SCORES[kind].loss(given.y, truth, predicted)
    if kind in TABLES:
        plain = np.tile(_guess(given), (len(truth), *[1] * (np.ndim(truth) - 1)))
        assert found < SCORES[kind].loss(given.y, truth, plain)
    elif name != "DependencyEstimator":  # with defaults, a handful of words is not enough
        assert found <= 0.5


def _guess(given):
    """Return the most frequent output, or the mean of numbers."""
    if given.kind in (VECTORS, CURVES):
        return given.y.mean(axis=0)
    values, counts = np.unique(given.y, axis=0, return_counts=True)
    return values[counts.argmax()]


def test_pieces_of_rivals_do_not_depend_on_the_library():
    for method in METHODS.values():
        used = {name for name in imported_modules(method.path) if name.startswith("mercer")}
        assert bool(used) == (method.module in ("auto", "dependency")), method.name


def test_every_method_states_its_settings():
    for method in METHODS.values():
        text = method.path.read_text(encoding="utf-8")
        assert f"def {method.function}(problem: Problem)" in text
        assert len(method.load().__doc__ or "") > 30, method.name


def test_scores_are_those_of_the_library():
    random = np.random.default_rng(1)
    one, two = (random.random((20, 5)) > 0.7 for _ in range(2))
    one[0] = two[0] = False
    np.testing.assert_allclose(SCORES[LABELS].values(None, one * 1, two * 1), 1 - F1().paired(one * 1, two * 1))
    one, two = (random.random((20, 5)).argsort(axis=1) for _ in range(2))
    np.testing.assert_allclose(SCORES[RANKINGS].values(None, one, two), 1 - 2 * Kendall().paired(one, two))


def test_outputs_come_back_from_their_rows():
    for kind in TABLES:
        given, _ = problem(kind)
        for components in (False, True):
            targets = Targets(given, components)
            found = targets.outputs(targets.rows, targets.rows)
            kept = given.y.any(axis=1) if kind == LABELS else slice(None)  # no predicted label set is empty
            np.testing.assert_allclose(found[kept], given.y[kept], atol=0.2)
    with pytest.raises(ValueError, match="held_out is missing"):
        Targets(problem(LABELS)[0]).outputs(np.zeros((2, 3)))


def test_alignment_cuts_every_output_and_refuses_what_is_too_long():
    words, sounds = ["shed", "shy", "she", "hey"], ["Sed", "Si", "Se", "hei"]
    cuts = aligned(words, sounds)
    assert ["".join("".join(chunk) for chunk in cut) for cut in cuts] == sounds
    assert aligned(["a"], ["xxxx"]) == [None]


def test_no_misspelled_word_trains_and_tests():
    words = [f"{a}{b}{c}{d}e" for a in "abcdefgh" for b in "aeiouyij" for c in "klmnopqrst" for d in "abcdefghij"]
    train, test, candidates = misspelled(words)
    assert not set(train[1]) & set(candidates)
    assert set(test[1]) <= set(candidates)
    assert (len(train[0]), len(test[0]), len(candidates)) == (500, 500, 5000)
    with pytest.raises(ValueError, match="words has 8 words"):
        misspelled([f"{a}word" for a in "abcdefgh"])


def test_method_files_are_where_the_registry_says():
    folder = Path(import_module("experiments.rivals.methods").__file__).parent
    assert {method.path.parent for method in METHODS.values()} == {folder}
    assert problem(DICTIONARY)[0].candidates
