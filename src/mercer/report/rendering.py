"""Pages from templates of Jinja2, and figures of matplotlib inside them."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

_INK = "#010203"  # stands for the colour of the text of the page
_THEME = "<style>:root{color:#1b1f24}@media(prefers-color-scheme:dark){:root{color:#e6e9ec}}</style>"
_STYLE: dict[Any, Any] = {
    "text.color": _INK, "axes.labelcolor": _INK, "axes.edgecolor": _INK, "xtick.color": _INK, "ytick.color": _INK,
    "legend.facecolor": "none", "legend.framealpha": 0.0, "legend.edgecolor": "none", "figure.facecolor": "none",
    "axes.facecolor": "none", "savefig.facecolor": "none", "svg.fonttype": "none", "svg.hashsalt": "mercer",
    "axes.spines.top": False, "axes.spines.right": False, "font.size": 9.0, "font.family": "sans-serif",
}  # fmt: skip


@dataclass(frozen=True)
class Image:
    """An image as a data URI: a "chart" or "drawing" of vectors or pixels, or "pixels" that are drawn as squares."""

    uri: str
    kind: str
    width: int
    height: int


def require_report() -> Any:
    """Import Jinja2 and matplotlib; an error says how to install them."""
    try:
        import jinja2
        import matplotlib  # noqa: F401
    except ImportError as error:
        missing = "Jinja2" if "jinja2" in str(error) else "matplotlib"
        raise ImportError(f"reports need {missing}; run 'pip install mercer[report]'") from error
    return jinja2


def render(template: str, **content: Any) -> str:
    """Return the page that a template of this room makes, with the style of all pages."""
    jinja2 = require_report()
    loader = jinja2.FunctionLoader(lambda name: _read("templates", name))
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    return environment.get_template(template).render(style=_read("style.css"), **content)


def figure_style() -> Any:
    """Return a context in which figures of matplotlib are drawn in the colours of the page."""
    require_report()
    from matplotlib import pyplot

    return pyplot.rc_context(_STYLE)


def chart(figure: Any) -> Image:
    """Return a figure of matplotlib as vectors that are dark on light pages and light on dark ones, and close it."""
    from matplotlib import pyplot

    with io.StringIO() as file:
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        text = file.getvalue()
    width, height = (int(72 * size) for size in figure.get_size_inches())
    pyplot.close(figure)
    text = text[text.index("<svg") :].replace(_INK, "currentColor")
    place = text.index(">") + 1
    coded = base64.b64encode((text[:place] + _THEME + text[place:]).encode()).decode()
    return Image(f"data:image/svg+xml;base64,{coded}", "chart", width, height)


def pixels(image: np.ndarray) -> Image:
    """Return a gray image, from 0 (black) to 1 (white), as a PNG."""
    from matplotlib import image as images

    shown = np.clip(np.asarray(image, dtype=float), 0.0, 1.0)
    with io.BytesIO() as file:
        images.imsave(file, shown, cmap="gray", vmin=0.0, vmax=1.0, format="png")
        return png(file.getvalue(), "pixels", shown.shape[1], shown.shape[0])


def png(data: bytes, kind: str, width: int, height: int) -> Image:
    """Return the bytes of a PNG file as an image."""
    return Image(f"data:image/png;base64,{base64.b64encode(data).decode()}", kind, width, height)


def _read(*path: str) -> str:
    return files("mercer.report").joinpath(*path).read_text(encoding="utf-8")
