"""The Hopfield net against its definition, its equilibria, and scikit-learn's own checks."""

import numpy as np
import pytest
import scipy.linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import estimator_checks_generator

from experiments.baselines.hopfield import HopfieldNet


def corners(seed, patterns, dimension):
    return np.where(np.random.default_rng(seed).random((patterns, dimension)) < 0.5, -1.0, 1.0)


@pytest.mark.parametrize(("patterns", "dimension"), [(2, 3), (4, 9), (12, 7)])
def test_weights_and_bias_are_one_step_of_the_saturated_system(patterns, dimension):
    """W = e^{hT}, b = ∫ e^{sT} I ds, with T from a full SVD and the integral from one larger matrix exponential."""
    X = np.random.default_rng(0).uniform(-1, 1, (patterns, dimension))
    net = HopfieldNet(tau=3.0, step=0.2).fit(X)
    U, sizes, _ = np.linalg.svd((X[:-1] - X[-1]).T)
    rank = int(np.sum(sizes > 1e-12))
    along = U[:, :rank] @ U[:, :rank].T
    T = along - 3.0 * (np.eye(dimension) - along)
    drift = X[-1] - T @ X[-1]
    both = np.block([[T, drift[:, None]], [np.zeros((1, dimension + 1))]])
    step = scipy.linalg.expm(0.2 * both)
    assert net.rank_ == rank
    np.testing.assert_allclose(net.weights_, step[:-1, :-1], atol=1e-12)
    np.testing.assert_allclose(net.bias_, step[:-1, -1], atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_patterns_in_the_corners_stay_where_they_are(seed):
    X = corners(seed, 4, 12)
    np.testing.assert_allclose(HopfieldNet().fit(X).transform(X), X, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_disturbed_pattern_is_recalled(seed):
    X = corners(seed, 3, 30)
    disturbed = 0.6 * X + np.random.default_rng(seed).uniform(-0.2, 0.2, X.shape)
    np.testing.assert_allclose(HopfieldNet().fit(X).transform(disturbed), X, atol=1e-6)


def test_a_pattern_is_recalled_from_its_first_half():
    X = corners(1, 2, 40)
    given = np.hstack([X[:, :20], np.zeros((2, 20))])
    np.testing.assert_allclose(HopfieldNet().fit(X).transform(given), X, atol=1e-6)


def test_states_end_at_equilibria_and_each_runs_alone():
    X, states = corners(2, 5, 15), np.random.default_rng(3).uniform(-1, 1, (8, 15))
    net = HopfieldNet().fit(X)
    settled = net.transform(states)
    np.testing.assert_allclose(np.clip(settled @ net.weights_ + net.bias_, -1, 1), settled, atol=1e-6)
    np.testing.assert_allclose(np.vstack([net.transform(state[None]) for state in states]), settled, atol=1e-6)
    assert np.abs(settled).max() <= 1.0


def test_a_single_pattern_attracts_everything():
    X = corners(4, 1, 6)
    states = np.random.default_rng(5).uniform(-1, 1, (4, 6))
    net = HopfieldNet().fit(X)
    assert net.rank_ == 0
    np.testing.assert_allclose(net.transform(states), np.repeat(X, 4, axis=0), atol=1e-6)


def test_states_still_moving_are_said():
    net = HopfieldNet(max_iter=1).fit(corners(6, 3, 8))
    with pytest.warns(ConvergenceWarning, match="2 of 2 states were still moving after max_iter=1"):
        net.transform(np.full((2, 8), 0.1))


@pytest.mark.parametrize(
    ("net", "X", "message"),
    [
        (HopfieldNet(), [[2.0, 0.0]], "a value of size 2; expected patterns with all values in"),
        (HopfieldNet(tau=0), [[1.0, 0.0]], "tau=0; expected"),
        (HopfieldNet(step=np.inf), [[1.0, 0.0]], "step=inf; expected"),
        (HopfieldNet(max_iter=0), [[1.0, 0.0]], "max_iter=0; expected"),
        (HopfieldNet(tol=-1), [[1.0, 0.0]], "tol=-1; expected"),
    ],
)
def test_errors_say_what_is_wrong(net, X, message):
    with pytest.raises(ValueError, match=message):
        net.fit(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks_that_stay_in_the_cube():
    """Most of scikit-learn's checks fit on data outside [-1, 1], which a pattern cannot be; those about parameters do not."""
    wanted = (
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_get_params_invariance",
    )
    run = [
        (check, estimator)
        for estimator, check in estimator_checks_generator(HopfieldNet())
        if getattr(check, "func", check).__name__ in wanted
    ]
    assert len(run) == len(wanted)
    for check, estimator in run:
        check(estimator)
