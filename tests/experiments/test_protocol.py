"""The folds of the papers: nothing is lost, nothing is in both parts, every fold has its share."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.protocol import (
    best_by_leave_one_out,
    block_folds,
    first_of_each,
    input_scales,
    paper_estimator,
    shuffled_folds,
    stratified_folds,
)
from mercer.kernels import Classes, Gaussian


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 6), st.integers(0, 1000))
def test_each_example_is_trained_on_once_and_tested_on_otherwise(folds, seed):
    labels = np.random.default_rng(seed).integers(0, 3, 40)
    readings = [block_folds(40, folds), shuffled_folds(40, folds, seed), stratified_folds(labels, folds)]
    for splits in [*readings, stratified_folds(labels, folds, seed)]:
        assert len(splits) == folds
        np.testing.assert_array_equal(np.sort(np.concatenate([split.train for split in splits])), np.arange(40))
        for split in splits:
            np.testing.assert_array_equal(np.sort(np.concatenate([split.train, split.test])), np.arange(40))


@pytest.mark.parametrize("seed", [None, 3])
def test_stratified_folds_have_as_many_of_each_class(seed):
    labels = np.repeat([4, 7, 1], 20)
    for split in stratified_folds(labels, 5, seed):
        assert np.unique(labels[split.train], return_counts=True)[1].tolist() == [4, 4, 4]


def test_seeds_make_folds_and_the_same_seed_the_same():
    labels = np.repeat([0, 1], 50)
    for make in (lambda seed: shuffled_folds(100, 5, seed), lambda seed: stratified_folds(labels, 5, seed)):
        np.testing.assert_array_equal(make(0)[0].train, make(0)[0].train)
        assert not np.array_equal(make(0)[0].train, make(1)[0].train)


def test_first_of_each_says_which_class_is_short():
    with pytest.raises(ValueError, match=r"\{5: 1\} examples of some classes; expected 2 of each"):
        first_of_each(np.array([3, 3, 5]), 2)


def test_the_best_model_is_the_one_of_the_least_leave_one_out_loss():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = (X[:, 0] > 0).astype(int)
    models = [paper_estimator(kernel, Classes()) for kernel in input_scales(X, (0.01, 1.0, 100.0))]
    scores = [float(np.min(model.fit(X, y).loo_path_)) for model in models]
    best = best_by_leave_one_out(models, X, y)
    assert best.input_kernel_.scale == models[int(np.argmin(scores))].input_kernel.scale
    assert input_scales(X, (2.0,))[0].scale == 2.0 * Gaussian("median").resolve(X).scale
