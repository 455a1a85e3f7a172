"""Kernel principal components: the contract of scikit-learn, scikit-learn's own, and the way back."""

import numpy as np
import pytest
import sklearn.decomposition
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import KernelPCA, load, save
from mercer.decoders import Candidates
from mercer.kernels import Gaussian, Linear, Precomputed, Subsequence

rng = np.random.default_rng(0)
X, NEW = rng.standard_normal((20, 3)), rng.standard_normal((4, 3))
WORDS = ["abab", "abba", "baab", "bbaa", "aabb", "baba", "abaa", "bbab"]


@parametrize_with_checks([KernelPCA(), KernelPCA(Linear(), n_components=1)])
@pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_components", [2, 5])
def test_components_are_those_of_scikit_learn(n_components):
    ours = KernelPCA(Gaussian(1.3), n_components).fit(X)
    theirs = sklearn.decomposition.KernelPCA(n_components, kernel="rbf", gamma=1 / (2 * 1.3**2)).fit(X)
    found, expected = ours.transform(NEW), theirs.transform(NEW)
    signs = np.sign(np.sum(ours.transform(X) * theirs.transform(X), axis=0))
    np.testing.assert_allclose(found * signs, expected, atol=1e-8)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(ours.fit_transform(X), ours.transform(X), atol=1e-10)


def test_linear_components_and_the_way_back_are_principal_components():
    ours, theirs = KernelPCA(Linear(), 2).fit(X), sklearn.decomposition.PCA(2).fit(X)
    np.testing.assert_allclose(
        ours.inverse_transform(ours.transform(NEW)), theirs.inverse_transform(theirs.transform(NEW)), atol=1e-8
    )
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, atol=1e-10)


def test_all_components_lead_back_to_the_object():
    model = KernelPCA(Gaussian(1.0)).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-3)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1.0)
    words = KernelPCA(Subsequence(2).normalized()).fit(WORDS)
    assert list(words.inverse_transform(words.transform(WORDS))) == WORDS


def test_the_pre_image_is_a_minimum():
    """‖φ(x) − φ̄ − Σ z_a v_a‖² is no smaller near the answer, from the definition with weights on the training objects."""
    kernel = Gaussian(1.5)
    model = KernelPCA(kernel, 3).fit(X)
    z = model.transform(NEW)
    found = model.inverse_transform(z)
    gram = kernel(X)
    H = np.eye(20) - 1 / 20
    values, vectors = np.linalg.eigh(H @ gram @ H)
    axes = vectors[:, ::-1][:, :3] / np.sqrt(values[::-1][:3])
    axes *= np.sign(np.sum((H @ gram @ H @ axes) * model.transform(X), axis=0))
    weights = z @ axes.T + 1 / 20

    def distance(i, x):
        return 1.0 - 2.0 * (kernel(x[None], X) @ weights[i])[0]

    for i, x in enumerate(found):
        nearby = [distance(i, x + 0.05 * step) for step in rng.standard_normal((30, 3))]
        assert distance(i, x) <= min(nearby) + 1e-9


def test_denoising_a_circle():
    angles = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    noisy = circle + 0.15 * rng.standard_normal(circle.shape)
    model = KernelPCA(Gaussian(0.8), 4).fit(noisy)
    cleaned = model.inverse_transform(model.transform(noisy))
    off = [np.mean(np.abs(np.linalg.norm(each, axis=1) - 1.0)) for each in (noisy, cleaned)]
    assert off[1] < 0.7 * off[0]


def test_candidates_pipelines_shapes_and_files(tmp_path):
    words = Subsequence(2).normalized()
    model = KernelPCA(words, 3, decoder=Candidates()).fit(WORDS)
    assert list(model.inverse_transform(model.transform(["ba"]), candidates=["aaaa", "ba"])) == ["ba"]
    assert list(model.get_feature_names_out()) == ["kernelpca0", "kernelpca1", "kernelpca2"]
    labels = [word[0] for word in WORDS]
    assert make_pipeline(clone(model), LogisticRegression()).fit(WORDS, labels).predict(["abab"]).shape == (1,)
    images = rng.random((10, 4, 5))
    pictures = KernelPCA(n_components=3).fit(images)
    assert pictures.inverse_transform(pictures.transform(images[:2])).shape == (2, 4, 5)
    again = load(save(pictures, tmp_path / "components.skops"))
    np.testing.assert_array_equal(again.transform(images), pictures.transform(images))


def test_what_is_refused():
    with pytest.raises(ValueError, match="Z has 2 columns; expected 3"):
        KernelPCA(n_components=3).fit(X).inverse_transform(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="n_components=0"):
        KernelPCA(n_components=0).fit(X)
    with pytest.raises(TypeError, match="kernel='rbf'"):
        KernelPCA("rbf").fit(X)
    with pytest.raises(ValueError, match="is a Gram matrix"):
        KernelPCA(Precomputed()).fit(np.eye(3))
    with pytest.raises(ValueError, match="all outputs are the same point"):
        KernelPCA(Gaussian(1.0)).fit(np.zeros((4, 2)))
