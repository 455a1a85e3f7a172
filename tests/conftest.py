"""Fixtures shared by all tests."""

import os
import sys

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="session", autouse=True)
def _one_blas_thread_per_worker():
    """Limit BLAS to one thread where several test processes share the cores."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    import scipy.linalg  # noqa: F401  (loads the BLAS that is to be limited)

    with threadpool_limits(1):
        yield


@pytest.fixture
def mercer_command(monkeypatch, capsys):
    """Run the command in this process; returns its exit status, stdout and stderr."""
    from mercer.cli.main import main

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["mercer", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return stopped.value.code or 0, captured.out, captured.err

    return run


@pytest.fixture
def _hasty_threads():
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)
