"""Prepared collections: nothing of them is checked or encoded again, and far vectors do not spoil the others."""

import networkx as nx
import numpy as np
import pytest
import torch

from mercer.kernels import (
    Classes,
    FromGraKeL,
    Gaussian,
    GaussianOf,
    Jittered,
    LabelSets,
    Laplacian,
    Linear,
    Mismatch,
    NeutralLosses,
    Overlap,
    PartByPart,
    Patches,
    Peaks,
    Positions,
    Precomputed,
    Prepared,
    RandomWalk,
    ShortestPath,
    Spectrum,
    Subsequence,
    SubsetTree,
    Subtree,
    Tanimoto,
    WeightedDegree,
    WeisfeilerLehman,
    graphs,
    labels,
    molecules,
    trees,
    vectors,
)
from mercer.kernels.strings import base as strings
from mercer.structures.molecules import MassSpectrum
from mercer.testing import check_kernel

RNG = np.random.default_rng(0)
TEXTS = ["".join(RNG.choice(list("abcd"), RNG.integers(0, 12))) for _ in range(30)]
TOKENS = [[*text] for text in TEXTS]
TREES = ["(S (NP I) (VP run))", "(S (NP you) (VP run))", "(S (NP I) (VP (V see) (NP it)))"]
GRAPHS = [nx.path_graph(n) for n in (3, 4, 5)] + [nx.cycle_graph(4)]
PEAKS = [MassSpectrum([50.0, 80.0], [1.0, 2.0], precursor=101.0), MassSpectrum([50.0], [3.0], precursor=90.0)]
VECTORS = RNG.standard_normal((20, 6))


def counting(monkeypatch, module, name):
    """Note the number of objects in each call of a function of a module."""
    sizes, function = [], getattr(module, name)

    def counted(first, *rest, **named):
        sizes.append(len(first))
        return function(first, *rest, **named)

    monkeypatch.setattr(module, name, counted)
    return sizes


@pytest.mark.parametrize("wrap", [lambda k: k, lambda k: 2 * k.normalized() + k, lambda k: GaussianOf(k, 1.0)])
@pytest.mark.parametrize(
    "kernel", [Spectrum(2), Mismatch(2, 1, "abcd"), WeightedDegree(3), Subsequence(2), Positions()], ids=repr
)
@pytest.mark.parametrize("training", [TEXTS, TOKENS], ids=["texts", "tokens"])
def test_predicting_one_string_encodes_one_string(kernel, wrap, training, monkeypatch):
    kernel = wrap(Mismatch(2, 1, tuple("abcd")) if isinstance(kernel, Mismatch) and training is TOKENS else kernel)
    prepared, wanted = kernel.prepare(training), kernel(training[3:4], training)
    kernel(prepared)
    original, encoded = strings.Coded.of.__func__, []
    counted = classmethod(lambda cls, X: encoded.append(len(X)) or original(cls, X))
    monkeypatch.setattr(strings.Coded, "of", counted)
    near = Mismatch.occurrences
    monkeypatch.setattr(
        Mismatch, "occurrences", lambda self, X, name="X": encoded.append(len(X)) or near(self, X, name)
    )
    checked = counting(monkeypatch, strings, "as_sequences")
    np.testing.assert_allclose(kernel(training[3:4], prepared), wanted, rtol=1e-12)
    assert checked == [1]
    assert set(encoded) == {1}


