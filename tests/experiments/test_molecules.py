"""The small versions of the experiments on molecules, and what they are counted by."""

import json

import networkx as nx
import numpy as np
import pytest

from experiments.beyond import massbank, qm9_graphs
from experiments.beyond.massbank import ALL, BEST, EVERYONE, LADDER, RIDGE
from experiments.beyond.qm9_graphs import CANDIDATES, EDITED, EXACT, LOSS, edits_between, same_graph
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store
from mercer.decoders import Ranked

pytest.importorskip("rdkit", reason="rdkit is not installed")
pytest.importorskip("ot", reason="POT is not installed")


@pytest.fixture
def data():
    folder = store.data_folder()
    if folder is None or not (folder / "msms_massbank").is_dir() or not (folder / "qm9").is_dir():
        pytest.skip("needs MassBank and QM9: set MERCER_DATA to a folder that holds msms_massbank/ and qm9/")


@pytest.mark.data
@pytest.mark.usefixtures("data")
def test_massbank_small(tmp_path):
    made = experiment("massbank")
    rows = reproduce(made, tmp_path, small=True).rows
    at = {(row["method"], row["setting"], row["metric"]): row["value"] for row in rows}
    assert at[BEST, ALL, "top-10, %"] > at[RIDGE, ALL, "top-10, %"] > 100 * 10 / 60
    assert at[BEST, ALL, "top-1, %"] > at[BEST, EVERYONE, "top-1, %"], "trained candidates have their own weight"
    for method in LADDER:
        assert at[method, ALL, "top-1, %"] <= at[method, ALL, "top-10, %"] <= at[method, ALL, "top-20, %"]
    page = (tmp_path / "massbank.html").read_text(encoding="utf-8")
    assert "its rank" in page
    piece = made.pieces(True)[1]
    massbank._input_gram.cache_clear()
    massbank._output_gram.cache_clear()
    assert json.dumps(made.run(piece)) == json.dumps(made.run(piece))


def test_ties_count_against_us():
    class Level:
        def rank(self, queries, k, candidates):
            return [Ranked(candidates, np.array([2.0, 1.0, 1.0, 0.0])) for _ in queries]

    assert massbank.ranks(Level(), np.array([5, 6, 7, 8]), np.array([5, 6, 7, 8])).tolist() == [1, 3, 3, 4]


@pytest.mark.data
@pytest.mark.usefixtures("data")
def test_qm9_small(tmp_path, monkeypatch):
    monkeypatch.setattr(qm9_graphs, "LENGTHS", ((1, 3),))
    monkeypatch.setattr(qm9_graphs, "STEPS", 2)
    rows = reproduce(experiment("qm9-graphs"), tmp_path, small=True).rows
    at = {(row["method"], row["metric"]): row["value"] for row in rows}
    assert at[CANDIDATES, EXACT] == 0.0, "no test graph is a training graph"
    assert 0.0 <= at[EDITED, LOSS] < 1.0
    assert at[CANDIDATES, LOSS] < 1.0
    assert "Some test molecules" in (tmp_path / "qm9-graphs.html").read_text(encoding="utf-8")


def molecule(nodes, edges):
    graph = nx.Graph()
    graph.add_nodes_from((i, {"label": label}) for i, label in enumerate(nodes))
    graph.add_edges_from((u, v, {"label": order}) for u, v, order in edges)
    return graph


def test_edits_between_graphs():
    acid = molecule("CCOO", [(0, 1, 1), (1, 2, 2), (1, 3, 1)])
    renamed = molecule("OCOC", [(3, 1, 1), (1, 0, 1), (1, 2, 2)])
    assert same_graph(acid, renamed)
    assert edits_between(acid, renamed) == 0
    amide = molecule("CCON", [(0, 1, 1), (1, 2, 2), (1, 3, 1)])
    assert edits_between(acid, amide) == edits_between(amide, acid) == 1
    assert not same_graph(acid, amide)
    shorter = molecule("CCO", [(0, 1, 1), (1, 2, 2)])
    assert edits_between(acid, shorter) == 2  # an atom and its bond
    assert edits_between(acid, molecule("CCOO", [(0, 1, 1), (1, 2, 1), (1, 3, 1)])) == 1


def test_edits_are_the_least_over_all_assignments():
    from itertools import permutations

    rng = np.random.default_rng(0)
    for seed in range(6):
        pair = []
        for shift in (0, 1):
            graph = nx.gnp_random_graph(5, 0.5, seed=2 * seed + shift)
            pair.append(
                molecule("".join(rng.choice(list("CNO"), 5)), [(u, v, int(rng.integers(1, 3))) for u, v in graph.edges])
            )
        (labels, edges), (others, other_edges) = (qm9_graphs._matrices(graph, 5) for graph in pair)
        least = min(
            int(np.sum(labels != others[list(order)]))
            + int(np.sum(np.triu(edges != other_edges[np.ix_(order, order)], 1)))
            for order in permutations(range(5))
        )
        assert edits_between(*pair) == least


def test_what_is_no_molecule_is_written_by_its_atoms():
    assert qm9_graphs.written(molecule("CO", [(0, 1, 2)])) == "C=O"
    assert qm9_graphs.written(molecule("OC", [(0, 1, 3)])) == "OC, 1 bonds"
