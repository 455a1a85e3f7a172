"""The estimator's own promises: Weston by its definition, extra outputs, candidates, ranking, losses."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR

from mercer import DependencyEstimator, NeighborsEstimator
from mercer.decoders import Candidates, ClosedForm, ExpectedLoss, FixedPoint, PerPosition
from mercer.embeddings import Features, Implicit, Pivoted, PrincipalComponents, Spectral
from mercer.kernels import Classes, Gaussian, LabelSets, Linear, Polynomial, Positions, Subsequence
from mercer.operators import ConditionalCovariance, Covariance
from mercer.solvers import Auto, Cholesky, Exact, LowRank, RidgeProblem, Tridiagonal

rng = np.random.default_rng(0)
X = rng.standard_normal((20, 3))
Y = np.tanh(X @ rng.standard_normal((3, 4)))
NEW = rng.standard_normal((6, 3))
for shared in (X, Y, NEW):
    shared.setflags(write=False)


def weston(k, L, L_new, k_new, gamma, p, origin):
    """Weston et al. by their own three steps: kernel PCA, ridge per direction, distances in p coordinates."""
    m = len(L)
    H = np.eye(m) - 1 / m
    values, vectors = np.linalg.eigh(H @ L @ H)
    alpha = vectors[:, ::-1][:, :p] / np.sqrt(values[::-1][:p])
    labels = (H @ L @ H if origin == "mean" else L) @ alpha
    beta = np.linalg.solve(k + gamma * np.eye(m), labels)
    f = k_new @ beta
    centred = L_new - L.mean(axis=0) if origin == "mean" else L_new
    projections = centred @ alpha
    return ((f[:, None, :] - projections[None, :, :]) ** 2).sum(axis=-1)


@pytest.mark.parametrize("origin", ["mean", "zero"])
@pytest.mark.parametrize("p", [1, 3, 8])
def test_weston_equals_its_definition(origin, p):
    kernel, output = Gaussian(1.5), Gaussian(1.0)
    model = DependencyEstimator(
        kernel,
        output,
        embedding=PrincipalComponents(cutoff=0.0, n_components=p, origin=origin),
        alpha=0.1,
        decoder=Candidates(),
        fit_intercept=False,
    ).fit(X, Y)
    distances = weston(kernel(X), output(Y), output(Y, Y), kernel(NEW, X), 0.1, p, origin)
    points = model.map_.points(NEW)
    found = np.stack([model.embedding_.squared_distances(points, np.repeat(y[None], len(NEW), 0)) for y in Y], axis=1)
    assert np.allclose(found, distances, atol=1e-9)
    assert np.array_equal(model.predict(NEW), Y[distances.argmin(axis=1)])


def test_all_principal_components_lose_nothing_but_the_mean():
    """With every component, Weston is the identity operator on centred outputs."""
    parts = {"alpha": 0.1, "fit_intercept": False}
    full = DependencyEstimator(Gaussian(1.5), Linear(), embedding=PrincipalComponents(0.0), **parts).fit(X, Y)
    centred = DependencyEstimator(Gaussian(1.5), Linear(), **parts).fit(X, Y - Y.mean(axis=0))
    assert np.allclose(full.predict(NEW), centred.predict(NEW) + Y.mean(axis=0), atol=1e-10)


def test_linear_outputs_are_kernel_ridge_regression():
    k = Gaussian(1.5)
    model = DependencyEstimator(k, Linear(), alpha=0.3, fit_intercept=False).fit(X, Y)
    expected = KernelRidge(alpha=0.3, kernel="precomputed").fit(k(X), Y).predict(k(NEW, X))
    assert np.allclose(model.predict(NEW), expected, atol=1e-10)


@pytest.mark.parametrize(
    "regressor", [SVR(kernel="precomputed", C=10.0), KernelRidge(alpha=0.1, kernel="precomputed"), SVR(C=10.0)]
)
def test_any_regressor_can_predict_the_coordinates(regressor):
    model = DependencyEstimator(
        Gaussian(1.5), Gaussian(1.0), embedding=PrincipalComponents(), regressor=regressor, decoder=Candidates()
    ).fit(X, Y)
    features = (Gaussian(1.5)(X), Gaussian(1.5)(NEW, X)) if regressor.kernel == "precomputed" else (X, NEW)
    V = model.embedding_.coordinates_
    columns = [type(regressor)(**regressor.get_params()).fit(features[0], v).predict(features[1]) for v in V.T]
    assert np.allclose(model.map_.points(NEW), np.stack(columns, axis=1))
    assert model.alpha_ is None


def test_ridge_regressor_equals_the_ridge():
    kwargs = {"embedding": PrincipalComponents(), "decoder": Candidates()}
    ours = DependencyEstimator(Gaussian(1.5), Gaussian(1.0), alpha=0.1, fit_intercept=False, **kwargs).fit(X, Y)
    regressor = KernelRidge(alpha=0.1, kernel="precomputed")
    theirs = DependencyEstimator(Gaussian(1.5), Gaussian(1.0), regressor=regressor, **kwargs).fit(X, Y)
    assert np.allclose(ours.map_.points(NEW), theirs.map_.points(NEW), atol=1e-10)


class TestExtraOutputs:
    extra = np.random.default_rng(5).standard_normal((7, 4))

    def test_they_join_the_candidates(self):
        model = DependencyEstimator(Gaussian(1.5), Gaussian(1.0), alpha=0.1, decoder=Candidates())
        ranked = model.fit(X, Y, extra_outputs=self.extra).rank(NEW, k=100)
        assert all(len(r.objects) == 27 for r in ranked)
        assert model.decision_weights(NEW).shape == (6, 27)

    def test_the_identity_operator_learns_the_same_map(self):
        plain = DependencyEstimator(Gaussian(1.5), Linear(), alpha=0.1).fit(X, Y)
        more = DependencyEstimator(Gaussian(1.5), Linear(), alpha=0.1).fit(X, Y, extra_outputs=self.extra)
        assert np.allclose(plain.predict(NEW), more.predict(NEW))

    def test_they_enter_the_covariance(self):
        everything = np.concatenate([Y, self.extra])
        model = DependencyEstimator(Gaussian(1.5), Linear(), Covariance(), alpha=0.1, fit_intercept=False)
        model.fit(X, Y, self.extra)
        C = everything.T @ everything / 27
        k = Gaussian(1.5)(X)
        Z = np.linalg.solve(np.kron(C, k) + 0.1 * np.eye(80), Y.ravel(order="F")).reshape(20, 4, order="F")
        assert np.allclose(model.predict(NEW), Gaussian(1.5)(NEW, X) @ Z @ C, atol=1e-9)
        implicit = model.set_params(embedding=Spectral(), decoder=Candidates()).fit(X, Y, self.extra)
        assert np.allclose(implicit.decision_weights(NEW) @ everything, Gaussian(1.5)(NEW, X) @ Z @ C, atol=1e-8)

    def test_they_enter_the_principal_components(self):
        model = DependencyEstimator(Gaussian(1.5), Linear(), embedding=PrincipalComponents(n_components=1))
        model.fit(X, Y, extra_outputs=100.0 * np.eye(4)[:1] * np.arange(1.0, 6.0)[:, None])
        direction = model.embedding_.weights(np.array([[1.0]])) - 1 / 25
        outputs = np.concatenate([Y, 100.0 * np.eye(4)[:1] * np.arange(1.0, 6.0)[:, None]])
        assert abs((direction @ outputs)[0, 0]) > 0.99

    def test_bad_ones_are_named(self):
        with pytest.raises(ValueError, match="extra_outputs contains NaN"):
            DependencyEstimator().fit(X, Y, extra_outputs=[[np.nan] * 4])


WORDS = ["abc", "abd", "bcd", "bca", "cab", "dab"]
KERNEL = Subsequence(2).normalized()


class TestCandidates:
    model = DependencyEstimator(KERNEL, KERNEL, alpha=0.01).fit(WORDS, [w[::-1] for w in WORDS])

    def test_shared(self):
        found = self.model.predict(WORDS, candidates=["cba", "zzz"])
        assert found[0] == "cba"
        assert set(found) <= {"cba", "zzz"}

    def test_per_example(self):
        sets = [[w[::-1], "zzz"] if i % 2 else ["zzz", "yyy"] for i, w in enumerate(WORDS)]
        found = self.model.predict(WORDS, candidates=sets)
        assert list(found) == [s[0] for s in sets]
        ranked = self.model.rank(WORDS, k=2, candidates=sets)
        assert [list(r.objects) for r in ranked] == sets

    def test_per_example_vectors(self):
        model = DependencyEstimator(Gaussian(1.5), Gaussian(1.0), alpha=0.01).fit(X, Y)
        sets = [np.stack([-Y[i], Y[i]]) for i in range(3)]
        assert np.allclose(model.predict(X[:3], candidates=sets), Y[:3])
        assert np.allclose(model.predict(X[:3], candidates=Y), Y[:3])

    def test_sequences_of_tokens_are_not_mistaken_for_sets(self):
        pairs = [("to", "be"), ("or", "not"), ("to", "or"), ("be", "not")]
        model = DependencyEstimator(Positions(), Positions(), alpha=0.01, decoder=Candidates()).fit(pairs, pairs)
        assert list(model.predict(pairs, candidates=pairs)) == pairs
        assert list(model.predict(pairs, candidates=[[p] for p in pairs])) == pairs

    def test_scores_are_best_first_and_explain_the_distance(self):
        points, ranked = self.model.map_.points(WORDS), self.model.rank(WORDS, k=6)
        for point, found in zip(points, ranked, strict=True):
            assert np.all(np.diff(found.scores) <= 0)
            repeated = np.repeat(point[None], 6, axis=0)
            distances = self.model.embedding_.squared_distances(repeated, found.objects)
            assert np.allclose(distances + found.scores, distances[0] + found.scores[0])


@pytest.mark.parametrize(
    ("output_kernel", "outputs", "loss", "decoder", "embedding"),
    [
        (Linear(), Y, None, ClosedForm, Features),
        (Gaussian(1.0), Y, None, FixedPoint, Implicit),
        (Positions(), ["ab", "ba"] * 10, None, PerPosition, Features),
        (KERNEL, ["abc", "bca"] * 10, None, Candidates, Implicit),
        (Classes(), ["abc", "bca"] * 10, None, Candidates, Features),
        (LabelSets(), [{1}, {2, 3}] * 10, lambda a, b: float(a != b), ExpectedLoss, Implicit),
    ],
)
def test_auto_picks_by_output_kernel_and_says_why(output_kernel, outputs, loss, decoder, embedding):
    model = DependencyEstimator(Gaussian(1.5), output_kernel, alpha=0.1, loss=loss).fit(X, outputs)
    assert type(model.decoder_) is decoder
    assert type(model.embedding_) is embedding
    assert type(model.solver_) is Cholesky
    assert set(model.reasons_) == {"solver", "decoder", "embedding"}
    assert all(len(reason) > 15 for reason in model.reasons_.values())


def test_auto_solver_can_be_asked():
    one = RidgeProblem(Gaussian(1.5), X, Y, ConditionalCovariance(), alpha=0.1)
    assert isinstance(Auto().choose(one).part, Tridiagonal)
    assert isinstance(Auto().choose(replace(one, wants_left_out=True)).part, Exact)
    assert "tridiagonal" in Auto().choose(one).reason
    assert "eigendecomposition" in Auto().choose(replace(one, alpha=None)).reason
    model = DependencyEstimator(solver=Auto()).fit(X, Y)
    assert isinstance(model.solver_, Exact)
    low = DependencyEstimator(Gaussian(1.5), Gaussian(1.0), solver=LowRank(tol=1e-3), alpha=0.1).fit(X, Y)
    assert isinstance(low.embedding_, Pivoted)


def test_outputs_come_back_as_they_were_written():
    column = Y[:, 0]
    assert DependencyEstimator(alpha=0.1).fit(X, column).predict(NEW).shape == (6,)
    assert DependencyEstimator(alpha=0.1).fit(X, column[:, None]).predict(NEW).shape == (6, 1)
    images = Y.reshape(20, 2, 2)
    model = DependencyEstimator(Gaussian(1.5), Gaussian(1.0), alpha=0.1).fit(X, images)
    assert model.predict(NEW).shape == (6, 2, 2)
    assert model.predict(NEW, candidates=images).shape == (6, 2, 2)
    assert model.rank(NEW, k=3)[0].objects.shape == (3, 2, 2)
    labels = np.array([3, 5] * 10)
    assert DependencyEstimator(Gaussian(1.5), Classes()).fit(X, labels).predict(NEW).dtype == labels.dtype


def test_scaling_both_the_kernel_and_the_ridge_changes_nothing():
    one = DependencyEstimator(Gaussian(1.5), KERNEL, alpha=0.1).fit(X, WORDS * 3 + WORDS[:2])
    ten = DependencyEstimator(10 * Gaussian(1.5), KERNEL, alpha=1.0).fit(X, WORDS * 3 + WORDS[:2])
    assert np.allclose(one.decision_weights(NEW), ten.decision_weights(NEW))


def test_a_duplicated_pair_counts_as_two():
    """Doubling every pair equals halving the ridge."""
    once = DependencyEstimator(Gaussian(1.5), Linear(), alpha=0.1).fit(X, Y)
    twice = DependencyEstimator(Gaussian(1.5), Linear(), alpha=0.2).fit(np.tile(X, (2, 1)), np.tile(Y, (2, 1)))
    assert np.allclose(once.predict(NEW), twice.predict(NEW))


def test_score_is_minus_the_loss_of_the_user():
    def absolute(y, z):
        return float(np.abs(y - z).sum())

    model = DependencyEstimator(Gaussian(1.5), Linear(), alpha=0.1, loss=absolute).fit(X, Y)
    assert isinstance(model.decoder_, ExpectedLoss)
    assert model.score(X, Y) == pytest.approx(-np.abs(model.predict(X) - Y).sum(axis=1).mean())
    kernel = DependencyEstimator(Gaussian(1.5), Gaussian(1.0), alpha=0.1).fit(X, Y)
    gaps = ((kernel.predict(NEW) - Y[:6]) ** 2).sum(axis=1)
    assert kernel.score(NEW, Y[:6]) == pytest.approx(-np.mean(2 - 2 * np.exp(-gaps / 2)))


def test_neighbours_average_the_nearest_outputs():
    model = NeighborsEstimator(Gaussian(1.5), Linear(), k=3).fit(X, Y)
    nearest = ((NEW[:, None] - X[None]) ** 2).sum(-1).argsort(axis=1)[:, :3]
    assert np.allclose(model.predict(NEW), Y[nearest].mean(axis=1))
    assert np.allclose(model.decision_weights(NEW).sum(axis=1), 1.0)


@pytest.mark.parametrize("parts", [{"solver": LowRank(rank=6)}, {"embedding": Pivoted(6)}], ids=repr)
@pytest.mark.filterwarnings("ignore:the low-rank factor")
def test_weights_are_those_of_the_point_that_is_decoded(parts):
    kernel = Gaussian(1.0)
    model = DependencyEstimator(kernel, kernel, alpha=0.01, decoder=Candidates(), **parts).fit(X, Y)
    weights = model.decision_weights(NEW)
    for row, found in zip(weights, model.rank(NEW, k=20), strict=True):
        np.testing.assert_allclose(found.scores, 2.0 * kernel(found.objects, Y) @ row - 1.0, atol=1e-10)


def test_distances_before_decoding_compare_embeddings():
    """Few components leave little to get wrong inside them, and everything outside."""
    scores = []
    for kept in (1, 15):
        embedding = PrincipalComponents(0.0, n_components=kept)
        model = DependencyEstimator(
            Gaussian(1.5), Gaussian(1.0), embedding=embedding, loss="rkhs", decoder=Candidates()
        )
        scores.append(model.fit(X[:15], Y[:15]).score(X[15:], Y[15:]))
    assert scores[0] < scores[1]
    weights = np.hstack([model.decision_weights(X[15:]), -np.eye(5)])
    L = Gaussian(1.0)(Y)
    assert scores[1] == pytest.approx(-np.mean(np.einsum("ij,jk,ik->i", weights, L, weights)))


def test_kernel_values_that_are_not_numbers_at_predict_are_named():
    model = DependencyEstimator(Polynomial(degree=4), Linear(), alpha=0.1).fit(X, Y)
    with np.errstate(over="ignore"):
        for ask in (model.predict, model.decision_weights, model.rank):
            with pytest.raises(ValueError, match=r"input kernel Polynomial.* gave .*inf for the pair \(0, 0\)"):
                ask(NEW * 1e90)


def test_a_regressor_takes_the_place_of_the_solver():
    model = DependencyEstimator(Gaussian(1.5), Linear(), regressor=SVR()).fit(X, Y)
    assert model.solver_ is None
    assert model.reasons_["solver"] == "SVR() takes the place of the ridge"
    with pytest.raises(
        TypeError, match="regressor='svr'; expected a learner from mercer.learners, or a scikit-learn regressor"
    ):
        DependencyEstimator(regressor="svr").fit(X, Y)
