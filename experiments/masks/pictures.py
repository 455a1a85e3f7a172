"""Checks of images and masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.core.arrays import is_array, to_numpy
from mercer.core.collections import as_vectors


def check_pictures(X: Any, name: str) -> np.ndarray:
    """Return images as n × rows × columns × colours of doubles from 0 to 1; whole numbers are read as 0 to 255."""
    found = _stacked(X, name)
    found = found[..., None] if found.ndim == 3 else found
    if found.ndim != 4 or min(found.shape) == 0 or found.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} has shape {found.shape} and dtype {found.dtype}; expected images × rows × columns, or images × rows × "
            "columns × colours, of numbers"
        )
    pixels = found / 255.0 if found.dtype.kind in "iu" else found.astype(float)
    if not (np.isfinite(pixels).all() and pixels.min() >= 0 and pixels.max() <= 1):
        raise ValueError(
            f"{name} has pixels from {found.min():.4g} to {found.max():.4g}; expected 0 to 1, or whole numbers from 0 to 255. "
            "Divide by the largest possible value"
        )
    return pixels


def check_masks(y: Any, shape: tuple[int, ...]) -> tuple[np.ndarray, str]:
    """Return masks of 0 and 1 as doubles, and their original type."""
    masks = _stacked(y, "y")
    if masks.shape != shape:
        raise ValueError(
            f"y has shape {masks.shape}; expected {shape}, a mask for each image with as many rows and columns"
        )
    if masks.dtype.kind not in "biuf" or not np.isin(masks, (0, 1)).all():
        raise ValueError("y holds values other than 0 and 1; expected masks, such as labels == label_of_the_object")
    return masks.astype(float), masks.dtype.str


def _stacked(images: Any, name: str) -> np.ndarray:
    if is_array(images):
        return to_numpy(images)
    if images is None or isinstance(images, str) or not hasattr(images, "__iter__"):
        raise ValueError(f"{name} is {images!r:.40}; expected images, as an array or a list")
    listed = list(images)
    as_vectors(listed, name)  # raises an error for images of several sizes
    return np.asarray([to_numpy(image) if is_array(image) else image for image in listed])
