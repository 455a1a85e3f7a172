"""Directions that look at the inputs, against their definitions in plain linear algebra."""

import array_api_strict
import numpy as np
import pytest
import scipy.linalg
import torch
from sklearn.cross_decomposition import CCA
from sklearn.model_selection import KFold as Splitter

import mercer
from mercer import DependencyEstimator
from mercer.core.arrays import to_numpy
from mercer.embeddings import KernelCCA, KernelPLS, PrincipalComponents, ReducedRank
from mercer.kernels import Gaussian, Linear, Precomputed, Subsequence
from mercer.operators import ConditionalCovariance, Covariance
from mercer.selection import KFold

N = 12
rng = np.random.default_rng(0)
X = rng.standard_normal((N, 4))
Y = np.column_stack([X[:, 0] + 0.3 * X[:, 1] ** 2, 0.2 * X[:, 2], 3 * rng.standard_normal(N)])
CENTRED_X, CENTRED_Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
H = np.eye(N) - 1 / N
ALL = [KernelPLS(cutoff=0.0, n_components=2), KernelCCA(0.0, 2), ReducedRank(0.0, 2, alpha=0.5)]


def projector(columns):
    basis, _ = np.linalg.qr(columns)
    return basis @ basis.T


def directions(embedding):
    """The directions of a fit on `Y` with the linear kernel, as vectors."""
    return embedding.outputs_.T @ embedding.dual_


def test_pls_is_the_singular_vectors_of_the_cross_covariance():
    found = KernelPLS(cutoff=0.0).fit(Linear(), Y, input_gram=Linear()(X))
    _, sigma, right = np.linalg.svd(CENTRED_X.T @ CENTRED_Y, full_matrices=False)
    assert np.allclose(found.values_, sigma**2)
    assert np.allclose(np.abs(directions(found)), np.abs(right.T))
    assert np.allclose(np.abs(found.coordinates_), np.abs(CENTRED_Y @ right.T))


def test_pls_in_an_infinite_space_solves_the_generalised_eigenproblem():
    k, L = Gaussian(1.5)(X), H @ Gaussian(2.0)(Y) @ H
    found = KernelPLS(cutoff=0.0, n_components=4).fit(Gaussian(2.0), Y, input_gram=k)
    A = found.dual_
    assert np.allclose(A.T @ L @ A, np.eye(4))
    assert np.allclose(L @ H @ k @ H @ L @ A, L @ A * found.values_, atol=1e-8)
    free = scipy.linalg.eigvals(H @ k @ H @ L).real
    assert np.allclose(found.values_, np.sort(free)[::-1][:4])


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_cca_is_the_generalised_eigenproblem_of_the_covariances(kept):
    eps = 0.3
    found = KernelCCA(0.0, kept, regularization=eps).fit(Linear(), Y, input_gram=Linear()(X))
    Cxx, Cxy, Cyy = CENTRED_X.T @ CENTRED_X, CENTRED_X.T @ CENTRED_Y, CENTRED_Y.T @ CENTRED_Y
    on_x, on_y = eps * np.trace(Cxx) / N * np.eye(4), eps * np.trace(Cyy) / N * np.eye(3)
    values, vectors = scipy.linalg.eigh(Cxy.T @ np.linalg.solve(Cxx + on_x, Cxy), Cyy + on_y)
    assert np.allclose(found.values_, values[::-1][:kept])
    assert np.allclose(projector(directions(found)), projector(vectors[:, ::-1][:, :kept]))
    assert np.allclose(directions(found).T @ directions(found), np.eye(kept))


def test_cca_with_hardly_any_regularisation_is_the_classical_one():
    found = KernelCCA(0.0, regularization=1e-10).fit(Linear(), Y, input_gram=Linear()(X))
    classical = CCA(n_components=3, max_iter=5000, tol=1e-12).fit(X, Y)
    left, right = classical.transform(X, Y)
    correlations = [np.corrcoef(left[:, i], right[:, i])[0, 1] for i in range(3)]
    assert np.allclose(found.values_, np.square(correlations), atol=1e-5)


@pytest.mark.parametrize("kept", [1, 2])
def test_reduced_rank_is_the_best_ridge_regression_of_that_rank(kept):
    alpha, k = 0.7, Gaussian(1.5)(X)

    def objective(B):
        return np.sum((CENTRED_Y - k @ B) ** 2) + alpha * np.trace(B.T @ k @ B)

    # the definition: complete the square around the ridge solution, then cut the rank of what is left
    root = scipy.linalg.sqrtm(k @ (k + alpha * np.eye(N))).real
    full = np.linalg.solve(k + alpha * np.eye(N), CENTRED_Y)
    left, values, right = np.linalg.svd(root @ full, full_matrices=False)
    cut = np.linalg.solve(root, left[:, :kept] * values[:kept] @ right[:kept])
    model = DependencyEstimator(
        Gaussian(1.5), Linear(), embedding=ReducedRank(0.0, kept, alpha=alpha), alpha=alpha, fit_intercept=False
    ).fit(X, Y)
    u = directions(model.embedding_)
    solved = np.linalg.solve(k + alpha * np.eye(N), model.embedding_.coordinates_)
    assert np.allclose(solved @ u.T, cut, atol=1e-8)
    assert objective(np.zeros((N, 3))) - objective(cut) == pytest.approx(model.embedding_.values_.sum())
    assert np.allclose(model.map_.points(X), k @ solved)


