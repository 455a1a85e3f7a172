"""Limits of the machine: memory of control groups, and interrupts."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from mercer.core import memory, threads


def group(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        (folder / name).write_text(value)


@pytest.mark.parametrize(
    ("membership", "expected"),
    [
        ("0::/a/b\n", 700),  # the group above leaves less
        ("0::/elsewhere\n", 900),  # the path of the host: only the root is there
        ("5:cpu:/\n4:memory:/old\n", 50),
        ("5:cpu:/\n", memory._UNKNOWN),
        ("no group", memory._UNKNOWN),
    ],
)
def test_control_groups_of_both_versions(tmp_path, monkeypatch, membership, expected):
    group(tmp_path, {"memory.max": "1000", "memory.current": "100"})
    group(tmp_path / "a", {"memory.max": "800", "memory.current": "100"})
    group(tmp_path / "a" / "b", {"memory.max": "max", "memory.current": "100"})
    group(tmp_path / "memory" / "old", {"memory.limit_in_bytes": "60", "memory.usage_in_bytes": "10"})
    (tmp_path / "self").write_text(membership)
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    monkeypatch.setattr(memory, "_MEMBERSHIP", tmp_path / "self")
    assert memory._control_groups() == expected
    assert memory.available_bytes() <= expected


@pytest.mark.parametrize("workers", [1, 3])
def test_every_row_is_filled_once(monkeypatch, workers):
    monkeypatch.setattr("numba.get_num_threads", lambda: workers)
    for rows in (0, 1, 5, 1000):
        found = np.zeros(rows)
        threads.in_threads(lambda group, found=found: np.add.at(found, group, 1.0), rows)
        assert np.all(found == 1.0)


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("workers", [1, 3])
def test_an_interrupt_stops_the_work_within_half_a_second(monkeypatch, workers):
    """All rows would take a minute or more."""
    monkeypatch.setattr("numba.get_num_threads", lambda: workers)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        threads.in_threads(lambda group: time.sleep(0.001 * len(group)), 200_000)
    assert time.perf_counter() - start < 0.3 + 0.5
