"""The command ``mercer``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer

from mercer._version import __version__
from mercer.cli.choices import ALPHAS, EFFORTS, KERNELS, LOSSES, PRESETS, TOKENS, listed
from mercer.cli.console import Stopped, print_json, say

app = typer.Typer(
    name="mercer",
    help="Learn a map from any kind of object to any other, and ask it about files.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def main() -> None:
    """Run the command line; an error of the user gives one line and exit status 2."""
    if isinstance(sys.stdout, TextIOWrapper) and not sys.stdout.isatty() and "PYTHONIOENCODING" not in os.environ:
        sys.stdout.reconfigure(encoding="utf-8")  # as the readers take it, on Windows too
    try:
        app(prog_name="mercer")
    except (ValueError, OSError, MemoryError, ImportError) as error:
        if (getattr(error, "name", None) or "").split(".")[0] == "mercer":  # a module of our own: a defect
            raise
        say(str(error))
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


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out records that cannot be used.")]
Header = Annotated[bool | None, typer.Option("--header/--no-header", help="The first row names the columns, or not.")]
Form = Annotated[str | None, typer.Option("--format", help="Format of the file, if its suffix does not tell.")]
Model = Annotated[Path, typer.Argument(help="A model written by mercer fit.")]


@app.command(epilog="Example: mercer demo --quick")
def demo(
    output: Annotated[Path, typer.Option(help="Folder for index.html and demo.json.")] = Path("out/demo"),
    folds: Annotated[int, typer.Option(help="Number of folds; each is trained on in turn.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer digits and fewer parameters: seconds.")] = False,
    json: Json = False,
) -> None:
    """Learn to complete handwritten digits; print a table and write a page with pictures."""
    from mercer.cli.demo import NEXT, run

    page = run(output, folds=folds, quick=quick, **({"silent": True} if json else {}))
    if json:
        print(page.with_name("demo.json").read_text(encoding="utf-8"), end="")
        return
    print(page)
    print(NEXT)


@app.command(epilog="Example: mercer fit houses.csv --output price --loss squared -o houses.model")
def fit(  # noqa: PLR0913
    path: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CSV, TSV, Parquet, JSONL, SDF, SMILES, MGF, MSP, FASTA, inflections, or a folder of images; - for standard "
            "input, as tab-separated text.",
        ),
    ],
    save: Annotated[Path, typer.Option("--save", "-o", help="File for the model.")],
    input: Annotated[list[str] | None, typer.Option("--input", help="Column to learn from; may be repeated.")] = None,
    output: Annotated[list[str] | None, typer.Option("--output", help="Column to learn; may be repeated.")] = None,
    groups: Annotated[str | None, typer.Option(help="Column of groups, which are left out together.")] = None,
    loss: Annotated[str | None, typer.Option(help=f"Loss to minimise: {listed(LOSSES)}.")] = None,
    effort: Annotated[str | None, typer.Option(help=f"How much is tried: {listed(EFFORTS)}.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds after which nothing new is tried.")] = None,
    input_kind: Annotated[str, typer.Option(help="Kind of inputs, such as strings, sequences or molecules.")] = "auto",
    output_kind: Annotated[str, typer.Option(help="Kind of outputs, such as classes, label sets or curves.")] = "auto",
    type_of: Annotated[
        list[str] | None, typer.Option("--type", help="Type of a column: COLUMN=number, text, category or date.")
    ] = None,
    candidates: Annotated[str | None, typer.Option(help="File of outputs without inputs, to learn the choice.")] = None,
    masks: Annotated[str | None, typer.Option(help="Folder of masks of a folder of images.")] = None,
    curve: Annotated[
        str | None, typer.Option(help="Long format: the columns of the curve and of the position, such as id,t.")
    ] = None,
    preset: Annotated[str | None, typer.Option(help=f"Kind of model of text: {listed(PRESETS)}.")] = None,
    input_kernel: Annotated[
        str | None, typer.Option(help=f"Kernel of text inputs, such as spectrum:1-3/normalized: {listed(KERNELS)}.")
    ] = None,
    output_kernel: Annotated[str | None, typer.Option(help="Kernel of text outputs, such as spectrum:3.")] = None,
    alpha: Annotated[str | None, typer.Option(help=f"Regularisation: a number, or {listed(ALPHAS)}.")] = None,
    rank: Annotated[int | None, typer.Option(help="Rank of the solver, for more pairs than fit in memory.")] = None,
    tokens: Annotated[
        str | None, typer.Option(help=f"Sides whose symbols are words separated by spaces: {listed(TOKENS)}.")
    ] = None,
    header: Header = None,
    form: Form = None,
    skip_bad: SkipBad = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Write a line for each learner that is tried.")] = False,
    json: Json = False,
) -> None:
    """Learn to predict columns of a file from others, and save the model."""
    from mercer.cli import fit as command
    from mercer.cli.presets import FitOptions

    kinds = (input_kind, output_kind)
    options = FitOptions(
        preset, input_kernel, output_kernel, alpha, loss, rank, tokens, effort, time_limit, *kinds, verbose
    )
    columns = (tuple(input or ()), tuple(output or ()), groups, _types(type_of or []))
    curves = tuple(curve.split(",")) if curve else ()
    source = command.Source(path, *columns, form, header, masks, curves, skip_bad)
    with _interruptible():
        model = command.fit(source, save, options, _quiet if json else say, candidates)
    if json:
        print_json(command.described(model, save))
    else:
        print(save)


@app.command(epilog="Example: mercer predict houses.model new.csv --coverage 0.9 -o answers.csv")
def predict(  # noqa: PLR0913
    model: Model,
    inputs: Annotated[str, typer.Argument(help="A file with the input columns; - for standard input.")],
    top_k: Annotated[int | None, typer.Option(help="Number of answers to each input, with rank and score.")] = None,
    coverage: Annotated[
        float | None, typer.Option(help="Add sets or intervals that hold the right answer so often.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Add the training pairs that answers rest on.")] = False,
    candidates: Annotated[str | None, typer.Option(help="File of outputs to choose from.")] = None,
    ppm: Annotated[float | None, typer.Option(help="Spectra: keep candidates whose mass is so near.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the answers; printed by default.")
    ] = None,
    header: Header = None,
    form: Form = None,
    json: Json = False,
) -> None:
    """Answer every record of a file, and mark doubtful answers. Answers are kept when a run is stopped."""
    from mercer.cli import predict as command
    from mercer.cli.answers import Question

    question = Question(top_k, coverage, explain)
    given: Any = {
        "output": output,
        "candidates": candidates,
        "ppm": ppm,
        "as_json": json,
        "header": header,
        "form": form,
    }
    with _interruptible():
        left_out = command.predict(model, inputs, question, say, **given)
    if left_out:
        raise typer.Exit(1)


Pairs = Annotated[str, typer.Argument(metavar="FILE", help="A file with the input and output columns.")]
Choices = Annotated[str | None, typer.Option("--candidates", help="File of outputs to choose from.")]
Masks = Annotated[str | None, typer.Option(help="Folder of masks of a folder of images.")]


@app.command(epilog="Example: mercer evaluate houses.model test.csv")
def evaluate(  # noqa: PLR0913
    model: Model,
    path: Pairs,
    folds: Annotated[
        int | None, typer.Option(help="Fit models like this one on all but one fold of the file, in turn.")
    ] = None,
    candidates: Choices = None,
    masks: Masks = None,
    skip_bad: SkipBad = False,
    json: Json = False,
) -> None:
    """Score a model on pairs it has not seen, beside a constant and nearest neighbours; list the worst errors."""
    from mercer.cli import evaluate as command

    fitted, found = command.evaluate(model, command.PairsFile(path, skip_bad, candidates, masks), say, folds)
    if json:
        print_json(command.described(fitted, found))
    else:
        print(command.printed(fitted, found))


@app.command(epilog="Example: mercer report houses.model test.csv -o page.html")
def report(  # noqa: PLR0913
    model: Model,
    path: Pairs,
    output: Annotated[Path, typer.Option("--output", "-o", help="File for the page.")] = Path("report.html"),
    candidates: Choices = None,
    masks: Masks = None,
    skip_bad: SkipBad = False,
    json: Json = False,
) -> None:
    """Write a page about a model and its answers: what was learned and why, accuracy, calibration, every answer."""
    from mercer.cli import report as command
    from mercer.cli.evaluate import PairsFile

    found = command.report(model, PairsFile(path, skip_bad, candidates, masks), output, say)
    if json:
        print_json(found)
    else:
        print(output)


def _types(given: list[str]) -> dict[str, str]:
    for each in given:
        if "=" not in each:
            raise ValueError(f"--type {each}; expected COLUMN=TYPE, such as age=number")
    return {name: kind for name, _, kind in (each.rpartition("=") for each in given)}


def _quiet(sentence: str) -> None:
    """Say nothing: the same is in the JSON."""


@contextmanager
def _interruptible() -> Iterator[None]:
    """Turn a stopped run into one line and exit status 130."""
    try:
        yield
    except Stopped as stopped:
        say(str(stopped))
        raise typer.Exit(130) from None
