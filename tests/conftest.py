"""What every test shares."""

import os
import sys

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="session", autouse=True)
def _one_blas_thread_per_worker():
    """Several test processes with several BLAS threads each would only get in each other's way."""
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
