import re
import sys

import numpy as np
import pytest

from mercer.cli.demo import BASELINE, CANDIDATE, CONTINUOUS, QUICK, SEED, run
from mercer.cli.main import main
from mercer.datasets import load_digit_halves
from mercer.report import Result

FOLDS = 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    run(folder, folds=FOLDS, quick=True)
    return folder


@pytest.fixture(scope="module")
def result(folder):
    return Result.read(folder / "demo.json")


def score(result, method, pre_image):
    (row,) = (
        row for row in result.rows if (row["method"], row["pre-image"]) == (method, pre_image) and "digit" not in row
    )
    return row["value"], row["error"]


def squared(A, B):
    return ((A[:, None] - B) ** 2).sum(-1)


def by_hand(result, weights):
    """The loss over the folds, by its definition; `weights(chosen, X, Z)` gives those of Z."""
    digits, means = load_digit_halves(), []
    order = np.random.default_rng(SEED).permutation(len(digits.labels))[: QUICK.digits]
    scale = result.parameters["output scale"]
    for train, chosen in zip(np.array_split(order, FOLDS), result.parameters["chosen"], strict=True):
        test = np.setdiff1d(order, train)
        W = weights(chosen, digits.inputs[train], digits.inputs[test])
        L = np.exp(-squared(digits.outputs[train], digits.outputs[train]) / (2 * scale**2))
        best = digits.outputs[train][np.argmax(W @ L, axis=1)]
        distance = ((best - digits.outputs[test]) ** 2).sum(1)
        means.append(np.mean(2 - 2 * np.exp(-distance / (2 * scale**2))))
    return np.mean(means), np.std(means, ddof=1)


def test_identity_loss_by_hand(result):
    def ridge(chosen, X, Z):
        scale, alpha = (chosen["identity (Cortes)"][name] for name in ("input scale", "alpha"))
        # an unpenalised mean: the weights of each prediction sum to one
        system, right = np.ones((len(X) + 1, len(X) + 1)), np.ones((len(X) + 1, len(Z)))
        system[:-1, :-1] = np.exp(-squared(X, X) / (2 * scale**2)) + alpha * np.eye(len(X))
        system[-1, -1] = 0.0
        right[:-1] = np.exp(-squared(X, Z) / (2 * scale**2))
        return np.linalg.solve(system, right)[:-1].T

    expected = by_hand(result, ridge)
    assert score(result, "identity (Cortes)", CANDIDATE) == pytest.approx(expected, abs=1e-9)


def test_neighbours_loss_by_hand(result):
    def nearest(chosen, X, Z):
        k = chosen[BASELINE]["k"]
        rows = np.argsort(squared(Z, X), axis=1, kind="stable")[:, :k]
        weights = np.zeros((len(Z), len(X)))
        np.put_along_axis(weights, rows, 1.0 / k, axis=1)
        return weights

    expected = by_hand(result, nearest)
    assert score(result, BASELINE, CANDIDATE) == pytest.approx(expected, abs=1e-9)


def test_every_method_and_pre_image_has_a_score(result):
    table = {(r["method"], r["pre-image"]) for r in result.rows if "digit" not in r}
    methods = {method for method, _ in table}
    assert len(methods) == 5
    assert table == {(m, p) for m in methods for p in (CANDIDATE, CONTINUOUS)}
    assert all(0 < row["value"] < 2 for row in result.rows)


def test_learning_beats_neighbours_and_freedom_beats_candidates(result):
    for method in {row["method"] for row in result.rows} - {BASELINE}:
        for pre_image in (CANDIDATE, CONTINUOUS):
            assert score(result, method, pre_image) < score(result, BASELINE, pre_image)
        assert score(result, method, CONTINUOUS) < score(result, method, CANDIDATE)


def test_same_seed_same_result(result, tmp_path):
    again = Result.read(run(tmp_path, folds=FOLDS, quick=True).with_name("demo.json"))
    assert again.rows == result.rows
    assert again.parameters == result.parameters


def test_page_shows_the_table_and_the_pictures(folder, result):
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"https?:|<script|<link", text)
    for row in result.rows:
        if "digit" not in row:
            assert f"{row['value']:.3f} ± {row['error']:.3f}" in text
    learned = [
        row["value"]
        for row in result.rows
        if "digit" not in row and row["method"] != BASELINE and row["pre-image"] == CONTINUOUS
    ]
    assert f"the 4 kernel methods lie within {max(learned) - min(learned):.3f} of each other" in text
    # the truth and three ways, for 16 digits, 6 wins and 6 losses
    assert text.count('src="data:image/png;base64,') == 4 * (16 + 6 + 6)
    assert sorted(entry.name for entry in folder.iterdir()) == ["demo.json", "index.html"]


def test_command_ends_with_the_path_of_the_page(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page" / "index.html"
    monkeypatch.setattr("mercer.cli.demo.run", lambda output, folds, quick: output / "index.html")
    monkeypatch.setattr(sys, "argv", ["mercer", "demo", "--output", str(page.parent)])
    with pytest.raises(SystemExit):
        main()
    out = capsys.readouterr().out
    assert out.splitlines()[0] == str(page)
    assert [line.split()[1] for line in out.splitlines() if line.startswith("  mercer")] == [
        "fit",
        "predict",
        "report",
    ]
