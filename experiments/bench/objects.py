"""``bench objects``: Gram matrices of objects against public packages, and a search in a million objects.

``python -m experiments.bench.objects CANDIDATES QUERIES TIMED`` prints the seconds of the search, the bytes its process held at
most, the seconds rdkit takes for one query (the mean of TIMED of them), and the largest difference of the similarities found.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from experiments.bench import problems
from experiments.bench.handing_over import hand_over
from experiments.bench.peaks import held
from experiments.bench.timing import Task, interleaved, ratio_row, row
from mercer.kernels import (
    FromGraKeL,
    Kernel,
    LabelSets,
    Overlap,
    Peaks,
    RandomWalk,
    ShortestPath,
    Tanimoto,
    WeisfeilerLehman,
)
from mercer.report import Result, Table, tracked
from mercer.structures.molecules import MassSpectrum, top_k_tanimoto

BITS, SET, NEAREST = 2048, 48, 20
"""Length of a fingerprint, bits set in one, and how many candidates a search finds."""

GIBIBYTES = 2.0
"""What the process of the search may hold."""

DECAY, PEAKS = 0.02, 60
"""Of the walks, and in a spectrum."""


def main(output: Path | None = None, quick: bool = False) -> None:
    """Measure everything, print the table, and write the result as JSON where `output` says so."""
    result = measure_all(quick)
    hand_over(result, table(result), output)


def measure_all(quick: bool = False) -> Result:
    """Every kernel against its peer, then the search; what needs a package that is not there is left out."""
    begin = time.perf_counter()
    sizes = {"sets": 60, "graphs": 12, "walks": 6, "molecules": 40, "spectra": 30} if quick else SIZES
    parts = [_label_sets, _spectra]
    parts += [_graphs] if find_spec("grakel") is not None else []
    parts += [_fingerprints] if find_spec("rdkit") is not None else []
    rows: list[dict[str, Any]] = []
    with tracked("bench objects", len(parts) + 1) as step:
        for part in parts:
            step(part.__name__.strip("_"))
            rows += part(sizes, 1 if quick else 3)
        if find_spec("rdkit") is not None:
            step("search")
            rows += _search(*((5000, 20, 2) if quick else (1_000_000, 1000, 5)))
    parameters = {"quick": quick, "threads": _cores(), "sizes": sizes, "bits": BITS, "bits set": SET}
    return Result("bench-objects", rows, parameters, [problems.SEED], seconds=time.perf_counter() - begin)


SIZES = {"sets": 4000, "graphs": 300, "walks": 60, "molecules": 2000, "spectra": 2000}
"""How many objects of each kind."""


def table(result: Result) -> Table:
    """One line for each figure: what, measured, bar, met."""
    lines = []
    for each in result.rows:
        bar = "" if each["bar"] is None else f"{each['sense']} {each['bar']:g}"
        met = "" if each["met"] is None else "yes" if each["met"] else "no"
        lines.append([f"{each['method']}, n = {each['n']}: {each['metric']}", f"{each['value']:.3g}", bar, met])
    return Table(["what", "measured", "bar", "met"], lines, "bench objects")


def _compared(name: str, peer: str, ours: Task, theirs: Task, n: int, repeats: int) -> list[dict[str, Any]]:
    """How much faster, and how far apart."""
    wanted = theirs()
    difference = float(np.max(np.abs(ours() - wanted)) / np.max(np.abs(wanted)))
    seconds = interleaved({"mercer": ours, peer: theirs}, repeats)
    details = {"seconds": float(np.min(seconds["mercer"])), "reference_seconds": float(np.min(seconds[peer]))}
    return [
        ratio_row(name, f"× faster than {peer}", seconds[peer], seconds["mercer"], 1.0, "≥", n=n, **details),
        row(name, f"relative difference from {peer}", [difference], 1e-8, n=n),
    ]


def _label_sets(sizes: dict[str, int], repeats: int) -> list[dict[str, Any]]:
    from sklearn.metrics import pairwise_distances
    from sklearn.metrics.pairwise import linear_kernel
    from sklearn.preprocessing import MultiLabelBinarizer

    n, random = sizes["sets"], np.random.default_rng(problems.SEED)
    sets = [frozenset(random.integers(0, 150, size=random.integers(1, 8)).tolist()) for _ in range(n)]

    def indicators(sparse: bool) -> Any:
        return MultiLabelBinarizer(sparse_output=sparse).fit_transform(sets)

    return [
        *_compared(
            "LabelSets Gram", "scikit-learn's linear_kernel", lambda: LabelSets()(sets),
            lambda: linear_kernel(indicators(True), dense_output=True), n, repeats,
        ),
        *_compared(
            "Overlap(1.0) Gram", "scikit-learn's jaccard", lambda: Overlap(1.0)(sets),
            lambda: 1.0 - pairwise_distances(indicators(False).astype(bool), metric="jaccard"), n, repeats,
        ),
    ]  # fmt: skip


def _spectra(sizes: dict[str, int], repeats: int) -> list[dict[str, Any]]:
    from scipy import sparse
    from sklearn.metrics.pairwise import linear_kernel

    n, random = sizes["spectra"], np.random.default_rng(problems.SEED)
    # fragments that many molecules have in common, and others that few have
    fragments, common = np.round(random.uniform(50, 500, 3000), 2), 1.0 / (20.0 + np.arange(3000))
    common /= common.sum()
    spectra = [MassSpectrum(random.choice(fragments, PEAKS, p=common), random.random(PEAKS)) for _ in range(n)]

    def theirs() -> np.ndarray:
        # the same bins: every m/z is in the middle of one
        place = np.rint(np.concatenate([each.mz for each in spectra]) / 0.01).astype(int)
        values = np.concatenate([each.intensity for each in spectra]) ** 0.25
        rows = sparse.coo_array((values, (np.repeat(np.arange(n), PEAKS), place)), shape=(n, place.max() + 1))
        return linear_kernel(rows.tocsr(), dense_output=True)

    return _compared("Peaks Gram", "scikit-learn's linear_kernel", lambda: Peaks()(spectra), theirs, n, repeats)


def _graphs(sizes: dict[str, int], repeats: int) -> list[dict[str, Any]]:
    from grakel import kernels as grakel

    rows = []
    pairs: list[tuple[Kernel, Any, str]] = [
        (
            WeisfeilerLehman(rounds=3),
            grakel.WeisfeilerLehman(n_iter=3, base_graph_kernel=grakel.VertexHistogram),
            "graphs",
        ),
        (ShortestPath(), grakel.ShortestPath(), "graphs"),
        (RandomWalk(DECAY, node_label=None), grakel.RandomWalk(lamda=DECAY), "walks"),
    ]
    for ours, theirs, size in pairs:
        graphs = _random_graphs(sizes[size])
        peer = FromGraKeL(theirs, node_label=getattr(ours, "node_label", None))
        name = f"{type(ours).__name__} Gram"
        rows += _compared(name, "GraKeL", partial(ours, graphs), partial(peer, graphs), len(graphs), repeats)
    return rows


def _random_graphs(n: int) -> list[Any]:
    import networkx as nx

    random = np.random.default_rng(problems.SEED)
    graphs = []
    for _ in range(n):
        size = int(random.integers(6, 25))
        graph = nx.random_labeled_tree(size, seed=int(random.integers(2**31)))
        graph.add_edges_from(tuple(random.choice(size, 2, replace=False).tolist()) for _ in range(3))
        nx.set_node_attributes(graph, {v: "CCCNO"[random.integers(5)] for v in graph}, "label")
        graphs.append(graph)
    return graphs


def _fingerprints(sizes: dict[str, int], repeats: int) -> list[dict[str, Any]]:
    from rdkit.DataStructs import BulkTanimotoSimilarity

    n = sizes["molecules"]
    packed = np.concatenate(list(fingerprint_blocks(n, problems.SEED)))
    vectors = _rdkit_vectors(packed)

    def theirs() -> np.ndarray:
        gram = np.ones((n, n))
        for i in range(1, n):
            gram[i, :i] = gram[:i, i] = BulkTanimotoSimilarity(vectors[i], vectors[:i])
        return gram

    return _compared("Tanimoto Gram", "rdkit's BulkTanimotoSimilarity", lambda: Tanimoto()(packed), theirs, n, repeats)


def _search(candidates: int, queries: int, timed: int) -> list[dict[str, Any]]:
    """In a process of its own; rdkit's time for all queries is that of some, shared out among the cores."""
    command = [sys.executable, "-m", "experiments.bench.objects", *map(str, (candidates, queries, timed))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"measuring the search failed: {done.stderr.strip()}")
    seconds, peak, one, difference = (float(figure) for figure in done.stdout.split())
    theirs = one * queries / _cores()
    details: dict[str, Any] = {
        "n": candidates,
        "queries": queries,
        "seconds": seconds,
        "reference_seconds": theirs,
        "timed": timed,
    }
    name = f"Tanimoto top-{NEAREST} of {queries} queries"
    return [
        row(name, "× faster than rdkit's BulkTanimotoSimilarity", [theirs / seconds], 1.0, "≥", **details),
        row(name, "peak memory of the process, GiB", [peak / 2**30], GIBIBYTES, **details),
        row(name, "largest difference from rdkit", [difference], 1e-12, **details),
    ]


