"""Alpha at the edge of its grid: default grids grow, given ones warn, noise is quiet."""

import re
import warnings

import numpy as np
import pytest

from mercer import CurveRidge, DependencyEstimator
from mercer.core.arrays import NumericalWarning
from mercer.kernels import Gaussian, Linear, Subsequence
from mercer.losses import ZeroOne
from mercer.selection import GCV, KFold, LeaveOneOut
from mercer.selection.alpha import best_alpha, search_alpha

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
CURVE = np.sin(X @ np.ones(3))[:, None] + 0.1 * RNG.standard_normal((60, 2))


def valley(lowest):
    return lambda alphas: 1.0 + np.log10(alphas / lowest) ** 2


@pytest.mark.parametrize("lowest", [1e-9, 1e-4, 1e5])
def test_a_grid_grows_to_the_lowest_score(lowest):
    alpha, alphas, path = search_alpha(np.logspace(-8, 2, 21), valley(lowest), grows=True)
    assert np.isclose(alpha, lowest)
    assert np.all(np.diff(alphas) > 0)
    np.testing.assert_allclose(path, valley(lowest)(alphas))
    assert alpha == best_alpha(alphas, path)


@pytest.mark.parametrize(("lowest", "edge", "which"), [(1e-15, 1e-10, "smallest"), (1e9, 1e6, "largest")])
def test_a_grid_grows_within_limits_and_says_so(lowest, edge, which):
    with pytest.warns(NumericalWarning, match=re.escape(f"alpha={edge:.3g}") + f" is the {which} value tried.*against"):
        alpha, alphas, _ = search_alpha(np.logspace(-8, 2, 21), valley(lowest), grows=True)
    assert np.isclose(alpha, edge)
    assert len(alphas) == (25 if which == "smallest" else 29)


def test_a_given_grid_stays_as_it_is():
    given = np.array([1.0, 0.1, 10.0])
    with pytest.warns(NumericalWarning, match=r"smallest value tried.* 1\.01 against 1\.1 .*LeaveOneOut\(alphas"):
        alpha, alphas, _ = search_alpha(given, lambda a: 1.0 + 0.1 * a, grows=False)
    assert alpha == 0.1
    assert alphas is given


def test_scores_that_stop_being_finite_end_the_search():
    with pytest.warns(NumericalWarning, match="smallest value tried"):
        alpha, alphas, _ = search_alpha(np.array([1.0, 10.0]), lambda a: np.where(a < 0.5, np.nan, a), grows=True)
    assert (alpha, len(alphas)) == (1.0, 2)


@pytest.mark.parametrize("alpha", ["loo", "kfold", "gcv", LeaveOneOut(np.logspace(-3, 6, 10))])
@pytest.mark.parametrize("n", [30, 200])
def test_noise_and_perfect_fits_have_no_edge(alpha, n):
    rng = np.random.default_rng(n)
    inputs = rng.standard_normal((n, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumericalWarning)
        DependencyEstimator(Gaussian("median"), alpha=alpha).fit(inputs, rng.standard_normal((n, 2)))
        if not isinstance(alpha, LeaveOneOut):
            DependencyEstimator(Linear(), alpha=alpha).fit(inputs, inputs @ rng.standard_normal((4, 2)))


def test_a_wide_kernel_needs_a_smaller_alpha_than_the_grid_has():
    wide = Gaussian(40.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        model = DependencyEstimator(wide).fit(X, CURVE)
        given = DependencyEstimator(wide, alpha=LeaveOneOut(model.alphas_[model.alphas_ > 1e-3])).fit(X, CURVE)
    assert len(model.alphas_) == len(model.loo_path_)
    assert model.alpha_ == best_alpha(model.alphas_, model.loo_path_)
    assert min(model.loo_path_) < min(given.loo_path_)


@pytest.mark.parametrize("rule", [LeaveOneOut, KFold, GCV])
def test_every_rule_warns(rule):
    with pytest.warns(NumericalWarning, match="smallest value tried"):
        assert DependencyEstimator(Gaussian(1.0), alpha=rule(alphas=[1e2, 1e3])).fit(X, CURVE).alpha_ == 1e2


def test_curves_grow_over_all_lengths():
    grid = np.linspace(0.0, 1.0, 8)
    curves = np.sin(X[:, :1] + 3.0 * grid)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        model = CurveRidge(Gaussian(8.0), grid=grid).fit(X, curves)
    assert model.loo_path_.shape == (len(model.lengths_), len(model.alphas_))
    assert len(model.alphas_) > 13
    assert np.all(np.diff(model.alphas_) > 0)
    assert model.loo_path_.min() == model.loo_path_[:, list(model.alphas_).index(model.alpha_)].min()


def test_a_loss_that_is_the_same_for_all_alphas_leaves_the_choice_to_the_distance():
    words = ["".join(RNG.choice(list("abcd"), 6)) for _ in range(30)]
    kernel = Subsequence(2).normalized()
    by_loss = DependencyEstimator(kernel, kernel, loss=ZeroOne()).fit(words, words)
    assert np.ptp(by_loss.loo_path_) == 0.0
    assert by_loss.alpha_ == DependencyEstimator(kernel, kernel).fit(words, words).alpha_
