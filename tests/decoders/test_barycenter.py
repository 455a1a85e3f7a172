"""Graphs built from graphs: what they are near to, what they are made of, and what is refused."""

import networkx as nx
import numpy as np
import pytest

import mercer
from mercer import DependencyEstimator
from mercer.decoders import Barycenter, Candidates
from mercer.decoders.barycenter import edited
from mercer.embeddings import Implicit
from mercer.kernels import Gaussian, Linear, WeisfeilerLehman
from mercer.testing import check_decoder

pytest.importorskip("ot", reason="POT is not installed")

KERNEL = WeisfeilerLehman(2, edge_label="label").normalized()


def labelled(graph, nodes, edges=1):
    nx.set_node_attributes(graph, dict(zip(graph, nodes, strict=True)), "label")
    nx.set_edge_attributes(graph, edges, "label")
    return graph


def graphs():
    return [
        labelled(nx.path_graph(4), "CCCO"),
        labelled(nx.path_graph(5), "CCCCO"),
        labelled(nx.cycle_graph(5), "CCCCO"),
        labelled(nx.star_graph(3), "CNNO", 2),
        labelled(nx.path_graph(4), "NCCO"),
    ]


def alike(a, b):
    def same(x, y):
        return x["label"] == y["label"]

    return nx.is_isomorphic(a, b, node_match=same, edge_match=same)


def fitted(**arguments):
    return Barycenter(edge_label="label", **arguments).fit(Implicit().fit(KERNEL, graphs()))


def test_of_one_graph_it_is_that_graph():
    decoder = fitted(compare=False)
    for i, graph in enumerate(graphs()):
        point = np.zeros((1, 5))
        point[0, i] = 0.7
        assert alike(decoder.decode(point)[0], graph)


def test_the_order_of_nodes_of_the_parts_does_not_matter():
    order = np.random.default_rng(0).permutation(5)
    same = nx.relabel_nodes(graphs()[2], {i: f"atom {j}" for i, j in enumerate(order)})
    embedding = Implicit().fit(KERNEL, [graphs()[2], same, graphs()[3]])
    decoder = Barycenter(edge_label="label", compare=False).fit(embedding)
    assert alike(decoder.decode(np.array([[0.5, 0.5, 0.0]]))[0], same)


def test_labels_are_those_of_the_majority():
    decoder = fitted(compare=False)
    mostly = decoder.decode(np.array([[0.7, 0.0, 0.0, 0.0, 0.3]]))[0]
    assert alike(mostly, graphs()[0])


def test_a_graph_that_is_no_training_output_can_be_built():
    """Neighbourhoods of one edge tell the two ends of a path apart: φ(O…F) = φ(O…C) + φ(C…F) − φ(C…C)."""
    outputs = [labelled(nx.path_graph(6), ends) for ends in ("OCCCCC", "CCCCCF", "CCCCCC")]
    target = labelled(nx.path_graph(6), "OCCCCF")
    embedding = Implicit().fit(WeisfeilerLehman(1), outputs)
    decoder = Barycenter(edge_label="label", edits=5).fit(embedding)
    found = decoder.decode(np.array([[1.0, 1.0, -1.0]]))[0]
    assert alike(found, target)


def test_comparing_is_never_worse_than_candidates_and_editing_never_worse_than_not():
    rng = np.random.default_rng(1)
    H = rng.random((6, 5))
    embedding = Implicit().fit(WeisfeilerLehman(1, edge_label="label"), graphs())
    objectives = []
    for decoder in (Candidates(), Barycenter(edge_label="label"), Barycenter(edge_label="label", edits=3)):
        ready = decoder.fit(embedding)
        objectives.append(ready.objective(H, ready.decode(H)))
    assert (objectives[1] <= objectives[0] + 1e-12).all()
    assert (objectives[2] <= objectives[1] + 1e-12).all()


