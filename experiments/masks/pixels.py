"""Features of a pixel: its place, the colours around it, their ratios given a guess of the mask, and that guess."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

LEAST = 0.01
"""Least probability of either side in a guess, so that every image keeps some of both."""

_COLOUR_SCALES = (0.03, 0.06, 0.12)
_PLACED = (0.08, 0.3)
"""Scales of colour and of place (in sides of the image) for the similarity of neighbouring pixels."""
_FLOOR = 1e-3
_WEIGHTS = {"place": 0.5, "colours": 1.0, "contrast": 0.7, "ratios": 0.5, "mask": 2.25, "shape": 1.0}
"""Weight of each kind of feature in the distance of two pixels; chosen on horses."""


def windows(maps: np.ndarray, radius: int, step: int = 1, *, outside: float | None = None) -> np.ndarray:
    """Return the square around each pixel of n × rows × columns × channels, one row of numbers per pixel.

    Beyond the edge the edge is repeated, or the value is `outside`.
    """
    n, height, width, channels = maps.shape
    sides = ((0, 0), (radius, radius), (radius, radius), (0, 0))
    padded = np.pad(maps, sides, "edge") if outside is None else np.pad(maps, sides, constant_values=outside)
    found = sliding_window_view(padded, (2 * radius + 1, 2 * radius + 1), axis=(1, 2))[..., ::step, ::step]
    return found.reshape(n, height * width, channels * found.shape[-1] * found.shape[-2])


def overlapped(patches: np.ndarray, shape: tuple[int, int], radius: int) -> np.ndarray:
    """Average squares predicted around each pixel into images; the middle of a square has most weight."""
    n, (height, width), side = len(patches), shape, 2 * radius + 1
    patches = patches.reshape(n, height, width, side, side)
    total = np.zeros((n, height + 2 * radius, width + 2 * radius))
    weight = np.zeros(total.shape[1:])
    for i in range(side):
        for j in range(side):
            own = np.exp(-((i - radius) ** 2 + (j - radius) ** 2) / (2.0 * max(radius, 1) ** 2))
            total[:, i : i + height, j : j + width] += own * patches[:, :, :, i, j]
            weight[i : i + height, j : j + width] += own
    return (total / weight)[:, radius : radius + height, radius : radius + width]


def opponents(images: np.ndarray) -> np.ndarray:
    """Turn three colours into brightness, red against green, and yellow against blue; return other images unchanged."""
    if images.shape[3] != 3:
        return images
    red, green, blue = np.moveaxis(images, 3, 0)
    return np.stack([(red + green + blue) / 3, red - green, (red + green) / 2 - blue], axis=3)


def colour_ratios(colours: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """Compute log ratios of the density of a pixel's colour inside and outside the guessed mask of its image, one per scale.

    Densities are sums of Gaussians over all other pixels of the image, weighted by the guess; the last one also weights them by
    their distance.
    """
    n, height, width, channels = colours.shape
    r, c = np.meshgrid(np.linspace(0, 1, height), np.linspace(0, 1, width), indexing="ij")
    place = np.stack([r.ravel(), c.ravel()], axis=1)
    apart = _squares(place) / _PLACED[1] ** 2
    found = np.empty((n, height, width, len(_COLOUR_SCALES) + 1))
    for i in range(n):
        inside = np.clip(guess[i].ravel(), LEAST, 1 - LEAST)
        sides = np.stack([inside / inside.sum(), (1 - inside) / (1 - inside).sum()], axis=1)
        squares = _squares(colours[i].reshape(-1, channels))
        likes = [squares / scale**2 for scale in _COLOUR_SCALES] + [squares / _PLACED[0] ** 2 + apart]
        for k, like in enumerate(likes):
            near = np.exp(-0.5 * like)
            np.fill_diagonal(near, 0.0)
            logs = np.log(near @ sides + _FLOOR)
            found[i, :, :, k] = (logs[:, 0] - logs[:, 1]).reshape(height, width)
    return found


def _squares(rows: np.ndarray) -> np.ndarray:
    norms = np.sum(rows**2, axis=1)
    return np.maximum(norms[:, None] + norms - 2.0 * rows @ rows.T, 0.0)


@dataclass
class PixelView:
    """Features of pixels, each kind centred and scaled to its weight on the training images.

    Attributes
    ----------
    radius, context : int
        Radii within which colours and the guess are features.
    means, scales : dict
        By kind of feature.
    """

    radius: int
    context: int
    means: dict[str, np.ndarray] = field(default_factory=dict)
    scales: dict[str, float] = field(default_factory=dict)
    middle: np.ndarray | None = None
    directions: np.ndarray | None = None
    """Principal directions of guessed masks; None if the only guess is the mean mask."""

    def fit(self, images: np.ndarray, ratios: np.ndarray, guess: np.ndarray | None, directions: int) -> PixelView:
        """Learn the directions of the guess, and the mean and spread of every kind of feature."""
        if guess is not None:
            flat = guess.reshape(len(guess), -1)
            self.middle = flat.mean(axis=0)
            self.directions = np.linalg.svd(flat - self.middle, full_matrices=False)[2][:directions]
        totals: dict[str, np.ndarray] = {}
        squares: dict[str, float] = {}
        for i in range(len(images)):
            own = None if guess is None else guess[i : i + 1]
            for kind, rows in self._kinds(images[i : i + 1], ratios[i : i + 1], own).items():
                totals[kind] = totals.get(kind, 0.0) + rows[0].mean(axis=0)
                squares[kind] = squares.get(kind, 0.0) + float(np.mean(np.sum(rows[0] ** 2, axis=1)))
        n = len(images)
        self.means = {kind: total / n for kind, total in totals.items()}
        for kind, mean in self.means.items():
            spread = squares[kind] / n - float(mean @ mean)
            self.scales[kind] = _WEIGHTS[kind] / np.sqrt(spread) if spread > 1e-12 else 0.0
        return self

    def __call__(self, images: np.ndarray, ratios: np.ndarray, guess: np.ndarray | None) -> np.ndarray:
        """Compute one row for each pixel of each image, n × pixels × features."""
        kinds = self._kinds(images, ratios, guess)
        return np.concatenate([(rows - self.means[kind]) * self.scales[kind] for kind, rows in kinds.items()], axis=2)

    def _kinds(self, images: np.ndarray, ratios: np.ndarray, guess: np.ndarray | None) -> dict[str, np.ndarray]:
        n, height, width, _ = images.shape
        r, c = np.meshgrid(np.linspace(0, 1, height), np.linspace(0, 1, width), indexing="ij")
        place = np.broadcast_to(np.stack([r, c], axis=2).reshape(1, -1, 2), (n, height * width, 2))
        spread = images.std(axis=(1, 2), keepdims=True)
        contrast = (images - images.mean(axis=(1, 2), keepdims=True)) / (spread + 0.05)
        found = {
            "place": place,
            "colours": windows(opponents(images), self.radius),
            "contrast": windows(contrast, self.radius),
            "ratios": windows(ratios, self.radius),
        }
        if guess is not None and self.directions is not None:
            found["mask"] = windows(guess[..., None], self.context, 2, outside=0.0)
            shape = (guess.reshape(n, -1) - self.middle) @ self.directions.T
            found["shape"] = np.broadcast_to(shape[:, None, :], (n, height * width, shape.shape[1]))
        return found
