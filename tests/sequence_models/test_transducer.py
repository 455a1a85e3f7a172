"""The transducer of inflection: alignment against brute force, its beam against every form, its slope, its views of tags."""

from itertools import product

import numpy as np
import pytest

import mercer
from mercer import Inflection
from mercer.sequence_models import inflection_models
from mercer.sequence_models.edit_alignment import DROP, MATCH, EditAligner
from mercer.sequence_models.edits import Vowels
from mercer.sequence_models.inflection import vowels_in
from mercer.sequence_models.inflection_search import Request
from mercer.sequence_models.tag_views import TagViews
from mercer.sequence_models.transducer import Transducer, actions_of
from mercer.sequence_models.transducer_features import COPY, WRITE
from mercer.sequence_models.transducer_features import DROP as DROP_ACTION
from mercer.sequence_models.transducer_learning import descend, labels_of, log_probabilities
from mercer.sequence_models.whole_forms import FORM_SCORES, WholeForms

rng = np.random.default_rng(0)
LEMMAS = ["pata", "tapa", "kapa", "pika", "tika", "kita", "paka", "taka", "pita", "kipa"]
TAGS = [("N", case, number) for case in ("A", "B") for number in ("SG", "PL")]


def inflect(lemma, tags):
    """The last consonant weakens before an ending that closes the syllable, t to d, and p and k are lost."""
    weak = lemma[:-2] + {"t": "d", "p": "", "k": ""}[lemma[-2]] + lemma[-1]
    return (weak if "B" in tags else lemma) + ("i" if "PL" in tags else "") + ("n" if "B" in tags else "")


PAIRS = [(lemma, tags) for lemma in LEMMAS for tags in TAGS]
FORMS = [inflect(*pair) for pair in PAIRS]


@pytest.fixture(scope="module")
def transducer():
    return Transducer().fit([lemma for lemma, _ in PAIRS], [tags for _, tags in PAIRS], FORMS, Vowels())


def path_score(path, x, y, costs):
    """The sum of logarithms of one path; −∞ if it does not lead from x to y."""
    i = j = 0
    total = 0.0
    for k, state in enumerate(path):
        i, j = i + int(state in (MATCH, DROP)), j + int(state != DROP)
        if i > len(x) or j > len(y):
            return -np.inf
        total += costs.steps[path[k - 1], state] if k else costs.first[state]
        if state == MATCH:
            total += costs.kept if x[i - 1] == y[j - 1] else costs.changed[x[i - 1], y[j - 1]]
        elif state == DROP:
            total += costs.dropped[x[i - 1]]
        else:
            total += costs.added[state, y[j - 1]]
    return total if (i, j) == (len(x), len(y)) else -np.inf


def test_the_best_path_is_the_best_of_all():
    words = [rng.integers(1, 4, rng.integers(0, 4)) for _ in range(16)]
    aligner = EditAligner().fit(words[:8], words[8:], 4, rounds=2)
    for x, y in zip(words[:8], words[8:], strict=True):
        paths = (
            [p for n in range(len(x) + len(y) + 1) for p in product(range(5), repeat=n)] if len(x) + len(y) < 6 else []
        )
        if paths:
            best = max(path_score(path, x, y, aligner.costs_) for path in paths)
            assert path_score(aligner.align(x, y), x, y, aligner.costs_) == pytest.approx(best)


def test_actions_make_the_form():
    for _ in range(50):
        x, y = rng.integers(1, 4, rng.integers(1, 7)), rng.integers(1, 4, rng.integers(0, 7))
        aligner = EditAligner().fit([x], [y], 4, rounds=1)
        read, written = 0, []
        for action in actions_of(x, y, aligner.align(x, y)):
            if action == COPY:
                written += x[read : read + 1].tolist()
            elif action >= WRITE:
                written.append(action - WRITE)
            read += int(action in (COPY, DROP_ACTION))
        assert written == y.tolist()
        assert read == len(x) + 1  # the last copy is the end


def test_alternating_consonants_and_new_combinations(transducer):
    for lemma, tags in [("tipa", TAGS[2]), ("kata", TAGS[3]), ("pika", TAGS[1])]:
        forms = transducer.forms(lemma, tags, 8)
        assert max(forms, key=forms.get) == inflect(lemma, tags)


def test_the_beam_finds_what_is_best_of_all(transducer):
    lemma, tags = "ta", TAGS[2]
    letters = transducer.letters_.symbols
    every = ["".join(word) for n in range(5) for word in product(letters, repeat=n)]
    scores = dict(zip(every, transducer.scores(lemma, tags, every), strict=True))
    found = transducer.forms(lemma, tags, 30)
    best = max(scores, key=scores.get)
    assert max(found, key=found.get) == best
    assert found[best] >= scores[best] - 1e-9
    assert np.exp(list(found.values())).sum() <= 1.0 + 1e-9


