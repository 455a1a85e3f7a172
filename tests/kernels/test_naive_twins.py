"""Kernels on structures against their definitions, one pair of objects at a time."""

from collections import Counter
from itertools import product

import networkx as nx
import numpy as np
import pytest

from mercer.kernels import (
    Borda,
    Gaussian,
    GaussianOf,
    Jittered,
    Kemeny,
    LabelsBySize,
    LabelSets,
    Laplacian,
    Lehmer,
    Linear,
    Mismatch,
    Overlap,
    OverlapOf,
    PartByPart,
    Patches,
    Peaks,
    Positions,
    RandomWalk,
    RankHamming,
    ShortestPath,
    Spectrum,
    Subsequence,
    SubsetTree,
    Subtree,
    Tanimoto,
    WeightedDegree,
    WeisfeilerLehman,
)
from mercer.kernels.images import moves
from mercer.kernels.strings.base import length_range
from mercer.structures.trees import as_tree, nodes, production

RNG = np.random.default_rng(0)
TEXTS = ["abcab", "bca", "ab", "", "cabbac", "abcab"]
TREES = ["(S (NP I) (VP run))", "(S (NP I) (VP (V see) (NP it)))", "(NP (D the) (N cat))", "(X)", "(S (NP I) x)"]
SETS = [{"a", "b"}, {"b"}, {"a", "c", "d"}, set(), {"d"}]
RANKINGS = np.array([[0, 1, 2, 3], [3, 0, 2, 1], [1, 0, 2, 3]])
IMAGES = RNG.random((4, 12))


def labelled(graph):
    for node in graph:
        graph.nodes[node]["label"] = "CNO"[int(RNG.integers(3))]
    return graph


GRAPHS = [labelled(nx.gnp_random_graph(n, 0.5, seed=n)) for n in (3, 4, 5, 6)]


def subsequences(kernel, x, z):
    """The recursion of Lodhi et al. as it is written."""
    decay, lengths, value = kernel.decay, length_range(kernel.length), 0.0
    prefix = np.ones((len(x) + 1, len(z) + 1))
    match = np.asarray([[a == b for b in z] for a in x], dtype=float).reshape(len(x), len(z))
    for length in range(1, lengths[-1] + 1):
        value += (length in lengths) * float(decay**2 * np.sum(match * prefix[:-1, :-1]))
        longer = np.zeros_like(prefix)
        for i in range(len(x)):
            running = 0.0
            for j in range(len(z)):
                running = decay * running + decay**2 * match[i, j] * prefix[i, j]
                longer[i + 1, j + 1] = decay * longer[i, j + 1] + running
        prefix = longer
    return value


def parts(text, n):
    return [text[p : p + n] for p in range(len(text) - n + 1)]


def common_ngrams(kernel, x, z):
    left, right = (Counter(u for n in length_range(kernel.length) for u in parts(text, n)) for text in (x, z))
    return sum(times * right[u] for u, times in left.items())


def near_ngrams(kernel, x, z):
    def image(text):
        return [
            sum(
                sum(a != b for a, b in zip(u, word, strict=True)) <= kernel.mismatches
                for u in parts(text, kernel.length)
            )
            for word in product(kernel.alphabet, repeat=kernel.length)
        ]

    return np.dot(image(x), image(z))


def placed_ngrams(kernel, x, z):
    total = 0.0
    for d in range(1, kernel.degree + 1):
        for (p, u), (q, v) in product(enumerate(parts(x, d)), enumerate(parts(z, d))):
            apart = abs(p - q)
            if u == v and apart <= kernel.shift:
                total += kernel.weight(d) * (1.0 if apart == 0 else 0.5 / (1 + apart))
    return total


def complete_subtrees(kernel, x, z):
    left, right = (Counter(nodes(as_tree(tree))) for tree in (x, z))
    return sum(times * right[t] * kernel.decay ** len(list(nodes(t))) for t, times in left.items())


def common_subset_trees(kernel, x, z):
    def common(n, m):
        if production(n) != production(m):
            return 0.0
        below = [1.0 + common(a, b) for a, b in zip(n[1:], m[1:], strict=True) if isinstance(a, tuple)]
        return kernel.decay * float(np.prod(below))

    return sum(common(n, m) for n in nodes(as_tree(x)) for m in nodes(as_tree(z)))


def common_walks(kernel, x, z):
    """The inverse of the product graph."""
    labels = [[graph.nodes[v]["label"] for v in graph] for graph in (x, z)]
    same = np.array([[a == b for b in labels[1]] for a in labels[0]]).ravel()
    joined = np.kron(*(nx.to_numpy_array(graph, weight=None) for graph in (x, z)))[np.ix_(same, same)]
    return np.linalg.solve(np.eye(len(joined)) - kernel.decay * joined, np.ones(len(joined))).sum()


def neighbourhoods(kernel, x, z):
    def rounds(graph):
        labels, found = {v: graph.nodes[v]["label"] for v in graph}, Counter()
        for i in range(kernel.rounds + 1):
            found.update((i, label) for label in labels.values())
            labels = {v: (labels[v], tuple(sorted((labels[u] for u in graph[v]), key=repr))) for v in graph}
        return found

    left, right = rounds(x), rounds(z)
    return sum(times * right[label] for label, times in left.items())


def common_paths(kernel, x, z):
    def ends(graph):
        lengths = dict(nx.all_pairs_shortest_path_length(graph))
        label = nx.get_node_attributes(graph, "label")
        return Counter((label[u], label[v], d) for u in graph for v, d in lengths[u].items() if d > 0)

    left, right = ends(x), ends(z)
    return sum(times * right[path] for path, times in left.items())


def shared_labels(kernel, x, z):
    return len(x & z)


