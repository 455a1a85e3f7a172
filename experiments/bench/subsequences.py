"""Time of the subsequence kernel relative to the C package `strkernels`, and to itself on one thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numba
import numpy as np

from experiments.bench import problems
from experiments.bench.sizes import Sizes
from experiments.bench.timing import Bar, Rows, interleaved, ratio_row, row
from mercer.kernels import Subsequence

LENGTH, DECAY = 3, 0.5

ALPHABETS = (4, 26)


def subsequences(sizes: Sizes) -> Rows:
    """Measure Gram matrices of random strings; rows that need `strkernels` or a second core may be left out."""
    rows: Rows = []
    for letters in ALPHABETS:
        words = problems.strings(sizes.strings, letters, sizes.shortest, sizes.longest)
        more = problems.strings(sizes.threaded_strings, letters, sizes.shortest, sizes.longest)
        found: Rows = []
        if find_spec("strkernels") is not None:
            found += [{**each, "n": len(words)} for each in _against_strkernels(words, sizes.repeats)]
        if numba.get_num_threads() >= 2:
            found += [{**each, "n": len(more)} for each in _two_threads(more, sizes.repeats)]
        rows += [{**each, "letters": letters} for each in found]
    return rows


def _against_strkernels(words: list[str], repeats: int) -> Rows:
    from strkernels import SubsequenceStringKernel

    ours = Subsequence(LENGTH, DECAY)

    def theirs(longest: int) -> np.ndarray:
        return SubsequenceStringKernel(normalizer=None, maxlen=longest, ssk_lambda=DECAY)(words, words)

    # theirs sums the lengths up to `maxlen`: the difference of two is the kernel of one length
    single = theirs(LENGTH) - theirs(LENGTH - 1)
    difference = float(np.max(np.abs(ours(words) - single)) / np.max(single))
    seconds = interleaved({"mercer": lambda: ours(words), "strkernels": lambda: theirs(LENGTH)}, 3 * repeats)
    details = {"seconds": float(np.min(seconds["mercer"]))}
    details["reference_seconds"] = float(np.min(seconds["strkernels"]))
    details["threads"] = numba.get_num_threads()
    return [
        row("Subsequence Gram", "relative difference from strkernels", [difference], Bar(1e-10)),
        ratio_row(
            "Subsequence Gram",
            "× faster than strkernels",
            (seconds["strkernels"], seconds["mercer"]),
            Bar(2.0, "≥"),
            **details,
        ),
    ]


def _two_threads(words: list[str], repeats: int) -> Rows:
    """Measure one Gram matrix on two threads, and two on a thread each, which is the most the machine can gain."""
    kernel, before = Subsequence(LENGTH, DECAY), numba.get_num_threads()

    def on(threads: int) -> None:
        numba.set_num_threads(threads)
        kernel(words)

    def both() -> None:
        list(pool.map(on, [1, 1]))

    try:
        with ThreadPoolExecutor(2) as pool:
            seconds = interleaved({"two": lambda: on(2), "one": lambda: on(1), "both": both}, 2 * repeats)
    finally:
        numba.set_num_threads(before)
    details = {name: float(np.min(each)) for name, each in seconds.items()}
    one, metric = seconds["one"], "× faster than one thread"
    return [
        ratio_row("Subsequence Gram, two threads", metric, (one, seconds["two"]), Bar(1.7, "≥"), **details),
        ratio_row("two Subsequence Grams, a thread each", metric, (2.0 * one, seconds["both"])),
    ]
