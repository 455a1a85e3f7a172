"""Tables from frames: kinds, gaps, slices, errors, and their encoding as a matrix."""

import datetime
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from mixed_tables import frames, mixed
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.pipeline import make_pipeline

import mercer
from mercer.core.collections import concatenate, count, members, take
from mercer.structures import Table
from mercer.structures.table_encoder import TableEncoder

KINDS = {"age": "number", "rooms": "number", "city": "category", "member": "category", "since": "date", "note": "text"}


def test_kinds_and_values_do_not_depend_on_the_library():
    plain = Table.of(mixed())
    assert plain.kinds == KINDS
    for frame in frames(mixed()).values():
        table = Table.of(frame)
        assert table == plain
        assert table.shape == (40, 6)


def test_polars_is_tested():
    pytest.importorskip("polars", reason="polars is not installed")
    assert "polars" in frames(mixed())


@pytest.mark.parametrize(
    ("values", "kind", "stored"),
    [
        ([1, 2.5, None], "number", [1.0, 2.5, np.nan]),
        ([Decimal("1.5"), True, None], "number", [1.5, 1.0, np.nan]),
        ([True, pd.NA, False], "category", ["True", None, "False"]),
        ([datetime.date(1970, 1, 3), None], "date", [2.0, np.nan]),
        (pd.to_datetime(["1970-01-02T01:00", None]).tz_localize("Europe/Paris"), "date", [1.0, np.nan]),
        (pd.to_timedelta(["36h", None]), "number", [1.5, np.nan]),
        (pd.Categorical(["u", None, "v"]), "category", ["u", None, "v"]),
        (pd.array([1, None], dtype="Int64"), "number", [1.0, np.nan]),
        (["a", "b", "a", "b", ""], "text", ["a", "b", "a", "b", ""]),
        (["a", "b", "a", "b"], "category", ["a", "b", "a", "b"]),
        ([1, "a", None, 1.0, "a"], "category", ["1", "a", None, "1", "a"]),
    ],
)
def test_rule_of_kinds(values, kind, stored):
    table = Table.of(pd.DataFrame({"c": values}))
    assert table.kinds == {"c": kind}
    np.testing.assert_array_equal(
        table.columns["c"], np.asarray(stored, dtype=float if kind in ("number", "date") else object)
    )


def test_few_strings_are_categories_in_a_long_table():
    many = [f"word {i % 60}" for i in range(600)]
    assert Table.of({"c": many}).kinds["c"] == "category"
    assert Table.of({"c": many[:500]}).kinds["c"] == "text"  # 60 distinct values are more than a tenth
    assert Table.of({"c": many[:500]}, {"c": "category"}).kinds["c"] == "category"


def test_kinds_that_are_given():
    zip_code = pd.DataFrame({"zip": [1.0, None, 2.0], "when": ["2020-01-01", None, "2020-01-02"], "id": [1, 2, 3]})
    table = Table.of(zip_code, {"zip": "category", "when": "date", "id": "ignored"})
    assert table.columns["zip"].tolist() == ["1", None, "2"]  # as whole numbers without gaps are written
    assert np.diff(table.columns["when"][[0, 2]]) == 1.0
    assert table.used == {"zip": "category", "when": "date"}
    assert Table.of(table, {"zip": "text"}).kinds["zip"] == "text"
    with pytest.raises(ValueError, match="kinds names the column 'zap', which X lacks"):
        Table.of(zip_code, {"zap": "text"})
    with pytest.raises(ValueError, match="'colour'.*expected one of 'number'"):
        Table.of(zip_code, {"zip": "colour"})


def test_slices_and_sums():
    table = Table.of(mixed(12))
    rows = np.asarray([3, 1, 7])
    assert count(table) == 12
    assert take(table, rows)[1] == table[1]
    assert take(table, np.arange(12) < 4) == table[:4]
    assert concatenate(table[:5], table[5:]) == table
    assert members(table)[2] == table[2] == table[-10]
    assert table[:3] != table[1:4]
    with pytest.raises(IndexError):
        table[12]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_known_columns_in_any_order(library):
    frame = frames(mixed())
    if library not in frame:
        pytest.skip("polars is not installed")
    frame = frame[library]
    table = Table.of(frame)
    assert Table.like(frame[list(KINDS)[::-1]], table.kinds) == table
    with pytest.raises(ValueError, match=r"X lacks the columns \['age', 'since'\]; expected the columns of training"):
        Table.like(frame[["rooms", "city", "member", "note"]], table.kinds)
    with pytest.raises(ValueError, match=r"X has columns that training did not have: \['note'\]; expected"):
        Table.like(frame, {name: kind for name, kind in table.kinds.items() if name != "note"})


