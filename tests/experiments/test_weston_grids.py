"""The printed form of KDE and k-NN against the library, and the small version of the experiment."""

import numpy as np
import pytest
from scipy.optimize import minimize

from experiments.papers import weston_grids_methods as methods
from experiments.papers.kadri_completion import distance_before
from experiments.protocol import paper_estimator
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store
from mercer.decoders import Candidates
from mercer.embeddings import PrincipalComponents
from mercer.estimators import NeighborsEstimator
from mercer.kernels import Gaussian, Linear
from mercer.solvers import Exact

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((30, 3)), rng.standard_normal((30, 4))
LABELS = np.arange(30) % 3
TRAIN, TEST = np.arange(20), np.arange(20, 30)
KERNEL = Gaussian(2.0)
TASK = methods.Task.of(X, KERNEL(Y), LABELS)


def losses(predicted):
    return 2.0 - 2.0 * np.array([KERNEL(Y[i][None], y[None])[0, 0] for i, y in zip(TEST, predicted, strict=True)])


@pytest.mark.parametrize("origin", [methods.MEAN, methods.PRINTED])
@pytest.mark.parametrize("penalty", ["function", "coefficients"])
def test_kde_is_the_estimator_of_the_library(origin, penalty):
    edition = methods.Edition(np.array([0.7, 1.5]), np.array([1e-3, 0.1]), penalty, 0.02)
    found = methods.kde(TASK, edition, origin)(TRAIN, TEST)
    place = 0
    for scale in edition.scales:
        for gamma in edition.gammas:
            alpha = float(gamma * (len(TRAIN) if penalty == "function" else 1.0))
            model = paper_estimator(Gaussian(float(scale)), KERNEL, alpha=alpha, decoder=Candidates())
            model.set_params(embedding=PrincipalComponents(0.02, origin=origin), solver=Exact(penalty=penalty))
            model.fit(X[TRAIN], Y[TRAIN])
            np.testing.assert_allclose(found[methods.AFTER][place], losses(model.predict(X[TEST])), atol=1e-9)
            before = distance_before(model, X[TEST], Y[TEST])
            assert found[methods.BEFORE][place].mean() == pytest.approx(before, abs=1e-9)
            place += 1


def test_neighbours_are_those_of_the_library():
    found = methods.neighbours(TASK, 4)(TRAIN, TEST)
    for k in (1, 3):
        model = NeighborsEstimator(Linear(), KERNEL, k=k, decoder=Candidates()).fit(X[TRAIN], Y[TRAIN])
        np.testing.assert_allclose(found[methods.AFTER][k - 1], losses(model.predict(X[TEST])), atol=1e-9)
        assert found[methods.BEFORE][k - 1].mean() == pytest.approx(distance_before(model, X[TEST], Y[TEST]))
    np.testing.assert_allclose(found[methods.BEFORE][0], found[methods.AFTER][0], atol=1e-12)


def test_machines_with_a_ridge_have_squared_errors_and_those_of_the_report_a_hard_margin():
    """The dual of squared slacks, maximised by a general solver, gives the same classes."""
    nips = methods.Edition(np.array([1.5]), np.array([0.02]), "function", 0.0)
    report = methods.Edition(np.array([0.4]), np.array([1e-6]), "coefficients", 0.01)
    for edition, ridge in ((nips, 0.4), (report, 0.0)):
        gram = np.exp(-(TASK.distances**2) / (2.0 * edition.scales[0] ** 2))
        values = []
        for label in range(3):
            signs = np.where(LABELS[TRAIN] == label, 1.0, -1.0)
            Q = np.outer(signs, signs) * (gram[np.ix_(TRAIN, TRAIN)] + ridge * np.eye(len(TRAIN)))
            dual = minimize(
                lambda a, Q=Q: (0.5 * a @ Q @ a - a.sum(), Q @ a - 1.0),
                np.zeros(len(TRAIN)),
                jac=True,
                bounds=[(0.0, None)] * len(TRAIN),
                constraints={"type": "eq", "fun": lambda a, s=signs: a @ s, "jac": lambda a, s=signs: s},
                method="SLSQP",
                options={"maxiter": 500, "ftol": 1e-12},
            )
            assert dual.success
            support = int(np.argmax(dual.x))
            intercept = signs[support] * (1.0 - Q[support] @ dual.x)
            values.append(gram[np.ix_(TEST, TRAIN)] @ (dual.x * signs) + intercept)
        wrong = np.argmax(values, axis=0) != LABELS[TEST]
        np.testing.assert_array_equal(methods.machines(TASK, edition)(TRAIN, TEST)[methods.CLASS], [wrong])


def test_distance_before_is_a_squared_length():
    """With a linear kernel on the outputs the points are vectors, and so is the distance."""
    model = paper_estimator(Gaussian(1.0), Linear(), alpha=0.3, decoder=Candidates()).fit(X[TRAIN], Y[TRAIN])
    gram = Gaussian(1.0)(X[TRAIN])
    points = Gaussian(1.0)(X[TEST], X[TRAIN]) @ np.linalg.solve(gram + 0.3 * np.eye(20), Y[TRAIN])
    assert distance_before(model, X[TEST], Y[TEST]) == pytest.approx(np.mean(np.sum((points - Y[TEST]) ** 2, axis=1)))


def test_the_choice_is_made_inside_the_training_part():
    changed = methods.Task(TASK.distances, TASK.outputs, np.where(np.arange(30) >= 20, 7, LABELS))
    edition = methods.Edition(np.array([0.5, 1.0, 4.0]), np.array([1e-3, 1.0]), "function", 0.0)
    one, two = (
        methods.nested(methods.kde(task, edition, "mean"), TRAIN, TEST, methods.CLASS, 0) for task in (TASK, changed)
    )
    assert one["setting"] == two["setting"]
    assert two[methods.CLASS] == 1.0


@pytest.mark.data
def test_small_version(tmp_path):
    if store.data_folder() is None or not (store.data_folder() / "usps").is_dir():
        pytest.skip("needs the USPS digits: set MERCER_DATA to a folder that holds usps/")
    made = experiment("weston-grids")
    rows = reproduce(made, tmp_path, small=True).rows
    at = {(r["table"], r["method"], r["metric"], r.get("edition"), r.get("origin")): r["value"] for r in rows}
    assert (
        at["Table 3", "KDE", "RBF loss before decoding", "NIPS", "mean"]
        < at["Table 3", "KDE", "RBF loss", "NIPS", "mean"]
    )
    one = {r["metric"]: r["value"] for r in rows if r["method"] == "k-NN, k = 1" and r["table"] == "Table 3"}
    assert one["RBF loss before decoding"] == pytest.approx(one["RBF loss"])
    assert {r["edition"] for r in rows if r["method"] == "1-vs-rest SVM" and r["table"] == "Table 2"} == {
        "NIPS",
        "report",
    }
    without = [(r["table"], r["method"], r["edition"]) for r in rows if r.get("edition") and "paper" not in r]
    assert without == [("Table 3, class from the upper half", "1-vs-rest SVM", "report")]
    assert any("One neighbour gives" in note for note in made.notes(rows))
