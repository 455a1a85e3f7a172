"""Constructed pre-images of Weston's toy strings: the small version, and the exact distribution behind its scores."""

from collections import Counter

import numpy as np
import pytest

from experiments.beyond.toy_strings_construction import all_rows
from experiments.beyond.toy_strings_page import (
    ANY_LENGTH,
    CANDIDATES,
    CLEAN_STRING,
    CONSTRUCTED,
    ENUMERATED,
    PAPER,
    SHORTER,
    TRUE,
)
from experiments.beyond.toy_strings_truth import KERNEL, all_strings, features, posterior, written
from experiments.papers.toy_strings import CLEAN, likeliest_class, make_string_pairs
from experiments.registry import experiment
from experiments.runner import reproduce


def test_the_noise_is_known_exactly():
    """Against the generator itself, run many times."""
    pairs = make_string_pairs(6000, 0)
    for label, clean in enumerate(CLEAN):
        strings = written(clean)
        assert sum(strings.values()) == pytest.approx(1.0)
        own = pairs.outputs[pairs.classes == label]
        assert set(own) <= set(strings)
        drawn = Counter(own)
        for text in (clean, clean[1:], clean + "a"):
            assert drawn[text] / len(own) == pytest.approx(strings[text], abs=0.03)


def test_the_posterior_is_that_of_the_likeliest_class():
    inputs = make_string_pairs(100, 1).inputs
    chance = posterior(inputs)
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    assert chance.argmax(axis=1).tolist() == likeliest_class(inputs.tolist()).tolist()


def test_features_are_those_of_the_kernel():
    known = all_strings()
    some = np.random.default_rng(0).choice(len(known.strings), 40)
    rows = features(KERNEL)[some]
    np.testing.assert_allclose(rows @ rows.T, KERNEL(known.strings[some]), atol=1e-9)
    assert known.hybrid[known.number["abadbbd"]]
    assert not known.hybrid[known.number["abad"]]
    assert known.classes[known.places(CLEAN)].tolist() == [0, 1, 2]


@pytest.fixture(scope="module")
def outcomes():
    chosen = experiment("toy-strings-construction")
    return [chosen.run(piece) for piece in chosen.pieces(small=True)]


def test_small_run(outcomes):
    rows = all_rows(outcomes)

    def value(method, metric, kernel=PAPER):
        return next(
            row["value"] for row in rows if (row["method"], row["metric"], row["kernel"]) == (method, metric, kernel)
        )

    # who is free to choose among more is nearer to h
    assert value(ENUMERATED, "distance to h") <= value(SHORTER, "distance to h") + 1e-9
    assert value(SHORTER, "distance to h") <= value(CONSTRUCTED, "distance to h") + 1e-9
    assert value(CONSTRUCTED, "distance to h") <= value(CANDIDATES, "distance to h") + 1e-9
    # the beam finds what enumerating finds
    assert value(CONSTRUCTED, "distance to h") == pytest.approx(value(SHORTER, "distance to h"), abs=2e-3)
    assert value(ANY_LENGTH, "distance to h") == pytest.approx(value(ENUMERATED, "distance to h"), abs=2e-3)
    # and nearer is not better
    assert value(ENUMERATED, "class loss") > value(CANDIDATES, "class loss")
    assert value(ENUMERATED, "hybrid") > value(CONSTRUCTED, "hybrid")
    assert value(CANDIDATES, "new") == 0
    assert value(CLEAN_STRING, "class loss", TRUE) < value(CANDIDATES, "class loss")


def test_two_runs_agree_and_the_page_is_there(outcomes, tmp_path):
    chosen = experiment("toy-strings-construction")
    result = reproduce(chosen, tmp_path, small=True)
    assert result.rows == chosen.rows(outcomes)
    page = (tmp_path / "toy-strings-construction.html").read_text(encoding="utf-8")
    assert "hybrids" in page
    assert all(note.endswith(".") for note in chosen.notes(result.rows))
