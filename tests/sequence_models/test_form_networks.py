"""Networks of the steps of a transducer: what each step sees, and the forms they prefer."""

import numpy as np
import pytest

from mercer.sequence_models.edits import Vowels
from mercer.sequence_models.form_networks import FormNetworks
from mercer.sequence_models.networks import Networks
from mercer.sequence_models.transducer import Transducer

LEMMAS = [a + b + "a" for a in ("k", "t", "m", "ka", "to", "mu") for b in ("to", "ku", "mi", "no")]
TAGS = [("N", "PL"), ("N", "GEN"), ("V", "PST")]
ENDING = {"PL": "t", "GEN": "n", "PST": "si"}
X = [(lemma, tags) for lemma in LEMMAS for tags in TAGS]
FORMS = [lemma + ENDING[tags[1]] for lemma, tags in X]


@pytest.fixture(scope="module")
def fitted():
    lemmas, tags = zip(*X, strict=True)
    transducer = Transducer().fit(lemmas, tags, FORMS, Vowels())
    networks = FormNetworks(Networks(members=1, epochs=20)).fit(transducer, lemmas, tags, FORMS)
    return transducer, networks


def test_the_right_ending_is_likeliest(fitted):
    transducer, networks = fitted
    for tags in TAGS:
        scores = networks.scores(transducer, "romia", tags, ["romiat", "romian", "romiasi", "romia"])
        assert np.argmax(scores) == ["PL", "GEN", "PST"].index(tags[1])
    assert networks.scores(transducer, "romia", TAGS[0], []).shape == (0,)


def test_scores_do_not_depend_on_the_other_forms(fitted):
    transducer, networks = fitted
    forms = ["romiat", "omia", "xromia?", ""]
    together = networks.scores(transducer, "romia", ("N", "foreign"), forms)
    alone = [networks.scores(transducer, "romia", ("N", "foreign"), [form])[0] for form in forms]
    assert np.allclose(together, alone, atol=1e-5)
    assert np.isfinite(together).all()


def test_a_step_sees_letters_read_and_written(fitted):
    transducer, networks = fitted
    rows, _, kinds, owners = networks._steps(transducer, "kato", ("N", "PL"), ["kt", "kato"])
    n = dict(zip("kato", transducer.codes("kato"), strict=True))
    # the first step of the second form sees nothing written, and the first letters of the lemma
    second = rows[np.flatnonzero(owners == 1)]
    assert second[0, :12].tolist() == [0, 0, 0, n["k"], n["a"], n["t"], n["o"], 0, 0, 0, 0, 0]
    assert second[2, :12].tolist() == [0, n["k"], n["a"], n["t"], n["o"], 0, 0, 0, n["a"], n["k"], 0, 0]
    assert second[2, 12] == n["a"]
    assert kinds[owners == 1].tolist() == [0, 0, 0, 0, 1]
    assert len(np.unique(rows[:, -1])) == 1
