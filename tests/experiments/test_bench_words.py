"""``bench words``: every row is there. Times are not asserted."""

import numpy as np
import pytest

from experiments.bench import words
from experiments.command import Benchmark
from mercer.report import Result


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "bench-words.json"
    try:
        words.main(path, True)
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    return Result.read(path)


def test_every_bar_has_its_row(quick):
    assert quick.experiment == "bench-words"
    assert [(row["bar"], row["n"]) for row in quick.rows] == [(15.0, 12), (15.0, 12), (3.0, 8), (60.0, 16), (10.0, 5)]
    assert all(np.isfinite(row["value"]) and row["sense"] == "≤" for row in quick.rows)


def test_a_typo_is_one_letter():
    rng = np.random.default_rng(0)
    pairs = [(word, words.mistyped(word, rng)) for word in ("casa", "a", "molto")]
    assert all(sum(x != y for x, y in zip(*pair, strict=True)) <= 1 for pair in pairs)
    assert any(word != wrong for word, wrong in pairs)


def test_the_command_knows_it():
    assert "words" in list(Benchmark)
