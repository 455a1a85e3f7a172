import networkx as nx
import numpy as np
import pytest

from mercer.datasets import load_massbank, load_qm9, store


def present(name):
    folder = store.data_folder()
    if folder is None or not (folder / name).is_dir():
        pytest.skip(f"needs {name}: set MERCER_DATA to a folder that holds {name}/")


@pytest.mark.data
def test_massbank_spectra_and_molecules():
    present("msms_massbank")
    data = load_massbank()
    assert len(data) == 3979
    assert data.is_test.sum() == 799
    assert sum(len(spectrum) for spectrum in data.spectra) == 199516
    assert len(set(data.smiles)) == 3979
    heaviest = max(spectrum.precursor for spectrum in data.spectra)
    assert heaviest == pytest.approx(data.masses.max() + 1.007276, abs=1e-5)
    few = data.take(np.array([3, 7]))
    assert few.smiles.tolist() == [data.smiles[3], data.smiles[7]]


@pytest.mark.data
def test_massbank_fingerprints_are_those_of_its_smiles():
    present("msms_massbank")
    pytest.importorskip("rdkit", reason="rdkit is not installed")
    from mercer.structures.molecules import fingerprints

    few = load_massbank().take(np.arange(0, 3979, 400))
    np.testing.assert_array_equal(fingerprints(few.smiles), few.fingerprints)


@pytest.mark.data
def test_qm9_graphs_are_those_of_its_smiles():
    present("qm9")
    pytest.importorskip("rdkit", reason="rdkit is not installed")
    from mercer.structures.molecules import canonical, graph_smiles

    data = load_qm9()
    assert len(data) == 133595
    few = data.take(np.arange(0, 133595, 6000))
    few = few.take(np.flatnonzero(["[" not in text for text in few.smiles]))  # no charges, no radicals
    graphs = few.graphs()
    assert all(isinstance(graph, nx.Graph) and nx.is_connected(graph) for graph in graphs)
    assert [graph_smiles(graph) for graph in graphs] == [canonical(text) for text in few.smiles]
