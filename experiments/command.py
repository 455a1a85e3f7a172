"""Command line of the experiments: reproduce tables and figures, compare runs, measure speed."""

from __future__ import annotations

import sys
import time
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from experiments import registry
from experiments.comparison import TOLERANCE, compare_folders
from experiments.measured import write_measured
from experiments.page import result_page, scores_table, summary
from experiments.pictures import draw
from experiments.repetition import run_twice
from experiments.runner import Stopped, core_seconds, reproduce_all
from mercer.core.files import written_atomically
from mercer.report import Result, print_table

app = typer.Typer(
    name="experiments",
    help="Reproduce the tables and figures of the papers, run public tasks beyond them, and measure speed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class Benchmark(StrEnum):
    """Names of the benchmarks; each is a module of `experiments.bench`."""

    alpha = "alpha"
    auto = "auto"
    blocks = "blocks"
    core = "core"
    dask = "dask"
    objects = "objects"
    operators = "operators"
    scale = "scale"
    strings = "strings"
    trace = "trace"
    words = "words"


@app.command()
def bench(  # noqa: PLR0913 - one parameter for each option
    name: Annotated[Benchmark, typer.Argument(help="Benchmark to run.")],
    output: Annotated[Path | None, typer.Option(help="File for the result as JSON.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: seconds.")] = False,
    device: Annotated[str | None, typer.Option(help="Device of PyTorch, such as cuda, for bench scale.")] = None,
    large: Annotated[bool, typer.Option("--large", help="Also large sizes, for bench blocks.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Fits at once, each on two cores, for bench scale.")] = 1,
) -> None:
    """Measure speed and memory as ratios to plain NumPy and SciPy, in one run."""
    if (name != Benchmark.scale and (device is not None or jobs > 1)) or (name != Benchmark.blocks and large):
        raise typer.BadParameter("--device and --jobs are for bench scale, and --large is for bench blocks")
    if device is not None:
        import_module("experiments.bench.scale_device").main(
            output or Path("bench-scale-device.json"), device, 2000 if quick else None
        )
        return
    options = {"large": True} if large else {"jobs": jobs} if jobs > 1 else {}
    import_module(f"experiments.bench.{name}").main(output, quick, **options)


@app.command()
def reproduce(  # noqa: PLR0913 - one parameter for each option
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments to run, such as weston-table3; or all.")
    ] = None,
    all_of_them: Annotated[bool, typer.Option("--all", help="Run every experiment.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments and stop.")] = False,
    small: Annotated[bool, typer.Option("--small", help="Run the small version of each: seconds.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Discard the pieces of an earlier run.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Number of pieces run in parallel, each in its own process.")] = 1,
    output: Annotated[Path, typer.Option(help="Folder for the JSON files and the pages.")] = Path("out/reproduce"),
) -> None:
    """Run experiments and print our scores next to the paper's. A stopped run is resumed by the same command."""
    if listed:
        _list_experiments()
        return
    chosen = list(registry.EXPERIMENTS) if all_of_them or names == ["all"] else names
    if not chosen:
        raise ValueError("no experiment was named; name one, or pass --all, or see --list")
    console, start = Console(), (time.perf_counter(), core_seconds())
    try:
        experiments = [registry.experiment(name) for name in chosen]
        results = reproduce_all(experiments, output, small=small, fresh=fresh, jobs=jobs)
        for each, result in zip(experiments, results, strict=True):
            print_table(scores_table(each, result.rows), console)
            for note in each.notes(result.rows):
                console.print(note)
            console.print(f"{output / each.name}.html", soft_wrap=True)
        elapsed, used = time.perf_counter() - start[0], core_seconds() - start[1]
        console.print(f"{len(chosen)} experiments in {elapsed:.0f} seconds, {used:.0f} core-seconds")
    except Stopped as stopped:
        print(f"experiments: {stopped}", file=sys.stderr)
        raise typer.Exit(130) from None