def test_bad_columns():
    with pytest.raises(ValueError, match="several columns called a; expected distinct names"):
        Table.of(pd.DataFrame(np.eye(2), columns=["a", "a"]))
    with pytest.raises(ValueError, match="several columns called 1"):
        Table.of(pd.DataFrame(np.eye(2), columns=["1", 1]))
    with pytest.raises(ValueError, match=r"X\['a'\] holds infinity in row 1"):
        Table.of({"a": [1.0, np.inf]})
    with pytest.raises(TypeError, match=r"X\['a'\] holds a list"):
        Table.of({"a": [[1], [2]]})
    with pytest.raises(ValueError, match=r"X\['a'\] holds 'x' in row 1; expected a number"):
        Table.like({"a": ["3", "x"]}, {"a": "number"})
    with pytest.raises(ValueError, match="columns of one length"):
        Table.of({"a": [1, 2], "b": [1]})
    with pytest.raises(ValueError, match="with rows and columns"):
        Table.of(pd.DataFrame({"a": []}))
    with pytest.raises(ValueError, match="expected a table"):
        Table.of(["a", "b"])


def test_columns_without_values_are_ignored_with_a_warning():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [None, None], "c": [np.nan, np.nan]})
    with pytest.warns(UserWarning, match=r"no value in the columns \['b', 'c'\], which are ignored"):
        table = Table.of(frame)
    assert table.used == {"a": "number"}
    assert Table.like(frame.assign(b=["x", "y"]), table.kinds) == table
    with pytest.raises(ValueError, match="no value in any of its columns"):
        Table.of(frame[["b", "c"]])


def test_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(ImportError, match=r"pip install mercer\[tables\]"):
        Table.of(pd.DataFrame({"a": [1]}))
    assert len(Table.of({"a": [1]})) == 1


def test_the_matrix_of_a_table():
    table = pd.DataFrame(
        {"n": [1.0, None, 5.0, 2.0], "c": ["a", "b", "a", None], "d": pd.to_datetime(["1970-01-08"] * 3 + [None])}
    )
    encoder = TableEncoder(kinds={"c": "category"}).fit(table)
    names = encoder.get_feature_names_out().tolist()
    got = dict(zip(names, encoder.transform(table).T.tolist(), strict=True))
    assert got["n"] == [1.0, 2.0, 5.0, 2.0]
    assert got["n_missing"] == [0.0, 1.0, 0.0, 0.0]
    assert got["c_a"] == [1.0, 0.0, 1.0, 0.0]
    assert got["c_other"] == [0.0, 1.0, 0.0, 0.0]
    assert got["c_missing"] == [0.0, 0.0, 0.0, 1.0]
    assert got["d"] == [7.0] * 4
    np.testing.assert_allclose(got["d_week_cos"], [1.0, 1.0, 1.0, 1.0])
    fresh = dict(zip(names, encoder.transform({"n": [None], "c": ["new"], "d": [None]})[0].tolist(), strict=True))
    assert (fresh["n"], fresh["n_missing"], fresh["c_a"], fresh["c_other"]) == (
        2.0,
        1.0,
        0.0,
        1.0,
    )


def test_the_matrix_does_not_depend_on_library_or_order():
    columns = mixed()
    whole = TableEncoder(n_hashes=5).fit(columns)
    matrix = whole.transform(columns)
    assert matrix.shape == (40, len(whole.get_feature_names_out()))
    assert np.isfinite(matrix).all()
    order = np.random.default_rng(1).permutation(40)
    for frame in frames(columns).values():
        np.testing.assert_allclose(TableEncoder(n_hashes=5).fit_transform(frame), matrix, atol=1e-12)
        np.testing.assert_allclose(whole.transform(frame[list(KINDS)[::-1]]), matrix, atol=1e-12)
    shuffled = Table.of(columns)[order]
    np.testing.assert_allclose(whole.transform(shuffled), matrix[order], atol=1e-12)
    again = TableEncoder(n_hashes=5).fit(shuffled).transform(shuffled)
    np.testing.assert_allclose(again, matrix[order], atol=1e-12)


@pytest.mark.parametrize("texts", [["", "", ""], ["", "a", ""], ["same", "same", "same"], [None, "", None]])
def test_texts_with_little_in_them(texts):
    matrix = (
        TableEncoder(kinds={"t": "text"})
        .fit({"t": texts, "n": [1, 2, 3]})
        .transform({"t": [None, "", "zz"], "n": [1, 2, 3]})
    )
    assert np.isfinite(matrix).all()


def test_the_encoder_in_a_pipeline_and_saved(tmp_path):
    frame, y = pd.DataFrame(mixed(30)), np.arange(30.0)
    model = make_pipeline(TableEncoder(), ExtraTreesRegressor(10, random_state=0)).fit(frame, y)
    assert model.score(frame, y) > 0.9
    encoder = TableEncoder().fit(frame)
    loaded = mercer.load(mercer.save(encoder, tmp_path / "encoder"))
    np.testing.assert_array_equal(loaded.transform(frame), encoder.transform(frame))
