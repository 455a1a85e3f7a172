"""Candidates that were not trained on: the rule that scores them, and where it is used."""

import threading
import warnings

import numpy as np
import pytest

from mercer import DependencyEstimator, NeighborsEstimator, load, save
from mercer.core.collections import as_objects
from mercer.decoders import Blocks, Candidates, Decoder, ExpectedLoss, Standardized
from mercer.kernels import Gaussian, Subsequence
from mercer.losses import EditDistance, ZeroOne
from mercer.selection.candidates import candidate_rule

KERNEL = Subsequence(2).normalized()
RNG = np.random.default_rng(0)
WORDS = sorted({"".join(RNG.choice(list("abcdefgh"), RNG.integers(5, 9))) for _ in range(400)})
WORDS = [WORDS[i] for i in RNG.permutation(len(WORDS))]


def typo(word):
    i = int(RNG.integers(len(word) - 1))
    return word[:i] + word[i + 1] + word[i] + word[i + 2 :] if RNG.integers(2) else word[:i] + word[i + 1 :]


TRAIN, NEW = WORDS[:120], WORDS[120:360]
SEEN, QUERIES, TRUTH = [typo(word) for word in TRAIN], [typo(word) for word in NEW[:60]], NEW[:60]


def fitted(loss, **parameters):
    return DependencyEstimator(KERNEL, KERNEL, loss=loss, **parameters).fit(SEEN, TRAIN)


def accuracy(model, candidates=NEW):
    return np.mean(model.predict(QUERIES, candidates=candidates) == as_objects(TRUTH))


@pytest.fixture(scope="module")
def plain():
    return accuracy(fitted(None, decoder=Candidates()))


@pytest.mark.parametrize("loss", [None, "kernel", ZeroOne(), EditDistance()])
def test_naming_a_loss_does_not_wreck_new_candidates(loss, plain):
    model = fitted(loss)
    assert accuracy(model) >= plain - 0.05
    assert accuracy(model) > 0.6
    rule = model.candidate_rule_
    assert rule is model.candidate_rule_
    assert "kept out of training" in rule.reason
    assert set(rule.losses) > {"the kernel's score", "scores standardised by 0.5"}
    assert ("the decoder's own score" in rule.losses) == isinstance(model.decoder_, ExpectedLoss)


def test_the_losses_are_those_of_fits_on_the_other_half():
    """Brute force: refit without each half, choose among its outputs."""
    model, groups = fitted(EditDistance()), []
    rule = candidate_rule(
        model.decoder_,
        model.loss_,
        lambda halves: groups.append(halves) or model.map_.points_without(halves),
        model.map_.left_out_points,
    )
    losses = {"the kernel's score": [], "the decoder's own score": [], "scores standardised by 0.5": []}
    outputs, inputs = as_objects(TRAIN), as_objects(SEEN)
    for half in (0, 1):
        rest, own = (np.flatnonzero(groups[0] == side) for side in (1 - half, half))
        for name, decoder in zip(losses, (Candidates(), ExpectedLoss(), None), strict=True):
            part = DependencyEstimator(
                KERNEL, KERNEL, alpha=model.alpha_, decoder=decoder or Candidates(), loss=EditDistance()
            )
            part.fit(inputs[rest], outputs[rest])
            if decoder is None:
                points = part._points_of(inputs[own])
                standard = Standardized(strength=0.5).fit(part.embedding_, None).calibrate(points)
                found = [ranked.objects[0] for ranked in standard.choose(points, outputs[own])]
            else:
                found = part.predict(inputs[own], candidates=outputs[own])
            losses[name] += EditDistance().paired(outputs[own], as_objects(found)).tolist()
    for name, values in losses.items():
        assert np.isclose(rule.losses[name], np.mean(values)), name


def test_equal_outputs_and_groups_are_in_one_half():
    outputs, seen = TRAIN[:40] * 2, SEEN[:40] + [typo(word) for word in TRAIN[:40]]
    kept = []
    model = DependencyEstimator(KERNEL, KERNEL, alpha=0.1).fit(seen, outputs, groups=np.repeat(np.arange(40), 2))
    points = model.map_.points_without

    def noted(halves):
        kept.append(halves)
        return points(halves)

    candidate_rule(model.decoder_, model.loss_, noted, model.map_.left_out_points, model.map_.groups)
    np.testing.assert_array_equal(kept[0][:40], kept[0][40:])
    np.testing.assert_array_equal(kept[0][::2], kept[0][1::2])


