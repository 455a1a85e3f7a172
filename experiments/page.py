"""Scores of an experiment next to the paper's: in the terminal, on its page, in the summary."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

from experiments.experiment import Experiment, Outcome
from experiments.paper_index import INDEX
from experiments.pictures import drawn
from experiments.pivots import pivoted, score
from experiments.verdicts import published
from mercer.report import Result, Table, page, paragraph, section, table_html

_FIXED = ("method", "metric", "value", "error", "paper", "paper_error")
_SIGNS = "Cells: ours ± its standard error / the paper's, with = matched, + beaten, − not reached, ≠ neither better nor worse."
_RULE = (
    "A published value is compared with the closest of the readings in which it was measured. It is *matched* if the two differ "
    "by at most two standard errors of their difference (or half a unit of the last digit shown), *beaten* if ours is better by "
    "more, *not reached* if it is worse by more (and then *explained* or *refuted* where a measurement on its page says why), "
    "and *differs* if neither is better. A standard deviation over folds that a paper prints is divided by the root of their "
    "number."
)


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
        cells.append(score(row["value"], row["error"], experiment.digits))
        if with_paper:
            paper = row.get("paper")
            cells.append("" if paper is None else score(paper, row.get("paper_error"), experiment.digits))
            cells.append("" if paper is None else f"{row['value'] - paper:+.{experiment.digits}f}")
        lines.append(cells)
    return Table(header, lines, experiment.title)


def experiment_page(experiment: Experiment, result: Result, outcomes: Sequence[Outcome]) -> str:
    """Write the HTML page of an experiment: pictures and tables first, then the protocol."""
    examples = _examples(result)
    small = " --small" if result.parameters.get("small") else ""
    blocks = [
        paragraph(experiment.source),
        first_picture(experiment, result.rows),
        *(table_html(table) for table in pivoted(experiment, result.rows)),
        *([paragraph(_SIGNS)] if any("paper" in row for row in result.rows) else []),
        *(paragraph(note) for note in experiment.notes(result.rows)),
        *experiment.blocks(result.rows, outcomes),
        *([section("Examples")] if examples else []),
        *(table_html(table) for table in examples),
        section("Protocol"),
        paragraph(experiment.protocol),
        section("How this was computed"),
        paragraph(f"`python -m experiments reproduce {experiment.name}{small}`, in {result.seconds:.0f} seconds."),
    ]
    machine = result.environment
    footer = f"mercer {machine['mercer']}, Python {machine['python']}, NumPy {machine['numpy']}, {machine['cpu']}"
    return page(experiment.title, blocks, footer)


def first_picture(experiment: Experiment, rows: Sequence[dict[str, Any]]) -> str:
    """Return the picture of the rows as a block of HTML."""
    uri = "data:image/svg+xml;base64," + b64encode(drawn(experiment, rows)).decode()
    return f'<figure class="wide"><img class="scores" src="{uri}" alt="Scores of {escape(experiment.title)}"></figure>'


def result_page(experiment: Experiment, result: Result) -> str:
    """Write the page of an experiment as Markdown: a picture, tables, verdicts, and then the protocol."""
    rows, compared = result.rows, published(experiment, result.rows)
    parts = [f"# {experiment.title}", f"![Scores of {experiment.title}]({experiment.name}.svg)"]
    parts += [part for table in pivoted(experiment, rows) for part in (f"**{table.title}**", markdown(table))]
    if compared:
        parts += [_SIGNS, "## Published values", markdown(_compared(experiment, compared)), _RULE]
    notes = experiment.notes(rows)
    parts += ["## Remarks", *notes] if notes else []
    examples = _examples(result)
    parts += ["## Examples"] if examples else []
    parts += [part for table in examples for part in (f"**{table.title}**", markdown(table))]
    machine = result.environment
    parts += [
        "## Protocol",
        experiment.source,
        experiment.protocol,
        f"`make reproduce NAME={experiment.name}`: {result.seconds:.0f} seconds on {machine['cpu']}, {machine['cores']} cores.",
    ]
    return "\n\n".join(parts) + "\n"


def summary(experiments: Sequence[tuple[Experiment, Result]]) -> str:
    """Write one line for each experiment and one for each published value, as Markdown."""
    parts = [
        "# Results",
        "Written by `python -m experiments summary results docs/results.md` from the files in `results/`; each name leads to a "
        "page with a picture, tables and the protocol.",
        _RULE,
        "## Experiments",
    ]
    lines = []
    for experiment, result in experiments:
        said = Counter(each.verdict for each in published(experiment, result.rows))
        verdicts = ", ".join(f"{number} {word}" for word, number in said.most_common()) or "no published value"
        lines.append([f"[{experiment.name}](results/{experiment.name}.md)", experiment.title, verdicts])
    parts += [markdown(Table(["experiment", "task", "published values"], lines)), "## Published values"]
    values = []
    for experiment, result in experiments:
        digits = experiment.digits
        for i, each in enumerate(published(experiment, result.rows)):
            ours = score(each.row["value"], each.row["error"], digits)
            name = experiment.name if i == 0 else ""
            values.append([name, f"{each.method}: {each.what}", f"{each.paper:.{digits}f}", ours, each.verdict])
    parts.append(markdown(Table(["experiment", "row", "paper", "ours", "verdict"], values)))
    places = [
        [
            item.paper,
            item.place,
            str(len(item.values) or "plots"),
            ", ".join(f"[{n}](results/{n}.md)" for n in item.experiments),
        ]
        for item in INDEX
    ]
    parts += [
        "## Tables and figures of the papers",
        markdown(Table(["paper", "place", "values", "experiment"], places)),
    ]
    return "\n\n".join(parts) + "\n"


def markdown(table: Table) -> str:
    """Write a table as Markdown, the best values in bold, cells of a kind as spans of its class."""
    lines = [
        "| " + " | ".join(_unbroken(_escaped(name)) for name in table.header) + " |",
        "|" + "---|" * len(table.header),
    ]
    for i, row in enumerate(table.rows):
        cells = [_escaped(row[0]), *(_unbroken(_escaped(cell)) for cell in row[1:])]
        for (line, j), kind in table.kinds.items():
            cells[j] = f'<span class="{kind}">{cells[j]}</span>' if line == i else cells[j]
        cells = [f"**{cell}**" if (i, j) in table.best else cell for j, cell in enumerate(cells)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _examples(result: Result) -> list[Table]:
    return [Table(**content) for content in result.parameters.get("examples", [])]


def _compared(experiment: Experiment, values: Sequence[Any]) -> Table:
    lines = []
    for each in values:
        paper = score(each.paper, each.row.get("paper_error"), experiment.digits)
        ours = score(each.row["value"], each.row["error"], experiment.digits)
        said = f"{each.verdict}: {each.reason}" if each.reason else each.verdict
        lines.append([f"{each.method}: {each.what}", paper, ours, each.reading, said])
    header = ["row", "paper", "ours", "closest reading", "verdict"]
    if not any(each.reading for each in values):
        header, lines = [header[i] for i in (0, 1, 2, 4)], [[line[i] for i in (0, 1, 2, 4)] for line in lines]
    return Table(header, lines)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")


def _unbroken(cell: str) -> str:
    """A number stays on the line of the sign before it."""
    return re.sub(r"([=≤≥]) (?=\d)", "\\1\u00a0", cell).replace(" =\u00a0", "\u00a0=\u00a0")


def _plain(value: Any) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