def feature_overlap(kernel, x, z):
    common, a = x @ z, kernel.penalty
    union = common + a * (x @ x - common) + a * (z @ z - common)
    return common / union if union else 1.0


def label_overlap(kernel, x, z):
    both = len(x & z)
    return both / (both + kernel.penalty * (len(x) + len(z) - 2 * both)) if x or z else 1.0


def labels_by_size(kernel, x, z):
    return 0.0 if len(x) != len(z) else len(x & z) if x else 1.0


def shared_bits(kernel, x, z):
    left, right = np.unpackbits(x), np.unpackbits(z)
    return np.sum(left & right) / np.sum(left | right)


def same_peaks(kernel, x, z):
    def bins(spectrum):
        found = Counter()
        for mz, intensity in spectrum:
            place = mz / kernel.width
            found[int(place)] += intensity**kernel.power * (1 - place % 1)
            found[int(place) + 1] += intensity**kernel.power * (place % 1)
        return found

    left, right = bins(x), bins(z)
    return sum(height * right[b] for b, height in left.items())


def ordered_pairs(kernel, x, z):
    return sum(np.sign(x[j] - x[i]) * np.sign(z[j] - z[i]) for j in range(len(x)) for i in range(j))


def codes(ranks):
    return [sum(ranks[i] > ranks[j] for i in range(j)) for j in range(len(ranks))]


def over_moves(kernel, x, z):
    every = moves(kernel.reach, kernel.rotations)
    left, right = ([move.rows(image[None], kernel.shape)[0] for move in every] for image in (x, z))
    values = [kernel.kernel.pointwise(a, b) for a in left for b in right]
    return max(values) if kernel.match == "best" else np.mean(values)


def over_patches(kernel, x, z):
    left, right = (kernel.grid.cut(image[None]) for image in (x, z))
    return np.mean([kernel.kernel.pointwise(a[0], b[0]) for a, b in zip(left, right, strict=True)])


def over_positions(kernel, x, z):
    pairs = zip(x, z, strict=False) if not kernel.same_length or len(x) == len(z) else ()
    return sum(kernel.kernel.pointwise(a, b) for a, b in pairs)


@pytest.mark.parametrize(
    ("kernel", "definition", "X"),
    [
        (Subsequence((1, 3), 0.7), subsequences, TEXTS),
        (Spectrum((1, 3)), common_ngrams, TEXTS),
        (Mismatch(3, 1, "abc"), near_ngrams, TEXTS),
        (WeightedDegree(3, 2), placed_ngrams, TEXTS),
        (Positions(), lambda kernel, x, z: sum(a == b for a, b in zip(x, z, strict=False)), TEXTS),
        (Subtree(0.3), complete_subtrees, TREES),
        (SubsetTree(0.3), common_subset_trees, TREES),
        (RandomWalk(0.02), common_walks, GRAPHS),
        (WeisfeilerLehman(2), neighbourhoods, GRAPHS),
        (ShortestPath(), common_paths, GRAPHS),
        (LabelSets(), shared_labels, SETS),
        (Overlap(0.7), label_overlap, SETS),
        (OverlapOf(LabelSets(), 0.7), label_overlap, SETS),
        (OverlapOf(Linear(), 0.6), feature_overlap, np.array([[0.5, -1.0], [2.0, 1.0], [0.0, 0.0]])),
        (LabelsBySize(), labels_by_size, SETS),
        (Tanimoto(), shared_bits, np.array([[255, 1], [3, 129], [7, 7]], dtype=np.uint8)),
        (Peaks(0.5), same_peaks, [[(50.2, 1.0), (80.0, 16.0)], [(50.4, 2.0)], [(80.1, 1.0), (80.3, 3.0)]]),
        (Kemeny(), ordered_pairs, RANKINGS),
        (RankHamming(), lambda kernel, x, z: np.sum(x == z), RANKINGS),
        (Borda(), lambda kernel, x, z: (x.mean() - x) @ (z.mean() - z), RANKINGS),
        (Lehmer(), lambda kernel, x, z: np.dot(codes(x), codes(z)), RANKINGS),
        (Jittered(Gaussian(1.0), (3, 4)), over_moves, IMAGES),
        (Jittered(Laplacian(2.0), (3, 4), 1, (10.0,), "best"), over_moves, IMAGES),
        (Patches((3, 4), 2, 1, Gaussian(1.0)), over_patches, IMAGES),
        (PartByPart(Linear()), over_positions, [IMAGES[:3], IMAGES[:1], IMAGES[1:3]]),
        (PartByPart(Linear(), same_length=True), over_positions, [IMAGES[:3], IMAGES[:1], IMAGES[1:]]),
    ],
    ids=lambda value: repr(value)[:40] if hasattr(value, "pairwise") else "",
)
def test_every_pair(kernel, definition, X):
    wanted = np.array([[definition(kernel, x, z) for z in X] for x in X], dtype=float)
    np.testing.assert_allclose(kernel(X), wanted, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel.pointwise(X[0], X[1]), wanted[0, 1], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.diag(wanted), rtol=1e-10, atol=1e-12)
    norms = np.sqrt(np.diag(wanted))
    cosine = np.divide(wanted, np.outer(norms, norms), out=np.zeros_like(wanted), where=np.outer(norms, norms) > 0)
    np.testing.assert_allclose(kernel.normalized()(X), cosine, rtol=1e-10, atol=1e-12)
    if kernel.is_psd:
        squared = np.diag(wanted)[:, None] + np.diag(wanted) - 2 * wanted
        np.testing.assert_allclose(GaussianOf(kernel, 2.0)(X), np.exp(-squared / 8), rtol=1e-9)
