"""The chain against the enumeration of all its paths, its slopes against differences, and the classes of symbols."""

from itertools import product

import numpy as np
import pytest

from mercer.sequence_models.chain import best_paths, chain_loss, forward_sums, log_sum, shares_of_paths
from mercer.sequence_models.chain_model import OWN, SHARED, ChainModel, chunk_patterns
from mercer.sequence_models.classes import effect_classes, merged_classes
from mercer.sequence_models.inventory import Inventory
from mercer.sequence_models.steps import NEVER
from mercer.sequence_models.word_models import WordModels

rng = np.random.default_rng(0)
WORDS = ["ca", "ce", "co", "ci", "cace", "coci", "cica", "ceco", "sha", "she", "cash"]
SILENT = {"s": "S", "h": ""}


def cut(word):
    hard = [{"c": "k" if after in "ao" else "s"} | SILENT for after in word[1:] + "#"]
    return [tuple(rule.get(letter, letter)) for rule, letter in zip(hard, word, strict=True)]


@pytest.fixture(scope="module")
def parts():
    inventory = Inventory().fit(WORDS, [cut(word) for word in WORDS])
    words = [inventory.inputs_.codes(word) for word in WORDS]
    return inventory, words, [inventory.chunks_.codes(cut(word)) for word in WORDS]


@pytest.fixture(scope="module")
def model(parts):
    return ChainModel().fit(*parts, np.ones(len(WORDS), dtype=bool))


def random_chain():
    counts = np.asarray([2, 3, 1, 2])
    return rng.standard_normal((4, 3)), rng.standard_normal((4, 3, 3)), counts


def path_score(options, steps, path):
    return sum(options[i, k] + steps[i, path[i - 1] if i else 0, k] for i, k in enumerate(path))


def test_sums_and_best_paths_by_enumeration():
    options, steps, counts = random_chain()
    paths = list(product(*map(range, counts)))
    scores = np.asarray([path_score(options, steps, path) for path in paths])
    total = np.logaddexp.reduce(scores)
    assert log_sum(forward_sums(options, steps, counts)[-1, : counts[-1]]) == pytest.approx(total)
    best = best_paths(options, steps, counts, 5)
    assert [tuple(path) for path in best] == [paths[i] for i in np.argsort(-scores)[:5]]
    assert len(best_paths(options, steps, counts, 100)) == len(paths)
    shares = np.zeros_like(steps)
    for path, score in zip(paths, scores, strict=True):
        for i, k in enumerate(path):
            shares[i, path[i - 1] if i else 0, k] += np.exp(score - total)
    inside = shares > 0.0
    assert shares_of_paths(options, steps, counts) == pytest.approx(total)
    assert np.allclose(steps[inside], shares[inside])


def test_the_slope_of_the_loss():
    starts, symbols = np.asarray([0, 2, 5]), np.asarray([0, 1, 1, 0, 1])
    labels = np.asarray([[0, 1, 0, 1, 2], [0, 1, 1, 2, 0]])
    features = np.asarray([[0, 9], [3, -1], [3, 9], [-1, 9], [6, 9]])
    words, right = np.asarray([0, 3, 5]), np.asarray([0, 2, 1, 1, 0])
    ends = np.asarray([[0, 1, 1, 2, 0]])
    first_scores = np.zeros(5)
    arrays = (labels, first_scores, np.asarray([12]), np.asarray([4]), ends, starts, symbols, words, right)
    weights = rng.standard_normal(28)

    def loss(values):
        slope = np.zeros(28)
        return chain_loss(values, features, 1, *arrays, slope), slope

    moves = 1e-6 * np.eye(28)
    naive = [(loss(weights + move)[0] - loss(weights - move)[0]) / 2e-6 for move in moves]
    assert np.allclose(loss(weights)[1], naive, atol=1e-6)


