"""The parts of aligned sequences against naive twins."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from mercer.sequence_models.aligned import trust_in_scores
from mercer.sequence_models.classes import CONCENTRATION, merged_classes
from mercer.sequence_models.context_model import (
    ContextModel,
    Examples,
    Settings,
    held_out_loss,
    learn_settings,
    starting_settings,
)
from mercer.sequence_models.contexts import (
    AFTER,
    BEFORE,
    HISTORY_COLUMNS,
    INPUT_COLUMNS,
    history_contexts,
    input_contexts,
)
from mercer.sequence_models.hamming_ridge import hamming_gram, hamming_kernel, ridge_coefficients, weight_slopes
from mercer.sequence_models.inventory import Inventory, alternating_class, chunk_features, classes_through
from mercer.sequence_models.ngrams import END, NgramModel
from mercer.sequence_models.symbols import Alphabet, SequenceCodec

rng = np.random.default_rng(0)


def slope_by_differences(function, values, step=1e-5):
    moves = step * np.eye(len(values))
    return np.asarray([(function(values + move) - function(values - move)) / (2 * step) for move in moves])


def test_the_kernel_is_the_product_over_columns():
    A, B, w = rng.integers(0, 3, (5, 4)), rng.integers(0, 3, (6, 4)), rng.random(4)
    naive = [[np.prod([np.exp(-w[j]) if a[j] != b[j] else 1.0 for j in range(4)]) for b in B] for a in A]
    assert np.allclose(hamming_kernel(A, B, w), naive)
    assert np.array_equal(hamming_gram(A, w), hamming_kernel(A, A, w))


def test_the_slope_of_the_kernel():
    A, w, R = rng.integers(0, 3, (6, 4)), rng.random(4), rng.standard_normal((6, 6))
    found = weight_slopes(A, R * hamming_kernel(A, A, w))
    assert np.allclose(found, slope_by_differences(lambda w: np.sum(R * hamming_kernel(A, A, w)), w), atol=1e-6)


def random_examples():
    features = rng.standard_normal((4, 3))
    options = rng.random((20, 4)) < 0.6
    chunks = rng.integers(0, 4, 20)
    options[np.arange(20), chunks] = True
    return Examples(rng.integers(0, 3, (20, 5)), chunks, options, features, np.arange(20) // 2 % 4)


def test_the_slope_of_the_held_out_loss():
    examples = random_examples()
    values = Settings(rng.random(5) + 0.1, 0.3, 0.2, 2.0).logarithms()
    slope = held_out_loss(values, examples)[1]
    assert np.allclose(slope, slope_by_differences(lambda v: held_out_loss(v, examples)[0], values), atol=1e-5)


def test_learning_finds_the_column_that_matters():
    contexts = rng.integers(0, 3, (120, 4))
    examples = Examples(contexts, contexts[:, 2], np.ones((120, 3), dtype=bool), np.eye(3), np.arange(120) % 4)
    start = Settings(np.full(4, 0.3))
    learned = learn_settings([examples], start)
    assert np.argmax(learned.weights) == 2
    before, after = (held_out_loss(each.logarithms(), examples)[0] for each in (start, learned))
    assert after < before / 2


def test_contexts_by_hand():
    letters = Alphabet("banjot")
    vowels = np.asarray([symbol in "ao" for symbol in letters.symbols])
    left, right = np.arange(6) // 2, np.arange(6) % 2
    rows = input_contexts(letters.codes("banjo"), vowels, left, right)
    n = dict(zip(INPUT_COLUMNS, rows[2], strict=True))
    code = dict(zip(letters.symbols, range(6), strict=True))
    assert (n["symbol"], n["symbol -1"], n["symbol +2"]) == (code["n"], code["a"], code["o"])
    assert (n["symbol -3"], n["symbol +3"], n["class +4"]) == (BEFORE, AFTER, AFTER)
    assert (n["class -1"], n["class +1"]) == (1, 0)
    assert (n["consonants after"], n["consonants before"]) == (2 * 1, 0)
    assert (n["syllables before"], n["syllables after"]) == (1, 1)
    assert (n["vowel before"], n["vowel after"]) == (code["a"], code["o"])
    assert (n["effect -1"], n["effect -3"], n["effect +1"]) == (left[code["a"]], BEFORE, right[code["j"]])
    other = input_contexts(letters.codes("tanjo"), vowels, left, right)[2]
    same = {name for name, a, b in zip(INPUT_COLUMNS, rows[2], other, strict=True) if a == b}
    assert set(INPUT_COLUMNS) - same == {"symbol -2", "effect -2", "first three"}


def test_histories_by_hand():
    spelled = np.asarray([[-1, -1], [0, -1], [1, 2], [2, -1]])
    found = history_contexts(np.asarray([[2, 0, 3, 0], [0, 0, 0, 0]]), 3, spelled, np.asarray([True, True, False]))
    assert dict(zip(HISTORY_COLUMNS, found[0], strict=True)) == {
        "chunk -1": 3,
        "chunk -2": 0,
        "output -1": 2,
        "output -2": 2,
        "output vowel before": 1,
    }
    assert found[1].tolist() == [0, 0, BEFORE, BEFORE, BEFORE]


def test_chunks_alike_in_spelling_share_features():
    found = chunk_features([("a",), ("aː",)])
    assert found.tolist() == [[0.5, 0.0, 1.0, 0.0, 1.0], [0.0, 0.5, 1.0, 1.0, 1.0]]


def test_sequences_come_back_as_they_were_written():
    codec = SequenceCodec.of([["a", "b"], ["c"]])
    assert codec.decode(codec.encode([["b", "c"]], "y")).tolist() == [["b", "c"]]
    assert SequenceCodec.of(["ab"]).decode([("b", "c")]).tolist() == ["bc"]


def test_vowels_are_found():
    words = ["banana", "tomato", "karibu", "semolina", "uganda", "potato", "nikita"]
    assert alternating_class(words) == set("aeiou")
    assert alternating_class(["a", "b"]) == set()
    assert classes_through([[("x", ("a",)), ("x", ("b",)), ("x", ("a",)), ("y", ())]], {"a"}) == {"x"}


@given(st.lists(st.text("abc", max_size=5), min_size=1, max_size=6), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_probabilities_of_runs_sum_to_one(sequences, order):
    model = NgramModel(order).fit(sequences)
    seen = {symbol for sequence in sequences for symbol in sequence} | {END}
    for history in ("", "a", "ba", "zzz"):
        padded = (("<start>",) * order + tuple(history))[len(history) + 1 :] if order > 1 else ()
        total = sum(model._probability((*padded, symbol)) for symbol in [*seen, "never seen"])
        assert total == pytest.approx(1.0)


def test_probabilities_of_several_sequences_are_those_of_each():
    model, sequences = NgramModel(3).fit(["abc", "abd", "bc"]), ["abb", "", "abb", "zab"]
    one_by_one = [sum(np.log(model._probability(gram)) for gram in zip(*spread(s), strict=True)) for s in sequences]
    assert np.allclose(model.log_probabilities(sequences), one_by_one)


def spread(sequence):
    """The symbols two before, one before and at each place, the end included."""
    padded = ("<start>", "<start>", *sequence, END)
    return padded[:-2], padded[1:-1], padded[2:]


def test_runs_survive_a_copy_of_their_state():
    model = NgramModel(3).fit(["abc", "abd", "bc"])
    copy = NgramModel.__new__(NgramModel)
    copy.__setstate__(model.__getstate__())
    assert copy.log_probability("abb") == model.log_probability("abb")


def test_trust_goes_to_the_score_that_is_right():
    scores = [rng.standard_normal((5, 3)) for _ in range(200)]
    correct = [np.arange(5) == np.argmax(s[:, 1] + 0.3 * rng.standard_normal(5)) for s in scores]
    prior = np.full(3, 1 / 3)
    trust = trust_in_scores(scores, correct, prior)
    assert np.argmax(trust) == 1
    hits = [sum(c[np.argmax(s @ w)] for s, c in zip(scores, correct, strict=True)) for w in (prior, trust)]
    assert hits[1] > hits[0]
    assert np.array_equal(trust_in_scores([scores[0]], [np.zeros(5, dtype=bool)], prior), prior)


def small_model(**arguments):
    words = ["ca", "ce", "co", "ci", "cace", "coci", "cica", "ceco", "sha", "she", "cash"]
    cuts = [
        [
            {"c": "k" if after in "ao" else "s", "s": "S", "h": ""}.get(s, s)
            for s, after in zip(w, w[1:] + "#", strict=True)
        ]
        for w in words
    ]
    cuts = [[tuple(chunk) for chunk in cut] for cut in cuts]
    inventory = Inventory().fit(words, cuts)
    codes = [inventory.inputs_.codes(word) for word in words], [inventory.chunks_.codes(cut) for cut in cuts]
    return ContextModel(**arguments).fit(inventory, *codes, np.ones(len(words), dtype=bool)), words


@pytest.mark.parametrize("backwards", [False, True])
def test_a_wide_beam_finds_the_best_of_all(backwards):
    model, *_ = small_model(backwards=backwards)
    for word in ("cocas", "sace", "shi"):
        reading = model.read(word)
        options = reading.options[::-1] if backwards else reading.options
        every = np.asarray(list(product(*options)))
        scores = model.score(reading, every)
        assert np.exp(scores).sum() == pytest.approx(1.0)
        beam = model.beam(model.read(word), 1000)
        assert {tuple(row) for row in beam} == {tuple(row) for row in every}
        assert np.allclose(model.score(reading, beam), np.sort(scores)[::-1])


def test_landmarks_that_are_all_contexts_change_nothing():
    contexts, targets = rng.integers(0, 3, (30, 4)), rng.standard_normal((30, 2))
    settings = Settings(np.full(4, 0.5))
    gram = hamming_kernel(contexts, contexts, settings.weights) + settings.offset
    exact = ridge_coefficients(settings, contexts, targets)
    spanned = ridge_coefficients(settings, contexts, targets, contexts, block=7)
    assert np.allclose(exact, np.linalg.solve(gram + settings.alpha * np.eye(30), targets))
    assert np.allclose(gram @ spanned, gram @ exact, atol=1e-5)


@pytest.mark.parametrize(("shared", "landmarks", "most"), [(True, 4, 4), (False, 8, 4), (False, 1, 1)])
def test_fewer_landmarks_still_read(shared, landmarks, most):
    model, _ = small_model(shared=shared, landmarks=landmarks)
    assert max(len(system.votes) for system in model.systems_) == most
    assert len(model.beam(model.read("cace"), 5)[0]) == 4


@pytest.mark.parametrize(("shared", "ridges"), [(False, 7), (True, 2)])
def test_ridges_are_shared_or_not(shared, ridges):
    model, _ = small_model(shared=shared)
    assert len(model.systems_) == ridges
    assert model.inventory_.spell(model.beam(model.read("cace"), 5)[0]) == tuple("kase")


def test_leaving_words_out_forgets_their_chunks():
    model, words = small_model()
    model.solve(np.asarray(["h" not in word for word in words]))
    assert [len(options) for options in model.read("cha").options] == [2, 1, 1]
    assert model.inventory_.spell(model.beam(model.read("ha"), 5)[0]) == ("a",)


def test_the_nearer_the_more_it_matters():
    weights = dict(zip(INPUT_COLUMNS + HISTORY_COLUMNS, starting_settings().weights, strict=True))
    assert weights["symbol +1"] > weights["symbol -2"] > weights["symbol +4"] > weights["last three"] > 0


def naive_classes(counts, groups, concentration):
    """Merge the two rows with the largest gain in evidence, all evidence computed anew each time."""
    totals = counts.sum(axis=0) + 1e-3
    prior = np.asarray([concentration * t / totals[groups == g].sum() for t, g in zip(totals, groups, strict=True)])

    def evidence(row):
        own = np.sum(gammaln(row + prior) - gammaln(prior))
        sums = np.asarray([row[groups == g].sum() for g in np.unique(groups)])
        return own - np.sum(gammaln(sums + concentration) - gammaln(concentration))

    parts = [[i] for i in range(len(counts))]
    while True:
        best = (1e-9, 0, 0)
        for i, j in combinations(range(len(parts)), 2):
            one, other = counts[parts[i]].sum(axis=0), counts[parts[j]].sum(axis=0)
            best = max(best, (evidence(one + other) - evidence(one) - evidence(other), i, j))
        if best[0] <= 1e-9:
            return {frozenset(part) for part in parts}
        parts[best[1]] += parts.pop(best[2])


@pytest.mark.parametrize("seed", range(5))
def test_classes_are_those_of_a_naive_twin(seed):
    draws = np.random.default_rng(seed)
    kinds = draws.dirichlet(np.full(9, 0.3), 3)
    counts = np.stack([draws.multinomial(draws.integers(1, 40), kinds[i % 3]) for i in range(8)]).astype(float)
    groups = np.asarray([0, 0, 0, 2, 2, 2, 5, 5, 5])
    found = merged_classes(counts, groups)
    parts = {frozenset(np.flatnonzero(found == c).tolist()) for c in found}
    assert parts == naive_classes(counts, groups, CONCENTRATION)


def test_rows_that_share_nothing_are_not_merged():
    assert merged_classes(np.eye(3), np.asarray([0, 1, 2])).tolist() == [0, 1, 2]
