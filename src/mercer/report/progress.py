"""Progress bars of long work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def tracked(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show `total` steps as a bar, in a terminal only; call the yielded function with the name of each step as it begins.

    Examples
    --------
    >>> with tracked("counting", 2) as begin:
    ...     begin("one")
    ...     begin("two")
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    description = TextColumn("{task.description}")
    columns = (description, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        begun = 0

        def begin(step: str) -> None:
            nonlocal begun
            bar.update(task, description=f"{title}: {step}", completed=begun)
            begun += 1

        yield begin
