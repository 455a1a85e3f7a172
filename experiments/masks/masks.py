"""From images to masks: what belongs to the thing in the picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from experiments.masks.folded_ridge import FoldedRidge
from experiments.masks.pictures import check_masks, check_pictures
from experiments.masks.pixels import LEAST, PixelView, colour_ratios, opponents, overlapped, windows
from mercer.core import memory
from mercer.core.arrays import to_numpy
from mercer.estimators.values import ValueParameters
from mercer.kernels import Gaussian
from mercer.losses import IoU, Loss
from mercer.operators.features import Nystroem

_ALPHAS = (1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4)
_THRESHOLDS = np.linspace(0.2, 0.8, 31)
_DIRECTIONS = 16
"""Principal directions of the guessed masks that tell a pixel about the whole."""
_ROWS = 2**14
"""Pixels whose kernel values are held at a time."""


class ImageToMask(ValueParameters):
    r"""Learn which pixels of an image belong to a thing, by kernel ridge regression of pixels onto patches of the mask.

    Each pixel p is described by what it sees, :math:`v_p`: its place, the colours around it, and how much more its colour is
    found inside a guess of the mask than outside, in its own image. From that the square of the mask around it is predicted,

    .. math:: \min_h \sum_{\text{pixels } p} \|h(v_p) - y_{\square p}\|^2 + \alpha N \|h\|_k^2,

    with k Gaussian on few landmarks (Nyström), and overlapping squares are averaged. The first guess is the mean mask. Each
    further stage takes what the one before predicted for images it was not trained on as its guess, and sees it too:
    around the pixel, and in a few principal directions as a whole.

    Parameters
    ----------
    stages : int, default=3
        How often the guess is improved.
    landmarks : int, default=1000
        Pixels drawn at random that all are compared with. Time grows with its square, accuracy slowly.
    patch : int, default=5
        Side of the squares, of the image and of the mask; odd.
    context : int, default=8
        How far around a pixel the guess is looked at.
    alphas : sequence of float, optional
        Ridges to choose from, per pixel; by default 1e-7 to 1e-4.
    loss : Loss, default=IoU()
        What masks are scored by; chooses the threshold.
    folds : int, default=5
        Parts the training images are cut into for held-out predictions.
    random_state : int, default=0
        Seed of the folds and the landmarks.

    Attributes
    ----------
    thresholds_ : array
        For each stage, the share above which a pixel belongs to the mask: least mean loss over held-out predictions.
    stage_losses_ : array
        Mean held-out loss after each stage, at its threshold.
    alphas_ : list of float
        The ridge of each stage.

    Notes
    -----
    Normal equations add up over images, so all folds cost little more than one fit, and memory does not grow with the number of
    pixels. The held-out loss of a stage leaves an image out of that stage alone: the guesses of the other images were made with
    it. It compares settings and thresholds well, but not numbers of stages, which it makes look worse than they are (on horses,
    the third stage gains half a point on images kept apart throughout, and seems to lose one).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> masks = np.zeros((12, 10, 10), dtype=int)
    >>> for i, (r, c) in enumerate(rng.integers(0, 6, (12, 2))):
    ...     masks[i, r : r + 4, c : c + 4] = 1
    >>> images = 0.3 + 0.4 * masks[..., None] + 0.1 * rng.random((12, 10, 10, 3))
    >>> model = ImageToMask(stages=2, landmarks=60, patch=3, context=4).fit(images[:10], masks[:10])
    >>> model.predict(images[10:]).shape, bool(model.score(images[10:], masks[10:]) > -0.1)
    ((2, 10, 10), True)
    """

    def __init__(
        self,
        stages: int = 3,
        landmarks: int = 1000,
        patch: int = 5,
        context: int = 8,
        alphas: Sequence[float] | None = None,
        loss: Loss = IoU(),  # noqa: B008 - losses are values; fit never changes them
        folds: int = 5,
        random_state: int = 0,
    ) -> None:
        self.stages = stages
        self.landmarks = landmarks
        self.patch = patch
        self.context = context
        self.alphas = alphas
        self.loss = loss
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from images (n, rows, columns) or (n, rows, columns, colours) and masks of 0 and 1 (n, rows, columns)."""
        self._check_parameters()
        images = check_pictures(X, "X")
        masks, kind = check_masks(y, images.shape[:3])
        n, height, width, _ = images.shape
        if n < self.folds:
            raise ValueError(f"X has {n} images; expected at least folds={self.folds}")
        landmarks = min(int(self.landmarks), n * height * width)
        memory.require(landmarks, landmarks, self.folds + 4, f"{landmarks} landmarks", "use fewer landmarks")
        pixels = height * width
        memory.require(pixels, pixels, 4, f"the colours of {pixels} pixels against each other", "use smaller images")
        rng = np.random.default_rng(self.random_state)
        folds = rng.permutation(n) % int(self.folds)
        mean = masks.mean(axis=0)
        guess = np.broadcast_to(mean, masks.shape)
        stages: list[_Stage] = []
        found = []
        for number in range(int(self.stages)):
            stage, guess = _Stage.fit(self, images, masks, guess, number > 0, folds, landmarks, rng)
            stages.append(stage)
            found.append(self._best_threshold(guess, masks))
        self.stage_losses_, self.thresholds_ = (np.asarray(column) for column in zip(*found, strict=True))
        self.alphas_ = [stage.ridge.alpha for stage in stages]
        self._stages, self._mean, self._kind = stages, mean, kind
        self._shape = images.shape[1:]
        return self

    def soft_masks(self, X: Any) -> np.ndarray:
        """How much each pixel belongs to the mask, from 0 to 1: (n, rows, columns)."""
        *_, last = self._staged(X)
        return last

    def predict(self, X: Any) -> np.ndarray:
        """Masks of 0 and 1 (n, rows, columns), of the type given to `fit`."""
        *_, last = self.staged_predict(X)
        return last

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The masks after each stage; the last are those of `predict`."""
        check_is_fitted(self, "thresholds_")
        for guess, threshold in zip(self._staged(X), self.thresholds_, strict=True):
            yield (guess > threshold).astype(np.dtype(self._kind))

    def _staged(self, X: Any) -> Iterator[np.ndarray]:
        check_is_fitted(self, "thresholds_")
        images = check_pictures(X, "X")
        if images.shape[1:] != self._shape:
            raise ValueError(
                f"X holds images of {' × '.join(map(str, images.shape[1:]))} numbers; expected "
                f"{' × '.join(map(str, self._shape))}, as in training. Crop, pad or rescale them first"
            )
        guess = np.broadcast_to(self._mean, images.shape[:3])
        for stage in self._stages:
            guess = stage.predict(images, guess)
            yield guess

    def score(self, X: Any, y: Any) -> float:
        """Minus the mean loss of the predicted masks (higher is better); IoU itself is one more."""
        predicted = self.predict(X)
        masks, _ = check_masks(y, predicted.shape)
        return -float(np.mean(self._losses(masks, predicted)))

    def _losses(self, masks: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        n = len(masks)
        return to_numpy(self.loss.paired(masks.reshape(n, -1), predicted.reshape(n, -1).astype(float)))

    def _best_threshold(self, guess: np.ndarray, masks: np.ndarray) -> tuple[float, float]:
        """The least mean loss, and the threshold that has it."""
        figures = [float(np.mean(self._losses(masks, guess > threshold))) for threshold in _THRESHOLDS]
        best = int(np.argmin(figures))
        return figures[best], float(_THRESHOLDS[best])

    def _check_parameters(self) -> None:
        least = {"stages": 1, "landmarks": 1, "patch": 1, "context": 1, "folds": 2}
        for name, low in least.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < low:
                raise ValueError(f"{name}={value!r} in ImageToMask; expected a whole number, {low} or more")
        if self.patch % 2 == 0:
            raise ValueError(
                f"patch={self.patch!r} in ImageToMask; expected an odd number, with the pixel in the middle"
            )
        if not isinstance(self.loss, Loss):
            raise TypeError(f"loss={self.loss!r} in ImageToMask; expected a loss of masks, such as mercer.losses.IoU()")
        ridges = np.asarray(_ALPHAS if self.alphas is None else self.alphas, dtype=float)
        if ridges.ndim != 1 or len(ridges) == 0 or not np.all(np.isfinite(ridges) & (ridges > 0)):
            raise ValueError(f"alphas={self.alphas!r} in ImageToMask; expected positive finite numbers, at least one")

    def __sklearn_tags__(self) -> Tags:
        """Images in, images out."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        tags.target_tags.required = True
        tags.target_tags.multi_output, tags.target_tags.single_output = True, False
        return tags


