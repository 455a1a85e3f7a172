"""The pages of the site are true: sessions run, links lead somewhere, and the API and the gallery are complete."""

import ast
import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib
import pytest

import mercer

matplotlib.use("Agg")
ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))
site_tools = importlib.import_module("site_tools")
check_links, check_pages = importlib.import_module("check_links"), importlib.import_module("check_pages")

PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if not {"_build", "auto_examples"} & set(path.parts))
SESSIONS = [path for path in PAGES if "\n>>> " in path.read_text(encoding="utf-8")]
EXAMPLES = sorted((ROOT / "examples").rglob("plot_*.py"))
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name_of(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", SESSIONS, ids=name_of)
def test_sessions_run(page):
    """One session from top to bottom, each answer as printed."""
    text, names = page.read_text(encoding="utf-8"), {}
    for match in FENCE.finditer(text):
        line = text[: match.start()].count("\n") + 1
        test = doctest.DocTestParser().get_doctest(match[1], names, page.name, str(page), line)
        failures = []
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            doctest.DocTestRunner(verbose=False).run(test, out=failures.append, clear_globs=False)
        assert not failures, "".join(failures)
        names = test.globs


def test_commands_run(tmp_path):
    """Blocks of shell commands, in order, in one folder."""
    text = (ROOT / "docs" / "guide" / "command.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    script = "set -e\nmercer() { " + f'"{sys.executable}" -m mercer "$@"' + "; }\n" + "".join(blocks)
    run = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "receive" in (tmp_path / "answers.csv").read_text(encoding="utf-8")
    assert (tmp_path / "page.html").stat().st_size > 1000


def test_every_concept_has_a_page():
    index = (ROOT / "docs" / "guide" / "index.md").read_text(encoding="utf-8")
    for path in (ROOT / "docs" / "guide").glob("*.md"):
        assert path.stem == "index" or f"]({path.name})" in index
    assert len(SESSIONS) >= 14


def anchors_of(page):
    """The anchors that a renderer of Markdown gives to headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_pages(page):
    """Links to pages that the build writes (the API, the gallery) are checked by `make docs`, in the pages it wrote."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        if "://" in target:
            assert re.fullmatch(r"https://[\w.-]+\.[a-z]{2,}(/[\w./~#-]*)?", target), target
        elif not path or path.endswith(".md"):
            found = page.parent / path if path else page
            assert found.exists(), target
            assert not anchor or anchor in anchors_of(found), target


def test_broken_links_of_a_built_site_are_found(tmp_path, capsys):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.html").write_text('<h1 id="top">c</h1><a href="../a.html#here">a</a><img src="data:,">')
    page = '<p id="here"><a href="b/c.html#top">c</a><a href="#here">h</a><a href="https://example.org/x">x</a>'
    (tmp_path / "a.html").write_text(page)
    assert check_links.main(tmp_path) == 0
    assert "every link of the 2 pages" in capsys.readouterr().out
    bad = '<a href="b/d.html">d</a><a href="b/c.html#end">e</a><a href="https:/one.slash">s</a><img src="none.png">'
    (tmp_path / "a.html").write_text(page + bad)
    assert check_links.main(tmp_path) == 1
    assert capsys.readouterr().out.splitlines() == [
        "a.html: b/c.html#end: no such anchor",
        "a.html: b/d.html: no such file",
        "a.html: https:/one.slash: not an address",
        "a.html: none.png: no such file",
    ]


@pytest.mark.skipif(check_pages.BROWSER is None, reason="there is no Chromium to look at pages with")
def test_wide_pages_and_missing_pictures_are_found(tmp_path, capsys):
    (tmp_path / "drawn.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
    (tmp_path / "good.html").write_text('<div style="overflow:auto"><pre style="width:900px">wide</pre></div>')
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "good.html").write_text('<img src="../drawn.svg" loading="lazy">')
    assert check_pages.main(tmp_path) == 0
    assert "fits in 1200 and 500 pixels" in capsys.readouterr().out
    (tmp_path / "more" / "bad.html").write_text('<img src="none.svg"><p style="width:800px">too wide</p>')
    assert check_pages.main(tmp_path) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert "more/bad.html: 808 pixels wide in a window of 500" in first
    assert "too wide" in first
    assert second == "more/bad.html: the picture none.svg is not drawn"


# -- API ---------------------------------------------------------------------------------------------------


def test_every_room_with_public_names_has_a_page():
    """A room that gets an `__all__` needs a page; those without one have no public names."""
    rooms = {"mercer"}
    for module in pkgutil.walk_packages(mercer.__path__, "mercer."):
        listed = module.ispkg or module.name == "mercer.saving"
        if listed and hasattr(importlib.import_module(module.name), "__all__"):
            rooms.add(module.name)
    assert rooms == set(site_tools.ROOMS)
    index = (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8").split()
    assert rooms <= set(index)


def test_pages_cover_every_public_name():
    pages = site_tools.public_names()
    for room in site_tools.ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            thing = getattr(module, name)
            if not name.startswith("__") and type(thing).__name__ != "module":
                room_of_page, _, name_of_page = pages[f"{room}.{name}"].rpartition(".")
                assert getattr(importlib.import_module(room_of_page), name_of_page) is thing
    assert pages["mercer.estimators.DependencyEstimator"] == "mercer.DependencyEstimator"
    assert pages["mercer.estimators.Explanation"] == "mercer.uncertainty.Explanation"


# -- gallery -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_examples_tell_a_story_and_draw(example):
    """They are run by the build; here: a title with a story, a picture, and no data that has to be fetched."""
    text = example.read_text(encoding="utf-8")
    story = ast.get_docstring(ast.parse(text))
    title, line, *rest = story.splitlines()
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert len(" ".join(rest).split()) >= 40, "a story of a few sentences"
    assert "plt." in text or "Display" in text
    assert "MERCER_DATA" not in text
    assert example.parent.name in site_tools.EXAMPLES
