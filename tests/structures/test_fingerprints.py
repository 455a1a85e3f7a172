"""Fingerprints: what is packed is what rdkit says, what cannot be read is named, and the search is exact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import DependencyEstimator
from mercer.io import Batches
from mercer.kernels import Tanimoto
from mercer.kernels.molecules import weighted_tanimoto
from mercer.structures.molecules import canonical, fingerprints, top_k_tanimoto
from mercer.structures.molecules import search as search_module
from mercer.structures.molecules.bits import bit_counts, tanimoto, words

pytest.importorskip("rdkit", reason="rdkit is not installed")

SMILES = ["CCO", "CCN", "c1ccccc1", "CC(=O)Oc1ccccc1C(=O)O", "C", "OCC"]


def random_sets(n, bits, density, seed):
    return np.random.default_rng(seed).random((n, bits)) < density


def naive(left, right, weights):
    common = (left[:, None] & right[None]) @ weights
    union = (left[:, None] | right[None]) @ weights
    return np.where(union > 0, common / np.where(union > 0, union, 1.0), 1.0)


@pytest.mark.parametrize("kind", ["morgan", "features", "atom-pairs", "torsions", "paths", "maccs"])
def test_rdkit_measures_the_same_similarity(kind):
    from rdkit import Chem, DataStructs
    from rdkit.Chem import MACCSkeys
    from rdkit.Chem import rdFingerprintGenerator as generators

    make = {
        "morgan": generators.GetMorganGenerator(radius=3, fpSize=512).GetFingerprint,
        "features": generators.GetMorganGenerator(
            radius=3, fpSize=512, atomInvariantsGenerator=generators.GetMorganFeatureAtomInvGen()
        ).GetFingerprint,
        "atom-pairs": generators.GetAtomPairGenerator(fpSize=512).GetFingerprint,
        "torsions": generators.GetTopologicalTorsionGenerator(fpSize=512).GetFingerprint,
        "paths": generators.GetRDKitFPGenerator(maxPath=3, fpSize=512).GetFingerprint,
        "maccs": MACCSkeys.GenMACCSKeys,
    }[kind]
    vectors = [make(Chem.MolFromSmiles(text)) for text in SMILES]
    wanted = np.array([DataStructs.BulkTanimotoSimilarity(vector, vectors) for vector in vectors])
    packed = fingerprints(SMILES, kind, radius=3, bits=512)
    counts = bit_counts(words(packed))
    assert counts.tolist() == [vector.GetNumOnBits() for vector in vectors]
    seen = counts > 0  # rdkit calls two empty sets unlike
    np.testing.assert_allclose(
        tanimoto(words(packed), None)[np.ix_(seen, seen)], wanted[np.ix_(seen, seen)], rtol=1e-12
    )


def test_smiles_of_one_molecule_have_one_canonical_form():
    assert canonical("OCC") == canonical("CCO") == "CCO"
    assert (fingerprints(["OCC"]) == fingerprints(["CCO"])).all()


@pytest.mark.parametrize(
    ("smiles", "message"),
    [
        (["CCO", "C1CC"], r"smiles\[1\] is 'C1CC', which rdkit cannot read"),
        (["CCO", "C", ""], r"smiles\[2\] is '', which has no atoms"),
        (["N(C)(C)(C)(C)C"], r"smiles\[0\] is 'N\(C\)\(C\)\(C\)\(C\)C', which rdkit cannot read"),
    ],
)
def test_smiles_that_cannot_be_read_are_named(smiles, message):
    with pytest.raises(ValueError, match=message):
        fingerprints(smiles)
    with pytest.raises(ValueError, match=message):  # a second time, when what was read is remembered
        fingerprints(smiles)


def test_what_is_no_text_is_named():
    with pytest.raises(TypeError, match=r"smiles\[1\] is 7, a int; expected the SMILES"):
        fingerprints(["C", 7])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "daylight"}, "expected one of 'morgan'"),
        ({"radius": -1}, "radius=-1"),
        ({"bits": 100}, "multiple of 8"),
    ],
)
def test_bad_settings(arguments, message):
    with pytest.raises(ValueError, match=message):
        fingerprints(["C"], **arguments)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.integers(1, 30), st.integers(1, 150), st.floats(0.0, 1.0), st.integers(0, 1000))
def test_similarities_are_those_of_the_sets(n, m, bits, density, seed):
    left, right = random_sets(n, bits, density, seed), random_sets(m, bits, density, seed + 1)
    a, b = np.packbits(left, axis=1), np.packbits(right, axis=1)
    weights = np.random.default_rng(seed).random(8 * a.shape[1]) * (np.arange(8 * a.shape[1]) % 3 > 0)
    np.testing.assert_array_equal(tanimoto(words(a), words(b)), naive(left, right, np.ones(bits)))
    np.testing.assert_allclose(weighted_tanimoto(a, b, weights), naive(left, right, weights[:bits]), rtol=1e-12)
    for gram, wanted in (
        (tanimoto(words(a), None), naive(left, left, np.ones(bits))),
        (weighted_tanimoto(a, None, weights), naive(left, left, weights[:bits])),
    ):
        np.testing.assert_array_equal(gram, gram.T)
        np.testing.assert_allclose(gram, wanted, rtol=1e-12)


def test_many_rows_on_several_threads_are_the_same():
    packed = np.packbits(random_sets(700, 512, 0.1, 3), axis=1)
    gram = tanimoto(words(packed), None)
    np.testing.assert_array_equal(gram, tanimoto(words(packed), words(packed)))
    weights = np.random.default_rng(0).random(512)
    np.testing.assert_allclose(
        weighted_tanimoto(packed, None, weights), weighted_tanimoto(packed, packed, weights), rtol=1e-12
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(1, 60), st.integers(1, 25), st.integers(1, 40), st.integers(0, 1000))
def test_the_search_finds_what_sorting_finds(queries, candidates, k, block, seed):
    left = np.packbits(random_sets(queries, 24, 0.3, seed), axis=1)
    right = np.packbits(random_sets(candidates, 24, 0.3, seed + 1), axis=1)
    found = top_k_tanimoto(left, right, k, block_size=block)
    similarities = tanimoto(words(left), words(right))
    order = np.argsort(-similarities, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(found.indices, order)
    np.testing.assert_array_equal(found.similarities, np.take_along_axis(similarities, order, axis=1))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(1, 400), st.integers(1, 25), st.integers(1, 300), st.integers(0, 1000))
def test_the_search_on_a_device_is_the_same(queries, candidates, k, block, seed):
    torch = pytest.importorskip("torch")
    left = np.packbits(random_sets(queries, 24, 0.2, seed), axis=1)
    right = np.packbits(random_sets(candidates, 24, 0.2, seed + 1), axis=1)
    expected = top_k_tanimoto(left, right, k)
    for given_as in (right, torch.from_numpy(right)):
        found = top_k_tanimoto(left, given_as, k, block_size=block, device="cpu")
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_allclose(found.similarities, expected.similarities, rtol=1e-6)


def test_long_fingerprints_on_a_device():
    torch = pytest.importorskip("torch")
    left = np.packbits(random_sets(7, 2048, 0.5, 0), axis=1)
    right = np.packbits(random_sets(3000, 2048, 0.5, 1), axis=1)
    expected = top_k_tanimoto(left, right, 20)
    found = top_k_tanimoto(left, Batches(lambda: np.array_split(right, 4)), 20, device="cpu")
    np.testing.assert_array_equal(found.indices, expected.indices)
    with pytest.raises(ValueError, match="queries have 4096 bits; expected at most 4088 on a device"):
        top_k_tanimoto(np.zeros((1, 512), dtype=np.uint8), np.zeros((1, 512), dtype=np.uint8), device="cpu")
    with pytest.raises(TypeError, match="expected packed fingerprints, rows of uint8"):
        top_k_tanimoto(left, torch.zeros((3, 256)), device="cpu")
    with pytest.raises(ValueError, match="one length"):
        top_k_tanimoto(left, right[:, :8], device="cpu")


def test_a_device_that_is_not_there():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(ValueError, match="device='cuda' is not there .*leave device=None"):
        top_k_tanimoto(np.zeros((1, 8), dtype=np.uint8), np.zeros((1, 8), dtype=np.uint8), device="cuda")


def test_a_memory_map_is_searched_in_blocks(tmp_path):
    left = np.packbits(random_sets(5, 64, 0.3, 0), axis=1)
    right = np.packbits(random_sets(300, 64, 0.3, 1), axis=1)
    np.save(tmp_path / "right.npy", right)
    for rows in (np.load(tmp_path / "right.npy", mmap_mode="r"), Batches(lambda: [right[:100], right[100:]])):
        found = top_k_tanimoto(left, rows, k=4, block_size=30)
        np.testing.assert_array_equal(found.indices, top_k_tanimoto(left, right, k=4).indices)


def test_a_generator_of_blocks_is_read_block_by_block(monkeypatch):
    left = np.packbits(random_sets(5, 64, 0.3, 0), axis=1)
    right = np.packbits(random_sets(300, 64, 0.3, 1), axis=1)
    held = []

    def blocks():
        for start in range(0, 300, 50):
            held.append(start)
            yield right[start : start + 50]

    largest = []
    merge = search_module._Best.merge
    monkeypatch.setattr(
        search_module._Best, "merge", lambda best, rows: (largest.append(len(rows)), merge(best, rows))[1]
    )
    found = top_k_tanimoto(left, blocks(), k=4, block_size=30)
    np.testing.assert_array_equal(found.indices, top_k_tanimoto(left, right, k=4).indices)
    assert held == list(range(0, 300, 50))
    assert max(largest[:-1]) == 30


def test_smiles_can_be_searched():
    found = top_k_tanimoto(["CCO"], SMILES, k=2)
    assert found.indices.tolist() == [[0, 5]]
    assert found.similarities.tolist() == [[1.0, 1.0]]
    keys = top_k_tanimoto(["CCO"], SMILES, k=3, kind="maccs")
    np.testing.assert_array_equal(
        keys.similarities[0, 2], np.sort(tanimoto(words(fingerprints(SMILES, "maccs")), None)[0])[-3]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k=0; expected"),
        ({"block_size": 0}, "block_size=0"),
        ({"candidates": np.zeros((2, 4), dtype=np.uint8)}, "one length"),
        ({"candidates": iter([])}, "candidates is empty"),
        ({"candidates": ["C", "C1"]}, r"candidates\[1\] is 'C1'"),
    ],
)
def test_a_search_that_makes_no_sense(arguments, message):
    arguments = {"candidates": np.zeros((2, 256), dtype=np.uint8)} | arguments
    with pytest.raises(ValueError, match=message):
        top_k_tanimoto(np.zeros((1, 256), dtype=np.uint8), **arguments)


def test_an_unpacked_matrix_is_refused():
    with pytest.raises(TypeError, match="numpy.packbits"):
        top_k_tanimoto(np.zeros((1, 8)), np.zeros((1, 8)))


def test_one_text_is_no_collection():
    with pytest.raises(TypeError, match="smiles is a single str, 'CCO'"):
        fingerprints("CCO")


def test_a_smiles_that_cannot_be_read_is_named_by_the_argument_it_came_in():
    bad = [*SMILES[:3], "C(("]
    with pytest.raises(ValueError, match=r"y\[3\] is 'C\(\(', which rdkit cannot read"):
        DependencyEstimator(Tanimoto(), Tanimoto()).fit(SMILES[:4], bad)
    model = DependencyEstimator(Tanimoto(), Tanimoto()).fit(SMILES[:4], SMILES[:4])
    with pytest.raises(ValueError, match=r"candidates\[3\] is 'C\(\(', which rdkit cannot read"):
        model.predict(SMILES[:1], candidates=bad)