def measure(candidates: int, queries: int, timed: int) -> tuple[float, int, float, float]:
    """Seconds of the search, bytes held at most, seconds of rdkit for one query, and the largest difference."""
    packed = np.empty((candidates, BITS // 8), dtype=np.uint8)
    done = 0
    for block in fingerprint_blocks(candidates, problems.SEED):
        packed[done : done + len(block)] = block
        done += len(block)
    wanted = np.concatenate(list(fingerprint_blocks(queries, problems.SEED + 1)))
    top_k_tanimoto(wanted[:2], packed[:100], NEAREST)  # loads what was compiled
    begin = time.perf_counter()
    found = top_k_tanimoto(wanted, packed, NEAREST)
    seconds, peak = time.perf_counter() - begin, held("VmHWM")
    one, difference = _rdkit_search(packed, wanted[:timed], found.similarities[:timed])
    return seconds, peak, one, difference


def _rdkit_search(packed: np.ndarray, queries: np.ndarray, found: np.ndarray) -> tuple[float, float]:
    from rdkit.DataStructs import BulkTanimotoSimilarity

    vectors, wanted = _rdkit_vectors(packed), _rdkit_vectors(queries)
    begin, best = time.perf_counter(), []
    for query in wanted:
        values = np.asarray(BulkTanimotoSimilarity(query, vectors))
        best.append(np.sort(np.partition(values, -NEAREST)[-NEAREST:])[::-1])
    one = (time.perf_counter() - begin) / len(wanted)
    return one, float(np.max(np.abs(np.asarray(best) - found)))


def _rdkit_vectors(packed: np.ndarray) -> list[Any]:
    from rdkit.DataStructs import CreateFromFPSText

    # the bits of a byte come in another order, the same for all
    return [CreateFromFPSText(row.tobytes().hex()) for row in packed]


def fingerprint_blocks(n: int, seed: int, size: int = 50_000) -> Iterator[np.ndarray]:
    """Packed fingerprints like those of molecules: common bits and rare ones, and families that share most of theirs."""
    common = 1.0 / (10.0 + np.arange(BITS))
    shares = np.cumsum(common / common.sum())
    parents = np.searchsorted(shares, np.random.default_rng(problems.SEED).random((2000, SET)))
    random = np.random.default_rng([seed, 1])
    for start in range(0, n, size):
        count = min(size, n - start)
        own = parents[random.integers(len(parents), size=count)]
        fresh = np.searchsorted(shares, random.random((count, SET)))
        bits = np.where(random.random((count, SET)) < 0.35, fresh, own)
        block = np.zeros((count, BITS // 8), dtype=np.uint8)
        for column in bits.T:
            block[np.arange(count), column >> 3] |= (128 >> (column & 7)).astype(np.uint8)
        yield block


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    print(*measure(*map(int, sys.argv[1:4])))
