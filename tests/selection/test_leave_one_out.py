"""Leave-one-out, folds and GCV against refitting."""

import numpy as np
import pytest

from mercer import DependencyEstimator, NeighborsEstimator
from mercer.decoders import Candidates, FixedPoint
from mercer.embeddings import Features, Implicit, PrincipalComponents, Spectral
from mercer.kernels import Classes, Gaussian, LabelSets, Linear, Subsequence
from mercer.operators import ConditionalCovariance, Covariance, Identity
from mercer.selection import GCV, KFold, LeaveOneOut
from mercer.solvers import Exact, LowRank

ALPHAS = [1e-3, 0.05, 1.0]


@pytest.fixture
def pairs():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((18, 3))
    return X, np.tanh(X @ rng.standard_normal((3, 2))) + 0.1 * rng.standard_normal((18, 2))


def by_refitting(model, X, Y, alpha):
    """Mean of −score over fits that leave one pair out."""
    total = 0.0
    for j in range(len(X)):
        rest = np.arange(len(X)) != j
        model.set_params(alpha=alpha).fit(X[rest], _some(Y, rest))
        total -= model.score(X[j : j + 1], _some(Y, ~rest))
    return total / len(X)


def _some(Y, mask):
    return Y[mask] if isinstance(Y, np.ndarray) else [y for y, keep in zip(Y, mask, strict=True) if keep]


@pytest.mark.parametrize(
    ("kernel", "embedding"),
    [(Linear(), Features()), (Linear(), Implicit()), (Gaussian(1.0), Implicit()), (Gaussian(1.0), Spectral())],
)
def test_feature_distance_path_is_exact(pairs, kernel, embedding):
    X, Y = pairs
    model = DependencyEstimator(
        Gaussian(1.5), kernel, embedding=embedding, alpha=LeaveOneOut(ALPHAS), loss="rkhs", decoder=Candidates()
    ).fit(X, Y)
    # a Spectral embedding learned on n−1 outputs spans less; the distance of what is left over is missing from it
    refit = DependencyEstimator(Gaussian(1.5), kernel, loss="rkhs", embedding=Implicit(), decoder=Candidates())
    expected = [by_refitting(refit, X, Y, alpha) for alpha in ALPHAS]
    assert np.allclose(model.loo_path_, expected, atol=1e-10)
    assert model.alpha_ == ALPHAS[int(np.argmin(expected))]
    assert list(model.alphas_) == ALPHAS


def edit(y, z):
    return float(sum(a != b for a, b in zip(y, z, strict=False)) + abs(len(y) - len(z)))


OBJECTS = ["ab", "abc", "ab", "bca", "cab", "bb", "abca", "cc", "ca", "ab", "bcb", "aab"]


