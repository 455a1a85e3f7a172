"""Regions that hold the right vector: twins by refitting, coverage as promised, the same answer however it is asked."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.svm import SVR

import mercer
from mercer import (
    AutoEstimator,
    CurveRidge,
    DependencyEstimator,
    EntangledRidge,
    NeighborsEstimator,
    OperatorValuedRidge,
    OutputKernelLearning,
)
from mercer.core.arrays import NumericalWarning
from mercer.decoders import ClosedForm
from mercer.estimators import JointKernelMap
from mercer.kernels import Classes, Gaussian, Linear, Precomputed
from mercer.operators import Covariance, Separable
from mercer.solvers import LowRank
from mercer.uncertainty.regions import quantiles

K = Gaussian(1.5)
RIDGE = OperatorValuedRidge(Separable(K), alpha=0.3)


def data(n, seed=0, p=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    signal = np.column_stack([np.sin(X[:, 0]), X[:, 0] + X[:, 1], X[:, 1] ** 2])[:, :p]
    return X, signal + rng.normal(size=(n, p)) * np.array([0.3, 0.1, 1.0])[:p]


MODELS = {
    "dependency": DependencyEstimator(K, alpha=0.3),
    "dependency, covariance": DependencyEstimator(K, operator=Covariance(), alpha=0.3),
    "fixed point": DependencyEstimator(K, Gaussian(2.0), alpha=0.3),
    "regressor": DependencyEstimator(K, regressor=SVR()),
    "neighbours": NeighborsEstimator(K, k=3),
    "operator-valued": RIDGE,
    "curve": CurveRidge(K, alpha=0.3),
    "entangled": EntangledRidge(K, kraus_rank=2, max_iter=5, random_state=0, alpha=0.3),
    "output kernel": OutputKernelLearning(K, alpha=0.3),
    "joint": JointKernelMap(alpha=0.3),
}
EVERY = pytest.mark.parametrize("name", MODELS)
WITH_JACKKNIFE = ("dependency", "operator-valued", "curve", "entangled")
WITH_DEVIATIONS = ("dependency", "dependency, covariance", "operator-valued", "curve", "entangled", "output kernel")
MODELS["curve"].set_params(lengths=[0.0])


def order_statistic(values, coverage):
    """The ⌈(m + 1)c⌉-th smallest, by its definition."""
    place = math.ceil(round((len(values) + 1) * coverage, 9))
    return np.sort(values)[place - 1] if place <= len(values) else math.inf


# -- twins -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
def test_intervals_by_pairs_held_out_are_those_of_the_definition(coverage):
    X, Y = data(80)
    model = clone(RIDGE).fit(X[:40], Y[:40]).calibrate(X[40:60], Y[40:60])
    errors, centre = np.abs(Y[40:60] - model.predict(X[40:60])), model.predict(X[60:])
    half = np.array([order_statistic(column, coverage) for column in errors.T])
    found = model.predict_interval(X[60:], coverage)
    np.testing.assert_allclose(found.lower, centre - half, atol=1e-7)
    np.testing.assert_allclose(found.upper, centre + half, atol=1e-7)
    assert np.all(found.width <= 2 * half * (1 + 1e-13))  # the slack for ties is not in the width
    loo = np.stack([Y[i] - clone(RIDGE).fit(*without(X[:40], Y[:40], i)).predict(X[i : i + 1])[0] for i in range(40)])
    scale = np.sqrt(np.mean(loo**2, axis=0))
    box = model.predict_interval(X[60:], coverage, simultaneous=True)
    np.testing.assert_allclose(
        box.width / 2, np.tile(scale * order_statistic((errors / scale).max(1), coverage), (20, 1))
    )
    ellipsoid = model.predict_ellipsoid(X[60:], coverage)
    metric = np.linalg.inv(ellipsoid.factor @ ellipsoid.factor.T)
    signed = Y[40:60] - model.predict(X[40:60])
    scores = np.sqrt(np.einsum("ij,jk,ik->i", signed, metric, signed))
    np.testing.assert_allclose(ellipsoid.radii, order_statistic(scores, coverage), rtol=1e-6)


def test_a_tie_with_an_end_is_inside_alone_and_in_a_batch():
    """Few distinct pairs: a right value ties with an end of its interval up to the last bits, for about every other output."""
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 3, 300)
    X, Y = levels[:, None].astype(float), (levels + rng.integers(-1, 2, 300))[:, None] * np.array([[0.1, 0.7]])
    model = clone(RIDGE).fit(X[:60], Y[:60]).calibrate(X[60:160], Y[60:160])
    for options in ({}, {"simultaneous": True}):
        found = model.predict_interval(X[160:], 0.6, **options)
        inside = found.contains(Y[160:])
        rows = range(160, 300)
        alone = [model.predict_interval(X[[i]], 0.6, **options).contains(Y[[i]])[0] for i in rows]
        np.testing.assert_array_equal(alone, inside)
        assert inside.mean() > 0.6
        near = np.minimum(np.abs(Y[160:] - found.lower), np.abs(Y[160:] - found.upper))
        assert (near < 1e-12).any()
    ellipsoid = model.predict_ellipsoid(X[160:], 0.6)
    alone = [model.predict_ellipsoid(X[[i]], 0.6).contains(Y[[i]])[0] for i in rows]
    np.testing.assert_array_equal(alone, ellipsoid.contains(Y[160:]))
    assert ellipsoid.contains(Y[160:]).mean() > 0.6


def without(X, Y, i):
    rest = np.arange(len(X)) != i
    return X[rest], Y[rest]


@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", ["ridge", "column", "bounds", "features"])
def test_jackknife_intervals_are_those_of_refitting_without_each_pair(name, simultaneous, intercept):
    X, Y = data(28, 1)
    model = {
        "ridge": OperatorValuedRidge(Separable(K), alpha=0.3, fit_intercept=intercept),
        "column": DependencyEstimator(K, alpha=0.1, fit_intercept=intercept),
        "bounds": DependencyEstimator(K, alpha=0.3, decoder=ClosedForm((-0.5, 0.7)), fit_intercept=intercept),
        "features": DependencyEstimator(Linear(), alpha=0.3, fit_intercept=intercept),
    }[name]
    Y = Y[:, 0] if name == "column" else Y
    X, Y, new = X[:22], Y[:22], X[22:]
    model.fit(X, Y)
    fits = [clone(model).fit(*without(X, Y, i)) for i in range(22)]
    flat = Y.reshape(22, -1)
    errors = np.stack([flat[i] - fits[i].predict(X[i : i + 1]).ravel() for i in range(22)])
    sizes = np.abs(errors)
    if simultaneous:
        scale = np.stack([np.sqrt(np.mean(np.delete(errors, i, axis=0) ** 2, axis=0)) for i in range(22)])
        sizes = (sizes / scale).max(axis=1, keepdims=True) * scale
    centres = np.stack([fit.predict(new).reshape(6, -1) for fit in fits], axis=1)
    for coverage in (0.6, 0.9):
        found = model.predict_interval(new, coverage, "jackknife+", simultaneous)
        for i in range(6):
            for c in range(flat.shape[1]):
                low = -order_statistic(sizes[:, c] - centres[i, :, c], coverage)
                high = order_statistic(sizes[:, c] + centres[i, :, c], coverage)
                np.testing.assert_allclose(found.lower.reshape(6, -1)[i, c], low, atol=1e-7)
                np.testing.assert_allclose(found.upper.reshape(6, -1)[i, c], high, atol=1e-7)


def test_whole_groups_are_left_out_and_count_as_one():
    X, Y = data(30, 2)
    groups = np.repeat(np.arange(12), [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4])
    model = clone(RIDGE).fit(X, Y, groups=groups)
    fits = [clone(RIDGE).fit(X[groups != g], Y[groups != g]) for g in range(12)]
    sizes = np.abs(np.stack([Y[i] - fits[groups[i]].predict(X[i : i + 1])[0] for i in range(30)]))
    mass = 1.0 / np.bincount(groups)[groups]
    new = data(4, 3)[0]
    half = quantiles(sizes, mass, np.ones(1), 0.8)[0]
    np.testing.assert_allclose(model.predict_interval(new, 0.8).width / 2, np.tile(half, (4, 1)), atol=1e-7)
    upper = [
        quantiles(sizes + np.stack([fits[g].predict(x[None])[0] for g in groups]), mass, np.ones(1), 0.8)[0]
        for x in new
    ]
    np.testing.assert_allclose(model.predict_interval(new, 0.8, "jackknife+").upper, upper, atol=1e-7)
    alone = clone(RIDGE).fit(X[:6], Y[:6]).calibrate(X, Y, groups=[f"g{g}" for g in groups])
    sizes = np.abs(Y - alone.predict(X))
    np.testing.assert_allclose(
        alone.predict_interval(new, 0.8).width[0] / 2, quantiles(sizes, mass, np.ones(1), 0.8)[0]
    )


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_weighted_quantiles_are_those_of_repeated_scores(draw):
    """Whole weights are repetitions, and the new pair as many at infinity."""
    m = draw.draw(st.integers(1, 8))
    scores = np.array(draw.draw(st.lists(st.integers(0, 4), min_size=m, max_size=m)), dtype=float)
    weights = np.array(draw.draw(st.lists(st.integers(0, 3), min_size=m, max_size=m)))
    own, coverage = draw.draw(st.integers(1, 4)), draw.draw(st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9]))
    whole = np.concatenate([np.repeat(scores, weights), np.full(own, np.inf)])
    expected = np.sort(whole)[math.ceil(round(len(whole) * coverage, 9)) - 1]
    assert quantiles(scores[:, None], weights.astype(float), np.array([float(own)]), coverage)[0, 0] == expected


def test_labels_are_calibrated_apart():
    X, Y = data(90, 4)
    model = clone(RIDGE).fit(X[:40], Y[:40])

    def side(x):
        return "right" if x[0] > 0 else "left"

    for held in (False, True):
        if held:
            model.calibrate(X[40:70], Y[40:70])
        known = X[40:70] if held else X[:40]
        labels = [side(x) for x in known], [side(x) for x in X[70:]]
        found = model.predict_interval(X[70:], 0.7, by=side)
        as_labels = model.predict_interval(X[70:], 0.7, by=labels)
        np.testing.assert_array_equal(found.lower, as_labels.lower)
        sizes = np.abs(Y[40:70] - model.predict(known)) if held else np.abs(model._left_out_errors_)
        for i, label in enumerate(labels[1]):
            own = sizes[np.array(labels[0]) == label]
            half = [order_statistic(column, 0.7) for column in own.T]
            np.testing.assert_allclose(found.width[i] / 2, half, atol=1e-7)
        ellipsoid = model.predict_ellipsoid(X[70:], 0.7, by=side)
        assert len(np.unique(ellipsoid.radii)) == 2
    with pytest.warns(NumericalWarning, match="some regions are infinite"):
        assert np.isinf(model.predict_interval(X[70:], 0.7, by=lambda x: x[0]).width).all()


@pytest.mark.parametrize("intercept", [False, True])
def test_standard_deviations_are_those_of_a_gaussian_process(intercept):
    X, Y = data(25, 5, 1)
    new = data(6, 6)[0]
    model = DependencyEstimator(Gaussian(1.0), alpha=0.2, fit_intercept=intercept).fit(X, Y[:, 0])
    scale = 1e4 if intercept else 0.0  # a mean that is not known is one with a wide prior
    gram = model.input_kernel_(np.vstack([X, new])) + scale
    noise = gram[:25, :25] + 0.2 * np.eye(25)
    inverse = np.linalg.inv(noise)
    new_rows = gram[25:, :25]
    variance = np.diagonal(gram)[25:] - np.einsum("ij,jk,ik->i", new_rows, inverse, new_rows) + 0.2
    errors, left = (inverse @ Y[:, 0]) / np.diagonal(inverse), 1.0 / np.diagonal(inverse)
    expected = np.sqrt(variance * np.mean(errors**2 / left))
    np.testing.assert_allclose(model.predict(new, return_std=True)[1], expected, rtol=1e-3 if intercept else 1e-9)
    if not intercept:
        process = GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.2), optimizer=None).fit(X, Y[:, 0])
        ratio = process.predict(new, return_std=True)[1] / expected
        np.testing.assert_allclose(ratio, ratio[0])


def test_coverage_that_cannot_be_promised_names_what_it_was_calibrated_by():
    X, Y = data(24)
    groups = np.repeat(np.arange(8), 3)
    grouped, plain = clone(RIDGE).fit(X, Y, groups=groups), clone(RIDGE).fit(X, Y)
    in_groups, by = "by 8 calibration groups: some regions are infinite. Use more groups", lambda x: x[0] > 0
    for model in grouped, clone(RIDGE).fit(X[:6], Y[:6]).calibrate(X, Y, groups):
        for ask in model.predict_interval, model.predict_ellipsoid:
            with pytest.warns(NumericalWarning, match=in_groups):
                ask(X, 0.95)
    with pytest.warns(NumericalWarning, match="by those of its label among 8 calibration groups: "):
        grouped.predict_interval(X, 0.95, by=by)
    for model in plain, grouped.calibrate(X, Y):
        with pytest.warns(NumericalWarning, match="by 24 calibration pairs: some regions are infinite. Use more pairs"):
            model.predict_interval(X, 0.99)
    with pytest.warns(UserWarning, match="are copies of others"):
        copies = AutoEstimator(effort="fast").fit(X[groups], Y[groups])
    with pytest.warns(NumericalWarning, match=r"by 8 calibration pairs \(copies count as one\): "):
        copies.predict_interval(X, 0.95)


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(8), 3)])
@pytest.mark.parametrize("weight", [None, np.tile([1.0, 2.0, 0.5], 8)])
def test_deviations_with_operators_weights_and_groups_are_those_of_the_dense_process(groups, weight):
    X, Y = data(24, 7, 3)
    new = data(5, 8)[0]
    T = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 0.4]])
    model = OperatorValuedRidge(Separable(K, T), alpha=0.4).fit(X, Y, sample_weight=weight, groups=groups)
    w = np.ones(24) if weight is None else weight
    prior = np.kron(K(np.vstack([X, new])) + 0.0, T) + np.kron(np.full((29, 29), 1e4), np.eye(3))
    noise = 0.4 * np.kron(np.diag(1.0 / w), np.eye(3))
    inverse = np.linalg.inv(prior[:72, :72] + noise)
    rows = prior[72:, :72]
    variance = (np.diagonal(prior)[72:] - np.einsum("ij,jk,ik->i", rows, inverse, rows)).reshape(5, 3) + 0.4
    left, errors = np.empty((24, 3)), np.empty((24, 3))
    for g in np.unique(np.arange(24) if groups is None else groups):
        own = np.flatnonzero((np.arange(24) if groups is None else groups) == g)
        block = (3 * own[:, None] + np.arange(3)).ravel()
        inner = np.linalg.inv(inverse[np.ix_(block, block)])
        left[own] = np.diagonal(inner).reshape(-1, 3)
        errors[own] = (inner @ (inverse @ Y.ravel())[block]).reshape(-1, 3)
    np.testing.assert_allclose(model._left_out_errors_, errors, rtol=1e-3, atol=1e-4)
    expected = np.sqrt(variance * np.mean(errors**2 / left, axis=0))
    np.testing.assert_allclose(model.predict(new, return_std=True)[1], expected, rtol=1e-3)


# -- what holds for all ------------------------------------------------------------------------------------------


def regions(model, name, new):
    """All ends of regions, one row for each input."""
    found = [*model.predict_interval(new, 0.8), *model.predict_interval(new, 0.8, simultaneous=True)]
    ellipsoids = model.predict_ellipsoid(new, 0.8)
    found += [ellipsoids.centers, ellipsoids.radii]
    if name in WITH_JACKKNIFE:
        found += [
            *model.predict_interval(new, 0.8, "jackknife+"),
            *model.predict_interval(new, 0.8, "jackknife+", True),
        ]
    if name in WITH_DEVIATIONS:
        found.append(model.predict(new, return_std=True)[1])
    return np.hstack([part.reshape(len(new), -1) for part in found])


@EVERY
def test_every_estimator_of_vectors_has_regions(name):
    X, Y = data(40, 9)
    model = clone(MODELS[name]).fit(X[:30], Y[:30])
    whole = regions(model, name, X[30:])
    np.testing.assert_allclose(np.vstack([regions(model, name, x[None]) for x in X[30:]]), whole, rtol=1e-6, atol=1e-6)
    box, alone = (model.predict_interval(X[30:], 0.8, simultaneous=s) for s in (True, False))
    assert box.contains(Y[30:]).shape == (10,)
    assert alone.contains(Y[30:]).shape == (10, 2)
    lower, upper = alone
    np.testing.assert_allclose((lower + upper) / 2, model.predict(X[30:]), atol=1e-9)
    assert (model.predict_interval(X[30:], 0.6).width <= alone.width).all()
    if name not in WITH_JACKKNIFE:
        with pytest.raises(ValueError, match=r"has no jackknife\+ here; use method='auto'"):
            model.predict_interval(X[30:], method="jackknife+")
    if name not in WITH_DEVIATIONS:
        with pytest.raises(ValueError, match="has no standard deviations here"):
            model.predict(X[30:], return_std=True)
    model.calibrate(X[20:], Y[20:])
    assert np.isfinite(regions(model, name, X[30:])).all()


AFFINE = [name for name in MODELS if name not in ("fixed point", "regressor", "entangled")]


@pytest.mark.parametrize("name", AFFINE)
def test_regions_move_and_grow_with_the_outputs(name):
    """Outputs + c move every end by c, outputs · c scale every width; the order of training pairs does not matter."""
    X, Y = data(36, 10)
    first = clone(MODELS[name]).fit(X[:30], Y[:30])
    changed = [
        (clone(first).fit(X[:30], Y[:30] + 5.0), lambda end: end + 5.0),
        (clone(first).fit(X[29::-1], Y[29::-1]), lambda end: end),
    ]
    if name not in ("output kernel", "dependency, covariance"):  # whose α depends on the scale of the outputs
        changed.append((clone(first).fit(X[:30], Y[:30] * 7.0), lambda end: end * 7.0))
    for other, moved in changed:
        for method in ("auto", "jackknife+") if name in WITH_JACKKNIFE else ("auto",):
            for simultaneous in (False, True):
                before, after = (m.predict_interval(X[30:], 0.8, method, simultaneous) for m in (first, other))
                np.testing.assert_allclose(after.lower, moved(before.lower), atol=1e-6)
                np.testing.assert_allclose(after.upper, moved(before.upper), atol=1e-6)


@pytest.mark.parametrize("kind", ["plain", "ties", "duplicates", "groups"])
def test_coverage_over_many_splits_is_as_promised(kind):
    """Held out: nominal or above, up to the error of 60 splits; the jackknife+: above its bound, and near nominal."""
    found = {
        (method, c): [] for method in ("held out", "box", "ellipsoid", "jackknife+", "left out") for c in (0.8, 0.9)
    }
    for seed in range(60):
        X, Y = data(240, 100 + seed)
        groups = None
        if kind == "ties":
            X, Y = np.round(X), np.round(Y)
        elif kind == "duplicates":
            X[::2], Y[::2] = X[1::2], Y[1::2]
        elif kind == "groups":
            groups = np.arange(240) // 4
            Y = Y + np.random.default_rng(seed).normal(size=(60, 2))[groups]
        part = [None if groups is None else groups[s] for s in (slice(40), slice(40, 100), slice(100))]
        split = clone(RIDGE).fit(X[:40], Y[:40], groups=part[0]).calibrate(X[40:100], Y[40:100], groups=part[1])
        pairs = np.arange(240) // 2 if kind == "duplicates" else groups
        whole = clone(RIDGE).fit(X[:100], Y[:100], groups=None if pairs is None else pairs[:100])
        new, truth = X[100:], Y[100:]
        for c in (0.8, 0.9):
            found["held out", c].append(split.predict_interval(new, c).contains(truth).mean())
            found["box", c].append(split.predict_interval(new, c, simultaneous=True).contains(truth).mean())
            found["ellipsoid", c].append(split.predict_ellipsoid(new, c).contains(truth).mean())
            found["left out", c].append(whole.predict_interval(new, c).contains(truth).mean())
            found["jackknife+", c].append(whole.predict_interval(new[:20], c, "jackknife+").contains(truth[:20]).mean())
    for (method, c), shares in found.items():
        error = np.std(shares) / np.sqrt(len(shares))
        assert np.mean(shares) > c - 3 * error - 0.002, (method, c, np.mean(shares), error)
        if kind == "plain":
            assert np.mean(shares) < c + 0.05, (method, c)


@pytest.mark.filterwarnings("ignore:coverage=0.8 cannot be promised")  # for an input of nearly all the weight
def test_density_ratios_restore_coverage_under_a_shift():
    def drawn(rng, n, centre):
        X = rng.normal(centre, 1.0, size=(n, 1))
        return X, X[:, 0] ** 2 * rng.normal(size=n)  # errors grow with |x|

    def ratio(x):
        return np.exp(1.2 * x[0])

    plain, weighted = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        model = DependencyEstimator(Gaussian(1.0), alpha=1.0).fit(*drawn(rng, 40, 0.0)).calibrate(*drawn(rng, 400, 0.0))
        X, y = drawn(rng, 100, 1.2)
        plain.append(model.predict_interval(X, 0.8).contains(y).mean())
        weighted.append(model.predict_interval(X, 0.8, weights=ratio).contains(y).mean())
    assert np.mean(plain) < 0.65
    assert np.mean(weighted) > 0.78


@pytest.mark.filterwarnings("ignore:20 left-out errors of 30 coordinates")
def test_boxes_of_many_coordinates_from_few_pairs_cover():
    """A pair that took part in its own scale would seem closer than a new one: the band would hold too few curves."""
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, Y = rng.normal(size=(40, 1)), rng.standard_t(3, size=(40, 30))
        model = CurveRidge(K, alpha=1.0, lengths=[0.0]).fit(X[:20], Y[:20])
        regions = [model.predict_interval(X[20:], 0.8, how, True) for how in ("auto", "jackknife+")]
        found.append([each.contains(Y[20:]).mean() for each in [*regions, model.predict_ellipsoid(X[20:], 0.8)]])
    assert (np.mean(found, axis=0) > 0.73).all(), np.mean(found, axis=0)


def test_ellipsoids_of_more_coordinates_than_pairs_are_warned_about():
    X, Y = data(20, 17)
    model = clone(RIDGE).fit(X, np.tile(Y, 6))
    with pytest.warns(NumericalWarning, match=r"20 left-out errors of 12 coordinates do not tell .* call calibrate"):
        model.predict_ellipsoid(X, 0.8)


def test_missing_outputs_do_not_count():
    X, Y = data(40, 11)
    Y[::3, 1] = np.nan
    model = clone(RIDGE).fit(X[:30], Y[:30])
    found = model.predict_interval(X[30:], 0.8)
    errors = np.abs(model._left_out_errors_)
    assert np.isnan(errors).sum() == 10
    for c in range(2):
        known = errors[~np.isnan(errors[:, c]), c]
        np.testing.assert_allclose(found.width[:, c] / 2, order_statistic(known, 0.8), atol=1e-7)
    assert np.isfinite(model.predict_interval(X[30:], 0.8, simultaneous=True).width).all()
    assert np.isfinite(model.predict_ellipsoid(X[30:], 0.8).radii).all()


def test_constant_coordinates_have_narrow_intervals():
    X, Y = data(40, 12)
    Y[:, 1] = 3.0
    model = clone(RIDGE).fit(X[:30], Y[:30])
    found = model.predict_interval(X[30:], 0.8, simultaneous=True)
    assert (found.width[:, 1] < 1e-6).all()
    assert found.contains(Y[30:]).any()
    assert model.predict_ellipsoid(X[30:], 0.8).contains(model.predict(X[30:])).all()


def test_shapes_and_forms_of_outputs():
    X, Y = data(30, 13)
    column = DependencyEstimator(K, alpha=0.3).fit(X, Y[:, 0])
    assert column.predict_interval(X[:4]).lower.shape == (4,)
    assert column.predict(X[:4], return_std=True)[1].shape == (4,)
    images = DependencyEstimator(K, alpha=0.3).fit(X, np.tile(Y, 2).reshape(30, 2, 2))
    found = images.predict_interval(X[:4], simultaneous=True)
    assert found.upper.shape == (4, 2, 2)
    assert found.contains(images.predict(X[:4])).all()
    assert images.predict_ellipsoid(X[:4]).contains(images.predict(X[:4])).all()
    with pytest.raises(ValueError, match=r"y has shape \(3,\); expected \(4, 2, 2\)"):
        found.contains([1, 2, 3])


def test_errors_name_the_argument_and_the_cure():
    X, Y = data(20, 14)
    model = clone(RIDGE).fit(X, Y)
    with pytest.raises(ValueError, match=r"coverage=1.2; expected the probability"):
        model.predict_interval(X, 1.2)
    with pytest.raises(ValueError, match=r"method='naive'; expected 'auto' or 'jackknife\+'"):
        model.predict_interval(X, method="naive")
    with pytest.raises(ValueError, match="by='side'; expected a function of one input, or a pair: 20 values"):
        model.predict_interval(X, by="side")
    with pytest.raises(ValueError, match="weights holds 19 and 20 values; expected"):
        model.predict_interval(X, weights=(np.ones(19), np.ones(20)))
    with pytest.raises(ValueError, match="weights has negative or non-finite entries"):
        model.predict_interval(X, weights=lambda x: -1.0)
    with pytest.raises(ValueError, match="groups has 3 labels; expected one for each of the 20 pairs"):
        model.calibrate(X, Y, groups=[1, 2, 3])
    with pytest.warns(NumericalWarning, match="coverage=0.99 cannot be promised"):
        assert np.isinf(model.predict_interval(X, 0.99).width).all()
    classes = DependencyEstimator(K, Classes(), alpha=0.3).fit(X, Y[:, 0] > 0)
    for ask in (classes.predict_interval, classes.predict_ellipsoid, lambda new: classes.predict(new, return_std=True)):
        with pytest.raises(ValueError, match="the outputs are not vectors .* use predict_set"):
            ask(X)
    gram = DependencyEstimator(Precomputed(), alpha=0.3).fit(K(X), Y)
    assert gram.predict_interval(K(X)).width.shape == (20, 2)
    with pytest.raises(ValueError, match="by is a function, and inputs are known through kernel values"):
        gram.predict_interval(K(X), by=lambda x: 0)
    for other in (gram, DependencyEstimator(K, solver=LowRank(rank=5), alpha=0.3).fit(X, Y)):
        with pytest.raises(ValueError, match="has no standard deviations here"):
            other.predict(K(X) if other is gram else X, return_std=True)


def test_calibrated_models_can_be_saved(tmp_path):
    X, Y = data(40, 15)
    model = clone(RIDGE).fit(X[:20], Y[:20]).calibrate(X[20:30], Y[20:30], groups=np.arange(10) // 2)
    expected = model.predict_interval(X[30:], 0.7)
    mercer.save(model, tmp_path / "model.mercer")
    found = mercer.load(tmp_path / "model.mercer").predict_interval(X[30:], 0.7)
    np.testing.assert_array_equal(found.lower, expected.lower)


@pytest.mark.parametrize("model", [RIDGE, mercer.AutoEstimator(effort="fast", random_state=0)], ids=["ridge", "auto"])
def test_a_new_fit_forgets_the_pairs_that_were_held_out(model):
    X, Y = data(40, 16)
    model = clone(model).fit(X[:30], Y[:30])
    before = model.predict_interval(X[30:], 0.8)
    assert np.isfinite(before.width).all()
    model.calibrate(X[30:], 100.0 + Y[30:])
    assert (model.predict_interval(X[30:], 0.8).width > before.width).all()
    assert model.fit(X[:30], Y[:30]).predict_interval(X[30:], 0.8).width.max() < 50.0
