"""What a result was computed with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mercer._version import __version__


def environment() -> dict[str, Any]:
    """Versions, processor and platform, for the record that goes with every result.

    Examples
    --------
    >>> sorted(environment())
    ['cores', 'cpu', 'mercer', 'numpy', 'platform', 'python', 'scipy', 'sklearn']
    """
    return {
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "sklearn": version("scikit-learn"),
        "mercer": __version__,
        "cpu": _cpu(),
        "cores": os.cpu_count() or 1,
        "platform": platform.platform(),
    }


def _cpu() -> str:
    """The processor's name; Python itself only knows its architecture on Linux."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name" and value.strip():
                return value.strip()
    return platform.processor() or platform.machine() or "unknown"
