"""Scores of an experiment next to the paper's: in the terminal, on its page, in the summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.experiment import Experiment, Outcome
from mercer.report import Result, Table, page, paragraph, section, table_html

_FIXED = ("method", "metric", "value", "error", "paper", "paper_error")


def scores_table(experiment: Experiment, rows: Sequence[dict[str, Any]]) -> Table:
    """Tabulate `rows`: our score, the paper's and the difference of the two."""
    varies = [key for row in rows for key in row if key not in _FIXED]
    varies = list(dict.fromkeys(varies))
    header = ["method", *varies, "metric", "ours", "paper", "gap"]
    with_paper = any("paper" in row for row in rows)
    header = header if with_paper else header[:-2]
    lines = []
    for row in rows:
        cells = [row["method"], *(_plain(row.get(key)) for key in varies), row["metric"]]
        cells.append(_score(row["value"], row["error"], experiment.digits))
        if with_paper:
            paper = row.get("paper")
            cells.append("" if paper is None else _score(paper, row.get("paper_error"), experiment.digits))
            cells.append("" if paper is None else f"{row['value'] - paper:+.{experiment.digits}f}")
        lines.append(cells)
    return Table(header, lines, experiment.title)


def experiment_page(experiment: Experiment, result: Result, outcomes: Sequence[Outcome]) -> str:
    """Write the HTML page of an experiment."""
    blocks = [
        paragraph(experiment.source),
        paragraph(experiment.protocol),
        table_html(scores_table(experiment, result.rows)),
        *(paragraph(note) for note in experiment.notes(result.rows)),
        *experiment.blocks(result.rows, outcomes),
        section("How this was computed"),
        paragraph(f"python -m experiments reproduce {experiment.name}, in {result.seconds:.0f} seconds."),
    ]
    machine = result.environment
    footer = f"mercer {machine['mercer']}, Python {machine['python']}, NumPy {machine['numpy']}, {machine['cpu']}"
    return page(experiment.title, blocks, footer)


def summary(experiments: Sequence[tuple[Experiment, Result]]) -> str:
    """Write the results of full runs as Markdown."""
    parts = [
        "# Results",
        "Written by `python -m experiments summary results docs/results.md` from the files in `results/`.",
    ]
    for experiment, result in experiments:
        table = scores_table(experiment, result.rows)
        parts += [
            f"## {experiment.title}",
            f"`make reproduce NAME={experiment.name}`: {experiment.source}",
            experiment.protocol,
        ]
        parts += [_markdown(table), *experiment.notes(result.rows)]
        parts += [f"{result.seconds:.0f} seconds on {result.environment['cpu']}, {result.environment['cores']} cores."]
    return "\n\n".join(parts) + "\n"


def _markdown(table: Table) -> str:
    lines = ["| " + " | ".join(table.header) + " |", "|" + "---|" * len(table.header)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table.rows]
    return "\n".join(lines)


def _score(value: float, error: float | None, digits: int) -> str:
    return f"{value:.{digits}f}" if error is None else f"{value:.{digits}f} ± {error:.{digits}f}"


def _plain(value: Any) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
