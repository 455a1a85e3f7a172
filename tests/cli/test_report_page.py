"""mercer report: one page without the network, searched and sorted in a browser."""

import html.parser
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from mercer.cli import report as command
from mercer.cli.evaluate import PairsFile
from mercer.cli.fit import Source, fit
from mercer.cli.pictures import _rounded
from mercer.cli.presets import FitOptions

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def silent(sentence):
    """Say nothing."""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of three classes of points in the plane, with a name that tries to be code."""
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    names = np.array(["<b>red</b>", "green", "blue"])

    def write(path, n):
        kind = rng.integers(3, size=n)
        x, y = rng.normal(size=(2, n)) * 0.6 + np.array([[0, 2, 0], [0, 0, 2]])[:, kind]
        path.write_text("x,y,colour\n" + "".join(f"{a},{b},{names[k]}\n" for a, b, k in zip(x, y, kind, strict=True)))
        return str(path)

    fit(Source(write(folder / "known.csv", 60), outputs=("colour",)), folder / "m", FitOptions(effort="fast"), silent)
    found = command.report(folder / "m", PairsFile(write(folder / "test.csv", 40)), folder / "page.html", silent)
    return folder / "page.html", found


class Tags(html.parser.HTMLParser):
    """Tags with their attributes, and whether every one was closed."""

    VOID = frozenset(["meta", "img", "input", "br", "link"])

    def __init__(self):
        super().__init__()
        self.found, self.open = [], []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(path):
    tags = Tags()
    tags.feed(path.read_text(encoding="utf-8"))
    assert not tags.open
    return tags.found


def test_the_page_is_small_whole_and_needs_no_network(page):
    path, found = page
    text = path.read_text(encoding="utf-8")
    assert found["bytes"] == len(text.encode()) < 2_000_000
    tags = parsed(path)
    assert not [a for _, a in tags for key in ("src", "href") if not a.get(key, "data:").startswith(("data:", "#"))]
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", text)
    assert "<b>red" not in text
    assert "&lt;b&gt;red&lt;/b&gt;" in text


def test_the_page_can_be_read_aloud(page):
    tags = parsed(page[0])
    assert all(attributes.get("alt") for tag, attributes in tags if tag == "img")
    assert dict(tags)["html"]["lang"] == "en"
    assert sum(tag == "h1" for tag, _ in tags) == 1
    assert all("scope" in attributes for tag, attributes in tags if tag == "th")
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {"search", "count"} <= set(ids)
    assert ("role", "status") in [item for _, attributes in tags for item in attributes.items()]


def test_the_page_agrees_with_the_evaluation(page, mercer_command):
    path, found = page
    out = mercer_command("evaluate", path.parent / "m", path.parent / "test.csv", "--json")[1]
    assert found["methods"] == json.loads(out)["methods"]
    assert f"{found['methods'][0]['loss']:.4g}" in path.read_text(encoding="utf-8")


SCRIPT = """
<script>
const state = () => ({
  shown: [...document.querySelectorAll("#table tbody tr")].filter(r => !r.hidden)
    .map(r => r.cells[2].textContent.trim() + " " + r.querySelector("summary").textContent.trim()),
  losses: [...document.querySelectorAll("#table tbody tr")].map(r => +r.cells[4].dataset.value),
  numbers: [...document.querySelectorAll("#table tbody tr")].map(r => +r.cells[0].dataset.value),
  doubts: [...document.querySelectorAll("#table tbody tr")].map(r => +r.cells[5].dataset.value),
  count: document.getElementById("count").textContent,
  sorted: [...document.querySelectorAll("#table th")].map(h => h.getAttribute("aria-sort")),
});
const steps = [state()], box = document.getElementById("search"), heads = document.querySelectorAll("#table th button");
box.value = "GREEN"; box.dispatchEvent(new Event("input")); steps.push(state());
box.value = ""; box.dispatchEvent(new Event("input"));
heads[0].focus(); document.activeElement.click(); heads[0].click(); steps.push(state());
heads[4].click(); steps.push(state());
const only = document.getElementById("marked"); only.click(); steps.push(state()); only.click();
heads[5].click(); steps.push(state());
const wide = document.documentElement.scrollWidth <= window.innerWidth;
document.body.innerHTML = "<pre id=result></pre>";
document.getElementById("result").textContent = JSON.stringify({steps, wide});
</script></body>"""


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium to look at the page with")
@pytest.mark.parametrize("width", [1200, 500])
def test_searching_and_sorting_in_a_browser(page, tmp_path, width):
    probe = tmp_path / "probe.html"
    probe.write_text(page[0].read_text(encoding="utf-8").replace("</body>", SCRIPT), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    call = [BROWSER, *options, f"--window-size={width},900", "--dump-dom", probe.as_uri()]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120, check=True)
    result = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.DOTALL)
    found = json.loads(html.unescape(result.group(1)))
    start, searched, by_number, by_loss, marked, by_doubt = found["steps"]
    assert found["wide"], "the page is wider than the window"
    assert start["doubts"] == sorted(start["doubts"], reverse=True)
    assert searched["shown"] == [text for text in start["shown"] if "green" in text]
    assert 0 < len(searched["shown"]) < 40
    assert searched["count"] == f"{len(searched['shown'])} of 40 rows"
    assert by_number["numbers"] == sorted(by_number["numbers"])
    assert by_number["sorted"][0] == "ascending"
    assert by_loss["losses"] == sorted(by_loss["losses"], reverse=True)
    assert by_loss["sorted"][:4] == [None] * 4
    assert len(marked["shown"]) < 40
    assert by_doubt["doubts"] == sorted(by_doubt["doubts"], reverse=True)


def test_pages_of_curves_images_and_molecules_have_pictures(tmp_path, mercer_command):
    pytest.importorskip("rdkit")
    x = np.linspace(0, 1, 16)
    path = tmp_path / "curves.jsonl"
    rows = [{"a": float(a), "curve": np.sin(6 * x + a).tolist()} for a in np.linspace(0, 3, 24)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert mercer_command("fit", path, "--output", "curve", "--effort", "fast", "-o", tmp_path / "m")[0] == 0
    assert mercer_command("report", tmp_path / "m", path, "-o", tmp_path / "page.html")[0] == 0
    images = [attributes for tag, attributes in parsed(tmp_path / "page.html") if tag == "img"]
    assert sum("16 points from" in attributes["alt"] for attributes in images) == 48
    smiles = tmp_path / "lengths.smi"
    smiles.write_text("smiles length\n" + "".join(f"{'C' * n}O {n}\n" for n in range(1, 16)))
    assert mercer_command("fit", smiles, "--effort", "fast", "-o", tmp_path / "m")[0] == 0
    assert mercer_command("report", tmp_path / "m", smiles, "-o", tmp_path / "page.html")[0] == 0
    images = [attributes for tag, attributes in parsed(tmp_path / "page.html") if tag == "img"]
    assert "CCCCO" in [attributes["alt"] for attributes in images]


def test_a_page_that_would_be_too_large_lists_fewer_rows(page, tmp_path, monkeypatch):
    path, found = page
    monkeypatch.setattr(command, "MOST_BYTES", found["bytes"] - 1000)
    smaller = command.report(
        path.parent / "m", PairsFile(str(path.parent / "test.csv")), tmp_path / "page.html", silent
    )
    assert smaller["rows"] == 20
    assert smaller["bytes"] < found["bytes"]


def test_a_report_does_not_overwrite_what_it_reads(page, mercer_command):
    path, _ = page
    test = path.parent / "test.csv"
    before = test.read_bytes()
    assert "which is read" in mercer_command("report", path.parent / "m", test, "-o", test)[2]
    assert test.read_bytes() == before
    assert "has no column 'colour', the output" in bad_report(path, mercer_command)


def bad_report(path, mercer_command):
    less = path.parent / "less.csv"
    less.write_text("x,y\n1,2\n3,4\n")
    return mercer_command("report", path.parent / "m", less, "-o", path.parent / "p.html")[2]


def test_long_decimals_are_rounded_and_other_texts_are_not():
    texts = {
        "-0.06000263174410134": "-0.060003",
        "1.25": "1.25",
        "2026-01-02": "2026-01-02",
        "-0.0000012345678": "-1.2346e-06",
    }
    assert {text: _rounded(text) for text in texts} == texts
