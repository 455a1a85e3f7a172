"""Folders of images, with masks or classes, by Pillow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer.core.files import written_atomically
from mercer.io.records import FORMATS, BadRecord, ReadOptions, Records

SUFFIXES = frozenset(FORMATS["images"])
MOST_PIXELS, MOST_FILES = 2**24, 100_000
_WHITE = 255.0


def read_images(path: str, options: ReadOptions) -> Records:
    """Read the columns file, image, and mask or class, from a folder or one image.

    Images are gray, from 0 (black) to 1 (white), all of one size. Masks are images of the same names in the folder `masks`, true
    where they are lighter than half; without masks, images that lie in folders have these as their classes.
    """
    folder = Path(path)
    from PIL import Image as pillow

    masks = None if options.masks is None else _files(Path(options.masks), "the folder of masks")
    paths = _files(folder, "a folder of images")
    bad: list[BadRecord] = []
    rows: list[dict[str, Any]] = []
    for name, file in paths.items():
        try:
            row: dict[str, Any] = {"file": name, "image": _pixels(pillow, file)}
            if masks is not None:
                row["mask"] = _mask(pillow, masks, name, row["image"].shape)
            elif len(Path(name).parts) > 1:
                row["class"] = Path(name).parent.as_posix()
            rows.append(row)
        except (OSError, ValueError, SyntaxError, pillow.DecompressionBombError) as error:
            bad.append(BadRecord(f"image {name}", str(error)))
    if not rows:
        raise ValueError(f"{path}: {bad[0]}")
    names = ["file", "image", *(["mask"] if masks is not None else [])]
    names += ["class"] if masks is None and any("class" in row for row in rows) else []
    columns = {name: [row.get(name) for row in rows] for name in names}
    size = "×".join(map(str, rows[0]["image"].shape))
    notes = [f"{len(rows)} images of {size} pixels" + (f", {len(masks)} masks" if masks is not None else "")]
    kinds = {"image": "images", "mask": "images"}
    found = Records(columns, list(range(1, len(rows) + 1)), "image", bad, notes, kinds=kinds)
    found.inputs, found.outputs = ("image",), tuple(names[2:])
    return found


def write_images(folder: Path, names: Sequence[str], images: Any) -> int:
    """Write images from 0 to 1 as PNG files of the same names; return their number."""
    from PIL import Image as pillow

    for name, image in zip(names, np.asarray(images, dtype=float), strict=True):
        pixels = np.rint(np.clip(image, 0.0, 1.0) * _WHITE).astype(np.uint8)
        with written_atomically((folder / name).with_suffix(".png")) as temporary:
            pillow.fromarray(pixels).save(temporary, format="PNG")
    return len(names)


def _files(folder: Path, what: str) -> dict[str, Path]:
    if folder.is_file() and folder.suffix.lower() in SUFFIXES:
        return {folder.name: folder}
    if not folder.is_dir():
        raise ValueError(f"{folder}: not a folder; expected {what}")
    found = {
        file.relative_to(folder).as_posix(): file
        for file in sorted(folder.rglob("*"))
        if file.suffix.lower() in SUFFIXES and file.is_file()
    }
    if not found:
        raise ValueError(f"{folder} holds no images ({', '.join(sorted(SUFFIXES))}); expected {what}")
    if len(found) > MOST_FILES:
        raise ValueError(f"{folder} holds {len(found)} images; expected at most {MOST_FILES}")
    return found


def _pixels(pillow: Any, file: Path) -> np.ndarray:
    with pillow.open(file) as image:
        if image.width * image.height > MOST_PIXELS:
            raise ValueError(f"{image.width}×{image.height} pixels; expected at most {MOST_PIXELS}")
        return np.asarray(image.convert("L"), dtype=float) / _WHITE


def _mask(pillow: Any, masks: dict[str, Path], name: str, shape: tuple[int, ...]) -> np.ndarray:
    stems = {Path(other).with_suffix("").as_posix(): file for other, file in masks.items()}
    file = masks.get(name) or stems.get(Path(name).with_suffix("").as_posix())
    if file is None:
        raise ValueError("there is no mask of this name")
    mask = (_pixels(pillow, file) > 0.5).astype(float)
    if mask.shape != shape:
        raise ValueError(f"the mask has {'×'.join(map(str, mask.shape))} pixels; expected {'×'.join(map(str, shape))}")
    return mask
