"""Self-contained HTML pages: no scripts, fonts or pictures from elsewhere."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from importlib.resources import files

import numpy as np
from PIL import Image

from mercer.report.tables import Table

_LONG, _LONG_NAME = 48, 16  # characters from which on a cell is broken into lines, and the name of a row has more room


@dataclass(frozen=True)
class Picture:
    """Pixels from −1 (paper) to 1 (ink) with a label and a note below; `divided` draws a line half way."""

    image: np.ndarray
    label: str
    note: str = ""
    divided: bool = False


@dataclass(frozen=True)
class Card:
    """Pictures that belong side by side."""

    title: str
    pictures: list[Picture]


def page(title: str, blocks: Iterable[str], footer: str = "") -> str:
    """Return a page made of blocks of HTML."""
    body = "\n".join(blocks)
    style = files("mercer.report").joinpath("style.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<h1>{escape(title)}</h1>
{body}
<footer>{escape(footer)}</footer>
</body>
</html>
"""


def section(title: str) -> str:
    """Return a heading."""
    return f"<h2>{escape(title)}</h2>"


def paragraph(text: str) -> str:
    """Return a paragraph of plain text, with `names` between backticks as code."""
    return "<p>" + re.sub("`([^`]+)`", r"<code>\1</code>", escape(text)) + "</p>"


def table_html(table: Table) -> str:
    """Return a table, the best values in bold, cells of a kind in its colour."""
    texts = {j for row in table.rows for j, cell in enumerate(row) if j and len(cell) > _LONG}
    header = "".join(
        f'<th scope="col"{_class("text" * (j in texts))}>{escape(name)}</th>' for j, name in enumerate(table.header)
    )
    body = "\n".join(_line(table, i, texts) for i in range(len(table.rows)))
    caption = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    return f'<div class="wide"><table>{caption}<thead><tr>{header}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def gallery(cards: Iterable[Card], *, photographs: bool = False) -> str:
    """Return cards of pictures in a grid; on a dark page drawings are inverted, photographs are not."""
    kind = "gallery photographs" if photographs else "gallery"
    return f'<ul class="{kind}">\n' + "\n".join(map(_card, cards)) + "\n</ul>"


def _line(table: Table, i: int, texts: set[int]) -> str:
    name, *cells = table.rows[i]
    values = ""
    for j, cell in enumerate(cells, start=1):
        kinds = "best" * ((i, j) in table.best), table.kinds.get((i, j), ""), "text" * (j in texts)
        values += f"<td{_class(*kinds)}>{escape(cell)}</td>"
    return f'<tr><th scope="row"{_class("long" * (len(name) > _LONG_NAME))}>{escape(name)}</th>{values}</tr>'


def _class(*names: str) -> str:
    """Return the attribute with the names that are not empty; nothing without any."""
    kept = " ".join(filter(None, names))
    return f' class="{kept}"' if kept else ""


def _card(card: Card) -> str:
    figures = "".join(map(_figure, card.pictures))
    return f'<li class="card"><p>{escape(card.title)}</p><div class="pictures">{figures}</div></li>'


def _figure(picture: Picture) -> str:
    kind = "pixels divided" if picture.divided else "pixels"
    label, note = escape(picture.label), escape(picture.note)
    return (
        f'<figure><div class="{kind}"><img src="{data_uri(picture.image)}" alt="{label}"></div>'
        f"<figcaption>{label}<br>{note}</figcaption></figure>"
    )


def data_uri(image: np.ndarray, *, white: float = -1.0, black: float = 1.0) -> str:
    """Encode an image as a data URI; values are mapped linearly from `white` to `black` and clipped."""
    ink = np.clip((np.asarray(image, dtype=float) - white) / (black - white), 0.0, 1.0)
    if ink.ndim != 2 or ink.size == 0:
        raise ValueError(f"image has shape {ink.shape}; expected rows × columns")
    with io.BytesIO() as file:
        Image.fromarray(np.rint(255 * (1 - ink)).astype(np.uint8)).save(file, format="PNG", optimize=True)
        return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
