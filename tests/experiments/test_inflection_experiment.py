"""Small version of the inflection experiment: plausible scores, repeatable, a page with errors; no test words."""

import gzip

import numpy as np
import pytest

from experiments.beyond import inflection
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store
from mercer.datasets.words import LANGUAGES, SETTINGS, load_inflection


def require_words():
    for language in LANGUAGES:
        for part in (*(f"train-{setting}" for setting in SETTINGS), "dev", "test"):
            if store.find(f"strings/inflection/{language}-{part}.tsv.gz") is None:
                pytest.skip("the inflection words are not in MERCER_DATA/strings/inflection")


@pytest.mark.data
def test_small_version(tmp_path):
    require_words()
    task = experiment("inflection")
    result = reproduce(task, tmp_path, small=True)
    accuracy = {row["language"]: row["value"] for row in result.rows if row["metric"] == inflection.TEST}
    assert accuracy["english"] > 0.8
    assert accuracy["german"] > 0.55
    again = task.run(task.pieces(small=True)[0])
    assert again["accuracy"] == accuracy["english"]
    page = (tmp_path / "inflection.html").read_text(encoding="utf-8")
    assert "right form" in page
    assert result.parameters["examples"][0]["rows"] == again["errors"]


def outcome(language, setting, accuracy):
    dev = dict.fromkeys(inflection.VARIANTS, accuracy)
    return {"language": language, "setting": setting, "accuracy": accuracy, "words": 1000, "dev": dev}


def test_means_and_verdicts():
    outcomes = [outcome(name, "low", accuracy) for name, accuracy in zip(LANGUAGES, (0.9, 0.6, 0.6, 0.2), strict=True)]
    task = inflection.InflectedForms()
    rows = task.rows(outcomes)
    mean = next(row for row in rows if row["language"] == inflection.MEAN and row["metric"] == inflection.TEST)
    assert mean["value"] == pytest.approx(0.575)
    assert mean["paper"] == pytest.approx(0.5038, abs=1e-4)
    assert mean["error"] == pytest.approx(np.sqrt(0.09 + 2 * 0.24 + 0.16) / np.sqrt(1000) / 4)
    assert task.notes(rows)[0] == "low: 0.575 on average, below the bar of 0.62."


@pytest.mark.data
def test_loader():
    require_words()
    task = load_inflection("german", "medium")
    assert (len(task.train), len(task.dev)) == (1000, 1000)
    assert task.train.requests[0] == ("Bluff", "N;DAT;SG")
    assert task.train.forms[0] == "Bluff"


def test_loader_errors(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="language='latin'; expected 'english', 'german', 'spanish' or 'finnish'"):
        load_inflection("latin")
    with pytest.raises(ValueError, match="setting='high'"):
        load_inflection("german", "high")
    path = tmp_path / "strings" / "inflection" / "english-train-low.tsv.gz"
    path.parent.mkdir(parents=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("go\twent\tV;PST\n")
    monkeypatch.setattr("mercer.datasets.store.fetch", lambda name: tmp_path / name)
    with pytest.raises(ValueError, match="holds 1 lines; expected 100"):
        load_inflection("english", "low")
