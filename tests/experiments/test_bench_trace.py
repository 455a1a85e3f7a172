"""``bench trace``: calls are counted as they are made, and every row is there. Times are not asserted."""

import json

import numpy as np

from experiments.bench import trace
from mercer.core.collections import as_vectors
from mercer.core.files import written_atomically


def test_calls_of_the_library_are_counted(tmp_path):
    def task():
        as_vectors(np.zeros((3, 2)), "X")
        with written_atomically(tmp_path / "text") as temporary:
            temporary.write_text("text")

    found = trace.trace(task)
    assert {"collections.py", "files.py"} <= {file.rpartition("/")[2] for file in found.files}
    assert found.checks["as_vectors"] == 1
    assert found.room_changes == 0


def test_a_fit_crosses_few_files_and_checks_its_vectors():
    rows = {(row["method"], row["metric"]): row for row in trace.call_rows()}
    for name in ("fit", "predict"):
        crossed = rows[name, "files of mercer"]
        assert crossed["value"] > 1
        assert trace.FILES[name].met_by(crossed["value"]), crossed["files"]
        assert rows[name, "calls of as_vectors"]["value"] <= 3
        assert rows[name, "room changes"]["value"] > 0
        assert rows[name, "calls of as_vectors"]["value"] + rows[name, "calls of validate_data"]["value"] > 0
    assert "estimators/dependency.py" in rows["fit", "files of mercer"]["files"]


def test_isinstance_is_counted_where_it_is_called():
    assert trace._isinstance_calls("# isinstance(\nisinstance(x, int) or isinstance(y, str)\n'isinstance(z)'\n") == 2


def test_command_writes_every_row(tmp_path, capsys):
    trace.main(tmp_path / "trace.json", quick=True)
    metrics = [row["metric"] for row in json.loads((tmp_path / "trace.json").read_text())["rows"]]
    assert {"lines", "isinstance per 1,000 lines", "seconds beyond that import"} <= set(metrics)
    printed = capsys.readouterr().out
    assert "predict, n = 100: files of mercer" in printed
    assert "fit: " in printed
