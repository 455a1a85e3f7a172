"""The papers' digit completion, one fold of it: the figures the foundation has to reach."""

import numpy as np
import pytest

from mercer import DependencyEstimator, NeighborsEstimator
from mercer.datasets import load_usps
from mercer.decoders import Candidates, FixedPoint
from mercer.kernels import Gaussian


@pytest.fixture(scope="module")
def halves():
    try:
        halves = load_usps().halves()
    except FileNotFoundError as missing:
        pytest.skip(f"the USPS digits are not here: {missing}")
    return halves.inputs[:1000], halves.outputs[:1000]


def best_scale(decoder, top, bottom):
    """The input scale with the smallest leave-one-out distance, inside the training fold."""
    models = [
        DependencyEstimator(Gaussian(scale), Gaussian(7.0), decoder=decoder, fit_intercept=False).fit(top, bottom)
        for scale in (4.0, 6.0, 9.0)
    ]
    return min(models, key=lambda model: model.loo_path_.min())


@pytest.mark.data
def test_digit_completion_reaches_the_figures_of_the_papers_and_better(halves):
    """Weston Table 3's protocol at σ' = 7: train on 200 digits, complete the other 800 from their top half."""
    top, bottom = halves
    losses = {"k-NN": [], "candidates": [], "fixed point": []}
    for fold in range(2):
        train = np.arange(200 * fold, 200 * (fold + 1))
        test = np.setdiff1d(np.arange(1000), train)
        neighbours = NeighborsEstimator(Gaussian(1.0), Gaussian(7.0), k="loo", loss="kernel", decoder=Candidates())
        for name, model in {
            "k-NN": neighbours.fit(top[train], bottom[train]),
            "candidates": best_scale(Candidates(), top[train], bottom[train]),
            "fixed point": best_scale(FixedPoint(), top[train], bottom[train]),
        }.items():
            losses[name].append(-model.score(top[test], bottom[test]))
    means = {name: np.mean(values) for name, values in losses.items()}
    assert means["k-NN"] == pytest.approx(0.855, abs=0.03)
    assert means["candidates"] == pytest.approx(0.80, abs=0.02)
    assert means["fixed point"] <= 0.62
