"""Files of rows that are read block by block."""

import numpy as np
import pytest

from mercer.core.blocks import in_memory
from mercer.io import Batches, open_rows, pairs_of

ROWS = np.random.default_rng(0).standard_normal((30, 3))


def test_npy_files(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS.astype(np.float32))
    rows = open_rows(tmp_path / "rows.npy")
    assert len(rows) == 30
    assert np.array_equal(in_memory(rows), ROWS.astype(np.float32))
    with pytest.raises(ValueError, match=r"columns=\['a'\] are for Parquet files, and rows.npy is an array"):
        open_rows(tmp_path / "rows.npy", ["a"])


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array(["a", "b"]), "bad.npy has dtype <U1; expected numbers"),
        (np.array([{}], dtype=object), "bad.npy cannot be mapped .*expected an array of numbers written by numpy.save"),
        (np.ones((0, 3)), r"bad.npy has shape \(0, 3\); expected at least one row and one column"),
        (np.array(1.0), r"bad.npy has shape \(\); expected at least one row"),
    ],
    ids=["text", "objects", "empty", "number"],
)
def test_npy_files_of_another_kind(tmp_path, array, message):
    np.save(tmp_path / "bad.npy", array)
    with pytest.raises(ValueError, match=message):
        open_rows(tmp_path / "bad.npy")


def test_files_that_are_not_rows(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        open_rows(tmp_path / "none.npy")
    for name in ("rows.csv", "rows.npy", "rows.parquet"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"expected a .npy or .parquet file. Read others by mercer.io.Batches"):
        open_rows(tmp_path / "rows.csv")
    with pytest.raises(ValueError, match="rows.npy cannot be mapped"):
        open_rows(tmp_path / "rows.npy")
    pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="rows.parquet is not a Parquet table"):
        open_rows(tmp_path / "rows.parquet")


def test_parquet_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(ROWS, columns=list("abc"))
    frame["word"] = [f"w{i}" for i in range(30)]
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=7)
    rows = open_rows(tmp_path / "rows.parquet", ["c", "a"])
    assert len(rows) == 30
    assert np.array_equal(in_memory(rows), ROWS[:, [2, 0]])
    assert in_memory(open_rows(tmp_path / "rows.parquet", "word")).tolist() == frame["word"].tolist()
    whole = in_memory(open_rows(tmp_path / "rows.parquet"))
    assert list(whole.columns) == [*"abc", "word"]
    with pytest.raises(ValueError, match=r"rows.parquet has no column 'd'. It has 'a', 'b', 'c', 'word'"):
        open_rows(tmp_path / "rows.parquet", ["a", "d"])


def test_pairs():
    X, y = pairs_of(lambda: ((ROWS[i : i + 8], ROWS[i : i + 8, 0]) for i in range(0, 30, 8)))
    assert np.array_equal(in_memory(X), ROWS)
    assert np.array_equal(in_memory(y), ROWS[:, 0])
    assert isinstance(X, Batches)
    with pytest.raises(TypeError, match=r"batch 0 is .*; expected a pair \(X, y\)"):
        len(pairs_of(lambda: [ROWS])[0])
    with pytest.raises(TypeError, match="X and y is .*an iterator, which can be read once"):
        pairs_of(iter([(ROWS, ROWS)]))