def test_forms_that_share_their_beginning_have_the_scores_of_each_alone(transducer):
    lemma, tags = "tipa", TAGS[1]
    forms = ["tipa", "tip", "", "tipan", "kipa", "tipann", "tipa", "atipan"]
    alone = [transducer.scores(lemma, tags, [form])[0] for form in forms]
    assert transducer.scores(lemma, tags, forms).tolist() == alone
    assert transducer.scores(lemma, tags, []).shape == (0,)


def test_a_step_of_the_descent_is_the_slope_of_the_loss():
    actions, groups, near = 5, np.asarray([0, 1, 1]), np.asarray([[1, 2, 0, 0]])
    labels = np.arange(actions + 3 + len(groups)).astype(np.int16)
    weights = rng.standard_normal(len(labels)).astype(np.float32)
    rows, row_starts, taken = np.zeros(1, dtype=np.int32), np.asarray([0, 1]), np.asarray([3])
    starts = np.asarray([0, len(labels)])

    def loss(values):
        logs = np.empty(actions)
        log_probabilities(values, near[0], actions, groups, logs)
        assert np.exp(logs).sum() == pytest.approx(1.0)
        return -logs[3]

    start = weights.astype(float)
    moves = 1e-5 * np.eye(len(start))
    slope = [(loss(start + move) - loss(start - move)) / 2e-5 for move in moves]
    before = descend(np.asarray([0]), rows, row_starts, taken, near, starts, labels, weights, actions, groups, 1.0)
    assert before == pytest.approx(loss(start))
    assert np.allclose(start - weights, slope, atol=1e-5)
    found = np.empty(5, dtype=np.int64)
    assert found[: labels_of(3, near[0], actions, groups, found)].tolist() == [3, 7, 9]


def test_views_of_tags():
    views = TagViews().fit([("N", "SG", "A"), ("N", "PL", "A"), ("N", "PL", "B")])
    named = views.views_.symbols
    assert named[0] == ()
    assert ("", "N") not in named  # always there
    assert ("", "PL") in named
    assert ("=", "A", "N", "SG") in named
    assert [named[code] for code in views.codes(("PL", "X"))] == [(), ("", "PL")]


def test_letters_never_seen_are_kept(transducer):
    forms = transducer.forms("ξata", TAGS[0], 8)
    assert max(forms, key=forms.get) == "ξata"


def test_vowels_of_another_script():
    words = ["дом", "кот", "село", "мама", "рука", "нога", "лес", "река", "вода", "гора", "сад", "хата"]
    found = vowels_in(words, "aeiou")
    assert "а" in found
    assert "к" not in found
    assert vowels_in(["cat"], "aeiou") == Vowels("aeiou")


def test_both_models_are_mixed_and_saved(monkeypatch, tmp_path):
    monkeypatch.setattr(inflection_models, "_ENOUGH", 8)
    X = [(lemma, ";".join(tags)) for lemma, tags in PAIRS]
    model = Inflection(rounds=3).fit(X, FORMS)
    assert len(model.trust_) == 3 + len(FORM_SCORES)
    assert np.all(model.trust_[:3] >= 0)
    new = [("tata", "N;B;SG"), ("kika", "N;A;PL")]
    assert model.predict(new).tolist() == ["tadan", "kikai"]
    assert np.exp(model.rank(new[:1], 100)[0].scores).sum() == pytest.approx(1.0)
    ranked = model.rank(new, 3)[0]
    again = model.rank(new[:1], 3, candidates=ranked.objects)[0]
    assert again.objects.tolist() == ranked.objects.tolist()
    assert np.allclose(again.scores, ranked.scores)
    assert model.rank(new[:1], 1, candidates=["xyz"])[0].scores[0] < -5
    loaded = mercer.load(mercer.save(model, tmp_path / "model"))
    assert loaded.predict(new).tolist() == model.predict(new).tolist()


def test_whole_forms_prefer_endings_seen_with_the_tags():
    requests = [Request("walk", ("V", "PST")), Request("talk", ("V", "PST")), Request("walk", ("V", "PRS"))]
    model = WholeForms().fit(requests, ["walked", "talked", "walks"])
    past = model.scores(Request("jump", ("V", "PST")), ["jumped", "jumps"])
    present = model.scores(Request("jump", ("V", "PRS")), ["jumped", "jumps"])
    assert past[0, 0] - past[1, 0] > present[0, 0] - present[1, 0]
    assert past[:, 1].tolist() == [2, 1]
