"""The small experiment on trees: better than chance and rules, the same twice, and a page."""

from experiments.beyond.tree_parsing import CHANCE, EXACT, F1, LEARNED, PROCESS, RULES, SECOND
from experiments.registry import experiment
from experiments.runner import reproduce


def test_the_small_experiment(tmp_path):
    found = reproduce(experiment("tree-parsing"), tmp_path / "one", small=True)
    scores = {(row["method"], row["metric"]): row["value"] for row in found.rows}
    assert scores[LEARNED, EXACT] > max(scores[CHANCE, EXACT], scores[RULES, EXACT])
    assert scores[LEARNED, F1] > scores[CHANCE, F1]
    assert scores[LEARNED, EXACT] <= scores[LEARNED, SECOND]
    assert scores[PROCESS, EXACT] > 80
    page = (tmp_path / "one" / "tree-parsing.html").read_text()
    assert "belongs to" in page
    assert "Knowing the process itself" in page
    again = reproduce(experiment("tree-parsing"), tmp_path / "two", small=True)
    assert again.rows == found.rows