def test_the_contract():
    H = np.random.default_rng(2).random((3, 5))
    check_decoder(Barycenter(edge_label="label", parts=3), Implicit().fit(KERNEL, graphs()), H)


def test_size_edges_and_connection():
    decoder = fitted(compare=False, size=6, parts=3)
    for graph in decoder.decode(np.random.default_rng(0).random((4, 5))):
        assert len(graph) == 6
        assert nx.is_connected(graph)
        assert {data["label"] for _, data in graph.nodes(data=True)} <= set("CNO")
    single = fitted(compare=False, size=1).decode(np.full((1, 5), 0.2))[0]
    assert len(single) == 1


def test_edits_are_all_single_changes():
    decoder = fitted()
    path = labelled(nx.path_graph(3), "CCO")
    made = edited(path, decoder.labels_)
    assert made[0] is path
    labels = [g for g in made if set(map(frozenset, g.edges)) == set(map(frozenset, path.edges))]
    assert len(labels) == 1 + 3 * 2 + 2 * 1  # the path, other elements, the other kind of edge
    assert all(nx.is_connected(g) for g in made)
    assert sum(g.number_of_edges() == 3 for g in made) == 2  # the triangle, closed by either kind


def test_without_parts_edits_start_from_the_best_training_output():
    H = np.random.default_rng(3).random((2, 5))
    none = fitted(parts=0)
    assert [id(g) for g in none.decode(H)] == [id(g) for g in Candidates().fit(none.embedding_).decode(H)]


def test_without_positive_weights_the_best_candidate_is_returned():
    decoder = fitted(compare=False)
    H = -np.eye(5)[:2]
    plain = Candidates().fit(decoder.embedding_)
    assert [id(g) for g in decoder.decode(H)] == [id(g) for g in plain.decode(H)]


def test_in_an_estimator_with_leave_one_out_and_saved(tmp_path):
    pytest.importorskip("skops", reason="skops is not installed")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 2))
    Y = [graphs()[int(x[0] > 0) + 2 * int(x[1] > 0)] for x in X]
    decoder = Barycenter(edge_label="label", parts=3)
    model = DependencyEstimator(Gaussian(1.0), KERNEL, alpha=0.1, decoder=decoder).fit(X, Y)
    before = model.predict(X)
    assert before.dtype == object
    assert before.shape == (6,)
    after = mercer.load(mercer.save(model, tmp_path / "model.skops")).predict(X)
    assert all(alike(a, b) for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize(
    ("decoder", "outputs", "error", "message"),
    [
        (Barycenter(parts=-1), graphs(), ValueError, "parts=-1"),
        (Barycenter(structure=1.0), graphs(), ValueError, "structure=1.0"),
        (Barycenter(size=0), graphs(), ValueError, "size=0"),
        (Barycenter(edits=-1), graphs(), ValueError, "edits=-1"),
        (Barycenter(node_label="kind"), graphs(), ValueError, r"node 0 of y\[0\] has no attribute 'kind'"),
        (Barycenter(edge_label="kind"), graphs(), ValueError, r"of y\[0\] has no attribute 'kind'"),
    ],
)
def test_what_is_refused(decoder, outputs, error, message):
    with pytest.raises(error, match=message):
        decoder.fit(Implicit().fit(KERNEL, outputs))


def test_outputs_that_are_no_graphs():
    with pytest.raises(TypeError, match=r"y\[0\] is .*expected a networkx.Graph"):
        Barycenter().fit(Implicit().fit(Linear(), np.eye(3)))


@pytest.mark.parametrize("labels", [{"edge_label": None}, {"node_label": None, "edge_label": "label"}])
def test_labels_the_kernel_needs_and_built_graphs_would_not_have(labels):
    with pytest.raises(
        ValueError, match=r"(?s)Barycenter builds graphs with .*; expected the labels of the kernel in both"
    ):
        Barycenter(**labels).fit(Implicit().fit(KERNEL, graphs()))
