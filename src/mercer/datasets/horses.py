"""Images of horses and their masks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.datasets.store import read_arrays


@dataclass(frozen=True)
class Horses:
    """Images of horses (n × 32 × 32 × 3, whole numbers from 0 to 255) and their masks (n × 32 × 32, 0 or 1)."""

    images: np.ndarray
    masks: np.ndarray


def load_horses() -> dict[str, Horses]:
    """Load the Weizmann horses (Borenstein and Ullman 2002) at 32 × 32 pixels, in the parts of Li, Tarlow and Zemel (2013).

    Read from ``$MERCER_DATA/weizmann_horses32``, checked against a pinned SHA-256. The parts are "train" (160 images), "val"
    (40) and "test" (128).
    """
    name = "weizmann_horses32/weizmann_horses32.npz"
    found = {}
    for part, count in _COUNTS.items():
        images, masks = read_arrays(name, {f"X_{part}": (count, 32, 32, 3), f"Y_{part}": (count, 32, 32)})
        if not np.isin(masks, (0, 1)).all():
            raise ValueError(f"{name} holds masks with other values than 0 and 1 in part {part!r}; expected 0 and 1")
        found[part] = Horses(images, masks)
    return found


_COUNTS = {"train": 160, "val": 40, "test": 128}
