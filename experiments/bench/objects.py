"""``bench objects``: Gram matrices of objects against public packages, and a search in a million objects.

``python -m experiments.bench.objects CANDIDATES QUERIES TIMED`` prints the seconds of the search, the bytes its process held at
most, the seconds rdkit takes for one query (the mean of TIMED of them), and the largest difference of the similarities found.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from experiments.bench import problems
from experiments.bench.peaks import held
from experiments.bench.reporting import cores, finish, measure_in_process
from experiments.bench.timing import Bar, PeerComparison, Rows, row
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
from mercer.report import Result, tracked
from mercer.structures.molecules import MassSpectrum, top_k_tanimoto

BITS, SET, NEAREST = 2048, 48, 20
"""Length of a fingerprint, bits set in one, and the number of candidates a search finds."""

GIBIBYTES = 2.0
"""Memory the process of the search may hold."""

DECAY, PEAKS = 0.02, 60
"""Decay of the walks, and number of peaks in a spectrum."""


def main(output: Path | None = None, quick: bool = False) -> None:
    """Measure all parts, print the table, and write the result as JSON to `output` if it is given."""
    finish(measure_all(quick), output)


def measure_all(quick: bool = False) -> Result:
    """Compare every kernel with its peer, then the search; parts whose package is not installed are left out."""
    begin = time.perf_counter()
    sizes = {"sets": 60, "graphs": 12, "walks": 6, "molecules": 40, "spectra": 30} if quick else SIZES
    parts = [_label_sets, _spectra]
    parts += [_graphs] if find_spec("grakel") is not None else []
    parts += [_fingerprints] if find_spec("rdkit") is not None else []
    rows: Rows = []
    with tracked("bench objects", len(parts) + 1) as step:
        for part in parts:
            step(part.__name__.strip("_"))
            rows += part(sizes, 1 if quick else 3)
        if find_spec("rdkit") is not None:
            step("search")
            rows += _search(*((5000, 20, 2) if quick else (1_000_000, 1000, 5)))
    parameters = {"quick": quick, "threads": cores(), "sizes": sizes, "bits": BITS, "bits set": SET}
    return Result("bench-objects", rows, parameters, [problems.SEED], seconds=time.perf_counter() - begin)


SIZES = {"sets": 4000, "graphs": 300, "walks": 60, "molecules": 2000, "spectra": 2000}
"""Number of objects of each kind."""


def _compared(comparison: PeerComparison, n: int, repeats: int) -> Rows:
    return comparison.rows(repeats, faster=1.0, tol=1e-8, n=n)


def _label_sets(sizes: dict[str, int], repeats: int) -> Rows:
    from sklearn.metrics import pairwise_distances
    from sklearn.metrics.pairwise import linear_kernel
    from sklearn.preprocessing import MultiLabelBinarizer

    n, random = sizes["sets"], np.random.default_rng(problems.SEED)
    sets = [frozenset(random.integers(0, 150, size=random.integers(1, 8)).tolist()) for _ in range(n)]

    def indicators(sparse: bool) -> Any:
        return MultiLabelBinarizer(sparse_output=sparse).fit_transform(sets)

    linear = PeerComparison(
        "LabelSets",
        "scikit-learn's linear_kernel",
        lambda: LabelSets()(sets),
        lambda: linear_kernel(indicators(True), dense_output=True),
    )
    jaccard = PeerComparison(
        "Overlap(1.0)",
        "scikit-learn's jaccard",
        lambda: Overlap(1.0)(sets),
        lambda: 1.0 - pairwise_distances(indicators(False).astype(bool), metric="jaccard"),
    )
    return _compared(linear, n, repeats) + _compared(jaccard, n, repeats)


def _spectra(sizes: dict[str, int], repeats: int) -> Rows:
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

    comparison = PeerComparison("Peaks", "scikit-learn's linear_kernel", lambda: Peaks()(spectra), theirs)
    return _compared(comparison, n, repeats)


def _graphs(sizes: dict[str, int], repeats: int) -> Rows:
    from grakel import kernels as grakel

    rows: Rows = []
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
        comparison = PeerComparison(type(ours).__name__, "GraKeL", partial(ours, graphs), partial(peer, graphs))
        rows += _compared(comparison, len(graphs), repeats)
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


def _fingerprints(sizes: dict[str, int], repeats: int) -> Rows:
    from rdkit.DataStructs import BulkTanimotoSimilarity

    n = sizes["molecules"]
    packed = np.concatenate(list(fingerprint_blocks(n, problems.SEED)))
    vectors = _rdkit_vectors(packed)

    def theirs() -> np.ndarray:
        gram = np.ones((n, n))
        for i in range(1, n):
            gram[i, :i] = gram[:i, i] = BulkTanimotoSimilarity(vectors[i], vectors[:i])
        return gram

    comparison = PeerComparison("Tanimoto", "rdkit's BulkTanimotoSimilarity", lambda: Tanimoto()(packed), theirs)
    return _compared(comparison, n, repeats)


def _search(candidates: int, queries: int, timed: int) -> Rows:
    """Measure the search in its own process; rdkit's time is extrapolated from some queries and divided by the cores."""
    seconds, peak, one, difference = measure_in_process("objects", candidates, queries, timed)
    theirs = one * queries / cores()
    details: dict[str, Any] = {
        "n": candidates,
        "queries": queries,
        "seconds": seconds,
        "reference_seconds": theirs,
        "timed": timed,
    }
    name = f"Tanimoto top-{NEAREST} of {queries} queries"
    return [
        row(name, "× faster than rdkit's BulkTanimotoSimilarity", [theirs / seconds], Bar(1.0, "≥"), **details),
        row(name, "peak memory of the process, GiB", [peak / 2**30], Bar(GIBIBYTES), **details),
        row(name, "largest difference from rdkit", [difference], Bar(1e-12), **details),
    ]


def measure(candidates: int, queries: int, timed: int) -> tuple[float, int, float, float]:
    """Measure the seconds of the search, bytes held at most, seconds of rdkit for one query, and the largest difference."""
    packed = np.empty((candidates, BITS // 8), dtype=np.uint8)
    done = 0
    for block in fingerprint_blocks(candidates, problems.SEED):
        packed[done : done + len(block)] = block
        done += len(block)
    wanted = np.concatenate(list(fingerprint_blocks(queries, problems.SEED + 1)))
    top_k_tanimoto(wanted[:2], packed[:100], NEAREST)  # loads the compiled code
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
    """Yield packed fingerprints like those of molecules: common and rare bits, and families that share most of them."""
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


if __name__ == "__main__":
    print(*measure(*map(int, sys.argv[1:4])))
