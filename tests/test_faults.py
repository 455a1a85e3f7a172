"""Faults: killed processes, full disks, two writers, interrupts, forks. Files are whole or untouched, and nothing stays behind.

Nothing here depends on the clock: processes say in files or pipes how far they are, and are waited for.
"""

import errno
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from waiting_experiment import Waiting

import mercer
from experiments.runner import reproduce
from mercer import DependencyEstimator
from mercer.core.files import written_atomically
from mercer.kernels import Classes, Subsequence

resource = pytest.importorskip("resource", reason="needs signals and limits of POSIX")

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

ROOT = Path(__file__).parents[1]
PATHS = os.pathsep.join([str(ROOT / "tests/support"), str(ROOT), *sys.path])
X = np.random.default_rng(0).standard_normal((20, 2))
WORDS = ["abab", "abba", "baab", "bbaa", "aabb", "baba", "abaa", "bbab"]


class Writer:
    """A forked process that saves a model again and again, and writes a dot to a pipe after each time."""

    def __init__(self, path, alpha, times):
        self.pipe, dots = os.pipe()
        self.process = os.fork()
        if self.process == 0:  # pragma: no cover - in the child
            code = 1
            try:
                model = DependencyEstimator(alpha=alpha).fit(X, X)
                for _ in range(times):
                    mercer.save(model, path)
                    os.write(dots, b".")
                code = 0
            finally:
                os._exit(code)
        os.close(dots)

    def wait_for(self, saves):
        for _ in range(saves):
            assert os.read(self.pipe, 1) == b"."

    def end(self, number=None):
        """Send a signal, if one is given, and return how the process ended."""
        if number is not None:
            os.kill(self.process, number)
        status = os.waitpid(self.process, 0)[1]
        os.close(self.pipe)
        return status


def until(holds, what):
    """Wait for something that is bound to happen; far more time than it can take."""
    for _ in range(6000):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError(what)


def alive(process):
    """Whether a process runs: one that has ended but was not waited for does not."""
    if not Path("/proc/self/stat").exists():  # macOS
        told = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)
        return told.stdout.strip()[:1] not in ("", "Z")
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def leftovers(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(".mercer-")]


# -- saving ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("saves", [1, 2, 5])
def test_a_process_killed_while_it_saves_leaves_a_whole_file(tmp_path, saves):
    writer = Writer(tmp_path / "model", 0.1, 10**6)
    writer.wait_for(saves)
    assert writer.end(signal.SIGKILL) == signal.SIGKILL
    assert mercer.load(tmp_path / "model").alpha == 0.1
    # what a killed process was writing may stay, beside the file and never in its place
    assert len(leftovers(tmp_path)) <= 1


@pytest.mark.parametrize("saves", [1, 2, 5])
def test_an_interrupted_process_leaves_a_whole_file_and_nothing_else(tmp_path, saves):
    writer = Writer(tmp_path / "model", 0.1, 10**6)
    writer.wait_for(saves)
    assert os.waitstatus_to_exitcode(writer.end(signal.SIGINT)) == 1
    assert mercer.load(tmp_path / "model").alpha == 0.1
    assert not leftovers(tmp_path)


def test_two_writers_and_a_reader(tmp_path):
    path = tmp_path / "model"
    writers = [Writer(path, alpha, 15) for alpha in (0.1, 0.2)]
    writers[0].wait_for(1)
    assert {mercer.load(path).alpha for _ in range(8)} <= {0.1, 0.2}
    assert [writer.end() for writer in writers] == [0, 0]
    assert mercer.load(path).alpha in (0.1, 0.2)
    assert not leftovers(tmp_path)


@pytest.fixture
def _small_files():
    """Files may have 4 kB: writing more fails, as on a full disk."""
    handler, limits = signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("_small_files")
def test_a_full_disk_is_named_and_keeps_the_old_file(tmp_path):
    path, model = tmp_path / "model", DependencyEstimator(alpha=0.1).fit(X, X)
    path.write_text("the old file")
    with pytest.raises(OSError, match=str(path)) as caught:
        mercer.save(model, path)
    assert caught.value.errno == errno.EFBIG
    assert path.read_text() == "the old file"
    assert not leftovers(tmp_path)
    with pytest.raises(OSError, match="result.json"), written_atomically(tmp_path / "result.json") as temporary:
        temporary.write_text("0" * 10**5)
    assert not (tmp_path / "result.json").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_that_is_full_is_named():
    with pytest.raises(OSError, match="/dev/full"):
        mercer.save(DependencyEstimator(alpha=0.1).fit(X, X), "/dev/full")


def test_folders_that_cannot_be_written_are_named(tmp_path):
    model = DependencyEstimator(alpha=0.1).fit(X, X)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        mercer.save(model, tmp_path / "file" / "model")
    assert (tmp_path / "file").read_text() == ""
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    if os.access(locked, os.W_OK):
        pytest.skip("the superuser may write anywhere")
    with pytest.raises(PermissionError, match="locked"):
        mercer.save(model, locked / "model")


