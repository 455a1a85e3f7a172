"""The inflection estimator: rules learned and put together, its gradient, its contract, bad input."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.base import clone

import mercer
from mercer import Inflection
from mercer.losses import EditDistance
from mercer.sequence_models import inflection_models
from mercer.sequence_models.edits import Vowels
from mercer.sequence_models.harmony import Harmony
from mercer.sequence_models.inflection import Request, as_requests
from mercer.sequence_models.inflection_decision import Decision, KernelInParts, Settings, leave_one_out_loss
from mercer.testing.estimators import check_object_estimator

rng = np.random.default_rng(0)


def stems(n):
    found = {"".join(rng.choice(list("ptkmsl")) + rng.choice(list("aou")) for _ in range(2)) for _ in range(9 * n)}
    return [stem + rng.choice(list("plkt")) for stem in rng.permutation(sorted(found))[:n]]


def inflect(lemma, tags):
    """A small language: verbs end in -en, plurals in -i, the past has -t- before the person, negation goes first."""
    stem = lemma[:-2]
    past = "t" if "PST" in tags else ""
    person = {"1": "o", "2": "us", "3": ""}[tags.split(";")[2]]
    plural = "i" if "PL" in tags else ""
    return ("ne " if "NEG" in tags else "") + stem + past + person + plural


TAGS = [f"V;{t};{p};{n}{neg}" for t in ("PRS", "PST") for p in "123" for n in ("SG", "PL") for neg in ("", ";NEG")]
LEMMAS = [stem + "en" for stem in stems(40)]
UNSEEN = "V;PST;2;PL;NEG"
X = [(LEMMAS[rng.integers(30)], tags) for tags in 4 * TAGS if tags != UNSEEN]
Y = [inflect(*x) for x in X]
NEW = [(lemma, tags) for lemma in LEMMAS[30:] for tags in TAGS[::5]]


@pytest.fixture(scope="module")
def model():
    return Inflection().fit(X, Y)


def test_new_words_are_inflected(model):
    assert model.predict(NEW).tolist() == [inflect(*x) for x in NEW]
    assert model.score(NEW, [inflect(*x) for x in NEW]) == 0.0


def test_endings_of_unseen_combinations_of_tags_are_put_together(model):
    wanted = [(lemma, UNSEEN) for lemma in LEMMAS]
    assert -model.score(wanted, [inflect(*x) for x in wanted]) < 0.1


def test_tags_may_be_strings_tuples_or_missing(model):
    pairs = [(lemma, tuple(tags.split(";"))) for lemma, tags in NEW]
    assert model.predict(pairs).tolist() == model.predict(NEW).tolist()
    assert model.predict(np.array(NEW)).tolist() == model.predict(NEW).tolist()
    plain = Inflection().fit(["rat", "bus", "cat", "kiss"], ["rats", "buses", "cats", "kisses"])
    assert plain.predict(["bat", "miss"]).tolist() == ["bats", "misses"]
    assert as_requests([("a", " V ;;PST")]) == [Request("a", ("V", "PST"))]
    assert as_requests([("ox", ("N", "PL"))]) == [Request("ox", ("N", "PL"))]


def test_ranks_are_log_probabilities_best_first(model):
    for request, ranked in zip(NEW, model.rank(NEW, k=4), strict=True):
        assert np.all(np.diff(ranked.scores) <= 0)
        assert np.exp(ranked.scores).sum() <= 1.0 + 1e-9
        assert len(set(ranked.objects)) == len(ranked.objects) <= 4
        scored = model.rank([request], k=9, candidates=ranked.objects)[0]
        assert np.allclose(dict(zip(*scored, strict=True))[ranked.objects[0]], ranked.scores[0])


def test_the_beam_does_not_depend_on_how_many_are_asked(model):
    assert [model.predict([x])[0] for x in NEW[:20]] == model.predict(NEW)[:20].tolist()


def test_contract(tmp_path):
    check_object_estimator(Inflection(rounds=3), X[:16], Y[:16], {"loss": [None, EditDistance()]})
    model = Inflection(rounds=5, width=3).fit(X[:40], Y[:40])
    loaded = mercer.load(mercer.save(model, tmp_path / "model"))
    assert repr(loaded) == repr(model) == repr(clone(model))
    for a, b in zip(model.rank(NEW), loaded.rank(NEW), strict=True):
        assert a.objects.tolist() == b.objects.tolist()
        assert np.array_equal(a.scores, b.scores)


def test_a_moved_particle_and_a_vowel_change():
    verbs = ["geben", "nehmen", "aufgeben", "aufnehmen", "abgeben", "abnehmen", "lesen", "auflesen"]
    forms = ["gibt", "nihmt", "gibt auf", "nihmt auf", "gibt ab", "nihmt ab", "list", "list auf"]
    model = Inflection().fit(verbs, forms)
    assert model.particles_ == ["ab", "auf"]
    assert model.predict(["ablesen"]).tolist() == ["list ab"]


def test_words_in_front_of_unseen_combinations_of_tags_are_put_together():
    persons, moods = {"1": "en ", "2": "et ", "3": "ei "}, {"PRF": "ole ", "POT": "liene ", "COND": "olisi "}
    asked = [(lemma, f"V;{p};{m}") for lemma in ("sanoa", "puhua", "kysyä", "lukea") for p in persons for m in moods]
    unseen = ("2", "COND")
    pairs = [x for x in asked if x[1] != "V;2;COND"]
    made = [persons[x[1][2]] + moods[x[1][4:]] + x[0][:-1] + "nut" for x in pairs]
    found = Inflection().fit(pairs, made).predict([("istua", f"V;{';'.join(unseen)}")])
    assert found.tolist() == ["et olisi istunut"]


def test_vowel_harmony_is_found():
    back, front = ["talo", "katu", "sauna", "mato", "koulu", "apu"], ["kylä", "pöytä", "tyyny", "äly", "hölmö", "köli"]
    words = [stem + end for stem in back + front for end in ("", "kin")]
    harmony = Harmony().fit(words, Vowels("aeiouy"))
    assert harmony.of("lupa") == harmony.of("tupi") != harmony.of("tyly")
    assert harmony.of("ilkein") == harmony.of("") == 0
    assert Harmony().fit(["aa", "aa"], Vowels()).of("aa") == 0


# -- the decisions ----------------------------------------------------------------------------------------------------------


def a_decision(n=30):
    rows = rng.integers(3, size=(n, 4))
    targets = np.eye(3)[(rows[:, 0] + (rows[:, 1] == 2)) % 3]
    return rows, targets, targets.mean(axis=0)


def test_the_slope_of_the_leave_one_out_loss():
    rows, targets, prior = a_decision()
    start = Settings.starting(4)
    at = start.logarithms() + 0.3 * rng.standard_normal(len(start.logarithms()))
    wrong = check_grad(
        lambda v: leave_one_out_loss(start.at(v), rows, targets, prior)[0],
        lambda v: leave_one_out_loss(start.at(v), rows, targets, prior)[1],
        at,
    )
    assert wrong < 1e-5


def test_the_leave_one_out_loss_is_that_of_refitting():
    rows, targets, prior = a_decision()
    settings, total = Settings.starting(4), 0.0
    for i in range(len(rows)):
        rest = np.arange(len(rows)) != i
        gram = sum(settings.terms(rows[rest], rows[rest])) + settings.alpha * np.eye(rest.sum())
        point = prior + sum(settings.terms(rows[[i]], rows[rest])) @ np.linalg.solve(gram, targets[rest] - prior)
        scores = np.exp(point[0] / settings.temperature)
        total -= np.log(scores @ targets[i] / scores.sum())
    assert leave_one_out_loss(settings, rows, targets, prior)[0] == pytest.approx(total / len(rows))


def test_a_column_that_matters_weighs_most():
    rows, targets, _ = a_decision(60)
    decision = Decision().fit([tuple(row) for row in rows.tolist()], np.argmax(targets, axis=1).tolist())
    assert set(decision.settings_.weights.sum(axis=0).argsort()[-2:].tolist()) == {0, 1}


def test_tags_in_front_of_a_row_are_columns_of_their_own():
    tags = [("V", "PST"), ("V", "PRS", "3"), ("N",), ("V", "PRS")]
    letters, classes = ["a", "b", "a", "c"], ["x", "y", "x", "z"]
    has = [("PRS" in own, "V" in own, own, letter) for own, letter in zip(tags, letters, strict=True)]
    known = Decision(tags=("PRS", "V")).fit(list(zip(tags, letters, strict=True)), classes)
    spelled = Decision().fit(has, classes)
    new = [(("V", "PRS", "1"), "b"), (("N",), "d")]
    by_hand = [("PRS" in own, "V" in own, own, letter) for own, letter in new]
    np.testing.assert_allclose(known.log_probabilities(new), spelled.log_probabilities(by_hand))


def test_the_kernel_in_parts_is_the_kernel():
    rng = np.random.default_rng(0)
    A, B = rng.integers(0, 3, (9, 5)), rng.integers(0, 3, (7, 5))
    settings = Settings(rng.uniform(size=(2, 5)), np.asarray([0.3, 0.8]))
    for columns in (0, 2, 5):
        parts = KernelInParts(settings, columns)
        np.testing.assert_allclose(parts.kernel(A, B), np.sum(settings.terms(A, B), axis=0))
        np.testing.assert_allclose(parts.kernel(A), np.sum(settings.terms(A, A), axis=0))


def test_landmarks_are_near_the_full_ridge():
    rows, targets, _ = a_decision(200)
    labels, rows = np.argmax(targets, axis=1).tolist(), [tuple(row) for row in rows.tolist()]
    full, some = (Decision(landmarks=n).fit(rows, labels).log_probabilities(rows) for n in (5000, 150))
    assert np.abs(np.exp(full) - np.exp(some)).max() < 0.05


# -- bad input --------------------------------------------------------------------------------------------------------------


def test_unseen_letters_and_tags_have_a_rule(model):
    assert model.predict([("ξøxen", "V;PRS;1;SG")])[0].startswith("ξø")
    assert model.predict([("papen", "V;PRS;1;SG;EVIDENTIAL")])[0] == model.predict([("papen", "V;PRS;1;SG")])[0]
    assert model.predict([("a", "V;PRS;1;SG"), ("en", "N")]).shape == (2,)


def test_tags_of_another_language_have_a_rule(monkeypatch, capsys):
    monkeypatch.setattr(inflection_models, "_ENOUGH", 8)
    model = Inflection(rounds=2, sample=50, n_jobs=2, verbose=1).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        f"{len(X)} forms: {part}" for part in ("trust", "scripts", "transducer", "networks")
    ]
    assert all(line.endswith("s left") for line in lines[:-1])
    asked = [("papen", "ADJ;GENDERED;ESS;ĞÄ"), ("мама", "ACC"), ("papen", ""), ("papen", TAGS[0])]
    ranked = model.rank(asked)
    assert all(len(each.objects) and np.isfinite(each.scores).all() for each in ranked)
    assert ranked[1].objects[0].startswith("ма")
    # unknown tags have no effect of their own, whatever they are
    assert model.predict([("papen", "A;B")]) == model.predict([("papen", "C;D")])
    with pytest.raises(ValueError, match="verbose=-1; expected 0, or 1"):
        Inflection(verbose=-1).fit(X, Y)


def test_a_lemma_no_script_fits_is_its_own_form():
    model = Inflection().fit(["aufgeben", "aufnehmen"], ["geben auf", "nehmen auf"])
    ranked = model.rank(["ziehen"])[0]
    assert ranked.objects.tolist() == ["ziehen"]
    assert ranked.scores.tolist() == [-np.inf]


@pytest.mark.parametrize(
    ("inputs", "outputs", "error", "message"),
    [
        ([("", "V")], ["a"], ValueError, r"the lemma of X\[0\] is empty"),
        (["a", ""], ["a", "b"], ValueError, r"the lemma of X\[1\] is empty"),
        ([("a", "V", "x")], ["a"], ValueError, r"X\[0\] is \('a', 'V', 'x'\); expected a lemma, or a pair"),
        ([3], ["a"], TypeError, r"X\[0\] is 3, a int"),
        ([(3, "V")], ["a"], TypeError, r"lemma of X\[0\]=3; expected a string"),
        ([("a", 3)], ["a"], TypeError, r"tags of X\[0\] is 3"),
        ([("a", (3,))], ["a"], TypeError, r"tag of X\[0\]=3; expected a string"),
        (["a", "b"], ["a"], ValueError, "X has 2 objects and y has 1"),
        (["a"], [3], TypeError, r"y\[0\]=3; expected a string"),
        ("walk", ["a"], TypeError, "single str"),
    ],
)
def test_bad_input_is_named(inputs, outputs, error, message):
    with pytest.raises(error, match=message):
        Inflection().fit(inputs, outputs)


@pytest.mark.parametrize(
    "parameter", [{"width": 0}, {"sample": 1.5}, {"rounds": True}, {"rounds": -1}, {"landmarks": -1}]
)
def test_bad_parameters_are_named(parameter):
    with pytest.raises(ValueError, match="expected a whole number, [01] or more"):
        Inflection(**parameter).fit(X, Y)


def test_bad_calls(model):
    with pytest.raises(TypeError, match="vowels=3"):
        Inflection(vowels=3).fit(X, Y)
    with pytest.raises(ValueError, match="k=0"):
        model.rank(NEW, k=0)