@app.command()
def rivals(  # noqa: PLR0913 - one parameter for each option
    tasks: Annotated[str | None, typer.Option(help="Tasks, separated by commas; all by default.")] = None,
    methods: Annotated[str | None, typer.Option(help="Methods, separated by semicolons; all by default.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List tasks and methods and stop.")] = False,
    small: Annotated[bool, typer.Option("--small", help="First rows of two small tasks: a minute.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Discard the pieces of an earlier run.")] = False,
    jobs: Annotated[int, typer.Option(min=0, help="Pieces run in parallel; 0 reports on those there are.")] = 1,
    threads: Annotated[int, typer.Option(min=1, help="Threads of each method.")] = 1,
    time_limit: Annotated[
        float, typer.Option(min=0.1, help="Seconds for one fold; a method over it is marked.")
    ] = 600.0,
    output: Annotated[Path, typer.Option(help="Folder for the JSON file, the page and the pieces.")] = Path(
        "out/rivals"
    ),
    earlier: Annotated[
        Path | None, typer.Option(help="An earlier rivals.json; fills in the scores of methods without pieces.")
    ] = None,
    other_code: Annotated[
        bool, typer.Option("--other-code", help="Fill in scores of methods whose code has changed since, too.")
    ] = False,
) -> None:
    """Compare AutoEstimator with what users would pick instead, on the same folds.

    A stopped run is resumed by the same command. Pieces of other machines are merged by copying their files into
    OUTPUT/.pieces/rivals.
    """
    from experiments.rivals.registry import METHODS
    from experiments.rivals.run import run as run_rivals
    from experiments.rivals.tasks import TASKS

    if listed:
        print("\n".join(["tasks:", *(f"  {each.name} ({each.kind})" for each in TASKS.values()), "methods:"]))
        print("\n".join(f"  {each.name}" + (" (not installed)" if each.missing else "") for each in METHODS.values()))
        return
    names = [each.split(mark) if each else None for each, mark in ((tasks, ","), (methods, ";"))]
    try:
        found = run_rivals(
            output,
            tasks=names[0],
            methods=names[1],
            small=small,
            fresh=fresh,
            jobs=jobs,
            threads=threads,
            time_limit=time_limit,
            earlier=earlier,
            other_code=other_code,
        )
    except Stopped as stopped:
        print(f"experiments: {stopped}", file=sys.stderr)
        raise typer.Exit(130) from None
    console = Console()
    print_table(found.ranks_table(), console)
    for table in found.scores_tables():
        print_table(table, console)
    for note in found.notes():
        console.print(note)
    console.print(f"{output / 'rivals'}.html", soft_wrap=True)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="Folder with results of one run.")],
    second: Annotated[Path, typer.Argument(help="Folder with results of another run.")],
    tol: Annotated[float, typer.Option(min=0.0, help="Tolerance on numbers, relative and absolute.")] = TOLERANCE,
) -> None:
    """Compare the rows of two folders of results, times excepted; exit status 1 if they differ."""
    count, differences = compare_folders(first, second, tol)
    for difference in differences:
        print(difference)
    print(f"{count} results compared, {len(differences)} differences")
    if differences:
        raise typer.Exit(1)


@app.command()
def repeat(
    names: Annotated[list[str], typer.Argument(help="Experiments to run, such as weston-table3; or all.")],
    jobs: Annotated[int, typer.Option(min=1, help="Number of pieces run in parallel, each in its own process.")] = 1,
) -> None:
    """Run the small version of experiments twice; exit status 1 if the two runs differ in anything but times."""
    chosen = list(registry.EXPERIMENTS) if names == ["all"] else [registry.experiment(name).name for name in names]
    with TemporaryDirectory() as folder:
        found = run_twice(chosen, Path(folder), jobs)
    for difference in found:
        print(difference)
    print(f"{len(chosen)} experiments run twice, {len(found)} differences")
    if found:
        raise typer.Exit(1)


@app.command("data")
def data_sets(
    name: Annotated[
        str | None, typer.Option("--get", help="Make one data file from its recipe, or all of them.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Check the SHA-256 of every file that is there.")] = False,
    show: Annotated[
        bool, typer.Option("--list", help="List the files, whether they are there, and their licences.")
    ] = False,
) -> None:
    """List the data files, make them from upstream files at fixed revisions, or check them."""
    from experiments.data import fetching

    if sum((name is not None, check, show)) != 1:
        raise typer.BadParameter("expected one of --list, --get NAME (or --get all) and --check")
    if name is not None:
        for each in [own for own in fetching.RECIPES if fetching.state(own) == "missing"] if name == "all" else [name]:
            print(fetching.make(each))
        return
    states = {each: fetching.state(each) for each in fetching.RECIPES}
    for each, found in states.items():
        print(f"{found:8} {each}  ({fetching.RECIPES[each].licence})")
    if check and "damaged" in states.values():
        raise typer.Exit(1)


@app.command("summary")
def write_summary(
    folder: Annotated[Path, typer.Argument(help="Folder with results of full runs.")],
    docs: Annotated[Path, typer.Argument(help="Markdown file to write; pages go to the folder of the same name.")],
) -> None:
    """Write a Markdown summary of the results in a folder, and a page with a picture for each."""
    known = [(registry.experiment(name), folder / f"{name}.json") for name in registry.EXPERIMENTS]
    found = [(each, Result.read(path)) for each, path in known if path.is_file()]
    pages = docs.with_suffix("")
    pages.mkdir(parents=True, exist_ok=True)
    for each, result in found:
        draw(each, result.rows, pages / f"{each.name}.svg")
        with written_atomically(pages / f"{each.name}.md") as temporary:
            temporary.write_text(result_page(each, result), encoding="utf-8")
    write_measured(folder, pages)
    with written_atomically(docs) as temporary:
        temporary.write_text(summary(found), encoding="utf-8")


def main() -> None:
    """Run the command line; a user's mistake ends with one line and exit status 2."""
    try:
        app(prog_name="python -m experiments")
    except (ValueError, OSError, MemoryError) as error:
        print(f"experiments: {error}", file=sys.stderr)
        sys.exit(2)


def _list_experiments() -> None:
    """Print the name, the title and the source of every experiment, one line each so that nothing is cut."""
    width = max(map(len, registry.EXPERIMENTS))
    for each in map(registry.experiment, registry.EXPERIMENTS):
        print(f"{each.name:{width}}  {each.title}\n{'':{width}}  {each.source}")