@pytest.mark.parametrize("embedding", ALL)
def test_coordinates_norms_distances_and_weights_agree(embedding):
    kernel = Gaussian(2.0)
    fitted = embedding.fit(kernel, Y, input_gram=Gaussian(1.5)(X))
    V = fitted.coordinates_
    assert np.allclose(fitted.transform(Y), V)
    assert np.allclose(V.sum(axis=0), 0.0)
    assert np.allclose(fitted.norms(Y), (V**2).sum(axis=1))
    points = rng.standard_normal((3, 2))
    assert np.allclose(fitted.squared_distances(points, Y[:3]), ((points - V[:3]) ** 2).sum(axis=1))
    weights = fitted.weights(points)
    gap, L = weights[:3] - np.eye(len(Y))[:3], kernel(Y)
    whole = fitted.squared_distances(points, Y[:3]) + fitted.outside(Y[:3])
    assert np.allclose(whole, np.einsum("ij,jk,ik->i", gap, L, gap))
    assert np.allclose(weights.sum(axis=1), 1.0)
    assert np.allclose(weights @ V, points)
    assert np.allclose(fitted.dual_.T @ kernel(Y) @ fitted.dual_, np.eye(2))


@pytest.mark.parametrize("embedding", ALL)
def test_all_directions_are_all_principal_components_turned(embedding):
    everything = embedding.__class__(cutoff=0.0).fit(Linear(), Y, input_gram=Gaussian(1.5)(X))
    assert np.allclose(everything.coordinates_ @ everything.coordinates_.T, CENTRED_Y @ CENTRED_Y.T)
    assert np.all(np.diff(everything.values_) <= 0)
    some = embedding.__class__(cutoff=0.0, n_components=1).fit(Linear(), Y, input_gram=Gaussian(1.5)(X))
    assert np.allclose(np.abs(some.coordinates_), np.abs(everything.coordinates_[:, :1]))
    share = float(everything.values_[1] / everything.values_[0])
    assert embedding.__class__(cutoff=1.01 * share).fit(Linear(), Y, input_gram=Gaussian(1.5)(X)).dual_.shape[1] == 1


@pytest.mark.parametrize("aware", [KernelPLS, KernelCCA, ReducedRank])
def test_what_the_inputs_tell_is_kept_where_principal_components_drop_it(aware):
    noise = rng.standard_normal((N, 1))
    # nothing that a linear map of the inputs could tell
    noise = noise - projector(np.hstack([np.ones((N, 1)), X])) @ noise
    outputs = np.hstack([X[:, :1], 10 * noise])
    models = [
        DependencyEstimator(Linear(), Linear(), embedding=each(n_components=1), alpha=0.1).fit(CENTRED_X, outputs)
        for each in (PrincipalComponents, aware)
    ]
    plain, looking = (directions(model.embedding_)[:, 0] for model in models)
    assert abs(plain[0]) < 0.3
    assert np.abs(looking) == pytest.approx([1.0, 0.0], abs=1e-8)


@pytest.mark.parametrize("embedding", ALL)
@pytest.mark.parametrize("operator", [None, Covariance(), ConditionalCovariance(0.1)])
def test_in_the_estimator_with_operators_objects_and_saving(embedding, operator, tmp_path):
    words = np.array(["aab", "abb", "bba", "bbb", "aaa", "bab", "ab", "ba"], dtype=object)
    answers = np.array([w.replace("a", "xy") for w in words], dtype=object)
    kernel = Subsequence(length=2).normalized()
    parameters = {} if operator is None else {"operator": operator}
    model = DependencyEstimator(kernel, kernel, embedding=embedding, **parameters).fit(words, answers)
    assert model.embedding_.coordinates_.shape == (8, 2)
    assert set(model.predict(words)) <= set(answers)
    assert model.decision_weights(words[:2]).shape == (2, 8)
    loaded = mercer.load(mercer.save(model, tmp_path / "model.skops"))
    assert np.array_equal(loaded.predict(words), model.predict(words))


@pytest.mark.parametrize("embedding", ALL)
def test_folds_find_the_directions_anew(embedding):
    alpha = 0.3
    rule = KFold(n_splits=3, alphas=[alpha])
    kernel, output_kernel = Gaussian(1.5), Gaussian(2.0)
    model = DependencyEstimator(kernel, output_kernel, embedding=embedding, alpha=rule, fit_intercept=False)
    model.fit(X, Y)
    total = 0.0
    for train, held_out in Splitter(3).split(X):
        part = DependencyEstimator(kernel, output_kernel, embedding=embedding, alpha=alpha).fit(X[train], Y[train])
        fitted = part.embedding_
        c = np.linalg.solve(kernel(X[train]) + alpha * np.eye(len(train)), fitted.coordinates_)
        points = kernel(X[held_out], X[train]) @ c
        weights = np.hstack([fitted.weights(points), -np.eye(len(held_out))])
        L = output_kernel(np.vstack([Y[train], Y[held_out]]))
        total += np.einsum("ij,jk,ik->", weights, L, weights)
    assert model.loo_path_[0] == pytest.approx(total / N)


