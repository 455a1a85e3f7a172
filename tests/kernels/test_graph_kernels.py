"""Kernels on graphs: the contract, GraKeL, plain definitions, and what is refused."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from sklearn.model_selection import cross_val_predict

import mercer
from mercer import DependencyEstimator, NeighborsEstimator
from mercer.kernels import FromGraKeL, Gaussian, GaussianOf, RandomWalk, ShortestPath, WeisfeilerLehman
from mercer.report import explanation_html
from mercer.structures.graphs import described
from mercer.testing import check_kernel

grakel = pytest.importorskip("grakel.kernels", reason="GraKeL is not installed")


def graph(nodes, seed, density=0.4):
    rng = np.random.default_rng(seed)
    made = nx.gnp_random_graph(nodes, density, seed=seed)
    for node in made:
        made.nodes[node]["label"] = "CNO"[rng.integers(3)]
    for edge in made.edges:
        made.edges[edge]["order"] = int(rng.integers(1, 4))
    return made


def relabelled(graph, seed=0):
    order = np.random.default_rng(seed).permutation(len(graph))
    return nx.relabel_nodes(graph, dict(zip(graph, (f"node {i}" for i in order), strict=True)))


GRAPHS = [graph(n, i) for i, n in enumerate((1, 2, 3, 4, 5, 6, 7, 7, 4, 6))]
GRAPHS += [graph(5, 3, 0.0), graph(5, 3, 1.0)]
ALIKE = WeisfeilerLehman(2)


@pytest.mark.parametrize(
    "kernel",
    [
        WeisfeilerLehman(),
        WeisfeilerLehman(rounds=2, edge_label="order"),
        WeisfeilerLehman(rounds=0, node_label=None),
        ShortestPath(),
        ShortestPath(node_label=None),
        RandomWalk(0.02),
        RandomWalk(0.02, node_label=None),
        GaussianOf(WeisfeilerLehman(1).normalized(), scale=0.5),
    ],
    ids=repr,
)
def test_the_contract(kernel):
    assert check_kernel(kernel, GRAPHS) == []
    gram = kernel(GRAPHS)
    np.testing.assert_array_equal(gram, gram.T)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (WeisfeilerLehman(3), FromGraKeL(grakel.WeisfeilerLehman(n_iter=3, base_graph_kernel=grakel.VertexHistogram))),
        (WeisfeilerLehman(0, None), FromGraKeL(grakel.VertexHistogram(), node_label=None)),
        (ShortestPath(), FromGraKeL(grakel.ShortestPath())),
        (ShortestPath(None), FromGraKeL(grakel.ShortestPath(with_labels=False), node_label=None)),
        (RandomWalk(0.02, None), FromGraKeL(grakel.RandomWalk(lamda=0.02), node_label=None)),
    ],
    ids=repr,
)
def test_grakel_gives_the_same(ours, theirs):
    np.testing.assert_allclose(ours(GRAPHS), theirs(GRAPHS), rtol=1e-8)
    np.testing.assert_allclose(ours(GRAPHS[:3], GRAPHS[3:]), theirs(GRAPHS[:3], GRAPHS[3:]), rtol=1e-8)
    np.testing.assert_allclose(ours.diag(GRAPHS), theirs.diag(GRAPHS), rtol=1e-8)


def test_labelled_walks_are_grakels_without_pairs_of_unlike_nodes():
    # their faster method stops at errors of a few percent
    theirs = FromGraKeL(grakel.RandomWalkLabeled(lamda=0.02, method_type="baseline"))(GRAPHS)
    labels = [[data["label"] for _, data in g.nodes(data=True)] for g in GRAPHS]
    unlike = np.array([[sum(a != b for a in x for b in z) for z in labels] for x in labels])
    np.testing.assert_allclose(RandomWalk(0.02)(GRAPHS), theirs - unlike, rtol=1e-8, atol=1e-8)


def test_neighbourhoods_by_the_plain_definition():
    """Labels as nested tuples, compared as they are."""

    def counts(g, rounds):
        labels = {v: g.nodes[v]["label"] for v in g}
        found = [(0, label) for label in labels.values()]
        for i in range(rounds):
            labels = {v: (labels[v], tuple(sorted((g.edges[v, u]["order"], labels[u]) for u in g[v]))) for v in g}
            found += [(i + 1, label) for label in labels.values()]
        return found

    every = [counts(g, 2) for g in GRAPHS]
    wanted = [[sum(a == b for a in x for b in z) for z in every] for x in every]
    np.testing.assert_array_equal(WeisfeilerLehman(2, edge_label="order")(GRAPHS), wanted)


@pytest.mark.parametrize(
    "kernel", [WeisfeilerLehman(3, edge_label="order"), ShortestPath(), RandomWalk(0.02)], ids=repr
)
def test_names_and_order_of_nodes_do_not_matter(kernel):
    others = [relabelled(g, i) for i, g in enumerate(GRAPHS)]
    np.testing.assert_allclose(kernel(others), kernel(GRAPHS), rtol=1e-12)
    np.testing.assert_allclose(kernel(others, GRAPHS), kernel(GRAPHS), rtol=1e-12)


def test_equal_numbers_are_equal_labels():
    whole, real = nx.path_graph(2), nx.path_graph(2)
    nx.set_node_attributes(whole, 6, "label")
    nx.set_node_attributes(real, 6.0, "label")
    assert WeisfeilerLehman(1)([whole], [real]) == WeisfeilerLehman(1)([whole])


def test_a_kernel_that_grakel_has_and_we_do_not():
    assert FromGraKeL(grakel.VertexHistogram()) == FromGraKeL(grakel.VertexHistogram())
    assert FromGraKeL(grakel.RandomWalk(lamda=0.1)) != FromGraKeL(grakel.RandomWalk(lamda=0.2))
    gram = FromGraKeL(grakel.GraphletSampling(k=3, random_state=0), node_label=None)(GRAPHS[3:8])
    assert gram.shape == (5, 5)
    assert np.isfinite(gram).all()


LOOSE = nx.path_graph(2)
nx.set_node_attributes(LOOSE, {0: "C"}, "label")


@pytest.mark.parametrize(
    ("kernel", "X", "error", "message"),
    [
        (ALIKE, [GRAPHS[0], nx.Graph()], ValueError, r"X\[1\] is a graph without nodes"),
        (ALIKE, [GRAPHS[0], 3], TypeError, r"X\[1\] is 3, a int; expected a networkx.Graph"),
        (ALIKE, GRAPHS[4], TypeError, r"X is a single graph"),
        (ALIKE, [nx.DiGraph([(0, 1)])], TypeError, r"X\[0\] is directed"),
        (ALIKE, [nx.MultiGraph([(0, 1)])], TypeError, r"X\[0\] is a multigraph"),
        (ALIKE, [GRAPHS[0], LOOSE], ValueError, r"node 1 of X\[1\] has no attribute 'label'"),
        (WeisfeilerLehman(edge_label="kind"), GRAPHS, ValueError, r"edge \(0, 1\) of X\[\d\] has no attribute 'kind'"),
        (WeisfeilerLehman(rounds=-1), GRAPHS, ValueError, "rounds=-1"),
        (WeisfeilerLehman(node_label=3), GRAPHS, TypeError, "node_label=3"),
        (RandomWalk(0.2), GRAPHS, ValueError, r"decay=0.2 in RandomWalk.*Expected a decay below 0.0"),
        (RandomWalk(0.0), GRAPHS, ValueError, "decay=0.0"),
        (FromGraKeL("wl"), GRAPHS, TypeError, "expected a kernel of grakel"),
        (ShortestPath(), [], ValueError, "X is empty"),
    ],
)
def test_what_is_refused(kernel, X, error, message):
    with pytest.raises(error, match=message):
        kernel(X)


# -- graphs as outputs --------------------------------------------------------------------------------


def task(n=24):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    shapes = [graph(4 + i % 3, i) for i in range(6)]
    return X, [relabelled(shapes[int(3 * (x[0] > 0) + i % 3)], i) for i, x in enumerate(X)]


def test_predictions_are_graphs_in_an_object_array():
    X, Y = task()
    model = DependencyEstimator(Gaussian(1.0), WeisfeilerLehman(2)).fit(X, Y)
    found = model.predict(X)
    assert found.shape == (24,)
    assert found.dtype == object
    assert all(isinstance(each, nx.Graph) for each in found)
    for k in (1, 3):
        crossed = cross_val_predict(NeighborsEstimator(Gaussian(1.0), ALIKE, k=k), X, np.array(Y, dtype=object), cv=3)
        assert all(isinstance(each, nx.Graph) for each in crossed)


def test_explanations_show_what_graphs_have_not_where_they_are():
    X, Y = task()
    explanation = DependencyEstimator(Gaussian(1.0), WeisfeilerLehman(2), alpha=0.1).fit(X, Y).explain(X[0], k=2)
    for text in (str(explanation), explanation_html(explanation)):
        assert "object at" not in text
        assert text.count("graph: ") == (3 if text == str(explanation) else 5)
    first = explanation.carriers[0].output
    letters = Counter(data["label"] for _, data in first.nodes(data=True))
    told = f"graph: {len(first)} nodes, {first.number_of_edges()} edges ("
    assert told in str(explanation)
    assert all(f"{times} {letter}" in str(explanation) for letter, times in letters.items())


def test_graphs_in_a_few_words():
    many = nx.path_graph(6)
    for node in many:
        many.nodes[node].update(colour=node, label="x" if node else "y" * 50)
    assert described(many) == f"graph: 6 nodes, 5 edges (5 x, 1 {'y' * 10})"
    nx.set_node_attributes(many, {node: node for node in many}, "label")
    assert described(many) == "graph: 6 nodes, 5 edges"
    single = nx.Graph()
    single.add_node("a", atom="C")
    assert described(single) == "graph: 1 node, 0 edges (1 C)"
    assert described({"a": 1}) is None


def test_candidates_of_each_example():
    X, Y = task()
    model = DependencyEstimator(Gaussian(1.0), WeisfeilerLehman(2), alpha=0.1).fit(X, Y)
    own = [[Y[i], Y[(i + 1) % 24]] for i in range(24)]
    found = model.predict(X, candidates=own)
    assert all(each is pair[0] or each is pair[1] for each, pair in zip(found, own, strict=True))
    flat = model.predict(X, candidates=Y[:3])
    assert all(any(each is graph for graph in Y[:3]) for each in flat)
    assert [len(ranked.objects) for ranked in model.rank(X[:2], 5, own[:2])] == [2, 2]
    with pytest.raises(ValueError, match=r"candidates\[1\] is empty"):
        model.predict(X[:2], candidates=[[Y[0]], []])


def test_a_model_of_graphs_is_saved_whole(tmp_path):
    pytest.importorskip("skops", reason="skops is not installed")
    _, Y = task()
    model = DependencyEstimator(RandomWalk(0.02), WeisfeilerLehman(2), alpha=0.1).fit(Y, Y)
    before = model.predict(Y)
    assert [list(g.nodes) for g in before]  # a user looks at them, and networkx keeps the view
    loaded = mercer.load(mercer.save(model, tmp_path / "model.skops"))
    after = loaded.predict(Y)
    for a, b in zip(before, after, strict=True):
        assert dict(a.nodes(data=True)) == dict(b.nodes(data=True))
        assert dict(a.edges) == dict(b.edges)
    np.testing.assert_array_equal(model.decision_weights(Y), loaded.decision_weights(Y))


def atom(label):
    graph = nx.Graph()
    graph.add_node(0, label=label)
    return graph


@pytest.mark.parametrize(
    ("label", "same"),
    [("C", np.str_("C")), (1, np.bool_(True)), (1, 1.0), ((1, "a"), (np.int8(1), np.str_("a"))), (10**400, 10**400)],
)
def test_equal_labels_are_one_label(label, same):
    assert WeisfeilerLehman(0)([atom(label), atom(same)])[0, 1] == 1.0


@pytest.mark.parametrize(
    ("label", "other"), [(2**53, 2**53 + 1), ("1", 1), ((1, 2), "(1, 2)"), (0.5, 0), (None, "None")]
)
def test_labels_that_differ_are_two(label, other):
    assert WeisfeilerLehman(0)([atom(label), atom(other)])[0, 1] == 0.0


def test_views_and_frozen_graphs_are_saved_as_graphs(tmp_path):
    pytest.importorskip("skops", reason="skops is not installed")
    graphs = [nx.path_graph(6).subgraph(range(n)) for n in range(1, 5)] + [nx.freeze(nx.path_graph(6))]
    kernel = WeisfeilerLehman(2, node_label=None)
    model = DependencyEstimator(kernel, kernel, alpha=0.1).fit(graphs, graphs)
    again = mercer.load(mercer.save(model, tmp_path / "graphs.skops"))
    assert [len(g) for g in again.predict(graphs)] == [len(g) for g in model.predict(graphs)]
    assert nx.is_frozen(graphs[-1])
