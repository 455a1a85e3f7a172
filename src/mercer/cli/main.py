"""The command ``mercer``."""

from __future__ import annotations

import sys
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
    """Run the command line; what a user got wrong is answered by one line and exit status 2."""
    try:
        app(prog_name="mercer")
    except (ValueError, OSError, MemoryError) as error:
        print(f"mercer: {error}", file=sys.stderr)
        sys.exit(2)


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
    folds: Annotated[int, typer.Option(help="Parts the digits are cut into; each is trained on in turn.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer digits and fewer parameters tried: seconds.")] = False,
) -> None:
    """Learn to complete handwritten digits; print a table and write a page with pictures."""
    from mercer.cli.demo import run

    print(run(output, folds=folds, quick=quick))


@app.command()
def fit(
    pairs: Annotated[
        str, typer.Argument(help="Two columns of text with a tab between them, UTF-8; - for standard input.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File for the model.")],
    preset: Annotated[str, typer.Option(help="What kind of model: strings, aligned, labels or neighbors.")] = "strings",
    input_kernel: Annotated[
        str | None,
        typer.Option(help="How first columns are compared, such as spectrum:1-3/normalized or subsequence:3,0.5."),
    ] = None,
    output_kernel: Annotated[
        str | None, typer.Option(help="How second columns are compared, such as spectrum:3.")
    ] = None,
    alpha: Annotated[str | None, typer.Option(help="The ridge: a number, or loo, gcv or kfold to choose one.")] = None,
    loss: Annotated[str | None, typer.Option(help="What you are scored on: edit, zero-one or kernel.")] = None,
    rank: Annotated[int | None, typer.Option(help="Solve at this rank, for more pairs than fit in memory.")] = None,
    tokens: Annotated[
        str | None, typer.Option(help="Where symbols are words with spaces between: input, output or both.")
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out lines that cannot be used.")] = False,
) -> None:
    """Learn to turn the first column of a file into the second, and save the model."""
    from mercer.cli import text_commands as commands

    try:
        commands.fit(
            pairs,
            output,
            preset=preset,
            input_kernel=input_kernel,
            output_kernel=output_kernel,
            alpha=alpha,
            loss=loss,
            rank=rank,
            tokens=tokens,
            skip_bad=skip_bad,
            say=_say,
        )
    except commands.Stopped as stopped:
        _say(str(stopped))
        raise typer.Exit(130) from None
    print(output)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A model written by mercer fit.")],
    inputs: Annotated[str, typer.Argument(help="One input per line, UTF-8; - for standard input.")],
    top_k: Annotated[int | None, typer.Option(help="The best few answers to each input, with rank and score.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the answers; printed by default.")
    ] = None,
) -> None:
    """Answer every line of a file with a model. What was answered is kept when a run is stopped."""
    from mercer.cli import text_commands as commands

    try:
        left_out = commands.predict(model, inputs, top_k=top_k, output=output, say=_say)
    except commands.Stopped as stopped:
        _say(str(stopped))
        raise typer.Exit(130) from None
    if left_out:
        raise typer.Exit(1)


def _say(sentence: str) -> None:
    print(f"mercer: {sentence}", file=sys.stderr)
