"""One thread of linear algebra for methods of several threads at a time."""

import json
import os
import subprocess
import sys

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from mercer.core.threads import one_blas_thread

SCRIPT = """
import json
from threading import Event, Thread

import scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits

from mercer.core.threads import one_blas_thread


def blas_threads():
    return sorted({each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"})


@one_blas_thread
def held(inside, leave):
    inside.set()
    assert leave.wait(20)


def works(inside, leave, end):
    held(inside, leave)
    assert end.wait(20)  # a thread that goes on with other work


events = [(Event(), Event()) for _ in range(2)]
end = Event()
threads = [Thread(target=works, args=(*each, end)) for each in events]
seen = [blas_threads()]
for thread, (inside, _) in zip(threads, events):
    thread.start()
    assert inside.wait(20)
seen.append(blas_threads())
for _, leave in events:  # the first to come is the first to go
    leave.set()
    Event().wait(0.3)
    seen.append(blas_threads())
with threadpool_limits(1, "blas"):  # others can still set limits
    seen.append(blas_threads())
seen.append(blas_threads())
end.set()
print(json.dumps(seen))
"""


def test_the_last_that_leaves_restores_what_the_first_found():
    plain = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=plain, capture_output=True, text=True, check=True, timeout=60
    )
    before, *seen = json.loads(run.stdout)
    if before == [1]:
        pytest.skip("linear algebra has one thread here")
    assert seen == [[1], [1], before, [1], before]


def test_an_error_restores_it_too():
    def blas_threads():
        return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

    @one_blas_thread
    def fails():
        raise ValueError("no")

    with threadpool_limits(2, "blas"):
        before = blas_threads()
        with pytest.raises(ValueError, match="no"):
            fails()
        assert blas_threads() == before