@pytest.mark.parametrize(
    ("kernel", "module", "name", "training"),
    [
        (Subtree(), trees, "_hanging", TREES),
        (SubsetTree().normalized(), trees, "_read", TREES),
        (WeisfeilerLehman(node_label=None), graphs, "flatten", GRAPHS),
        (ShortestPath(node_label=None).normalized(), graphs, "flatten", GRAPHS),
        (RandomWalk(0.01, node_label=None), graphs, "flatten", GRAPHS),
        (LabelSets(), labels, "_Sets", [{"a", "b"}, {"b"}, set(), {"c"}]),
        (Overlap().normalized(), labels, "_Sets", [{"a", "b"}, {"b"}, set(), {"c"}]),
        (Tanimoto(), molecules, "as_packed", ["CCO", "CCN", "c1ccccc1", "CO"]),
        (Peaks(), molecules._Binned, "_rows", None),
        (Jittered(Gaussian(1.0), (2, 3)), vectors, "CentredVectors", VECTORS),
        (Patches((2, 3), 2, 1, Gaussian(1.0)), vectors, "CentredVectors", VECTORS),
        (Gaussian(2.0) + Gaussian(1.0).normalized(), vectors, "CentredVectors", VECTORS),
        (PartByPart(Gaussian(1.0)), vectors, "as_vectors", [VECTORS[:3], VECTORS[:2], VECTORS[5:8]]),
    ],
    ids=lambda value: getattr(value, "__name__", repr(value)[:40]),
)
def test_predicting_one_object_encodes_one_object(kernel, module, name, training, monkeypatch):
    training = PEAKS if training is None else training
    prepared, wanted = kernel.prepare(training), kernel(training[1:2], training)
    if module is molecules._Binned:
        sizes, original = [], molecules._Binned._rows
        monkeypatch.setattr(module, name, lambda self, X, *rest: sizes.append(len(X)) or original(self, X, *rest))
    else:
        sizes = counting(monkeypatch, module, name)
    np.testing.assert_allclose(kernel(training[1:2], prepared), wanted, rtol=1e-12)
    assert sizes
    assert max(sizes) <= max(1, len(training[1]) if kernel.__class__ is Subtree else 1)


def test_graphs_of_grakel_are_converted_once(monkeypatch):
    grakel = pytest.importorskip("grakel.kernels", reason="GraKeL is not installed")
    kernel = FromGraKeL(grakel.VertexHistogram(), node_label=None)
    prepared, wanted = kernel.prepare(GRAPHS), kernel(GRAPHS[:1], GRAPHS)
    sizes = counting(monkeypatch, graphs, "flatten")
    for _ in range(2):
        np.testing.assert_allclose(kernel(GRAPHS[:1], prepared), wanted)
    assert sizes == [1, 1]


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(2.0),
        Linear().normalized(),
        0.5 * (Gaussian(1.0) + Linear()) * Laplacian(),
        GaussianOf(Linear() + Gaussian(1.0), 2.0),
        Linear().centered(),
    ],
    ids=repr,
)
def test_vectors_are_validated_once(kernel, monkeypatch):
    kernel = kernel.resolve(VECTORS)
    sizes = counting(monkeypatch, vectors, "as_vectors")
    prepared = kernel.prepare(VECTORS)
    assert sizes == [20]
    kernel(prepared)
    kernel.diag(prepared)
    kernel(prepared, prepared)
    assert sizes == [20]
    kernel(VECTORS[:1], prepared)
    kernel(prepared, VECTORS[:1])
    assert sizes == [20, 1, 1]


def test_resolving_a_sum_validates_once(monkeypatch):
    sizes = counting(monkeypatch, vectors, "as_vectors")
    (Gaussian("median") + 2 * Laplacian("median")).normalized().resolve(VECTORS)
    assert sizes == [20]


def test_the_training_set_of_centred_and_clipped_kernels_is_encoded_once(monkeypatch):
    for kernel in (Subsequence(2).centered(), Subsequence(2).centered().normalized(), Spectrum(2).clipped()):
        resolved = kernel.resolve(TEXTS)
        prepared, wanted = resolved.prepare(TEXTS), resolved(TEXTS[4:5], TEXTS)
        encoded = []
        original = strings.Coded.of.__func__
        counted = classmethod(lambda cls, X, original=original, seen=encoded: seen.append(len(X)) or original(cls, X))
        with monkeypatch.context() as patch:
            patch.setattr(strings.Coded, "of", counted)
            np.testing.assert_allclose(resolved(TEXTS[4:5], prepared), wanted, atol=1e-12)
        assert encoded == [1]


