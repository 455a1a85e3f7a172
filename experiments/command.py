"""What `mercer reproduce` does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from experiments.page import figures_table, summary
from experiments.registry import EXPERIMENTS, experiment, reproduce
from mercer.core.files import written_atomically
from mercer.report import Result, print_table


def list_experiments() -> None:
    """Print the name, the title and the source of every experiment; in lines, which no terminal is too narrow for."""
    width = max(map(len, EXPERIMENTS))
    for each in map(experiment, EXPERIMENTS):
        print(f"{each.name:{width}}  {each.title}\n{'':{width}}  {each.source}")


def run(names: Sequence[str], folder: Path, *, small: bool, fresh: bool, jobs: int, docs: Path | None) -> None:
    """Run the experiments `names` one after the other; print each table and where its page is."""
    console = Console()
    chosen = [experiment(name) for name in names]
    for each in chosen:
        result = reproduce(each, folder, small=small, fresh=fresh, jobs=jobs, say=console.print)
        print_table(figures_table(each, result.rows), console)
        for note in each.notes(result.rows):
            console.print(note)
        console.print(f"{folder / each.name}.html", soft_wrap=True)
    if docs is not None:
        write_summary(folder, docs)


def write_summary(folder: Path, docs: Path) -> None:
    """Write the Markdown summary of every result in `folder`."""
    known = [(experiment(name), folder / f"{name}.json") for name in EXPERIMENTS]
    text = summary([(each, Result.read(path)) for each, path in known if path.is_file()])
    with written_atomically(docs) as temporary:
        temporary.write_text(text, encoding="utf-8")
