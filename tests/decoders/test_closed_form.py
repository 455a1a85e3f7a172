"""Closed form: the vector itself, whatever the coordinates."""

import numpy as np
import pytest

from mercer.decoders import ClosedForm
from mercer.embeddings import Distinct, Features, Implicit, PrincipalComponents, Spectral
from mercer.kernels import Encoded, Gaussian, Linear, NormalScores
from mercer.kernels.encodings import standardized_linear
from mercer.testing import check_decoder


@pytest.fixture
def outputs():
    return np.random.default_rng(0).normal(size=(6, 3)) + 2.0


@pytest.fixture
def weights():
    return np.random.default_rng(1).normal(size=(4, 6))


@pytest.mark.parametrize("kernel", [Linear(), 3.0 * Linear()])
def test_weights_and_coordinates_give_the_same_vector(kernel, outputs, weights):
    expected = weights @ outputs
    implicit = Implicit().fit(kernel, outputs)
    np.testing.assert_allclose(ClosedForm().fit(implicit).decode(weights), expected)
    for embedding in (Features(), Spectral()):
        embedding.fit(kernel, outputs)
        found = ClosedForm().fit(embedding).decode(weights @ embedding.coordinates_)
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_the_point_itself_is_returned_where_coordinates_are_outputs(outputs):
    embedding = Features().fit(Linear(), outputs)
    H = np.array([[1.0, 2.0, 3.0]])
    assert embedding.coordinates_are_outputs
    np.testing.assert_array_equal(ClosedForm().fit(embedding).decode(H), H)


def test_principal_components_come_back_around_the_mean(outputs):
    embedding = PrincipalComponents(cutoff=0.0).fit(Linear(), outputs)
    found = ClosedForm().fit(embedding).decode(embedding.coordinates_)
    np.testing.assert_allclose(found, outputs, atol=1e-10)


def test_a_centred_kernel_shrinks_to_the_mean(outputs, weights):
    kernel = (2.0 * Linear()).centered().resolve(outputs)
    decoder = ClosedForm().fit(Implicit().fit(kernel, outputs))
    mean = outputs.mean(axis=0)
    np.testing.assert_allclose(decoder.decode(np.zeros((1, 6)))[0], mean)
    expected = mean + weights @ (outputs - mean)
    np.testing.assert_allclose(decoder.decode(weights), expected)
    # and no vector has a lower objective
    for step in np.random.default_rng(2).normal(scale=0.1, size=(10, 4, 3)):
        around = decoder.objective(weights, expected + step)
        assert (around >= decoder.objective(weights, expected) - 1e-9).all()


def test_other_kernels_are_refused(outputs):
    with pytest.raises(TypeError, match=r"ClosedForm needs Linear\(\) as output kernel, and came with Gaussian"):
        ClosedForm().fit(Implicit().fit(Gaussian(1.0), outputs))


@pytest.mark.parametrize("embedding", [Implicit(), Features(), Spectral()])
def test_contract(embedding, outputs, weights):
    fitted = embedding.fit(0.5 * Linear(), outputs)
    rows = fitted.coordinates_
    check_decoder(ClosedForm(), fitted, weights if rows is None else weights @ rows)


@pytest.mark.parametrize("embedding", [Implicit(), Features(), Spectral()])
def test_no_vector_of_the_box_is_nearer(embedding, outputs, weights):
    fitted = embedding.fit(Linear(), outputs)
    points = weights if fitted.coordinates_ is None else weights @ fitted.coordinates_
    decoder = ClosedForm(bounds=(1.0, [2.0, 2.5, 1.5])).fit(fitted)
    found = decoder.decode(points)
    assert (found >= 1.0).all()
    assert (found <= [2.0, 2.5, 1.5]).all()
    for other in np.random.default_rng(3).uniform(1.0, [2.0, 2.5, 1.5], size=(20, 4, 3)):
        assert (decoder.objective(points, found) <= decoder.objective(points, other) + 1e-9).all()
    check_decoder(ClosedForm(bounds="data"), fitted, points)


def test_the_box_of_the_data_does_not_know_what_is_left_out(outputs):
    decoder = ClosedForm(bounds="data").fit(Features().fit(Linear(), outputs))
    far = np.full((1, 3), 100.0)
    np.testing.assert_allclose(decoder.decode(far)[0], outputs.max(axis=0))
    highest = int(outputs[:, 0].argmax())
    assert decoder.decode(far, leave_out=np.array([highest]))[0, 0] == np.sort(outputs[:, 0])[-2]


def test_bounds_that_make_no_box(outputs):
    with pytest.raises(ValueError, match=r"bounds=\(2, 1\); expected"):
        ClosedForm(bounds=(2, 1)).fit(Implicit().fit(Linear(), outputs))


def test_rank_has_the_decoded_vector_first_and_then_what_lies_in_the_box(outputs, weights):
    decoder = ClosedForm(bounds=(1.0, 3.0)).fit(Implicit().fit(Linear(), outputs))
    inside = outputs[((outputs >= 1.0) & (outputs <= 3.0)).all(axis=1)]
    assert 0 < len(inside) < len(outputs)
    for made, own, found in zip(decoder.decode(weights), weights, decoder.rank(weights, 10), strict=True):
        distances = ((inside - own @ outputs) ** 2).sum(axis=1)
        np.testing.assert_allclose(found.objects, np.vstack([made, inside[np.argsort(distances)]]))
        np.testing.assert_allclose(found.scores, 2 * found.objects @ (own @ outputs) - (found.objects**2).sum(axis=1))
    for made, found in zip(decoder.decode(weights), decoder.rank(weights, 1), strict=True):
        assert found.objects.tolist() == [made.tolist()]
    assert sorted(decoder.rank_training(weights[:1], 10)[0].objects.tolist()) == sorted(outputs.tolist())


def test_a_training_output_that_is_decoded_is_ranked_once(outputs):
    decoder = ClosedForm().fit(Implicit().fit(Linear(), outputs))
    for i, found in enumerate(decoder.rank(np.eye(6), 6)):
        assert len(found.objects) == 6
        np.testing.assert_allclose(found.objects[0], outputs[i])
        assert sorted(found.objects.round(9).tolist()) == sorted(outputs.round(9).tolist())


@pytest.mark.parametrize("factor", [1.0, 3.0])
@pytest.mark.parametrize("embedding", [Implicit(), Features(), Spectral(), Distinct()], ids=repr)
def test_z_scores_come_back_as_vectors(embedding, factor):
    outputs = np.random.default_rng(3).standard_normal((9, 3)) * [1.0, 1e3, 0.0] + [0.0, 7.0, 4.0]
    kernel = standardized_linear(outputs) if factor == 1.0 else factor * standardized_linear(outputs)
    fitted = embedding.fit(kernel, outputs)
    weights = np.random.default_rng(4).dirichlet(np.ones(9), 5)
    coordinates = fitted.coordinates_
    points = weights if coordinates is None else weights @ coordinates
    assert np.allclose(ClosedForm().fit(fitted).decode(points), weights @ outputs)
    low, high = outputs.min(axis=0), outputs.max(axis=0)
    far = ClosedForm("data").fit(fitted).decode(50.0 * points)
    assert np.all((far >= low - 1e-9) & (far <= high + 1e-9))


def test_encodings_without_an_inverse_are_refused():
    outputs = np.random.default_rng(3).standard_normal((9, 3))
    fitted = Implicit().fit(Encoded(NormalScores(), Linear()).resolve(outputs), outputs)
    with pytest.raises((TypeError, ValueError), match="Linear"):
        ClosedForm().fit(fitted)
