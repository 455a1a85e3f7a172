"""Copies of pairs leave together; repeated measurements do not."""

import warnings

import numpy as np
import pytest

from mercer import CurveRidge, DependencyEstimator, NeighborsEstimator, OutputKernelLearning
from mercer.core.arrays import NumericalWarning
from mercer.core.collections import united
from mercer.estimators import JointKernelMap
from mercer.kernels import Gaussian, Subsequence
from mercer.losses import SquaredError
from mercer.operators import TensorProductJoint
from mercer.selection import GCV, KFold, LeaveOneOut

RNG = np.random.default_rng(1)
X = np.sort(RNG.uniform(-3, 3, (40, 1)), axis=0)
Y = np.sin(X) + 0.3 * RNG.standard_normal((40, 1))
NEW = np.linspace(-3, 3, 100)[:, None]
TWICE = np.repeat(np.arange(40), 2)
ALPHAS = LeaveOneOut(np.logspace(-6, 2, 17))


def quiet(model, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        return model.fit(*args, **kwargs)


@pytest.mark.parametrize(
    "model",
    [
        DependencyEstimator(Gaussian(0.3), alpha=ALPHAS),
        DependencyEstimator(Gaussian(0.3), Gaussian(1.0), alpha=ALPHAS),
        DependencyEstimator(Gaussian(0.3), alpha=ALPHAS, loss=SquaredError()),
        OutputKernelLearning(Gaussian(0.3), alpha=ALPHAS),
        JointKernelMap(TensorProductJoint(Gaussian(0.3)), alpha=ALPHAS),
    ],
    ids=["coordinates", "implicit", "decoded", "output kernel", "joint"],
)
def test_pairs_twice_are_pairs_of_weight_two(model):
    outputs = np.hstack([Y, 0.5 * Y])
    weighted = quiet(model, X, outputs, sample_weight=np.full(40, 2.0))
    path, chosen, predicted = weighted.loo_path_, weighted.alpha_, weighted.predict(NEW)
    with pytest.warns(NumericalWarning, match="40 of the 80 pairs are copies of others"):
        doubled = model.fit(X[TWICE], outputs[TWICE])
    np.testing.assert_allclose(doubled.loo_path_, path, rtol=1e-5)  # the smallest alpha is ill-conditioned
    assert doubled.alpha_ == chosen
    np.testing.assert_allclose(doubled.predict(NEW), predicted, atol=1e-6)


@pytest.mark.parametrize("alpha", ["loo", "kfold", KFold(4, random_state=0)])
def test_every_pair_twice_does_not_choose_alpha_zero(alpha):
    model = DependencyEstimator(Gaussian(0.3), alpha=alpha)
    once, twice = quiet(model, X, Y).predict(NEW), quiet(model, X[TWICE], Y[TWICE]).predict(NEW)
    errors = [np.sqrt(np.mean((found - np.sin(NEW)) ** 2)) for found in (once, twice)]
    assert errors[1] < 1.2 * errors[0]
    assert model.alpha_ > 1e-3


def test_curves_and_neighbours():
    curves = np.hstack([Y, Y, Y])
    lengths = {"lengths": [0.0], "alpha": ALPHAS}
    twice = quiet(CurveRidge(Gaussian(0.3), **lengths), X[TWICE], curves[TWICE])
    assert twice.alpha_ == quiet(CurveRidge(Gaussian(0.3), **lengths), X, curves, sample_weight=np.full(40, 2.0)).alpha_
    with pytest.warns(NumericalWarning, match="40 of the 80 pairs"):
        neighbours = NeighborsEstimator(Gaussian(0.3)).fit(X[TWICE], Y[TWICE])
    assert neighbours.k_ > 1


def test_repeated_measurements_and_numbers_are_left_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumericalWarning)
        again = DependencyEstimator(Gaussian(0.3)).fit(X[TWICE], np.sin(X[TWICE]) + 0.3 * RNG.standard_normal((80, 1)))
        DependencyEstimator(Gaussian(0.3), alpha=0.1).fit(X[TWICE], Y[TWICE])
        NeighborsEstimator(Gaussian(0.3), k=3).fit(X[TWICE], Y[TWICE])
        DependencyEstimator(Gaussian(0.3), alpha=GCV()).fit(X, Y)
    assert again.map_.groups is None


def test_few_copies_among_objects_are_counted_by_the_kernels_keys():
    kernel = Subsequence(2).normalized()
    words = ["ab", "abc", "bca", "cab", "acb", "ab", "bac", "abc"]
    outputs = ["xy", "xyz", "yzx", "zxy", "xzy", "xy", "yxz", "zzz"]
    with pytest.warns(NumericalWarning, match="1 of the 8 pairs is a copy of another"):
        model = DependencyEstimator(kernel, kernel).fit(words, outputs)
    groups = model.map_.groups
    assert groups[0] == groups[5]
    assert groups[1] != groups[7], "equal inputs with different outputs are repeated measurements"
    with pytest.warns(NumericalWarning, match="1 of the 8 pairs is a copy of another"):
        united_too = (
            DependencyEstimator(kernel, kernel).fit(words, outputs, groups=[0, 0, 1, 1, 2, 2, 3, 3]).map_.groups
        )
    assert united_too.tolist() == [0, 0, 1, 1, 0, 0, 2, 2]


def test_one_pair_many_times_cannot_leave_together():
    model = quiet(DependencyEstimator(Gaussian(1.0)), np.ones((4, 1)), np.ones((4, 1)))
    assert model.map_.groups is None


def test_pairs_of_a_design_are_left_out_one_by_one():
    """Of six cells with fifteen copies each, those to predict are among those that were seen."""
    rows = np.array([[a, b] for a in range(3) for b in range(2)], dtype=float)
    y = 10 * rows[:, 0] + rows[:, 1] ** 2 + rows[:, 0] * rows[:, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumericalWarning)
        model = DependencyEstimator(Gaussian(0.5), alpha=ALPHAS).fit(np.tile(rows, (15, 1)), np.tile(y, 15))
    np.testing.assert_allclose(model.predict(rows), y, atol=1e-3)
    # more cells, or fewer copies, are copies as before
    for cells, copies in ((20, 5), (8, 3)):
        X_few, y_few = np.arange(float(cells))[:, None], RNG.standard_normal(cells)
        with pytest.warns(NumericalWarning, match="copies of others"):
            model.fit(np.tile(X_few, (copies, 1)), np.tile(y_few, copies))


def test_united_groups_are_connected_components():
    rng = np.random.default_rng(0)
    for _ in range(20):
        first, second = rng.integers(0, 6, (2, 12))
        found = united(first, second)
        parts = np.arange(12)
        for _ in range(12):
            for groups in (first, second):
                for group in np.unique(groups):
                    parts[groups == group] = parts[groups == group].min()
        assert len(np.unique(found)) == found.max() + 1
        np.testing.assert_array_equal(found[:, None] == found, parts[:, None] == parts)