def test_probabilities_of_all_rows_sum_to_one_and_the_search_is_exact(model):
    for word in ("cocas", "sace", "shi"):
        reading = model.read(word)
        every = np.asarray(list(product(*reading.options)))
        scores = model.score(reading, every)
        assert np.exp(scores).sum() == pytest.approx(1.0)
        beam = model.beam(model.read(word), 1000)
        assert {tuple(row) for row in beam} == {tuple(row) for row in every}
        assert np.allclose(model.score(reading, beam), np.sort(scores)[::-1])


def test_rules_are_learned_and_unknown_symbols_pass(model):
    assert [model.inventory_.spell(model.beam(model.read(word), 1)[0]) for word in ("cocace", "cice", "?ca")] == [
        tuple("kokase"),
        tuple("sise"),
        tuple("ka"),
    ]


def test_a_chunk_that_a_symbol_never_stood_for(model):
    reading = model.read("ca")
    never = model.inventory_.chunks_.codes([("e",)])[0]
    row = model.beam(model.read("ca"), 1)[0]
    wrong = np.asarray([row[0], never])
    assert model.score(reading, wrong[None, :])[0] < model.score(reading, row[None, :])[0] + 0.5 * NEVER


def test_leaving_words_out_forgets_their_chunks(parts):
    model = ChainModel().fit(*parts, np.asarray(["h" not in word for word in WORDS]))
    assert [len(options) for options in model.read("cha").options] == [2, 1, 1]
    assert model.inventory_.spell(model.beam(model.read("ha"), 5)[0]) == ("a",)


def test_going_on_with_more_words_learns_their_chunks(parts, model):
    later = ChainModel().fit(*parts, np.asarray(["h" not in word for word in WORDS]))
    rows = {word: model.beam(model.read(word), 1) for word in ("cha", "shi", "sace")}
    before = later.score(later.read("cha"), rows["cha"])[0]
    later.solve(np.ones(len(WORDS), dtype=bool))
    for word, row in rows.items():
        assert np.array_equal(later.beam(later.read(word), 1), row)
        assert later.score(later.read(word), row)[0] == pytest.approx(model.score(model.read(word), row)[0], abs=0.2)
    assert later.score(later.read("cha"), rows["cha"])[0] > before


def test_templates_that_matter_are_penalised_less(parts):
    plain, adapted = (ChainModel(passes=passes).fit(*parts, np.ones(len(WORDS), dtype=bool)) for passes in (0, 2))
    assert np.linalg.norm(adapted.weights_) > np.linalg.norm(plain.weights_)
    assert len({tuple(template) for template in OWN}) == len(OWN)
    assert len({tuple(template) for template in SHARED}) == len(SHARED)


def test_patterns_replace_the_own_sound():
    assert chunk_patterns([("a",), ("aː",), ("a", "j")], [3, 2, 1]) == ["*", "*ː", "*j"]
    assert chunk_patterns([()], [4]) == ["="]
    assert chunk_patterns([], []) == []


def test_classes_by_evidence():
    groups = np.asarray([0, 0, 1, 1])
    counts = np.asarray([[9, 0, 4, 0], [12, 1, 0, 0], [0, 8, 0, 6], [0, 11, 0, 0], [0, 0, 0, 0]])
    found = merged_classes(counts, groups)
    assert found[0] == found[1] != found[2] == found[3]
    assert merged_classes(np.zeros((2, 0)), np.zeros(0, dtype=np.int64)).tolist() == [0, 0]


def test_series_are_found_from_what_follows():
    words = [np.asarray([consonant, vowel]) for consonant in range(6) for vowel in (6, 7, 8)] * 3
    cuts = [np.asarray([word[0], 10 + 2 * word[1] + word[0] % 2]) for word in words]
    found = effect_classes(words, cuts, 9, -1)
    assert len({found[0], found[2], found[4]}) == len({found[1], found[3], found[5]}) == 1
    assert found[0] != found[1]


def test_scores_of_words(parts):
    inventory, words, cuts = parts
    models = WordModels().fit(inventory, words, cuts)
    found = models.score(words[4], np.stack([cuts[4], cuts[4][[2, 1, 2, 1]]]))
    assert found[0, -1] == 4.0
    assert found[0, 0] > found[1, 0]
