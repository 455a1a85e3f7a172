"""Parts of the documentation that Sphinx does not have: pages of the API, links from code, formulas as MathML, order."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.addnodes import pending_xref
from sphinx.util import logging

ROOMS = {
    "mercer": "Start here",
    "mercer.automatic": "From a loss to a model",
    "mercer.estimators": "Estimators",
    "mercer.sequence_models": "Words and other sequences",
    "mercer.kernels": "Kernels",
    "mercer.losses": "Losses",
    "mercer.decoders": "Decoders",
    "mercer.learners": "Learners",
    "mercer.embeddings": "Embeddings",
    "mercer.operators": "Operators",
    "mercer.solvers": "Solvers",
    "mercer.selection": "Selection",
    "mercer.uncertainty": "Uncertainty",
    "mercer.plots": "Displays",
    "mercer.report": "Reports",
    "mercer.structures": "Objects",
    "mercer.structures.molecules": "Molecules",
    "mercer.datasets": "Data sets",
    "mercer.io": "Files",
    "mercer.saving": "Saving",
    "mercer.testing": "Contracts",
}
"""Rooms with public names, and the titles of their pages."""

EXAMPLES = ["tables", "words", "structures", "images", "curves", "parts", "sizes"]
"""Sections of the gallery, in order."""

_WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n\n"  # room for wide tables


def public_names() -> dict[str, str]:
    """Return the page of each public name; a name of several rooms has its page in `mercer`, or in the room it comes from."""
    everywhere: dict[int, list[tuple[str, Any]]] = {}
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            thing = getattr(module, name)
            if not name.startswith("__") and type(thing).__name__ != "module":
                everywhere.setdefault(id(thing), []).append((f"{room}.{name}", thing))
    pages = {}
    for found in everywhere.values():
        source = getattr(found[0][1], "__module__", None) or ""

        def rank(name: str, source: str = source) -> tuple[bool, bool]:
            room = name.rsplit(".", 1)[0]
            return room != "mercer", not source.startswith(room)

        page = min((name for name, _ in found), key=rank)
        pages |= {name: page for name, _ in found}
    return pages


def write_api(app: Any, config: Any) -> None:
    """Write a page with a table of names for each room."""
    folder, pages = Path(app.srcdir) / "api", public_names()
    for room, title in ROOMS.items():
        module = importlib.import_module(room)
        kinds: dict[str, list[str]] = {"Classes": [], "Functions": [], "Constants": []}
        for name in sorted((name for name in pages if name.rsplit(".", 1)[0] == room), key=str.lower):
            thing = getattr(module, name.rsplit(".", 1)[1])
            kinds["Classes" if isinstance(thing, type) else "Functions" if callable(thing) else "Constants"].append(
                name
            )
        head = f"{title}: ``{room}``"
        first = (module.__doc__ or "").strip().split("\n")[0]
        lines = [head, "=" * len(head), "", first, "", f".. currentmodule:: {room}", ""]
        for kind, names in kinds.items():
            lines += [kind, "-" * len(kind), ""] if names else []
            if kind == "Constants":
                for name in names:
                    lines += [f".. autodata:: {name.removeprefix(room + '.')}", "   :no-value:", ""]
                continue
            own = [name for name in names if pages[name] == name]
            others = [pages[name] for name in names if pages[name] not in names]
            if own:
                lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
                lines += [f"   {name.removeprefix(room + '.')}" for name in own] + [""]
            if others:
                lines += [".. autosummary::", "   :nosignatures:", "", *(f"   ~{name}" for name in others), ""]
        _write(folder / f"{room}.rst", "\n".join(lines))
    config.autosummary_generate = [str(folder / f"{room}.rst") for room in ROOMS]


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:  # an unchanged page is not read again
        path.write_text(text, encoding="utf-8")


def add_results(app: Any, docname: str, source: list[str]) -> None:
    """Add the pages of experiments to the contents of the summary, which a command writes; errors stay beside their values."""
    if docname.startswith("results"):
        source[0] = _WIDE + source[0].replace(" ± ", "\u00a0±\u00a0")
    if docname == "results":
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\nresults/*\n```\n"


def skip_foreign(app: Any, kind: str, name: str, thing: Any, *others: Any) -> bool | None:
    """Leave out members that are inherited from other libraries; their pages are there."""
    source = getattr(getattr(thing, "fget", thing), "__module__", None)
    foreign = source is None or not source.startswith("mercer")
    return True if kind == "class" and callable(getattr(thing, "fget", thing)) and foreign else None


def link_code(app: Any, doctree: nodes.document) -> None:
    """Make links of names in code: `Gaussian`, `Gaussian("median")` and `mercer.kernels.Gaussian`."""
    pages = public_names()
    # of equal names in several rooms, that of the first room
    short = {name.rsplit(".", 1)[1]: page for name, page in reversed(list(pages.items()))}
    here = app.env.docname.rsplit("/", 1)[-1]
    for literal in list(doctree.findall(nodes.literal)):
        matched = re.fullmatch(r"((?:\w+\.)*)(\w+)(\(.*\))?", literal.astext(), re.DOTALL)
        if matched is None or _linked(literal):
            continue
        target = pages.get(matched[1] + matched[2])
        if not matched[1] and matched[2][0].isupper():
            target = short.get(matched[2])
        if target is None or target == here:
            continue
        link = pending_xref("", refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refwarn=True)
        link["refdoc"] = app.env.docname
        literal.replace_self(link)
        link += literal


def _linked(node: nodes.Node) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.reference | pending_xref | nodes.title | nodes.target):
            return True
    return False


def check_inventory(app: Any, error: Exception | None) -> None:
    """Raise a warning, which is an error here, for a public name without a page."""
    if error is None and app.builder.format == "html":
        missing = set(public_names().values()) - set(app.env.domaindata["py"]["objects"])
        if missing:
            logging.getLogger(__name__).warning("public names without a page: %s", ", ".join(sorted(missing)))


def inline_math(writer: Any, node: nodes.math) -> None:
    """Write a formula in a line as MathML, which browsers draw without a script."""
    writer.body.append(_mathml(node, block=False))
    raise nodes.SkipNode


def block_math(writer: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own as MathML."""
    writer.body.append(f'<div class="math">{_mathml(node, block=True)}</div>')
    raise nodes.SkipNode


def _mathml(node: nodes.Element, block: bool) -> str:
    # sizes, which MathML finds by itself
    text = re.sub(r"\\([Bb]ig[lr]?|textstyle)(?![a-z])", "", node.astext()).replace(r"\dots", r"\ldots")
    try:
        return latex2mathml.tex2mathml(text, as_block=block)
    except MathError as error:
        logging.getLogger(__name__).warning("formula %r: %s", node.astext(), error, location=node)
        return node.astext()


def section_order(folder: str) -> int:
    """Return the place of a section of the gallery."""
    return EXAMPLES.index(Path(folder).name) if Path(folder).name in EXAMPLES else -1


def example_order(name: str) -> str:
    """Return the name of an example, by which those of a section are ordered."""
    return name


def reset(configuration: Any, name: str) -> None:
    """Set the style of pictures before each example."""
    import matplotlib

    matplotlib.rcParams.update({"figure.dpi": 100, "axes.spines.top": False, "axes.spines.right": False})


def setup(app: Any) -> dict[str, bool]:
    """Add the parts to Sphinx."""
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
    app.connect("config-inited", write_api)  # before Sphinx looks for pages
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("source-read", add_results)
    app.connect("doctree-read", link_code)
    app.connect("build-finished", check_inventory)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
