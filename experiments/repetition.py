"""Two runs of the small experiments: the same files but for times."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.comparison import is_time
from mercer.report import Result

HASH_SEEDS = ("1", "2")
"""Seeds of Python's hashes, one for each run: the order of a set must not reach a result."""


def run_twice(names: Sequence[str], folder: Path, jobs: int = 1) -> list[str]:
    """Run the small versions of experiments twice, each time in new processes; return one line for each difference."""
    for seed in HASH_SEEDS:
        command = [sys.executable, "-m", "experiments", "reproduce", *names, "--small", "--fresh", "--jobs", str(jobs)]
        settings = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run(
            [*command, "--output", str(folder / seed)], env=settings, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise ValueError(f"the run with PYTHONHASHSEED={seed} failed:\n{done.stderr.strip()[-2000:]}")
    return [
        difference
        for name in names
        for difference in differences(*(folder / seed / f"{name}.json" for seed in HASH_SEEDS))
    ]


def differences(first: Path, second: Path) -> list[str]:
    """Return one line for each part of two results that differs, digit by digit, times excepted."""
    one, two = (without_times(Result.read(path)) for path in (first, second))
    found = [f"{first.stem}: {key} differ" for key in one if key != "rows" and one[key] != two[key]]
    if len(one["rows"]) != len(two["rows"]):
        return [*found, f"{first.stem}: {len(one['rows'])} rows and {len(two['rows'])} rows"]
    pairs = zip(one["rows"], two["rows"], strict=True)
    return found + [f"{first.stem}: {a} and {b}" for a, b in pairs if a != b]


def without_times(result: Result) -> dict[str, Any]:
    """Return what the JSON file of a result holds, times taken out."""
    content = json.loads(result.to_json()) | {"seconds": None}
    content["rows"] = [
        row | {"value": None, "error": None} if is_time(row["metric"]) else row for row in content["rows"]
    ]
    return content
