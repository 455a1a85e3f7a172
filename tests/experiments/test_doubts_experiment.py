"""The study of the level of doubtful answers, and spelling by the command line, in small."""

import numpy as np
import pytest

from experiments.beyond import doubts, spelling_command
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store
from mercer.uncertainty.doubt_scale import RULE, doubtful_level


def test_the_small_run_of_doubts(tmp_path):
    chosen = experiment("doubts")
    rows = reproduce(chosen, tmp_path, small=True).rows
    found = {(row["part"], row["task"], row["method"], row["metric"]): row["value"] for row in rows}
    for task in ("diabetes", "wine"):
        shares = [found[doubts.TRAINING, task, rule, doubts.MARKED] for rule in doubts.SHARES]
        assert shares == sorted(shares)
        assert found[doubts.TRAINING, task, doubts.NONE, doubts.MARKED] <= min(shares)
        assert (doubts.TEST, task, doubts.USED, doubts.MARKED) in found
        assert (doubts.TEST, task, doubts.NONE, doubts.MARKED) not in found, "rules are not compared on test parts"
    assert "by the rule in use" in chosen.notes(rows)[0]


def test_the_rule_in_use_is_as_it_says():
    """Two to twenty of a hundred known pairs, whose losses are higher by 2 standard errors at least; or none."""
    rng = np.random.default_rng(0)
    assert doubts.RULES[doubts.USED] is RULE
    assert (RULE.clearly, RULE.least, RULE.most) == (2.0, 0.02, 0.2)
    levels = []
    for trial in range(60):
        expected = rng.random(200)
        losses = rng.random(200) + (trial % 3) * 0.4 * (expected > 0.9)
        level, marked = doubtful_level(expected, losses)
        levels.append(level)
        assert np.array_equal(marked, expected >= level)
        if np.isfinite(level):
            assert 0.02 <= marked.mean() <= 0.2
            sides = losses[marked], losses[~marked]
            error = np.sqrt(sum(np.var(side) / len(side) for side in sides))
            assert sides[0].mean() - sides[1].mean() > 2.0 * error
    assert np.isfinite(levels[2::3]).all()
    assert not np.isfinite(levels).all()


def test_a_mark_that_says_nothing_has_no_correlation():
    losses = np.array([0.0, 1.0, 0.0, 1.0])
    assert doubts.measured(np.zeros(4, dtype=bool), losses)[doubts.CORRELATION] == 0.0
    assert doubts.measured(losses > 0, losses)[doubts.CORRELATION] == pytest.approx(1.0)
    assert doubts.WORSE not in doubts.measured(np.zeros(4, dtype=bool), losses)


@pytest.mark.data
def test_the_small_run_of_spelling_by_the_command(tmp_path):
    folder = store.data_folder()
    if folder is None or not (folder / "strings").is_dir():
        pytest.skip("needs words: set MERCER_DATA to a folder that holds strings")
    chosen = experiment("spelling-command")
    rows = reproduce(chosen, tmp_path, small=True).rows
    found = {row["metric"]: row["value"] for row in rows}
    assert found[spelling_command.RIGHT] >= 86.0
    assert found[spelling_command.AMONG] == found[spelling_command.WITHOUT] == 1.0
    assert "xyzzy is always marked." in chosen.notes(rows)


def test_a_command_that_fails_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="mercer predict none x.tsv ended with 2: .*no such file"):
        spelling_command.mercer_command(tmp_path, "predict", "none", "x.tsv")
