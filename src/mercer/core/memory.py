"""Memory is asked for before an n×n matrix is made, so that a fit that cannot succeed fails at once."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")

SMALL = 2**19
"""Numbers that are not worth asking about, 4 MiB."""


def available_bytes() -> int:
    """Memory this process may still take: what the machine has free, within its control group's limit."""
    free = _machine_bytes()
    limit, used = _CGROUP / "memory.max", _CGROUP / "memory.current"
    with suppress(OSError, ValueError):  # no control group, or one without a limit ("max")
        free = min(free, int(limit.read_text()) - int(used.read_text()))
    return max(free, 0)


def _machine_bytes() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 2**63 - 1  # a platform that does not tell; the allocation itself will


def require(rows: int, columns: int, matrices: float, purpose: str, way_out: str) -> None:
    """Raise MemoryError unless `matrices` matrices of rows×columns doubles fit in memory now."""
    needed = int(8 * matrices * rows * columns)
    if needed < 8 * SMALL:
        return
    free = available_bytes()
    if needed > free:
        raise MemoryError(
            f"{purpose}: about {matrices:g} matrices of {rows} × {columns} doubles are needed, {needed / 2**30:.1f} GiB, and "
            f"{free / 2**30:.1f} GiB are free; {way_out}"
        )
