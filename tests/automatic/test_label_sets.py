"""Ways to decode label sets, and how one of them is chosen."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import AutoEstimator
from mercer.automatic.members import Scorer
from mercer.automatic.outputs import output_plan
from mercer.decoders import ExpectedF1
from mercer.embeddings import Distinct
from mercer.kernels import LabelSets, Linear
from mercer.losses import F1, Jaccard
from mercer.testing import learning_problem

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 4))
# two labels are frequent and hardly depend on the inputs, the others do
NOISE = rng.standard_normal((60, 6))
Y = (X @ rng.standard_normal((4, 6)) * [0.2, 0.2, 1, 1, 1, 1] + NOISE > [-0.7, -0.4, 1, 1, 1, 1]).astype(int)


@pytest.fixture
def scorer() -> Scorer:
    problem = learning_problem(Linear(), X, Y, LabelSets(), Distinct())
    return Scorer(problem, output_plan("label sets", F1(), LabelSets(), Y, (6,)))


def test_sets_of_highest_expected_f1_are_compared_with_the_usual(scorer) -> None:
    way = scorer.plan.ways[1]
    assert way.name == "all sets, expected F1, 0.25 of the usual taken off"
    points = scorer.problem.targets + 0.3 * rng.standard_normal(scorer.problem.targets.shape)
    plain = ExpectedF1().fit(scorer.problem.embedding)
    scorer.use(way)
    found = scorer.score(points)
    np.testing.assert_array_equal(found, F1().paired(Y, plain.decode(points - 0.25 * points.mean(axis=0))))
    assert np.any(found != F1().paired(Y, plain.decode(points)))
    # scores for a search leave the decoder as it is
    assert scorer.decoder.usual_ is None


def test_other_losses_of_label_sets_know_no_expected_f1() -> None:
    names = [way.name for way in output_plan("label sets", Jaccard(), LabelSets(), Y, (6,)).ways]
    assert all(name.startswith("training sets") for name in names)


def test_the_way_of_least_loss_is_settled_on(scorer) -> None:
    points = scorer.problem.targets + 0.3 * rng.standard_normal(scorer.problem.targets.shape)
    losses = {}
    for way in scorer.plan.ways:
        scorer.use(way)
        losses[way.name] = scorer.score(points).mean()
    assert scorer.settle(points) == pytest.approx(min(losses.values()))
    assert losses[scorer.way.name] == pytest.approx(min(losses.values()))


def test_the_usual_of_a_mixture_is_that_of_its_left_out_points(monkeypatch) -> None:
    monkeypatch.setattr("mercer.automatic.outputs._TAKEN_OFF", (0.25,))
    monkeypatch.setattr("mercer.automatic.outputs._PENALTIES", ())
    model = AutoEstimator(loss=F1(), effort="fast", random_state=0).fit(X, Y)
    assert model.reasons_["decoder"] == "all sets, expected F1, 0.25 of the usual taken off"
    plain = ExpectedF1().fit(model.embedding_)
    left_out = model.map_.left_out_points()
    found = plain.decode(model.map_.points(X) - 0.25 * left_out.mean(axis=0))
    np.testing.assert_array_equal(model.predict(X), found)
    assert model.left_out_loss_ == pytest.approx(
        np.mean(F1().paired(Y, plain.decode(left_out - 0.25 * left_out.mean(axis=0))))
    )
