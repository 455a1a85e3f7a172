"""The command ``mercer``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from mercer._version import __version__

app = typer.Typer(
    name="mercer",
    help="Learn a map from any kind of object to any other, with two kernels.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; an error of the user gives one line and exit status 2."""
    try:
        app(prog_name="mercer")
    except (ValueError, OSError, MemoryError, ImportError) as error:
        if (getattr(error, "name", None) or "").split(".")[0] == "mercer":  # a module of our own: a defect
            raise
        _say(str(error))
        sys.exit(2)


def _say(sentence: str) -> None:
    from mercer.io.lines import printable

    print(f"mercer: {printable(sentence)}", file=sys.stderr)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"mercer {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Options of the command itself."""


@app.command()
def demo(
    output: Annotated[Path, typer.Option(help="Folder for index.html and demo.json.")] = Path("out/demo"),
    folds: Annotated[int, typer.Option(help="Number of folds; each is trained on in turn.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer digits and fewer parameters: seconds.")] = False,
) -> None:
    """Learn to complete handwritten digits; print a table and write a page with pictures."""
    from mercer.cli.demo import run

    print(run(output, folds=folds, quick=quick))


@app.command()
def fit(  # noqa: PLR0913
    pairs: Annotated[str, typer.Argument(help="Two columns of text separated by a tab, UTF-8; - for standard input.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File for the model.")],
    preset: Annotated[str, typer.Option(help="Kind of model: strings, aligned, labels or neighbors.")] = "strings",
    input_kernel: Annotated[
        str | None,
        typer.Option(help="Kernel of the first column, such as spectrum:1-3/normalized or subsequence:3,0.5."),
    ] = None,
    output_kernel: Annotated[str | None, typer.Option(help="Kernel of the second column, such as spectrum:3.")] = None,
    alpha: Annotated[
        str | None, typer.Option(help="Regularization: a number, or loo, gcv or kfold to choose one.")
    ] = None,
    loss: Annotated[str | None, typer.Option(help="Loss to minimize: edit, zero-one or kernel.")] = None,
    rank: Annotated[int | None, typer.Option(help="Rank of the solver, for more pairs than fit in memory.")] = None,
    tokens: Annotated[
        str | None, typer.Option(help="Columns whose symbols are words separated by spaces: input, output or both.")
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out lines that cannot be used.")] = False,
) -> None:
    """Learn to turn the first column of a file into the second, and save the model."""
    from mercer.cli import text_commands as commands
    from mercer.cli.presets import FitOptions

    options = FitOptions(preset, input_kernel, output_kernel, alpha, loss, rank, tokens, skip_bad)
    with _interruptible():
        commands.fit(pairs, output, options, _say)
    print(output)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A model written by mercer fit.")],
    inputs: Annotated[str, typer.Argument(help="One input per line, UTF-8; - for standard input.")],
    top_k: Annotated[int | None, typer.Option(help="Number of answers to each input, with rank and score.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the answers; printed by default.")
    ] = None,
) -> None:
    """Answer every line of a file with a model. Answers are kept when a run is stopped."""
    from mercer.cli import text_commands as commands

    with _interruptible():
        left_out = commands.predict(model, inputs, top_k=top_k, output=output, say=_say)
    if left_out:
        raise typer.Exit(1)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Turn a stopped run into one line and exit status 130."""
    from mercer.cli.text_commands import Stopped

    try:
        yield
    except Stopped as stopped:
        _say(str(stopped))
        raise typer.Exit(130) from None
