"""Horses and which pixels they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.datasets.store import fetch


@dataclass(frozen=True)
class Horses:
    """Pictures of horses (n × 32 × 32 × 3, whole numbers from 0 to 255) and their masks (n × 32 × 32, 0 or 1)."""

    images: np.ndarray
    masks: np.ndarray


def load_horses() -> dict[str, Horses]:
    """The Weizmann horses (Borenstein and Ullman 2002) at 32 × 32 pixels, in the parts of Li, Tarlow and Zemel (2013).

    Read from ``$MERCER_DATA/weizmann_horses32``, checked against a pinned SHA-256.

    Returns
    -------
    dict
        ``"train"`` (160 pictures), ``"val"`` (40) and ``"test"`` (128).
    """
    with np.load(fetch("weizmann_horses32/weizmann_horses32.npz"), allow_pickle=False) as arrays:
        found = {part: Horses(arrays[f"X_{part}"], arrays[f"Y_{part}"]) for part in _COUNTS}
    for part, count in _COUNTS.items():
        images, masks = found[part].images, found[part].masks
        if images.shape != (count, 32, 32, 3) or masks.shape != (count, 32, 32) or not np.isin(masks, (0, 1)).all():
            raise ValueError(
                f"the horses file holds images {images.shape} and masks {masks.shape} in part {part!r}; expected "
                f"{(count, 32, 32, 3)}, and masks of 0 and 1"
            )
    return found


_COUNTS = {"train": 160, "val": 40, "test": 128}