def test_training_outputs_and_given_decoders_are_scored_as_before():
    model = fitted(EditDistance())
    known = model.rank(QUERIES[:5], 3, candidates=TRAIN)
    for one, two in zip(known, model.decoder_.rank(model._points_of(QUERIES[:5]), 3), strict=True):
        assert one.objects.tolist() == two.objects.tolist()
        np.testing.assert_allclose(one.scores, two.scores)
    assert model._candidate_rule_ is None
    given = fitted(EditDistance(), decoder=ExpectedLoss())
    assert given.candidate_rule_.decoder is given.decoder_
    assert given.candidate_rule_.reason == "the decoder was given"


def test_few_outputs_keep_the_score_of_the_kernel():
    few = DependencyEstimator(KERNEL, KERNEL, loss=ZeroOne()).fit(SEEN[:10], TRAIN[:10])
    assert type(few.candidate_rule_.decoder) is Decoder
    assert "fewer than 20 distinct outputs" in few.candidate_rule_.reason
    numbers = DependencyEstimator(Gaussian(1.0)).fit(np.arange(40.0)[:, None], np.arange(40.0))
    assert numbers.predict([[7.2]], candidates=[6.5, 7.3, 8.5]).tolist() == [7.3]


@pytest.mark.parametrize("loss", [None, ZeroOne()])
def test_all_methods_score_candidates_by_one_rule(loss, tmp_path):
    model = fitted(loss)
    ranked = model.rank(QUERIES, 240, candidates=NEW)
    assert [found.objects[0] for found in ranked] == model.predict(QUERIES, candidates=NEW).tolist()
    assert -model.score(QUERIES, TRUTH, candidates=NEW) == pytest.approx(
        np.mean(model.loss_.paired(as_objects(TRUTH), model.predict(QUERIES, candidates=NEW)))
    )
    blocks = model.predict(QUERIES, candidates=Blocks([NEW[:100], NEW[100:]]))
    assert blocks.tolist() == model.predict(QUERIES, candidates=NEW).tolist()
    each = model.predict(QUERIES, candidates=[NEW] * len(QUERIES))
    assert each.tolist() == blocks.tolist()
    for method in ("auto", "jackknife+"):
        sets = model.predict_set(QUERIES, 0.9, candidates=NEW, method=method)
        assert np.mean([right in found.objects for right, found in zip(TRUTH, sets, strict=True)]) >= 0.8
        assert np.mean([len(found.objects) for found in sets]) < 100
        for found, whole in zip(sets, ranked, strict=True):
            np.testing.assert_allclose(found.scores, whole.scores[: len(found.scores)])
    unsure = model.abstention_score(QUERIES, candidates=NEW)
    assert np.all((unsure >= 0) & (unsure <= 1))
    again = load(save(model, tmp_path / "model.skops"))
    np.testing.assert_allclose(again.abstention_score(QUERIES, candidates=NEW), unsure)
    held_out = model.calibrate(QUERIES, TRUTH).predict_set(QUERIES, 0.9, candidates=NEW)
    assert np.mean([right in found.objects for right, found in zip(TRUTH, held_out, strict=True)]) >= 0.9


def test_threads_choose_the_same_rule():
    model, found = fitted(ZeroOne()), []
    workers = [threading.Thread(target=lambda: found.append(accuracy(model))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(set(found)) == 1


def test_neighbours_choose_a_rule_too():
    model = NeighborsEstimator(KERNEL, KERNEL, loss=EditDistance()).fit(SEEN, TRAIN)
    assert accuracy(model) > 0.3
    assert "kept out of training" in model.candidate_rule_.reason


def test_a_grid_search_over_output_kernels_warns_without_a_loss():
    from sklearn.model_selection import GridSearchCV

    grid = {"output_kernel__kernel__length": [1, 2]}
    with pytest.warns(UserWarning, match="different output kernels are on different scales.*loss="):
        GridSearchCV(DependencyEstimator(KERNEL, KERNEL, alpha=0.1), grid, cv=2).fit(SEEN[:20], TRAIN[:20])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        search = GridSearchCV(DependencyEstimator(KERNEL, KERNEL, alpha=0.1, loss=EditDistance()), grid, cv=2)
        search.fit(SEEN[:20], TRAIN[:20])
        inputs = {"input_kernel__kernel__length": [1, 2]}
        GridSearchCV(DependencyEstimator(KERNEL, KERNEL, alpha=0.1), inputs, cv=2).fit(SEEN[:20], TRAIN[:20])
        fitted(None).score(SEEN, TRAIN)
