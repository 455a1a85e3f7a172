"""Images to masks: ridge regression against plain least squares, the parts one by one, and all on synthetic images."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import mercer
from experiments.masks import ImageToMask
from experiments.masks.folded_ridge import FoldedRidge
from experiments.masks.pixels import PixelView, colour_ratios, opponents, overlapped, windows
from mercer.kernels import Gaussian
from mercer.losses import IoU
from mercer.operators import Nystroem


def made_up(n, seed=0, size=12):
    """A coloured block on a coloured ground, both with noise; the colours change from image to image."""
    rng = np.random.default_rng(seed)
    masks = np.zeros((n, size, size), dtype=np.uint8)
    for i, (r, c) in enumerate(rng.integers(1, size - 6, (n, 2))):
        masks[i, r : r + 5, c : c + 5] = 1
    ground, thing = rng.uniform(0.1, 0.9, (2, n, 1, 1, 3))
    images = np.where(masks[..., None] == 1, thing, ground) + 0.05 * rng.standard_normal((n, size, size, 3))
    return np.clip(images, 0, 1), masks


IMAGES, MASKS = made_up(24)
MODEL = ImageToMask(stages=2, landmarks=80, patch=3, context=3, folds=4)


@pytest.fixture(scope="module")
def fitted():
    return clone(MODEL).fit(IMAGES[:18], MASKS[:18])


def test_windows_are_the_squares_around_each_pixel():
    maps = np.random.default_rng(1).random((2, 4, 5, 2))
    found = windows(maps, 1).reshape(2, 4, 5, 2, 3, 3)
    padded = np.pad(maps, ((0, 0), (1, 1), (1, 1), (0, 0)), "edge")
    for r in range(4):
        for c in range(5):
            np.testing.assert_array_equal(
                found[:, r, c], np.moveaxis(padded[:, r : r + 3, c : c + 3], 3, 1), err_msg=f"{r}, {c}"
            )
    assert windows(maps, 4, 2, outside=0.0).shape == (2, 20, 2 * 25)


def test_squares_of_an_image_overlap_to_the_image():
    images = np.random.default_rng(2).random((3, 5, 6))
    for radius in (0, 1, 2):
        np.testing.assert_allclose(overlapped(windows(images[..., None], radius), (5, 6), radius), images)


def test_colour_ratios_equal_the_literal_densities():
    rng = np.random.default_rng(3)
    colours, guess = rng.random((1, 2, 3, 3)), rng.uniform(0.1, 0.9, (1, 2, 3))
    found = colour_ratios(colours, guess)[0].reshape(6, 4)
    flat, inside = colours.reshape(6, 3), guess.reshape(6)
    for p in range(6):
        others = [q for q in range(6) if q != p]
        near = np.asarray([np.exp(-np.sum((flat[p] - flat[q]) ** 2) / (2 * 0.12**2)) for q in others])
        one = near @ inside[others] / inside.sum()
        two = near @ (1 - inside[others]) / (1 - inside).sum()
        assert found[p, 2] == pytest.approx(np.log(one + 1e-3) - np.log(two + 1e-3))


def test_every_feature_treats_each_image_by_itself():
    guess = np.random.default_rng(4).random(MASKS.shape)
    order = np.random.default_rng(5).permutation(len(IMAGES))
    ratios = colour_ratios(opponents(IMAGES), guess)
    np.testing.assert_allclose(colour_ratios(opponents(IMAGES[order]), guess[order]), ratios[order])
    view = PixelView(1, 3).fit(IMAGES, ratios, guess, 4)
    whole = view(IMAGES, ratios, guess)
    np.testing.assert_allclose(view(IMAGES[order], ratios[order], guess[order]), whole[order])
    np.testing.assert_allclose(view(IMAGES[3:4], ratios[3:4], guess[3:4])[0], whole[3])
    assert abs(whole.mean(axis=(0, 1))).max() < 1e-9


@pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")  # few features on purpose
def test_the_folded_ridge_equals_plain_ridge_without_each_fold():
    rng = np.random.default_rng(6)
    X, Y = rng.standard_normal((60, 3)), rng.standard_normal((60, 2)) + 5.0
    folds = np.array([0, 1, 2, 0, 1, 2])
    features = Nystroem(Gaussian(1.5), rank=10).fit(X)
    alphas = (1e-3, 1e-2, 1e-1)
    ridge = FoldedRidge.fit(
        features, lambda part: (X[10 * part : 10 * part + 10], Y[10 * part : 10 * part + 10]), folds, alphas
    )
    phi, mean, of_row = features(X), Y.mean(axis=0), np.repeat(folds, 10)
    errors = np.zeros(3)
    predictions = {}
    for k, alpha in enumerate(alphas):
        for fold in range(3):
            kept, left = phi[of_row != fold], phi[of_row == fold]
            weights = np.linalg.solve(kept.T @ kept + alpha * 40 * np.eye(10), kept.T @ (Y[of_row != fold] - mean))
            predictions[k, fold] = left @ weights + mean
            errors[k] += np.sum((predictions[k, fold] - Y[of_row == fold]) ** 2)
    np.testing.assert_allclose(ridge.errors, errors / 120)
    best = int(errors.argmin())
    assert ridge.alpha == alphas[best]
    for fold in range(3):
        np.testing.assert_allclose(ridge.predict(X[of_row == fold], fold), predictions[best, fold])
    weights = np.linalg.solve(phi.T @ phi + ridge.alpha * 60 * np.eye(10), phi.T @ (Y - mean))
    np.testing.assert_allclose(ridge.predict(X), phi @ weights + mean)


def test_the_block_is_found_whatever_its_colour(fitted):
    predicted = fitted.predict(IMAGES[18:])
    assert predicted.dtype == np.uint8
    assert set(np.unique(predicted)) == {0, 1}
    iou = 1 + fitted.score(IMAGES[18:], MASKS[18:])
    mean = MASKS[:18].mean(axis=0)
    guess = max(
        1 - np.mean([IoU()(mask, (mean > t).astype(int)) for mask in MASKS[18:]]) for t in np.linspace(0.1, 0.6, 11)
    )
    assert iou > 0.75
    assert iou > guess + 0.2
    assert len(fitted.alphas_) == len(fitted.thresholds_) == 2
    assert 1 - fitted.stage_losses_.min() == pytest.approx(iou, abs=0.15)


def test_soft_masks_stages_and_predictions_agree(fitted):
    soft = fitted.soft_masks(IMAGES[18:])
    assert (soft > 0).all()
    assert (soft < 1).all()
    *_, last = fitted.staged_predict(IMAGES[18:])
    np.testing.assert_array_equal(last, fitted.predict(IMAGES[18:]))
    np.testing.assert_array_equal(last, soft > fitted.thresholds_[-1])


def test_order_and_company_of_queries_do_not_matter(fitted):
    whole = fitted.soft_masks(IMAGES[18:])
    np.testing.assert_allclose(fitted.soft_masks(IMAGES[[20]])[0], whole[2], atol=1e-9)
    np.testing.assert_allclose(fitted.soft_masks(IMAGES[18:][::-1]), whole[::-1], atol=1e-9)


def test_the_same_seed_gives_the_same_model_and_bytes_are_taken(fitted):
    again = clone(MODEL).fit(np.rint(255 * IMAGES[:18]).astype(np.uint8), MASKS[:18].astype(bool))
    assert again.predict(IMAGES[18:]).dtype == bool
    assert np.mean(again.predict(IMAGES[18:]) != fitted.predict(IMAGES[18:])) < 0.05
    same = clone(MODEL).fit(IMAGES[:18], MASKS[:18])
    np.testing.assert_array_equal(same.soft_masks(IMAGES[18:]), fitted.soft_masks(IMAGES[18:]))


def test_gray_images_and_lists():
    gray = IMAGES.mean(axis=3)
    model = ImageToMask(stages=1, landmarks=40, patch=3, context=2, folds=3).fit(list(gray[:18]), list(MASKS[:18]))
    assert model.predict(list(gray[18:])).shape == (6, 12, 12)


def test_saved_and_loaded(fitted, tmp_path):
    with pytest.warns(UserWarning, match="pass trust"):  # a model of the experiments is not on mercer's own list
        path = mercer.save(fitted, tmp_path / "masks.skops")
    own = ["folded_ridge.FoldedRidge", "masks.ImageToMask", "masks._Stage", "pixels.PixelView"]
    same = mercer.load(path, trust=[f"experiments.masks.{name}" for name in own])
    np.testing.assert_array_equal(same.predict(IMAGES[18:]), fitted.predict(IMAGES[18:]))


@pytest.mark.parametrize(
    ("change", "X", "y", "message"),
    [
        ({"patch": 4}, IMAGES, MASKS, "patch=4; expected an odd number"),
        ({"stages": 0}, IMAGES, MASKS, "stages=0; expected a whole number, 1 or more"),
        ({"alphas": [0.0]}, IMAGES, MASKS, r"alphas=\[0.0\]; expected positive"),
        ({"folds": 30}, IMAGES, MASKS, "X has 24 images; expected at least folds=30"),
        ({}, IMAGES * 300, MASKS, "pixels from .* expected 0 to 1"),
        ({}, IMAGES, MASKS[:, :11], r"y has shape \(24, 11, 12\); expected \(24, 12, 12\)"),
        ({}, IMAGES, 2 * MASKS, "values other than 0 and 1"),
        ({}, IMAGES, None, "y is None; expected images"),
        ({}, IMAGES[0, 0], MASKS, r"X has shape \(12, 3\)"),
        (
            {},
            [IMAGES[0], IMAGES[1, :, :9]],
            MASKS[:2],
            r"X\[0\] has shape \(12, 12, 3\) and X\[1\] has shape \(12, 9, 3\)",
        ),
    ],
)
def test_errors_say_what_is_wrong(change, X, y, message):
    with pytest.raises(ValueError, match=message):
        clone(MODEL).set_params(**change).fit(X, y)


def test_images_that_do_not_fit_in_memory_are_refused_at_once(monkeypatch):
    monkeypatch.setattr("mercer.core.memory.available_bytes", lambda *_: 2**24)
    large = np.zeros((4, 40, 40))
    with pytest.raises(MemoryError, match="1600 pixels against each other.*use smaller images"):
        clone(MODEL).fit(large, large.astype(int))


def test_another_size_at_prediction(fitted):
    with pytest.raises(ValueError, match="images of 12 × 10 × 3 numbers; expected 12 × 12 × 3, as in training"):
        fitted.predict(IMAGES[:2, :, :10])
    with pytest.raises(TypeError, match="expected a loss of masks"):
        clone(MODEL).set_params(loss="iou").fit(IMAGES, MASKS)


@pytest.mark.parametrize("method", ["predict", "soft_masks", "score"])
def test_before_fit(method):
    images = np.zeros((2, 4, 4))
    with pytest.raises(NotFittedError):
        getattr(ImageToMask(), method)(*([images, images] if method == "score" else [images]))
