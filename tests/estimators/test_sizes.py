"""Numbers of any size are learned from alike, or refused; an alpha lost in rounding is said by every estimator."""

import numpy as np
import pytest
from sklearn.base import clone

from mercer import (
    CurveRidge,
    DependencyEstimator,
    EntangledRidge,
    NeighborsEstimator,
    NumericalWarning,
    OperatorValuedRidge,
    OutputKernelLearning,
)
from mercer.estimators import JointKernelMap

rng = np.random.default_rng(0)
X = rng.standard_normal((30, 3))
Y = np.column_stack([X[:, 0], X[:, 1] * X[:, 0], np.sin(X[:, 2])]) + 0.1 * rng.standard_normal((30, 3))
RIDGES = [
    DependencyEstimator(),
    OperatorValuedRidge(),
    EntangledRidge(kraus_rank=3, max_iter=5, random_state=0),
    OutputKernelLearning(),
    CurveRidge(),
    JointKernelMap(),
]
EVERY = pytest.mark.parametrize("model", [*RIDGES, NeighborsEstimator(k=3)], ids=lambda model: type(model).__name__)


@EVERY
@pytest.mark.parametrize("size", [1e-98, 1e-50, 1e50, 1e98])
def test_the_size_of_numbers_changes_nothing(model, size):
    expected = clone(model).fit(X, Y).predict(X)
    assert np.allclose(clone(model).fit(X, Y * size).predict(X) / size, expected, atol=1e-11)
    assert np.allclose(clone(model).fit(X * size, Y).predict(X * size), expected, atol=1e-11)


@EVERY
@pytest.mark.parametrize(
    ("size", "why"), [(1e-200, "vanish"), (1e-320, "vanish"), (1e150, "overflow"), (1e200, "overflow")]
)
def test_numbers_whose_squares_are_lost_are_refused(model, size, why):
    with pytest.raises(ValueError, match=f"y holds numbers of size .*, so .* that their squares {why}; scale y first"):
        clone(model).fit(X, Y * size)
    with pytest.raises(ValueError, match=f"X holds numbers of size .*, so .* that their squares {why}; scale X first"):
        clone(model).fit(X * size, Y)


@pytest.mark.parametrize("model", RIDGES, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("alpha", [1e-20, 1e-300])
def test_an_alpha_lost_in_rounding_is_said_and_the_limit_is_fitted(model, alpha):
    """Inputs come twice, so that the Gram matrix is singular; outputs differ, and their mean is the limit."""
    model = clone(model).set_params(alpha=alpha)
    noise = 0.1 * rng.standard_normal(Y.shape)
    with pytest.warns(NumericalWarning, match="is lost in the rounding"):
        model.fit(np.vstack([X, X]), np.vstack([Y + noise, Y - noise]))
    least = 1.0 if "Entangled" in repr(model) else 1e-3  # few features
    assert np.abs(model.predict(X) - Y).max() < least


def test_the_default_rank_suits_few_pairs():
    for n in (4, 12):
        assert EntangledRidge(random_state=0).fit(X[:n], Y[:n]).predict(X).shape == (30, 3)
    with pytest.raises(ValueError, match="kraus_rank=20; expected at most 12, the 3 outputs times the 4 features"):
        EntangledRidge(kraus_rank=20).fit(X[:4], Y[:4])