def test_symbols_and_ngrams_that_training_did_not_have_count_for_the_norm():
    for training, new in ((["ab", "abc"], ["xabxyz", "q", ""]), ([("to", "be")], [["or", "to", "be"], ["x"]])):
        for kernel in (Spectrum(2), Spectrum((1, 2)), Subsequence(2), WeightedDegree(2, 1), Positions()):
            prepared = kernel.prepare(training)
            np.testing.assert_array_equal(kernel(new, prepared), kernel(new, training))
            both = kernel(training + new)[len(training) :, : len(training)]
            np.testing.assert_allclose(kernel(new, prepared), both, rtol=1e-12)
            np.testing.assert_allclose(kernel(prepared, new), both.T, rtol=1e-12)
            cosine = kernel.normalized()
            np.testing.assert_allclose(
                cosine(new, cosine.prepare(training)),
                cosine(training + new)[len(training) :, : len(training)],
                rtol=1e-12,
            )


def test_a_prepared_collection_belongs_to_its_kernel():
    prepared = Gaussian(1.0).prepare(VECTORS)
    assert isinstance(prepared, Prepared)
    assert len(prepared) == 20
    assert prepared.shape == (20, 6)
    np.testing.assert_array_equal(Gaussian(1.0)(prepared), Gaussian(1.0)(VECTORS))  # an equal kernel
    with pytest.raises(
        ValueError, match=r"Z was prepared by Gaussian\(scale=1.0\); expected a collection prepared by G"
    ):
        Gaussian(2.0)(VECTORS, prepared)
    with pytest.raises(ValueError, match="learned from data"):
        Gaussian("median").prepare(VECTORS)
    with pytest.raises(TypeError, match="Y has dtype"):
        Linear().prepare(np.array([["a"]]), "Y")


def test_a_diagonal_can_be_overwritten():
    for kernel, X in ((Linear(), VECTORS), (Classes(), ["a", "b"]), (Precomputed(), VECTORS @ VECTORS.T)):
        prepared = kernel.prepare(X)
        kernel.diag(prepared)[:] = 7.0
        assert not np.any(kernel.diag(prepared) == 7.0)


def test_spectra_with_peaks_further_out_than_the_training_set():
    kernel, far = NeutralLosses(width=1.0), [MassSpectrum([5.0], [1.0], precursor=500.0), *PEAKS]
    np.testing.assert_allclose(kernel(far, kernel.prepare(PEAKS)), kernel(far)[:, 1:])
    np.testing.assert_allclose(kernel(kernel.prepare(PEAKS), far), kernel(far)[1:])


def test_given_matrices_are_told_apart():
    gram = np.eye(3)
    assert Precomputed(gram) == Precomputed(gram.copy())
    assert Precomputed(gram) != Precomputed(2 * gram)
    assert repr(Precomputed(gram)) == repr(Precomputed(2 * gram))
    assert 0.5 * Precomputed(gram).normalized() != 0.5 * Precomputed(gram + 1.0).normalized()


# -- vectors that are far from the others -------------------------------------------------------------


def exact(X, Z, scale):
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(-1) / (2.0 * scale**2))


@pytest.mark.parametrize("library", [np, torch], ids=lambda xp: xp.__name__)
@pytest.mark.parametrize("n", [3, 5, 200])
def test_one_far_vector_does_not_spoil_the_others(n, library):
    X = np.random.default_rng(n).standard_normal((n, 4))
    X[n // 2] = 1e8
    Z = np.random.default_rng(1).standard_normal((7, 4))
    kernel, A, B = Gaussian(1.3), library.asarray(X), library.asarray(Z)
    np.testing.assert_allclose(kernel(A), exact(X, X, 1.3), rtol=0, atol=1e-12)
    np.testing.assert_allclose(kernel(A, B), exact(X, Z, 1.3), rtol=0, atol=1e-12)
    np.testing.assert_allclose(kernel(B, kernel.prepare(A)), exact(Z, X, 1.3), rtol=0, atol=1e-12)
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    median = np.median(distances[np.triu_indices(n, 1)])
    assert Gaussian("median").resolve(A).scale == pytest.approx(median, rel=1e-12)


def test_far_groups_of_vectors_keep_their_own_distances():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) + np.repeat([0.0, 1e7, -3e7, 5e8], 10)[:, None]
    np.testing.assert_allclose(Gaussian(1.0)(X), exact(X, X, 1.0), atol=1e-9)
    np.testing.assert_allclose(Gaussian(1.0)(X[::3], X), exact(X[::3], X, 1.0), atol=1e-9)
    assert check_kernel(Gaussian(1.0), X[::4], X[1::4]) == []