@pytest.mark.parametrize("embedding", ALL)
def test_extra_outputs_count_for_the_mean_and_the_spread(embedding):
    extra = rng.standard_normal((5, 3))
    model = DependencyEstimator(Gaussian(1.5), Linear(), embedding=embedding, alpha=0.5).fit(X, Y, extra_outputs=extra)
    together = np.vstack([Y, extra])
    fitted = model.embedding_
    assert np.allclose(fitted.coordinates_.sum(axis=0), 0.0)
    V = together - together.mean(axis=0)
    k = Gaussian(1.5)(X)
    gram = k if isinstance(embedding, ReducedRank) else H @ k @ H
    if isinstance(embedding, KernelPLS):
        S, M = gram, np.eye(3)
    else:
        eps = 0.5 if isinstance(embedding, ReducedRank) else 0.1 * np.trace(gram) / N
        S, M = np.linalg.solve(gram + eps * np.eye(N), gram), np.eye(3)
        if isinstance(embedding, KernelCCA):
            spread = V.T @ V * N / 17
            M = spread + 0.1 * np.trace(spread) / N * np.eye(3)
    values, vectors = scipy.linalg.eigh(V[:N].T @ S @ V[:N], M)
    assert np.allclose(fitted.values_, values[::-1][:2])
    assert np.allclose(projector(directions(fitted)), projector(vectors[:, ::-1][:, :2]))


@pytest.mark.parametrize("embedding", ALL)
def test_pairs_in_another_order_give_the_same_map(embedding):
    order = rng.permutation(N)
    kernels = Gaussian(1.5), Linear()
    one = DependencyEstimator(*kernels, embedding=embedding, alpha=0.1).fit(X, Y)
    other = DependencyEstimator(*kernels, embedding=embedding, alpha=0.1).fit(X[order], Y[order])
    assert np.allclose(one.decision_weights(X[:2])[:, order], other.decision_weights(X[:2]))


@pytest.mark.parametrize("embedding", ALL)
@pytest.mark.parametrize("convert", [array_api_strict.asarray, torch.asarray])
def test_other_array_libraries(embedding, convert):
    plain = embedding.fit(Gaussian(2.0), Y, input_gram=Gaussian(1.5)(X))
    expected = plain.coordinates_ @ plain.coordinates_.T
    found = embedding.fit(Gaussian(2.0), convert(Y), input_gram=convert(Gaussian(1.5)(X)))
    assert type(found.coordinates_) is type(convert(Y))
    assert np.allclose(to_numpy(found.coordinates_) @ to_numpy(found.coordinates_).T, expected)
    mixed = embedding.fit(Gaussian(2.0), convert(Y), input_gram=Gaussian(1.5)(X))
    assert np.allclose(to_numpy(mixed.norms(convert(Y))), np.diag(expected))


def test_the_users_gram_matrix_stays_as_it_is():
    gram = Gaussian(1.5)(X)
    kept = gram.copy()
    for embedding in ALL:
        DependencyEstimator(Precomputed(), Linear(), embedding=embedding, alpha=0.1).fit(gram, Y)
    assert np.array_equal(gram, kept)


@pytest.mark.parametrize(
    ("embedding", "message"),
    [
        (KernelPLS(cutoff=1.0), "cutoff=1.0; expected a share"),
        (KernelPLS(n_components=0), "n_components=0; expected a positive whole number"),
        (KernelCCA(regularization=0.0), "regularization=0.0; expected a positive finite number"),
        (ReducedRank(alpha=-1.0), "alpha=-1.0; expected a positive finite number"),
    ],
)
def test_bad_parameters(embedding, message):
    with pytest.raises(ValueError, match=message):
        DependencyEstimator(embedding=embedding).fit(X, Y)


def test_bad_inputs():
    with pytest.raises(ValueError, match="KernelPLS looks at the inputs, and input_gram is None"):
        KernelPLS().fit(Linear(), Y)
    with pytest.raises(ValueError, match=r"input_gram has shape \(3, 3\) in KernelCCA; expected \(12, 12\)"):
        KernelCCA().fit(Linear(), Y, input_gram=np.eye(3))
    for embedding in ALL:
        with pytest.raises(ValueError, match="all inputs are the same point"):
            DependencyEstimator(Linear(), embedding=embedding).fit(np.ones((N, 2)), Y)
        with pytest.raises(ValueError, match="all outputs are the same point"):
            DependencyEstimator(Linear(), embedding=embedding).fit(X, np.ones((N, 2)))
