"""Faces in several poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer.datasets.store import read_arrays

POSES = ("straight", "left", "right", "up")


@dataclass(frozen=True)
class FacePairs:
    """Two views of the same person with the same expression: images (n × rows × columns) in, images out, and the person."""

    inputs: np.ndarray
    outputs: np.ndarray
    person: np.ndarray

    def with_mirrored(self) -> FacePairs:
        """Return these pairs, then their mirror images."""
        inputs, outputs = (np.concatenate([views, views[:, :, ::-1]]) for views in (self.inputs, self.outputs))
        return FacePairs(inputs, outputs, np.concatenate([self.person, self.person]))


@dataclass(frozen=True)
class Faces:
    """Images of faces (n × rows × columns), pixels in [0, 1], with the person, pose, expression and eyes of each."""

    images: np.ndarray
    person: np.ndarray
    pose: np.ndarray
    expression: np.ndarray
    eyes: np.ndarray

    def pairs(self, source: str | Sequence[str], target: str = "straight") -> FacePairs:
        """Pair images in the `source` poses with those in the `target` pose, the rest being equal.

        Images without a counterpart are left out.
        """
        sources = [source] if isinstance(source, str) else list(source)
        for pose in (*sources, target):
            if pose not in POSES:
                raise ValueError(f"pose {pose!r} is unknown; expected one of {', '.join(POSES)}")
        of = {key: i for i, key in enumerate(zip(self.person, self.expression, self.eyes, self.pose, strict=True))}
        found = [
            (i, of[(*key[:3], target)])
            for pose in sources
            for key, i in of.items()
            if key[3] == pose and (*key[:3], target) in of
        ]
        left, right = np.asarray(found).T
        return FacePairs(self.images[left], self.images[right], self.person[left])


def load_faces(size: str = "quarter") -> Faces:
    """Load the CMU face images (Mitchell 1997): 20 people, 624 images, four poses, four expressions, with or without sunglasses.

    Read from ``$MERCER_DATA/cmu_faces``, checked against a pinned SHA-256. `size` is "quarter" (30 × 32 pixels) or "half"
    (60 × 64).
    """
    if size not in _SHAPES:
        raise ValueError(f"size is {size!r}; expected 'quarter' (30 × 32 pixels) or 'half' (60 × 64)")
    shapes: dict[str, tuple[int, ...]] = {"X": (_COUNT, *_SHAPES[size])}
    shapes |= dict.fromkeys(("person", "pose", "expression", "eyes"), (_COUNT,))
    pixels, *columns = read_arrays(f"cmu_faces/cmu_faces_{size}.npz", shapes)
    return Faces(pixels.astype(float) / 255.0, *columns)


_COUNT = 624
_SHAPES = {"quarter": (30, 32), "half": (60, 64)}
