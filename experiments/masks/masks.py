"""Segmentation: from images to masks of an object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from experiments.masks.folded_ridge import FoldedRidge
from experiments.masks.pictures import check_masks, check_pictures
from experiments.masks.pixels import LEAST, PixelView, colour_ratios, opponents, overlapped, windows
from mercer.core import memory
from mercer.core.arrays import to_numpy
from mercer.core.validation import check_instance, check_whole
from mercer.estimators.values import ValueParameters
from mercer.kernels import Gaussian
from mercer.losses import IoU, Loss
from mercer.operators import Nystroem

_ALPHAS = (1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4)
_THRESHOLDS = np.linspace(0.2, 0.8, 31)
_DIRECTIONS = 16
"""Number of principal directions of the guessed masks among the features of a pixel."""
_ROWS = 2**14
"""Number of pixels whose kernel values are held at a time."""


class ImageToMask(ValueParameters):
    r"""Learn masks of an object by kernel ridge regression from pixels to patches of the mask.

    The features :math:`v_p` of a pixel p are its place, the colours around it, and the log ratio of the densities of its
    colour inside and outside a guess of the mask in its own image. They predict the square of the mask around it,

    .. math:: \min_h \sum_{\text{pixels } p} \|h(v_p) - y_{\square p}\|^2 + \alpha N \|h\|_k^2,

    with k Gaussian on few landmarks (Nyström), and overlapping squares are averaged. The first guess is the mean mask. The
    guess of each further stage is the held-out prediction of the stage before; its values around the pixel and its principal
    components are further features.

    Parameters
    ----------
    stages : int, default=3
        Number of times the guess is improved.
    landmarks : int, default=1000
        Number of pixels drawn at random as landmarks. Time grows with its square, accuracy slowly.
    patch : int, default=5
        Side of the squares of the image and of the mask; odd.
    context : int, default=8
        Radius around a pixel within which the guess is a feature.
    alphas : sequence of float, optional
        Values of alpha to choose from, per pixel; by default 1e-7 to 1e-4.
    loss : Loss, default=IoU()
        Loss of masks, which chooses the threshold.
    folds : int, default=5
        Number of folds for held-out predictions.
    random_state : int, default=0
        Seed of the folds and the landmarks.

    Attributes
    ----------
    thresholds_ : array
        For each stage, the value above which a pixel belongs to the mask, of least mean loss on held-out predictions.
    stage_losses_ : array
        Mean held-out loss after each stage, at its threshold.
    alphas_ : list of float
        The chosen alpha of each stage.

    Notes
    -----
    Normal equations are sums over images, so all folds cost little more than one fit, and memory does not grow with the number
    of pixels. The held-out loss of a stage leaves an image out of that stage alone: the guesses of the other images depend on
    it. The loss compares settings and thresholds well, but is pessimistic about further stages (on horses, the third stage
    gains half a point on images kept apart throughout, and seems to lose one).

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

    def __init__(  # noqa: PLR0913 - parameters in the sense of scikit-learn
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
        alphas = _ALPHAS if self.alphas is None else self.alphas
        rng = np.random.default_rng(self.random_state)
        folds = rng.permutation(n) % int(self.folds)
        training = _Training(images, masks, folds, landmarks, int(self.patch), int(self.context), alphas, rng)
        mean = masks.mean(axis=0)
        guess = np.broadcast_to(mean, masks.shape)
        stages: list[_Stage] = []
        found = []
        for number in range(int(self.stages)):
            stage, guess = _Stage.fit(training, guess, number > 0)
            stages.append(stage)
            found.append(self._best_threshold(guess, masks))
        self.stage_losses_, self.thresholds_ = (np.asarray(column) for column in zip(*found, strict=True))
        self.alphas_ = [stage.ridge.alpha for stage in stages]
        self._stages, self._mean, self._kind = stages, mean, kind
        self._shape = images.shape[1:]
        return self

    def soft_masks(self, X: Any) -> np.ndarray:
        """Predict the degree, from 0 to 1, to which each pixel belongs to the mask: (n, rows, columns)."""
        *_, last = self._staged(X)
        return last

    def predict(self, X: Any) -> np.ndarray:
        """Predict masks of 0 and 1 (n, rows, columns), of the type given to `fit`."""
        *_, last = self.staged_predict(X)
        return last

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the masks after each stage; the last are those of `predict`."""
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
        """Return minus the mean loss of the predicted masks (higher is better); mean IoU is 1 plus this."""
        predicted = self.predict(X)
        masks, _ = check_masks(y, predicted.shape)
        return -float(np.mean(self._losses(masks, predicted)))

    def _losses(self, masks: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        n = len(masks)
        return to_numpy(self.loss.paired(masks.reshape(n, -1), predicted.reshape(n, -1).astype(float)))

    def _best_threshold(self, guess: np.ndarray, masks: np.ndarray) -> tuple[float, float]:
        """Return the least mean loss, and its threshold."""
        losses = [float(np.mean(self._losses(masks, guess > threshold))) for threshold in _THRESHOLDS]
        best = int(np.argmin(losses))
        return losses[best], float(_THRESHOLDS[best])

    def _check_parameters(self) -> None:
        least = {"stages": 1, "landmarks": 1, "patch": 1, "context": 1, "folds": 2}
        for name, low in least.items():
            check_whole(getattr(self, name), name, low, expected=f"a whole number, {low} or more")
        if self.patch % 2 == 0:
            raise ValueError(f"patch={self.patch!r}; expected an odd number, with the pixel in the middle")
        check_instance(self.loss, "loss", Loss, expected="a loss of masks, such as mercer.losses.IoU()")
        alphas = np.asarray(_ALPHAS if self.alphas is None else self.alphas, dtype=float)
        if alphas.ndim != 1 or len(alphas) == 0 or not np.all(np.isfinite(alphas) & (alphas > 0)):
            raise ValueError(f"alphas={self.alphas!r}; expected positive finite numbers, at least one")

    def __sklearn_tags__(self) -> Tags:
        """Declare that images are mapped to images."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        tags.target_tags.required = True
        tags.target_tags.multi_output, tags.target_tags.single_output = True, False
        return tags


@dataclass(frozen=True)
class _Training:
    """Training images and masks, and the settings that all stages share."""

    images: np.ndarray
    masks: np.ndarray
    folds: np.ndarray
    landmarks: int
    patch: int
    context: int
    alphas: Sequence[float]
    random: np.random.Generator


class _Stage:
    """Features of pixels at one stage, and the ridge regression onto the patches of the mask."""

    def __init__(self, view: PixelView, ridge: FoldedRidge, looks_at_guess: bool) -> None:
        self.view = view
        self.ridge = ridge
        self.looks_at_guess = looks_at_guess

    @classmethod
    def fit(cls, training: _Training, guess: np.ndarray, looks_at_guess: bool) -> tuple[_Stage, np.ndarray]:
        """Fit the stage, and predict each training image without its fold."""
        images, masks, folds = training.images, training.masks, training.folds
        n, height, width, _ = images.shape
        radius = training.patch // 2
        ratios = colour_ratios(opponents(images), guess)
        seen = guess if looks_at_guess else None
        view = PixelView(radius, training.context).fit(images, ratios, seen, _DIRECTIONS)

        def rows(members: np.ndarray) -> np.ndarray:
            found = view(images[members], ratios[members], None if seen is None else seen[members])
            return found.reshape(-1, found.shape[2])

        chosen = np.sort(training.random.choice(n * height * width, training.landmarks, replace=False))
        owners, places = np.divmod(chosen, height * width)
        pivots = np.concatenate([rows(np.asarray([i]))[places[owners == i]] for i in np.unique(owners)])
        features = Nystroem(Gaussian("median"), rank=None, tol=1e-10).fit(pivots)
        size = max(1, _ROWS // (height * width))
        parts = [part for fold in range(folds.max() + 1) for part in _pieces(np.flatnonzero(folds == fold), size)]

        def block(part: int) -> tuple[np.ndarray, np.ndarray]:
            members = parts[part]
            targets = windows(masks[members][..., None], radius)
            return rows(members), targets.reshape(-1, targets.shape[2])

        ridge = FoldedRidge.fit(features, block, np.asarray([folds[part[0]] for part in parts]), training.alphas)
        held_out = np.empty(masks.shape)
        for part in parts:
            held_out[part] = _joined(ridge.predict(rows(part), int(folds[part[0]])), (height, width), radius)
        return cls(view, ridge, looks_at_guess), held_out

    def predict(self, images: np.ndarray, guess: np.ndarray) -> np.ndarray:
        """Predict soft masks of new images."""
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
    """Average predicted squares into soft masks."""
    n = len(patches) // (shape[0] * shape[1])
    return np.clip(overlapped(patches.reshape(n, -1), shape, radius), LEAST, 1 - LEAST)


def _pieces(members: np.ndarray, size: int) -> list[np.ndarray]:
    return [members[begin : begin + size] for begin in range(0, len(members), size)]
