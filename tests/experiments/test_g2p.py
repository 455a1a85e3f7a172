"""The experiment on pronunciations: small, twice the same, with its page."""

import pytest

from experiments.beyond.g2p import ORACLE, WHOLE
from experiments.page import result_page
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import load_pronunciations
from mercer.datasets.store import find

pytestmark = pytest.mark.data


@pytest.fixture(autouse=True)
def data():
    if find("strings/g2p/rum_train.tsv.gz") is None:
        pytest.skip("the pronunciations are not in $MERCER_DATA")


def test_small_run_is_sane_and_repeatable(tmp_path):
    g2p = experiment("g2p")
    outcome = g2p.run(g2p.pieces(small=True)[0])
    result = reproduce(g2p, tmp_path, small=True)
    found = {row["method"]: row["value"] for row in result.rows}
    assert found == outcome["wrong"]
    assert found[ORACLE] <= found[WHOLE] < 60.0
    assert {"word", "truth", "predicted", "place"} <= outcome["examples"][0].keys()
    page = (tmp_path / "g2p.html").read_text(encoding="utf-8")
    (table,) = result.parameters["examples"]
    assert [row[0] for row in table["rows"]] == [each["word"] for each in outcome["examples"]]
    for written in (page, result_page(g2p, result)):
        assert "words predicted wrong" in written
        assert outcome["examples"][0]["word"] in written


def test_words_and_phones():
    data = load_pronunciations("wel_sw")
    assert [len(part.words) for part in (data.train, data.dev, data.test)] == [800, 100, 100]
    assert all(phones and all(phones) for phones in data.train.phones)
    assert not set(data.train.words) & set(data.test.words)
    with pytest.raises(ValueError, match="language='xx'; expected 'ady', 'ice'"):
        load_pronunciations("xx")


def test_parts_are_judged_on_words_left_out(tmp_path):
    parts = experiment("word-parts")
    result = reproduce(parts, tmp_path, small=True)
    wrong = {row["method"]: row for row in result.rows if row["metric"] == "wrong, %"}
    assert {"all scores", "with joint n-grams", "without network backwards", "best of the candidates"} <= wrong.keys()
    assert wrong["best of the candidates"]["value"] <= wrong["all scores"]["value"]
    changes = {row["method"]: row for row in result.rows if row["metric"].startswith("difference")}
    for method, row in changes.items():
        assert row["value"] == pytest.approx(wrong[method]["value"] - wrong["all scores"]["value"])


def test_differences_are_paired_and_languages_count_alike():
    outcomes = [
        {"task": "g2p", "language": "a", "wrong": {"all scores": [1, 0, 0, 0], "other": [1, 1, 0, 0]}},
        {"task": "g2p", "language": "b", "wrong": {"all scores": [0, 1], "other": [0, 1]}},
    ]
    rows = experiment("word-parts").rows(outcomes)
    (change,) = [row for row in rows if row["metric"].startswith("difference")]
    assert change["value"] == pytest.approx(12.5)
    assert change["error"] == pytest.approx(100 * (0.25 * 0.75 / 4) ** 0.5 / 2)