@pytest.mark.parametrize("loss", ["kernel", edit])
@pytest.mark.parametrize("kernel", [Subsequence(2).normalized(), Classes()])
@pytest.mark.filterwarnings("ignore:.*cannot see")
def test_any_loss_is_exact_by_decoding_without_the_pair(kernel, loss):
    """Candidates leave with their pair: duplicates stay, single ones go."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((len(OBJECTS), 2))
    model = DependencyEstimator(Gaussian(1.0), kernel, alpha=LeaveOneOut(ALPHAS), loss=loss).fit(X, OBJECTS)
    refit = DependencyEstimator(Gaussian(1.0), kernel, loss=loss)
    expected = [by_refitting(refit, X, OBJECTS, alpha) for alpha in ALPHAS]
    assert np.allclose(model.loo_path_, expected, atol=1e-10)


def test_expected_loss_on_label_sets_is_exact():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((14, 3))
    Y = [frozenset(np.flatnonzero(row)) for row in rng.integers(0, 2, (14, 4))]

    def f1_loss(y, z):
        return 1.0 - (2 * len(y & z) / (len(y) + len(z)) if y or z else 1.0)

    model = DependencyEstimator(Gaussian(1.0), LabelSets(), alpha=LeaveOneOut(ALPHAS), loss=f1_loss).fit(X, Y)
    refit = DependencyEstimator(Gaussian(1.0), LabelSets(), loss=f1_loss)
    assert np.allclose(model.loo_path_, [by_refitting(refit, X, Y, a) for a in ALPHAS], atol=1e-10)


def test_low_rank_path_is_exact_with_its_factor_held(pairs):
    """Refitting keeps the features G of the full factor, as linear inputs."""
    X, Y = pairs
    model = DependencyEstimator(
        Gaussian(1.5), Linear(), solver=LowRank(rank=18, tol=0.0), alpha=LeaveOneOut(ALPHAS), loss="rkhs"
    ).fit(X, Y)
    refit = DependencyEstimator(Gaussian(1.5), Linear(), loss="rkhs")
    assert np.allclose(model.loo_path_, [by_refitting(refit, X, Y, a) for a in ALPHAS], atol=1e-8)


@pytest.mark.parametrize("operator", [Covariance(), ConditionalCovariance(0.1)])
def test_covariance_path_is_exact_with_the_operator_held(pairs, operator):
    """Leave pair j out of k Z C + αZ = V while C stays what all pairs gave."""
    from mercer.operators import Outputs
    from mercer.solvers import GramEigh

    X, Y = pairs
    model = DependencyEstimator(
        Gaussian(1.5),
        Linear(),
        operator,
        alpha=LeaveOneOut(ALPHAS),
        loss="rkhs",
        decoder=Candidates(),
        fit_intercept=False,
    ).fit(X, Y)
    k = Gaussian(1.5)(X)
    s, U = np.linalg.eigh(k)
    C = operator.matrix(Outputs(Y, len(Y), False, GramEigh(U, s, U)))
    for alpha, score in zip(ALPHAS, model.loo_path_, strict=True):
        losses = []
        for j in range(len(X)):
            rest = np.arange(len(X)) != j
            system = np.kron(C.T, k[np.ix_(rest, rest)]) + alpha * np.eye(2 * rest.sum())
            Z = np.linalg.solve(system, Y[rest].ravel(order="F")).reshape(-1, 2, order="F")
            losses.append(np.sum((k[j, rest] @ Z @ C - Y[j]) ** 2))
        assert score == pytest.approx(np.mean(losses), rel=1e-9)


@pytest.mark.parametrize("solver", ["auto", LowRank(rank=9, tol=0.0)])
@pytest.mark.parametrize("loss", ["rkhs", "kernel"])
@pytest.mark.parametrize(
    ("operator", "embedding"),
    [
        (Identity(), "auto"),
        (Covariance(), "auto"),
        (ConditionalCovariance(0.1), "auto"),
        (Identity(), PrincipalComponents()),
    ],
)
@pytest.mark.filterwarnings("ignore:the low-rank factor")
def test_folds_are_exact(pairs, operator, embedding, loss, solver):
    X, Y = pairs
    for kernel in (Linear(), Gaussian(1.0)):
        make = DependencyEstimator(
            Gaussian(1.5), kernel, operator, embedding=embedding, loss=loss, solver=solver, decoder=Candidates()
        )
        model = make.set_params(alpha=KFold(3, ALPHAS)).fit(X, Y)
        path = model.loo_path_
        folds = np.array_split(np.arange(len(X)), 3)
        for alpha, score in zip(ALPHAS, path, strict=True):
            total = 0.0
            for fold in folds:
                rest = np.setdiff1d(np.arange(len(X)), fold)
                make.set_params(alpha=alpha).fit(X[rest], Y[rest])
                total -= make.score(X[fold], Y[fold]) * len(fold)
            assert score == pytest.approx(total / len(X), abs=1e-9)


def test_gcv_is_its_definition(pairs):
    X, Y = pairs
    k = Gaussian(1.5)(X)
    for kernel in (Linear(), Gaussian(1.0)):
        L = kernel(Y)
        model = DependencyEstimator(
            Gaussian(1.5), kernel, alpha=GCV(ALPHAS), decoder=Candidates(), fit_intercept=False
        ).fit(X, Y)
        for alpha, score in zip(ALPHAS, model.loo_path_, strict=True):
            S = np.eye(18) - k @ np.linalg.inv(k + alpha * np.eye(18))
            assert score == pytest.approx(np.trace(S @ L @ S) / 18 / (np.trace(S) / 18) ** 2, rel=1e-9)


def test_gcv_refuses_a_loss_on_objects(pairs):
    with pytest.raises(ValueError, match="alpha='gcv' measures distances in feature space"):
        DependencyEstimator(Gaussian(1.5), Linear(), alpha="gcv", loss="kernel").fit(*pairs)


def test_coefficient_penalty_path_holds_the_basis(pairs):
    X, Y = pairs
    solver = Exact(penalty="coefficients")
    model = DependencyEstimator(
        Gaussian(1.5), Linear(), alpha=LeaveOneOut(ALPHAS), solver=solver, loss="rkhs", fit_intercept=False
    )
    model.fit(X, Y)
    k = Gaussian(1.5)(X)
    for alpha, score in zip(ALPHAS, model.loo_path_, strict=True):
        losses = []
        for j in range(len(X)):
            rest = np.arange(len(X)) != j
            beta = np.linalg.solve(k[rest].T @ k[rest] + alpha * np.eye(18), k[rest].T @ Y[rest])
            losses.append(np.sum((k[j] @ beta - Y[j]) ** 2))
        assert score == pytest.approx(np.mean(losses), rel=1e-8)


def test_fixed_point_decoder_is_judged_by_its_own_predictions(pairs):
    X, Y = pairs
    decoder = FixedPoint(n_starts=2, bounds=None)
    model = DependencyEstimator(Gaussian(1.5), Gaussian(0.5), alpha=LeaveOneOut([0.1]), decoder=decoder, loss="kernel")
    refit = DependencyEstimator(Gaussian(1.5), Gaussian(0.5), decoder=decoder, loss="kernel")
    assert model.fit(X, Y).loo_path_[0] == pytest.approx(by_refitting(refit, X, Y, 0.1), abs=1e-5)


@pytest.mark.parametrize("loss", ["rkhs", "kernel"])
def test_neighbours_choose_k_by_exact_leave_one_out(pairs, loss):
    X, Y = pairs
    model = NeighborsEstimator(Gaussian(1.0), Gaussian(1.0), k="loo", loss=loss, decoder=Candidates()).fit(X, Y)
    for k, score in zip(model.ks_[:5], model.loo_path_[:5], strict=True):
        total = 0.0
        for j in range(len(X)):
            rest = np.arange(len(X)) != j
            refit = NeighborsEstimator(Gaussian(1.0), Gaussian(1.0), k=int(k), loss=loss, decoder=Candidates())
            total -= refit.fit(X[rest], Y[rest]).score(X[j : j + 1], Y[j : j + 1])
        assert score == pytest.approx(total / len(X), abs=1e-10)
    assert model.k_ == model.ks_[np.argmin(model.loo_path_)]


def test_equal_scores_take_the_larger_ridge():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = DependencyEstimator(Gaussian(1.0), Classes(), alpha=LeaveOneOut([0.1, 0.2]), loss="kernel")
    assert model.fit(X, ["a", "a", "a", "a"]).alpha_ == 0.2


def test_too_many_folds_are_named_as_they_were_asked_for(pairs):
    X, Y = pairs
    with pytest.raises(
        ValueError, match=r"alpha='kfold' is short for.*cannot split 3 pairs.*Pass alpha=KFold\(n_splits=3\)"
    ):
        DependencyEstimator(Gaussian(1.0), alpha="kfold").fit(X[:3], Y[:3])
    with pytest.raises(ValueError, match=r"^KFold\(n_splits=1\) cannot split 18 pairs; expected .* between 2 and 18"):
        DependencyEstimator(Gaussian(1.0), alpha=KFold(n_splits=1)).fit(X, Y)
