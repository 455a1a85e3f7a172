"""Checks of free memory before large matrices are made."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

_CGROUP = Path("/sys/fs/cgroup")

_MEMBERSHIP = Path("/proc/self/cgroup")
_LIMITS = {
    "": ("memory.max", "memory.current"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes"),
}
"""Files of the limit and of what is used, in version 2 and 1 of control groups."""

_UNKNOWN = 2**63 - 1
"""Where a platform does not tell, the allocation itself may fail."""

SMALL = 2**19
"""Most numbers, 4 MiB, that need no check."""


def available_bytes(near: Any = None) -> int:
    """Return the free memory where `near` lives, an array or the name of a device: of that device, or of the machine.

    The latter is at most what the control group and the address space of this process leave.

    Examples
    --------
    >>> available_bytes() > 0
    True
    """
    device = near if isinstance(near, str) else getattr(getattr(near, "objects", near), "device", None)
    if str(device).startswith("cuda"):
        import torch

        # what the allocator of PyTorch holds for later is free too
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + kept
    free = _machine_bytes()
    return max(min(free, _control_groups(), _address_space()), 0)


def _control_groups() -> int:
    """The memory that the control groups of this process leave, those of version 1 and 2, and the groups above them."""
    left = _UNKNOWN
    with suppress(OSError):
        groups = [line.split(":", 2) for line in _MEMBERSHIP.read_text().splitlines()]
        for _, kinds, path in (group for group in groups if len(group) == 3 and group[1] in ("", "memory")):
            root, names = _CGROUP / kinds, _LIMITS[kinds]
            own = root / path.strip("/")
            # in a container the path may be that of the host, and only the root is there
            for folder in {root, own, *own.parents} - {*root.parents}:
                with suppress(OSError, ValueError):  # no such group, or one without a limit ("max")
                    limit, used = (int((folder / name).read_text()) for name in names)
                    left = min(left, limit - used)
    return left


def _address_space() -> int:
    """The addresses that RLIMIT_AS leaves this process."""
    with suppress(ImportError, OSError, ValueError):  # systems without such limits
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            return limit - int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return _UNKNOWN


def _machine_bytes() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return _UNKNOWN


def require(rows: int, columns: int, matrices: float, purpose: str, way_out: str) -> None:
    """Raise MemoryError unless `matrices` matrices of rows×columns doubles fit in memory now."""
    require_near(None, (rows, columns, matrices), purpose, way_out)


def require_near(near: Any, need: tuple[int, int, float], purpose: str, way_out: str) -> None:
    """Raise MemoryError unless (rows, columns, matrices) fit now in the memory where `near` lives."""
    rows, columns, matrices = need
    needed = int(8 * matrices * rows * columns)
    if needed < 8 * SMALL:
        return
    free = available_bytes(near)
    if needed > free:
        raise MemoryError(
            f"{purpose}: about {matrices:g} matrices of {rows} × {columns} doubles are needed, {needed / 2**30:.1f} GiB, and "
            f"{free / 2**30:.1f} GiB are free; {way_out}"
        )