class _Stage:
    """What pixels see at one stage, and the ridge regression onto the patches of the mask."""

    def __init__(self, view: PixelView, ridge: FoldedRidge, looks_at_guess: bool) -> None:
        self.view = view
        self.ridge = ridge
        self.looks_at_guess = looks_at_guess

    @classmethod
    def fit(
        cls,
        owner: ImageToMask,
        images: np.ndarray,
        masks: np.ndarray,
        guess: np.ndarray,
        looks_at_guess: bool,
        folds: np.ndarray,
        landmarks: int,
        rng: np.random.Generator,
    ) -> tuple[_Stage, np.ndarray]:
        """The stage, and what it predicts for each training image without the fold that image is in."""
        n, height, width, _ = images.shape
        radius = int(owner.patch) // 2
        ratios = colour_ratios(opponents(images), guess)
        seen = guess if looks_at_guess else None
        view = PixelView(radius, int(owner.context)).fit(images, ratios, seen, _DIRECTIONS)

        def rows(members: np.ndarray) -> np.ndarray:
            found = view(images[members], ratios[members], None if seen is None else seen[members])
            return found.reshape(-1, found.shape[2])

        chosen = np.sort(rng.choice(n * height * width, landmarks, replace=False))
        owners, places = np.divmod(chosen, height * width)
        pivots = np.concatenate([rows(np.asarray([i]))[places[owners == i]] for i in np.unique(owners)])
        features = Nystroem(Gaussian("median"), rank=None, tol=1e-10).fit(pivots)
        size = max(1, _ROWS // (height * width))
        parts = [part for fold in range(owner.folds) for part in _pieces(np.flatnonzero(folds == fold), size)]

        def block(part: int) -> tuple[np.ndarray, np.ndarray]:
            members = parts[part]
            targets = windows(masks[members][..., None], radius)
            return rows(members), targets.reshape(-1, targets.shape[2])

        alphas = _ALPHAS if owner.alphas is None else owner.alphas
        ridge = FoldedRidge.fit(features, block, np.asarray([folds[part[0]] for part in parts]), alphas)
        held_out = np.empty(masks.shape)
        for part in parts:
            held_out[part] = _joined(ridge.predict(rows(part), int(folds[part[0]])), (height, width), radius)
        return cls(view, ridge, looks_at_guess), held_out

    def predict(self, images: np.ndarray, guess: np.ndarray) -> np.ndarray:
        """Soft masks of new images."""
        height, width = images.shape[1:3]
        found = np.empty(images.shape[:3])
        for part in _pieces(np.arange(len(images)), max(1, _ROWS // (height * width))):
            own = guess[part]
            ratios = colour_ratios(opponents(images[part]), own)
            rows = self.view(images[part], ratios, own if self.looks_at_guess else None)
            predicted = self.ridge.predict(rows.reshape(-1, rows.shape[2]))
            found[part] = _joined(predicted, (height, width), self.view.radius)
        return found


def _joined(patches: np.ndarray, shape: tuple[int, int], radius: int) -> np.ndarray:
    """Predicted squares as soft masks."""
    n = len(patches) // (shape[0] * shape[1])
    return np.clip(overlapped(patches.reshape(n, -1), shape, radius), LEAST, 1 - LEAST)


def _pieces(members: np.ndarray, size: int) -> list[np.ndarray]:
    return [members[begin : begin + size] for begin in range(0, len(members), size)]
