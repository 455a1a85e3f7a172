"""Closed form: the vector itself, whatever the coordinates."""

import numpy as np
import pytest

from mercer.decoders import ClosedForm
from mercer.embeddings import Features, Implicit, PrincipalComponents, Spectral
from mercer.kernels import Gaussian, Linear
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
    with pytest.raises(TypeError, match=r"linear output kernel, and came with Gaussian"):
        ClosedForm().fit(Implicit().fit(Gaussian(1.0), outputs))


@pytest.mark.parametrize("embedding", [Implicit(), Features(), Spectral()])
def test_contract(embedding, outputs, weights):
    fitted = embedding.fit(0.5 * Linear(), outputs)
    rows = fitted.coordinates_
    check_decoder(ClosedForm(), fitted, weights if rows is None else weights @ rows)
