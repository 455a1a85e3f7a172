"""Objects of other libraries, as their users hold them: frames, molecules, graphs without labels, spectra, curves."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import is_classifier
from sklearn.model_selection import GroupKFold, cross_val_predict, cross_validate

from mercer import AutoEstimator, CurveRidge, DependencyEstimator
from mercer.kernels import Classes, Gaussian, Linear, Peaks, ShortestPath, Tanimoto, WeisfeilerLehman
from mercer.structures import MassSpectrum
from mercer.structures.curves import on_grid
from mercer.structures.molecules import molecular_graph

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = np.column_stack([X[:, 0] + X[:, 1], X[:, 2]])


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("estimator", [DependencyEstimator(), AutoEstimator(effort="fast", random_state=0)])
def test_frames_keep_their_library_and_the_columns_of_y(library, estimator):
    frames = pytest.importorskip(library)
    inputs = frames.DataFrame(dict(zip("abc", X.T, strict=True)))
    outputs = frames.DataFrame({"u": Y[:, 0], "v": Y[:, 1]})
    predicted = estimator.fit(inputs, outputs).predict(inputs)
    assert type(predicted) is type(outputs)
    assert list(predicted.columns) == ["u", "v"]
    plain = type(estimator)(**estimator.get_params(deep=False)).fit(X, Y).predict(X)
    assert np.allclose(np.asarray(predicted), plain, rtol=0, atol=1e-10)


def test_metadata_is_routed():
    groups, weight = np.arange(30) % 6, np.ones(30)
    with config_context(enable_metadata_routing=True):
        model = DependencyEstimator().set_fit_request(groups=True, sample_weight=True)
        model.set_score_request(sample_weight=True)
        scores = cross_validate(
            model, X, Y, params={"groups": groups, "sample_weight": weight}, cv=GroupKFold(3), error_score="raise"
        )["test_score"]
    expected = []
    for train, test in GroupKFold(3).split(X, Y, groups):
        fitted = DependencyEstimator().fit(X[train], Y[train], groups=groups[train], sample_weight=weight[train])
        expected.append(fitted.score(X[test], Y[test]))
    assert scores.tolist() == expected


@pytest.mark.parametrize("kernel", [WeisfeilerLehman(), ShortestPath(), WeisfeilerLehman().normalized()])
def test_graphs_without_labels_have_one_label_and_a_warning_says_so(kernel):
    nx = pytest.importorskip("networkx")
    graphs = [nx.path_graph(n) for n in range(2, 10)]
    with pytest.warns(UserWarning, match="no node of these graphs has the attribute 'label'.*node_label=None"):
        model = DependencyEstimator(kernel, Linear(), alpha=0.1).fit(graphs, np.arange(8.0))
    silent = (
        type(kernel)(WeisfeilerLehman(node_label=None)) if hasattr(kernel, "kernel") else type(kernel)(node_label=None)
    )
    again = DependencyEstimator(silent, Linear(), alpha=0.1).fit(graphs, np.arange(8.0))
    assert model.predict(graphs).tolist() == again.predict(graphs).tolist()


def test_graphs_with_some_labels_or_another_attribute_are_still_refused():
    nx = pytest.importorskip("networkx")
    graphs = [nx.path_graph(n) for n in (2, 3, 4)]
    graphs[0].nodes[0]["label"] = "C"
    with pytest.raises(ValueError, match=r"node 1 of X\[0\] has no attribute 'label'"):
        DependencyEstimator(WeisfeilerLehman(), Linear()).fit(graphs, np.arange(3.0))
    with pytest.raises(ValueError, match="has no attribute 'element'"):
        DependencyEstimator(WeisfeilerLehman(node_label="element"), Linear()).fit(graphs, np.arange(3.0))


def test_molecules_of_rdkit_are_smiles_and_graphs():
    chem = pytest.importorskip("rdkit.Chem")
    smiles = ["C" * n + "O" for n in range(1, 8)] + ["c1ccccc1"]
    molecules = [chem.MolFromSmiles(text) for text in smiles]
    assert np.array_equal(Tanimoto()(molecules), Tanimoto()(smiles))
    graphs = [molecular_graph(text) for text in smiles]
    assert np.array_equal(WeisfeilerLehman(edge_label="label")(molecules), WeisfeilerLehman(edge_label="label")(graphs))
    target = np.arange(8.0)
    fitted = [DependencyEstimator(Tanimoto(), Linear()).fit(each, target).predict(each) for each in (molecules, smiles)]
    assert fitted[0].tolist() == fitted[1].tolist()
    assert molecules[-1].GetBondWithIdx(0).GetIsAromatic()  # the user's molecule is not changed


def test_spectra_of_matchms_are_spectra():
    matchms = pytest.importorskip("matchms")
    peaks = [(np.array([50.0, 60.0 + i, 90.0]), np.array([0.1, 0.5, 1.0]), 100.0 + i) for i in range(10)]
    theirs = [matchms.Spectrum(mz=m, intensities=i, metadata={"precursor_mz": p}) for m, i, p in peaks]
    ours = [MassSpectrum(*each) for each in peaks]
    assert np.array_equal(Peaks()(theirs), Peaks()(ours))
    model = AutoEstimator(effort="fast").fit(theirs, np.arange(10.0))
    assert model.kinds_["inputs"] == "spectra"
    assert np.array_equal(model.predict(theirs), model.predict(ours))


def curves(n=20, seed=0):
    rng = np.random.default_rng(seed)
    positions = [np.sort(np.r_[0.0, 1.0, rng.random(12)]) for _ in range(n)]
    return [(t, np.sin(3 * t + i / 5)) for i, t in enumerate(positions)]


@pytest.mark.parametrize("model", [DependencyEstimator(Gaussian("median"), Linear()), AutoEstimator(effort="fast")])
def test_curves_at_positions_of_their_own_are_outputs(model):
    phase = np.arange(20.0)[:, None] / 5
    model.fit(phase, curves())
    grid = model.output_grid_
    assert np.abs(model.predict([[1.1]])[0] - np.sin(3 * grid + 1.1)).max() < 0.1
    rows = on_grid(curves(), grid)[1]
    assert model.score(phase, curves()) == pytest.approx(model.score(phase, rows))
    plain = type(model)(**model.get_params(deep=False)).fit(phase, rows)
    assert plain.output_grid_ is None
    assert np.array_equal(plain.predict(phase), model.predict(phase))


def test_curves_at_positions_of_their_own_are_inputs():
    phase = np.arange(20.0) / 5
    model = DependencyEstimator(Gaussian("median"), Linear()).fit(curves(), phase)
    other = curves(seed=1)
    assert np.abs(model.predict(other) - phase).max() < 0.15
    assert np.array_equal(model.predict(other), model.predict(on_grid(other, model.grid_in_)[1]))
    with pytest.raises(ValueError, match="CurveRidge has no grid; pass grid="):
        CurveRidge().fit(phase[:, None], curves())
    grid = np.linspace(0, 1, 15)
    fitted = CurveRidge(grid=grid).fit(phase[:, None], curves())
    assert np.abs(fitted.predict([[1.1]])[0] - np.sin(3 * grid + 1.1)).max() < 0.1


def test_curves_of_scikit_fda_are_rows():
    regular = SimpleNamespace(data_matrix=Y[:, :, None], grid_points=(np.arange(2),))
    assert np.array_equal(DependencyEstimator().fit(X, regular).predict(X), DependencyEstimator().fit(X, Y).predict(X))
    known = curves()
    starts = np.cumsum([0, *(len(t) for t, _ in known)])[:-1]
    points, values = (np.concatenate([each[i] for each in known])[:, None] for i in (0, 1))
    irregular = SimpleNamespace(start_indices=starts, points=points, values=values)
    phase = np.arange(20.0)[:, None]
    left, right = (DependencyEstimator(alpha=0.1).fit(phase, y).predict(phase) for y in (irregular, known))
    assert np.array_equal(left, right)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "there are no curves"),
        ([([0.0, 1.0], [1.0])], "curve 0 has"),
        ([([0.0, 0.0], [1.0, 2.0])], "the position 0 twice"),
        ([([0.0, np.nan], [1.0, 2.0])], "not finite"),
        ([([0.0, 1.0], [1.0, 2.0]), ([2.0, 3.0], [1.0, 2.0])], "no positions in common"),
    ],
)
def test_curves_that_cannot_be_put_on_a_grid(pairs, message):
    with pytest.raises(ValueError, match=message):
        on_grid(pairs)


def test_folds_of_classes_are_stratified():
    X, y = np.arange(30.0)[:, None], np.repeat([0, 1, 2], 10)
    for model in (DependencyEstimator(Gaussian("median"), Classes()), AutoEstimator(effort="fast", outputs="classes")):
        assert is_classifier(model)
        held_out = cross_val_predict(model, X, y, cv=3)
        assert np.mean(held_out == y) > 0.5  # folds in order would leave out a whole class each
    assert not is_classifier(DependencyEstimator())
