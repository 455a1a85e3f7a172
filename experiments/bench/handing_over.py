"""What every benchmark does with its figures."""

from __future__ import annotations

from pathlib import Path

from mercer.report import Result, Table, print_table


def hand_over(result: Result, table: Table, output: Path | None) -> None:
    """Print the table, and write the result as JSON where `output` says so."""
    print_table(table)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        result.to_json(output)
