"""``python -m experiments``: run the papers again, and measure speed."""

from __future__ import annotations

import importlib
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="experiments",
    help="Run the tables and figures of the papers, public tasks beyond them, and benchmarks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class Benchmark(StrEnum):
    """The benchmarks there are."""

    core = "core"
    objects = "objects"
    operators = "operators"
    strings = "strings"


@app.command()
def bench(
    name: Annotated[Benchmark, typer.Argument(help="Which benchmark to run.")],
    output: Annotated[Path | None, typer.Option(help="File for the result as JSON.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: seconds.")] = False,
) -> None:
    """Measure speed and memory as ratios to plain NumPy and SciPy, in one run."""
    importlib.import_module(f"experiments.bench.{name}").main(output, quick)


@app.command()
def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="Experiments to run, such as weston-table3.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Run every experiment.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments and stop.")] = False,
    small: Annotated[bool, typer.Option("--small", help="The small version of each: seconds.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what an earlier run finished.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Pieces run at a time, each in its own process.")] = 1,
    output: Annotated[Path, typer.Option(help="Folder for the JSON files and the pages.")] = Path("out/reproduce"),
    docs: Annotated[Path | None, typer.Option(help="Also write a Markdown summary of the folder here.")] = None,
) -> None:
    """Run tables and figures of the papers again: ours beside theirs. A run that was stopped goes on."""
    from experiments import command
    from experiments.registry import EXPERIMENTS, Stopped

    if listed:
        command.list_experiments()
        return
    chosen = list(EXPERIMENTS) if everything else names
    if not chosen:
        raise ValueError("no experiment was named; name one, or pass --all, or see --list")
    try:
        command.run(chosen, output, small=small, fresh=fresh, jobs=jobs, docs=docs)
    except Stopped as stopped:
        print(f"experiments: {stopped}", file=sys.stderr)
        raise typer.Exit(130) from None


def main() -> None:
    """Run the command line; a mistake of the user ends with one line and exit status 2."""
    try:
        app(prog_name="python -m experiments")
    except (ValueError, OSError, MemoryError) as error:
        print(f"experiments: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
