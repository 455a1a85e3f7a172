"""Runs of experiments: stopped, resumed, and with damaged pieces."""

import json

import pytest

from experiments import runner
from experiments.experiment import Experiment, Piece, mean_row
from experiments.page import result_page, scores_table, summary
from experiments.registry import EXPERIMENTS, experiment
from experiments.runner import Stopped, reproduce
from mercer.report import environment


class Toy(Experiment):
    name = "toy"
    title = "A toy"
    source = "Nobody, Table 0"
    protocol = "Three seeds."

    def __init__(self, stop_at=None):
        self.ran = []
        self.stop_at = stop_at

    def pieces(self, small):
        return [Piece(f"seed-{seed}", {"seed": seed}) for seed in range(1 if small else 3)]

    def run(self, piece):
        if piece.settings["seed"] == self.stop_at:
            raise KeyboardInterrupt
        self.ran.append(piece.key)
        return {"loss": 0.1 + 0.2 * piece.settings["seed"]}

    def rows(self, outcomes):
        return [mean_row([o["loss"] for o in outcomes], "ours", "loss", paper=0.25, paper_error=0.01, setting="<a|b>")]

    def seeds(self, small):
        return [0, 1, 2]

    def notes(self, rows):
        return [f"Ours is {rows[0]['value']:.2f}."]


def test_a_run_writes_the_result_and_a_page(tmp_path):
    result = reproduce(Toy(), tmp_path)
    assert result.rows[0]["value"] == pytest.approx(0.3)
    assert result.rows[0]["error"] == pytest.approx(0.2 / 3**0.5)
    stored = json.loads((tmp_path / "toy.json").read_text())
    assert stored["rows"] == result.rows
    assert stored["parameters"]["small"] is False
    html = (tmp_path / "toy.html").read_text()
    assert "Ours is 0.30." in html
    assert "0.3000 ± 0.1155 / 0.2500 =" in html
    assert '<img class="scores" src="data:image/svg+xml;base64,' in html  # dark on dark pages, by the style
    assert "<code>python -m experiments reproduce toy</code>" in html


def test_two_runs_differ_in_nothing_but_time(tmp_path):
    first, second = (reproduce(Toy(), tmp_path / name, fresh=True) for name in "ab")
    first.seconds = second.seconds = 0.0
    assert first.to_json() == second.to_json()


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    with pytest.raises(Stopped, match="2 of 3 pieces of toy are kept"):
        reproduce(Toy(stop_at=2), tmp_path)
    assert not (tmp_path / "toy.json").exists()
    again = Toy()
    whole = reproduce(again, tmp_path)
    assert again.ran == ["seed-2"]
    assert whole.rows == reproduce(Toy(), tmp_path / "other").rows
    fresh = Toy()
    reproduce(fresh, tmp_path, fresh=True)
    assert len(fresh.ran) == 3


def test_pieces_run_side_by_side_give_what_they_give_one_by_one(tmp_path):
    one = reproduce(Toy(), tmp_path / "one")
    two = reproduce(Toy(), tmp_path / "two", jobs=2)
    assert two.rows == one.rows
    again = Toy()
    assert reproduce(again, tmp_path / "two").rows == one.rows
    assert again.ran == []


def test_a_result_names_every_machine_its_pieces_come_from(tmp_path, monkeypatch):
    first = reproduce(Toy(), tmp_path).environment
    assert first == environment()
    (tmp_path / ".pieces" / "toy" / "seed-1.json").unlink()
    monkeypatch.setattr("experiments.runner.environment", lambda: environment() | {"cpu": "another processor"})
    second = reproduce(Toy(), tmp_path).environment
    assert second == first | {"cpu": f"{first['cpu']} and another processor"}


@pytest.mark.parametrize("damage", ["cut", "changed", "other", "empty"])
def test_damaged_pieces_are_found_and_computed_again(tmp_path, damage, capsys):
    expected = reproduce(Toy(), tmp_path).rows
    path = tmp_path / ".pieces" / "toy" / "seed-1.json"
    text = path.read_text()
    path.write_text(
        {
            "cut": text[: len(text) // 2],
            "changed": text.replace("0.30000000000000004", "0.9"),
            "other": json.dumps({"record": [1]}),
            "empty": "",
        }[damage]
    )
    assert path.read_text() != text
    again = Toy()
    assert reproduce(again, tmp_path).rows == expected
    assert again.ran == ["seed-1"]
    assert "seed-1.json: damaged; computed again" in capsys.readouterr().err


def test_pieces_of_other_settings_are_not_used(tmp_path, capsys):
    class Other(Toy):
        def pieces(self, small):
            return [Piece("seed-0", {"seed": 0, "more": True})]

    reproduce(Toy(), tmp_path)
    reproduce(Other(), tmp_path)
    assert "seed-0.json: from other code or other settings; computed again" in capsys.readouterr().err


def test_pieces_of_other_code_are_not_used(tmp_path, monkeypatch, capsys):
    reproduce(Toy(), tmp_path)
    monkeypatch.setattr(runner, "code_fingerprint", lambda path: "other")
    again = Toy()
    reproduce(again, tmp_path)
    assert len(again.ran) == 3
    assert "from other code or other settings" in capsys.readouterr().err


def test_the_small_version_keeps_its_own_pieces(tmp_path):
    reproduce(Toy(), tmp_path, small=True)
    full = Toy()
    reproduce(full, tmp_path)
    assert len(full.ran) == 3


def test_the_summary_shows_ours_and_the_papers(tmp_path):
    toy = Toy()
    result = reproduce(toy, tmp_path)
    assert "| toy | ours: loss | 0.2500 | 0.3000 ± 0.1155 | matched |" in summary([(toy, result)])
    assert "| ours: loss | 0.2500 ± 0.0100 | 0.3000 ± 0.1155 | <a\\|b> | matched |" in result_page(toy, result)
    assert scores_table(toy, [{"method": "m", "metric": "l", "value": 1.0, "error": None}]).header == [
        "method",
        "metric",
        "ours",
    ]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_describes_itself(name):
    found = experiment(name)
    assert found.name == name
    assert all(len(text) > 10 for text in (found.title, found.source, found.protocol))
    keys = [piece.key for piece in found.pieces(small=True)]
    assert keys
    assert len(set(keys)) == len(keys)
