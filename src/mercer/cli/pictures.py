"""Inputs and outputs as text, and as small pictures where they are images, curves or molecules."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.cli.console import shortened
from mercer.cli.evaluate import brief, written_input
from mercer.io.file_model import FileModel
from mercer.io.records import Records
from mercer.report.rendering import Image, figure_style, pixels, png

_LONGEST = 200  # characters of an object
_MANY_DECIMALS = re.compile(r"-?\d*\.\d{6,}(e[-+]?\d+)?")


@dataclass(frozen=True)
class Shown:
    """An object as text, and as a picture if it has one."""

    text: str
    image: Image | None = None


def show_outputs(model: FileModel) -> Callable[[Any], Shown]:
    """Return the way to show outputs of a model."""
    return _way(getattr(model.estimator, "kinds_", {}).get("outputs", ""))


def show_inputs(model: FileModel) -> Callable[[Records, int], Shown]:
    """Return the way to show the input of a record."""
    names, kinds = model.schema.inputs, getattr(model.estimator, "kinds_", {})
    one = _way(kinds.get("inputs", ""))

    def show(records: Records, i: int) -> Shown:
        values = [records.columns[name][i] for name in names]
        if len(values) == 1 and one is not _as_text:
            return one(values[0])
        if len(values) == 1:
            return Shown(shortened(written_input(values[0]), _LONGEST))
        pairs = zip(names, values, strict=True)
        return Shown(
            shortened(", ".join(f"{name} {_rounded(written_input(value))}" for name, value in pairs), _LONGEST)
        )

    return show


def _rounded(text: str) -> str:
    """Five digits of a number with many decimals; other text as it is."""
    return brief(float(text)) if _MANY_DECIMALS.fullmatch(text) else text


def _way(kind: str) -> Callable[[Any], Shown]:
    ways = {"images": _as_image, "curves": _as_curve, "molecules": _as_molecule, "spectra": _as_spectrum}
    return ways.get(kind, _as_text)


def _as_text(thing: Any) -> Shown:
    return Shown(shortened(brief(thing), _LONGEST))


def _as_image(thing: Any) -> Shown:
    array = np.asarray(thing, dtype=float)
    if array.ndim != 2:
        return _as_text(thing)
    return Shown(f"image of {array.shape[0]}×{array.shape[1]} pixels", pixels(array))


def _as_curve(thing: Any) -> Shown:
    values = np.asarray(thing, dtype=float).ravel()
    text = f"{len(values)} points from {values.min():.3g} to {values.max():.3g}"
    return Shown(text, _drawn(lambda ax: ax.plot(values, color="#2563a8", linewidth=1.2)))


def _as_spectrum(thing: Any) -> Shown:
    text = f"{len(thing)} peaks" + (f", precursor {thing.precursor:.4f}" if thing.precursor else "")
    return Shown(text, _drawn(lambda ax: ax.vlines(thing.mz, 0.0, thing.intensity, color="#2563a8", linewidth=1.0)))


def _drawn(draw: Callable[[Any], Any]) -> Image:
    with figure_style():
        from matplotlib import pyplot

        figure, ax = pyplot.subplots(figsize=(1.4, 0.6), layout="constrained")
        draw(ax)
        ax.axis("off")
        with io.BytesIO() as file:
            figure.savefig(file, format="png", dpi=100, transparent=True)
            data = file.getvalue()
        pyplot.close(figure)
    return png(data, "curve", 140, 60)


def _as_molecule(thing: Any) -> Shown:
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.Draw import rdMolDraw2D

    molecule = MolFromSmiles(str(thing))
    if molecule is None:
        return _as_text(thing)
    drawer = rdMolDraw2D.MolDraw2DCairo(150, 100)
    drawer.DrawMolecule(molecule)
    drawer.FinishDrawing()
    return Shown(shortened(str(thing), _LONGEST), png(drawer.GetDrawingText(), "drawing", 150, 100))
