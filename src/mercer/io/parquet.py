"""Parquet files, by pyarrow."""

from __future__ import annotations

from typing import Any

from mercer.io.lines import regular_file
from mercer.io.records import ReadOptions, Records, require_package

MOST_CELLS, MOST_INFLATED = 2**26, 2**31


def read_parquet(path: str, options: ReadOptions) -> Records:
    """Read the columns of a Parquet file."""
    parquet = require_package("pyarrow.parquet", "reading Parquet files", "tables")
    pyarrow = require_package("pyarrow", "reading Parquet files", "tables")
    file = regular_file(path, "a Parquet file")
    try:
        read = parquet.ParquetFile(file)
        rows, names = read.metadata.num_rows, read.schema_arrow.names
        inflated = sum(read.metadata.row_group(i).total_byte_size for i in range(read.metadata.num_row_groups))
        _check_size(path, rows, names, inflated)
        table = read.read()
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OSError) as error:
        raise ValueError(f"{path} is not a Parquet file, or is damaged ({error!s:.200})") from error
    columns = {name: _values(table.column(i)) for i, name in enumerate(names)}
    records = Records(columns, list(range(1, rows + 1)), "row", notes=[f"columns: {', '.join(names)}"])
    if len(names) == 2:
        records.inputs, records.outputs = (names[0],), (names[1],)
    return records


def _check_size(path: str, rows: int, names: list[str], inflated: int) -> None:
    if rows == 0 or not names:
        raise ValueError(f"{path} has {rows} rows and {len(names)} columns; expected some of each")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{path}: two columns are called {twice!r}; rename one")
    if rows * len(names) > MOST_CELLS or inflated > MOST_INFLATED:
        held = f"{rows} rows of {len(names)} columns, {inflated / 2**20:.0f} MiB"
        raise ValueError(f"{path} has {held}; expected at most {MOST_CELLS} cells and {MOST_INFLATED // 2**20} MiB")


def _values(column: Any) -> list[Any]:
    if str(column.type).startswith("dictionary"):
        column = column.cast(column.type.value_type)
    return column.to_pylist()
