"""Progress of long work: a bar in a terminal, silence anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def tracked(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show `total` steps as a bar; the function handed out names the step that begins.

    Examples
    --------
    >>> with tracked("counting", 2) as begin:
    ...     begin("one")
    ...     begin("two")
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        begun = 0

        def begin(step: str) -> None:
            nonlocal begun
            bar.update(task, description=f"{title}: {step}", completed=begun)
            begun += 1

        yield begin
