"""What inputs and outputs are taken for, and how to say otherwise."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from mercer import AutoEstimator, NumericalWarning
from mercer.automatic.kinds import INPUTS, OUTPUTS, kind_of_inputs, kind_of_outputs
from mercer.losses import F1, EditDistance, Hamming, IoU, Kendall, SquaredError, ZeroOne
from mercer.structures.molecules.spectra import MassSpectrum

rng = np.random.default_rng(0)
NUMBERS = rng.standard_normal(30)
ROWS = rng.standard_normal((30, 3))
WALKS = np.cumsum(rng.standard_normal((30, 20)), axis=1)
TREES = [("S", ("NP", "the"), ("VP", "runs")), ("S", ("VP", "sits"))]
GRAPHS = [nx.path_graph(3), nx.cycle_graph(4)]
WORDS = [f"word{i}" for i in range(30)]


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (ROWS, "vectors"),
        (ROWS.tolist(), "vectors"),
        (ROWS.astype(object), "vectors"),
        ((ROWS > 0).astype(int), "vectors"),
        ((rng.random((30, 60)) < 0.1).astype(int), "binary rows"),
        (sparse.csr_array(ROWS), "binary rows"),
        (pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(ROWS)), "binary rows"),
        (pd.get_dummies(pd.Series(["a", "b", "a"]), sparse=True), "binary rows"),
        (pd.DataFrame({"a": pd.arrays.SparseArray([np.nan, 1.0, 2.0])}), "table"),
        (np.where(ROWS > 1, np.nan, ROWS), "table"),
        (pd.DataFrame({"a": NUMBERS, "b": WORDS}), "table"),
        (pl.DataFrame({"a": NUMBERS, "b": WORDS}), "table"),
        (pd.DataFrame(ROWS), "vectors"),
        (np.array([["a", "b"], ["c", "d"]]), "table"),
        (rng.random((30, 4, 4)), "images"),
        (WORDS, "strings"),
        (np.array(WORDS), "strings"),
        (pd.Series(WORDS), "strings"),
        ([{"a"}, {"a", "b"}], "sets"),
        ([frozenset()], "sets"),
        ([["a", "b"], ["c"]], "sets"),
        ([["a", "a"], ["c"]], "sequences"),
        ([("a", "b"), ("c", "a", "b")], "sequences"),
        (TREES, "trees"),
        (GRAPHS, "graphs"),
        ([("go", "V;PST"), ("see", "V;PRS")], "lemmas with tags"),
        ([MassSpectrum([100.0], [1.0])], "spectra"),
    ],
)
def test_inputs(X, kind):
    found = kind_of_inputs(X)
    assert found.name == kind
    assert found.reason
    assert kind in INPUTS


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (NUMBERS, "numbers"),
        (NUMBERS[:, None], "numbers"),
        (NUMBERS.tolist(), "numbers"),
        (np.arange(30), "numbers"),
        (np.arange(30) % 5, "classes"),
        (np.arange(30) % 5.0, "numbers"),
        ([1, 0], "classes"),
        (NUMBERS > 0, "classes"),
        (list("ab") * 10, "classes"),
        (pd.Series(list("ab") * 10, dtype="category"), "classes"),
        (pd.DataFrame({"label": list("ab") * 10}), "classes"),
        (pl.DataFrame({"label": list("ab") * 10}), "classes"),
        (WORDS, "strings"),
        (ROWS, "vectors"),
        (pd.DataFrame(ROWS, columns=list("abc")), "vectors"),
        (pl.DataFrame({"a": NUMBERS, "b": NUMBERS}), "vectors"),
        ((ROWS > 0).astype(int), "label sets"),
        (ROWS > 0, "label sets"),
        ((ROWS > 0).astype(float), "vectors"),
        (sparse.csr_array((ROWS > 0).astype(int)), "label sets"),
        ([{"a"}, {"b"}], "label sets"),
        ([["a", "b"], ["b"]], "label sets"),
        (np.argsort(ROWS, axis=1), "rankings"),
        (np.argsort(ROWS, axis=1) + 1, "rankings"),
        (WALKS, "curves"),
        (rng.standard_normal((30, 20)), "vectors"),
        (rng.random((30, 4, 4)), "images"),
        ([("DET", "N", "DET"), ("V",)], "sequences"),
        (TREES, "trees"),
        (GRAPHS, "graphs"),
    ],
)
def test_outputs(y, kind):
    found = kind_of_outputs(y)
    assert found.name == kind
    assert found.reason
    assert kind in OUTPUTS


@pytest.mark.parametrize(
    ("y", "loss", "kind"),
    [
        (np.arange(30) % 3, SquaredError(), "numbers"),
        (np.arange(30) % 3.0, ZeroOne(), "classes"),
        ((ROWS > 0).astype(int), SquaredError(), "vectors"),
        ((ROWS > 0).astype(float), Hamming(), "label sets"),
        ((ROWS > 0).astype(float), F1(), "label sets"),
        (ROWS, Kendall(), "rankings"),
        (list("ab") * 10, EditDistance(), "strings"),
        (rng.random((30, 4, 4)) > 0.5, IoU(), "images"),
        (ROWS > 0, IoU(), "label sets"),
    ],
)
def test_the_loss_decides_where_outputs_leave_it_open(y, loss, kind):
    assert kind_of_outputs(y, loss=loss).name == kind


def test_reasons_name_the_cure():
    assert "outputs='numbers'" in kind_of_outputs(np.arange(30) % 5).reason
    assert "outputs='strings'" in kind_of_outputs(list("ab") * 10).reason
    assert "outputs='vectors'" in kind_of_outputs(ROWS > 0).reason
    assert "outputs='sequences'" in kind_of_outputs([["a", "b"], ["c"]]).reason
    assert "inputs='sequences'" in kind_of_inputs([["a", "b"], ["c"]]).reason


@pytest.mark.parametrize(
    ("outputs", "y", "shown"),
    [
        ("numbers", np.arange(24) % 5, float),
        ("classes", np.arange(24) % 5.0, float),
        ("strings", list("ab") * 12, str),
        ("classes", [f"w{i}" for i in range(24)], str),
        ("vectors", (ROWS[:24] > 0).astype(int), np.ndarray),
    ],
)
def test_a_kind_that_is_named_is_used(outputs, y, shown):
    model = AutoEstimator(effort="fast", outputs=outputs, time_limit=1e-9).fit(ROWS[:24], y)
    assert model.kinds_ == {"inputs": "vectors", "outputs": outputs}
    assert isinstance(model.predict(ROWS[:2])[0], shown)


def test_molecules_of_rdkit():
    chemistry = pytest.importorskip("rdkit.Chem")
    smiles = ["CCO", "CCC", "c1ccccc1", "CCN", "CCCO", "CC"]
    molecules = [chemistry.MolFromSmiles(each) for each in smiles]
    assert kind_of_inputs(molecules).name == kind_of_outputs(molecules).name == "molecules"
    model = AutoEstimator(effort="fast").fit(molecules, np.arange(6.0))
    same = AutoEstimator(effort="fast", inputs="molecules").fit(smiles, np.arange(6.0))
    assert np.array_equal(model.predict(molecules), same.predict(smiles))
    assert set(AutoEstimator(effort="fast").fit(ROWS[:6], molecules).predict(ROWS[:2])) <= set(smiles)


@pytest.mark.parametrize("labelled", [True, False])
def test_graphs_with_and_without_labels(labelled):
    graphs = [nx.path_graph(2 + i % 3) if i % 2 else nx.cycle_graph(3 + i % 3) for i in range(12)]
    for graph in graphs if labelled else ():
        nx.set_node_attributes(graph, "C", "label")
    y = [["path", "cycle"][i % 2 == 0] for i in range(12)]
    with pytest.warns(NumericalWarning, match="copies"):
        model = AutoEstimator(effort="fast", outputs="classes").fit(graphs, y)
    assert model.kinds_["inputs"] == "graphs"
    assert list(model.predict(graphs)) == y


BAD = [
    (["a", 1.0, {2}], TypeError, r"y\[1\] is 1\.0, a float, and y\[0\] is 'a'; expected objects of one kind: numbers"),
    ([object()] * 3, TypeError, r"y\[0\] is .*outputs=\.\.\."),
    (["a", None, "b"], ValueError, r"y\[1\] is None.*Drop or fill"),
    ("text", TypeError, r"y is a single str.*\[text\]"),
    ({"a": 1}, TypeError, "no order"),
    (7.0, TypeError, "expected a collection"),
    (pd.DataFrame({"a": [1.0], "b": ["x"]}), TypeError, r"columns \['a', 'b'\].*such as y\['a'\]"),
]


@pytest.mark.parametrize(("y", "error", "message"), BAD)
def test_outputs_of_no_kind_are_named(y, error, message):
    with pytest.raises(error, match=message):
        kind_of_outputs(y)


@pytest.mark.parametrize("asked", [None, "vector", "Numbers", 3, ["vectors"]])
def test_kinds_that_do_not_exist_are_named(asked):
    with pytest.raises(ValueError, match=r"inputs=.*expected 'auto' or one of 'vectors'"):
        kind_of_inputs(ROWS, asked)
    with pytest.raises(ValueError, match=r"outputs=.*expected 'auto' or one of 'numbers'"):
        kind_of_outputs(ROWS, asked)


def test_frames_with_dates_are_tables_in_pandas_and_in_polars():
    days = np.datetime64("2020-01-01") + np.arange(30)
    columns = {"a": NUMBERS, "day": days.astype("datetime64[us]"), "yes": NUMBERS > 0, "n": np.arange(30)}
    for names in (["a", "day"], ["a", "yes"], ["a", "day", "yes", "n"], ["n", "day"]):
        some = {name: columns[name] for name in names}
        for frame in (pd.DataFrame(some), pl.DataFrame(some)):
            assert kind_of_inputs(frame).name == "table"
    for frame in (pd.DataFrame({"a": NUMBERS, "n": np.arange(30)}), pl.DataFrame({"a": NUMBERS, "n": np.arange(30)})):
        assert kind_of_inputs(frame).name == "vectors"


def test_sparse_frames_are_learned_from_as_sparse_rows():
    X = sparse.random(30, 10, 0.3, format="csr", random_state=0)
    frame = pd.DataFrame.sparse.from_spmatrix(X, columns=[f"w{j}" for j in range(10)])
    model = AutoEstimator(effort="fast").fit(frame, NUMBERS)
    np.testing.assert_allclose(model.predict(frame), AutoEstimator(effort="fast").fit(X, NUMBERS).predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"w0": "other"}))
    for each in (X, frame):
        with pytest.raises(TypeError, match="X is sparse, and inputs='vectors' takes dense data; leave inputs='auto'"):
            AutoEstimator(inputs="vectors").fit(each, NUMBERS)
