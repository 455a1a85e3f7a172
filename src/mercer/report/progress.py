"""Progress bars of long work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count


@contextmanager
def tracked(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show `total` steps as a bar, in a terminal only; call the yielded function with the name of each step as it begins.

    Examples
    --------
    >>> with tracked("counting", 2) as begin:
    ...     begin("one")
    ...     begin("two")
    """
    from rich import progress as rich
    from rich.console import Console

    console = Console(stderr=True)
    description, times = (
        rich.TextColumn("{task.description}", markup=False),
        (rich.TimeElapsedColumn(), rich.TimeRemainingColumn()),
    )
    columns = (description, rich.BarColumn(), rich.MofNCompleteColumn(), *times)
    with rich.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task, begun = bar.add_task(title, total=total), count()
        yield lambda step: bar.update(task, description=f"{title}: {step}", completed=next(begun))