def test_modes_and_links_are_kept(tmp_path):
    path, model = tmp_path / "model", DependencyEstimator(alpha=0.1).fit(X, X)
    mercer.save(model, path)
    path.chmod(0o640)
    (tmp_path / "link").symlink_to(path)
    mercer.save(model, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640


# -- forked and spawned processes -------------------------------------------------------------------------------------

STRINGS = DependencyEstimator(Subsequence(2), Classes(), alpha=0.1).fit(WORDS, [word[0] for word in WORDS])


def _answers(words):
    return STRINGS.predict(words).tolist(), [found.scores.tolist() for found in STRINGS.rank(words, 2)]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_model_answers_the_same_in_other_processes(method, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", PATHS)
    expected = _answers(WORDS)  # compiled loops and their threads are at work before the fork
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(_answers, [WORDS, WORDS]).get(timeout=300) == [expected] * 2


FORKING = """
import os, signal, sys, threading, warnings
import numpy as np
from threadpoolctl import threadpool_limits
from mercer import DependencyEstimator
from mercer.kernels import Classes, Gaussian, Subsequence

warnings.simplefilter("ignore")
words = ["abab", "abba", "baab", "bbaa", "aabb", "baba", "abaa", "bbab"] * 6
rows = np.random.default_rng(0).standard_normal((150, 3))
if sys.argv[1] == "strings":
    X, model = words, DependencyEstimator(Subsequence(2), Classes(), alpha=0.1).fit(words, [word[0] for word in words])
else:
    X, model = rows, DependencyEstimator(Gaussian("median")).fit(rows, rows)


def answers():
    sets = model.predict_set(X[:10])
    return np.asarray(model.predict(X)).tolist(), [len(found.scores) for found in sets]


expected, stopped = answers(), threading.Event()


def work():
    while not stopped.is_set():
        answers()


threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
failed = 0
for i in range(12):
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # ends a child that waits for ever
        with threadpool_limits(1, "blas"):
            same = answers()[1] == expected[1]
        os._exit(0 if same else 1)
    failed += os.waitpid(child, 0)[1] != 0
stopped.set()
for thread in threads:
    thread.join()
sys.exit(failed)
"""


@pytest.mark.parametrize("kind", ["strings", "vectors"])
def test_a_process_forked_while_threads_compute_answers(kind, monkeypatch):
    """With one thread of linear algebra in the child: that of NumPy has locks that a fork copies as they are."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "2")
    monkeypatch.setenv("PYTHONPATH", PATHS)
    done = subprocess.run([sys.executable, "-c", FORKING, kind], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.returncode} of 12 children did not answer\n{done.stderr[-2000:]}"


# -- runs of experiments ------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path):
    """A run of three pieces by two workers, and the workers: the first piece is done, the others wait."""
    command = [sys.executable, str(ROOT / "tests/support/waiting_experiment.py"), str(tmp_path)]
    parent = subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": PATHS}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    until(lambda: len(list(tmp_path.glob("pid-[12]-*"))) == 2, "the pieces did not start")
    until(lambda: (tmp_path / ".pieces/waiting/0.json").exists(), "the first piece was not kept")
    yield parent, [int(path.name.split("-")[2]) for path in sorted(tmp_path.glob("pid-[12]-*"))]
    (tmp_path / "go").touch()
    parent.kill()
    parent.wait()
    parent.stdout.close()


def assert_resumes(folder):
    (folder / "go").touch()
    before = (folder / ".pieces/waiting/0.json").read_text()
    assert reproduce(Waiting(folder), folder).rows[0]["value"] == pytest.approx(1.0)
    assert (folder / ".pieces/waiting/0.json").read_text() == before
    assert json.loads((folder / "waiting.json").read_text())["rows"]
    assert not leftovers(folder)


def test_workers_of_a_killed_run_end_and_their_work_is_resumed(run, tmp_path):
    parent, workers = run
    parent.kill()
    parent.wait()
    for worker in workers:
        until(lambda worker=worker: not alive(worker), "a worker outlived its run")
    assert_resumes(tmp_path)


def test_a_killed_worker_is_said_and_its_work_is_resumed(run, tmp_path):
    parent, workers = run
    os.kill(workers[0], signal.SIGKILL)
    said, _ = parent.communicate()
    assert parent.returncode == 130
    assert "a worker was killed; 1 of 3 pieces of waiting are kept, the same command resumes" in said
    for worker in workers:
        until(lambda worker=worker: not alive(worker), "a worker outlived its run")
    assert_resumes(tmp_path)


def test_an_interrupted_run_is_resumed(run, tmp_path):
    parent, _ = run
    parent.send_signal(signal.SIGINT)
    (tmp_path / "go").touch()  # pieces at work are waited for
    said, _ = parent.communicate()
    assert parent.returncode == 130
    assert "the same command resumes" in said
    assert_resumes(tmp_path)
