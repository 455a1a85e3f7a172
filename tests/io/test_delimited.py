"""Separators of tables, and what is said where they are other ones."""

from pathlib import Path

import pytest

from mercer.io.records import ReadOptions, read
from mercer.io.schema import Asked, Schema
from mercer.io.writers import written_format

ROWS = [("rooms", "heat", "sold"), *[(str(i), str(i * i), str(3 * i)) for i in range(9)]]


def written(path, separator):
    path.write_text("".join(separator.join(row) + "\n" for row in ROWS))
    return str(path)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_a_csv_file_has_the_separator_of_its_first_line(tmp_path, separator):
    records = read(written(tmp_path / "houses.csv", separator))
    assert list(records.columns) == ["rooms", "heat", "sold"]
    assert records.columns["sold"][:2] == ["0", "3"]


@pytest.mark.parametrize(("separator", "name"), [(",", "commas"), (";", "semicolons")])
@pytest.mark.parametrize("header", [None, True])
def test_a_tsv_file_with_another_separator_is_named(tmp_path, separator, name, header):
    path = written(tmp_path / "houses.tsv", separator)
    records = read(path, ReadOptions(header))
    with pytest.raises(
        ValueError, match=f"no column 'sold'.* separated by {name}, name the file .csv, or pass --format"
    ):
        Schema.of(records, Asked(outputs=("sold",)), path)
    with pytest.raises(
        ValueError, match=f"by --input and --output. If columns are separated by {name}, name the file .csv"
    ):
        Schema.of(records, Asked(), path)


def test_one_column_of_sentences_is_read(tmp_path):
    (tmp_path / "new.tsv").write_text("well, yes\nno; not at all\n")
    assert read(tmp_path / "new.tsv").columns == {"input": ["well, yes", "no; not at all"]}


def test_a_quote_that_is_not_closed_is_named_where_no_row_is_left(tmp_path):
    (tmp_path / "quote.csv").write_text('a,b\n1,"2\n3,4\n')
    with pytest.raises(ValueError, match=r"quote.csv: line 2: .*; expected quotes that are closed"):
        read(tmp_path / "quote.csv")


def test_answers_are_not_written_into_files_of_other_formats():
    with pytest.raises(ValueError, match="answers are not written as sdf; expected csv, tsv, jsonl, parquet"):
        written_format(Path("answers.sdf"), "new.csv")
    assert written_format(None, "new.sdf") == "csv"
    assert written_format(Path("answers.txt"), "new.csv") == "tsv"
