"""Checks of free memory before large matrices are made."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")

SMALL = 2**19
"""Most numbers, 4 MiB, that need no check."""


def available_bytes() -> int:
    """Return the free memory of the machine, or of the control group of this process if that is less."""
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
    return 2**63 - 1  # unknown on this platform; the allocation itself may fail


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
