"""Graphs and molecules need packages that are not always there: nothing imports them before it has to."""

import subprocess
import sys

import numpy as np
import pytest

from mercer.decoders import Barycenter
from mercer.embeddings import Implicit
from mercer.kernels import FromGraKeL, Linear, Tanimoto, WeisfeilerLehman
from mercer.structures.molecules import graph_smiles, molecular_graph


def test_the_library_loads_without_them():
    code = (
        "import sys, mercer, mercer.kernels, mercer.decoders, mercer.structures.molecules, mercer.datasets;"
        "print([name for name in ('rdkit', 'networkx', 'ot', 'grakel', 'numba') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_fingerprints_need_no_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    assert Tanimoto()(np.packbits([[1, 0, 1], [1, 1, 1]], axis=1)).shape == (2, 2)


def test_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(ImportError, match=r"reading molecules needs rdkit; run 'pip install mercer\[molecules\]'"):
        molecular_graph("CCO")
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"graphs need networkx; run 'pip install mercer\[graphs\]'"):
        WeisfeilerLehman()([1, 2])
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(ImportError, match=r"Barycenter needs POT; run 'pip install mercer\[transport\]'"):
        Barycenter().fit(Implicit().fit(Linear(), np.eye(2)))


def test_a_molecule_goes_to_a_graph_and_back():
    pytest.importorskip("rdkit", reason="rdkit is not installed")
    for text in ("CC(=O)Oc1ccccc1C(=O)O", "C[N+](C)(C)C", "C#N", "C"):
        from mercer.structures.molecules import canonical

        assert graph_smiles(molecular_graph(text)) == canonical(text)
        assert graph_smiles(molecular_graph(text, kekulize=False)) == canonical(text)


def test_what_is_no_molecule():
    pytest.importorskip("rdkit", reason="rdkit is not installed")
    graph = molecular_graph("C=O")
    graph.edges[0, 1]["label"] = 3
    with pytest.raises(ValueError, match="graph is not a molecule"):
        graph_smiles(graph)
    graph.edges[0, 1]["label"] = 9
    with pytest.raises(ValueError, match=r"edge \(0, 1\) of graph has label 9"):
        graph_smiles(graph)


def test_an_atom_without_element_is_named():
    nx = pytest.importorskip("networkx")
    with pytest.raises(ValueError, match="node 0 of graph has no attribute 'label'; expected its element"):
        graph_smiles(nx.path_graph(2))


def test_grakel_is_asked_for_by_name(monkeypatch):
    nx, kernels = pytest.importorskip("networkx"), pytest.importorskip("grakel.kernels")
    kernel = FromGraKeL(kernels.VertexHistogram(), node_label=None)
    monkeypatch.setitem(sys.modules, "grakel", None)
    with pytest.raises(ImportError, match=r"FromGraKeL needs GraKeL; run 'pip install grakel'"):
        kernel([nx.path_graph(2)])
