"""The README and the guides do what they say: their code runs, and quotes are real."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(\w*) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(document, language="python"):
    """(first line, file it is quoted from or "", code) of every block in `language`."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [
        (text[: match.start()].count("\n") + 2, match[2].strip(), match[3])
        for match in FENCE.finditer(text)
        if match[1] == language
    ]


def test_readme_session_runs():
    """One session from top to bottom, each answer as printed."""
    session = blocks("README.md")
    assert len(session) >= 3
    names: dict = {}
    for line, _, code in session:
        test = doctest.DocTestParser().get_doctest(code, names, "README", "README.md", line - 1)
        assert test.examples, f"README.md:{line} is no session"
        said: list[str] = []
        doctest.DocTestRunner(verbose=False).run(test, out=said.append, clear_globs=False)
        assert not said, "".join(said)
        names = test.globs


GUIDE = blocks("docs/how-to-add.md")


def test_guide_runs_from_top_to_bottom():
    names = {"__name__": "guide"}
    for line, path, code in GUIDE:
        if not path:
            exec(compile("\n" * (line - 1) + code, "docs/how-to-add.md", "exec"), names)
    model = names["DependencyEstimator"](
        names["letters"], names["letters"], decoder=names["FromList"](names["words"]), alpha=0.1
    )
    assert model.fit(["cot", "cap", "hat"], ["cut", "cat", "rat"]).predict(["hart"])[0] in names["words"]


@pytest.mark.parametrize(("path", "code"), [(path, code) for _, path, code in GUIDE if path])
def test_guide_quotes_are_in_the_source(path, code):
    assert code in (ROOT / path).read_text(encoding="utf-8")


def test_guide_checks_its_kernel_and_its_decoder():
    programs = "".join(code for _, path, code in GUIDE if not path)
    assert "check_kernel(Overlap" in programs
    assert "check_decoder(FromList" in programs
    assert sum(bool(path) for _, path, _ in GUIDE) >= 4


@pytest.mark.parametrize("document", ["README.md", "docs/how-to-add.md", "docs/architecture.md"])
def test_links_lead_somewhere(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target:
            assert ((ROOT / document).parent / target).exists(), target
