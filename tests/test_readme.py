"""The README and the guides are true: their code runs, quotes are in the source, and names exist."""

import ast
import doctest
import gzip
import hashlib
import re
from pathlib import Path

import pytest

from experiments.registry import EXPERIMENTS
from mercer.datasets.store import SOURCES, Source

ROOT = Path(__file__).parents[1]
DOCUMENTS = ["README.md", "CHANGELOG.md", "docs/how-to-add.md", "docs/architecture.md", "docs/symbols.md"]
FENCE = re.compile(r"^```(\w*) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text_of(document):
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(document, language="python"):
    """(first line, file it is quoted from or "", code) of every block in `language`."""
    text = text_of(document)
    return [
        (text[: match.start()].count("\n") + 2, match[2].strip(), match[3])
        for match in FENCE.finditer(text)
        if match[1] == language
    ]


def test_readme_is_short():
    assert len(text_of("README.md").splitlines()) < 150


def test_readme_session_runs():
    """One session from top to bottom, each answer as printed."""
    session = blocks("README.md")
    assert len(session) >= 3
    names: dict = {}
    for line, _, code in session:
        test = doctest.DocTestParser().get_doctest(code, names, "README", "README.md", line - 1)
        assert test.examples, f"README.md:{line} has no session"
        failures: list[str] = []
        doctest.DocTestRunner(verbose=False).run(test, out=failures.append, clear_globs=False)
        assert not failures, "".join(failures)
        names = test.globs


# -- docs/how-to-add.md -----------------------------------------------------------------------------

GUIDE = blocks("docs/how-to-add.md")
PROGRAMS = [(line, code) for line, path, code in GUIDE if not path]
QUOTES = [(path, code) for _, path, code in GUIDE if path]
PARTS = {
    "kernel": ["SharedLetters"],
    "decoder": ["FromList"],
    "operator": ["Shrunk"],
    "solver": ["Dense", "DenseSystem"],
    "learner": ["Smoother", "FittedSmoother"],
}
"""The classes of each part that a user writes."""


@pytest.fixture(scope="module")
def guide():
    """The names that the page defines, after it has run from top to bottom."""
    names = {"__name__": "guide"}
    for line, code in PROGRAMS:
        exec(compile("\n" * (line - 1) + code, "docs/how-to-add.md", "exec"), names)
    return names


@pytest.mark.parametrize(("path", "code"), QUOTES, ids=[path for path, _ in QUOTES])
def test_guide_quotes_are_in_the_source(path, code):
    assert code in text_of(path)


def test_guide_quotes_every_room():
    assert len({Path(path).parent for path, _ in QUOTES}) == 8


@pytest.mark.parametrize("part", PARTS)
def test_parts_are_short_and_keep_their_contracts(part, guide):
    program = "\n".join(code for _, code in PROGRAMS)
    found = {node.name: node for node in ast.parse(program).body if isinstance(node, ast.ClassDef)}
    lines = program.splitlines()
    length = 0
    for name in PARTS[part]:
        first = min([found[name].lineno, *(each.lineno for each in found[name].decorator_list)])
        length += sum(bool(line.strip()) for line in lines[first - 1 : found[name].end_lineno])
    assert length <= 15
    assert f"check_{part}({PARTS[part][0]}(" in program


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("loss", [None, "kernel", "LettersLeft"])
def test_parts_work_on_strings(part, loss, guide):
    """Strings in, strings out: with groups and sample weights, ranked, explained and with sets."""
    arguments = {
        "kernel": {},
        "decoder": {"decoder": guide["FromList"](guide["known"])},
        "operator": {"operator": guide["Shrunk"]()},
        "solver": {"solver": guide["Dense"]()},
        "learner": {"regressor": guide["Smoother"]()},
    }[part]
    kernel = guide["SharedLetters"]().normalized() if part == "kernel" else guide["letters"]
    loss = guide["LettersLeft"]() if loss == "LettersLeft" else loss
    model = guide["DependencyEstimator"](kernel, kernel, loss=loss, **arguments)
    model.fit(guide["typos"], guide["words"], sample_weight=[1, 2, 1, 2, 1, 2], groups=[0, 1, 0, 1, 0, 1])
    words = set(guide["known"] if part == "decoder" else guide["words"])
    assert set(model.predict(["reciev", "sepparate", "zzz"])) <= words
    assert model.rank(["reciev"], k=1)[0].objects[0] == "receive"
    assert model.explain("reciev").prediction in words
    assert len(model.predict_set(["reciev", "zzz"], coverage=0.5)) == 2


def test_guide_data_set_is_read_and_checked(guide, tmp_path, monkeypatch):
    file = tmp_path / "misspellings" / "pairs.tsv.gz"
    file.parent.mkdir()
    file.write_bytes(gzip.compress(b"recieve\treceive\nseprate\tseparate\nteh\tthe\nadn\tand\n"))
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    sums = hashlib.sha256(file.read_bytes()).hexdigest()
    monkeypatch.setitem(SOURCES, "misspellings/pairs.tsv.gz", Source(sums))
    pairs = guide["load_misspellings"]()
    assert len(pairs) == 4
    assert pairs.take([2]).outputs.tolist() == ["the"]


# -- all pages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document):
    text = text_of(document)
    headings = {
        re.sub(r"[^a-z -]", "", each.lower()).replace(" ", "-") for each in re.findall(r"^#+ (.*)$", text, re.M)
    }
    for target in re.findall(r"\]\(([^)]+)\)", text):
        path, _, anchor = target.partition("#")
        if "://" not in target and path:
            assert ((ROOT / document).parent / path).exists(), target
        if not path:
            assert anchor in headings, target


@pytest.mark.parametrize("document", DOCUMENTS)
def test_names_exist(document):
    """Every class that a page names in code is defined in the library, the experiments or the page itself."""
    text = text_of(document)
    sources = "".join(
        path.read_text(encoding="utf-8") for room in ("src", "experiments") for path in (ROOT / room).rglob("*.py")
    )
    defined = set(re.findall(r"^ *class (\w+)", sources + text, re.M)) | FOREIGN
    inline = " ".join(re.findall(r"`([^`\n]+)`", FENCE.sub("", text)))
    named = set(re.findall(r"(?<![\w$\"'])[A-Z][a-z]\w*", inline))
    assert named <= defined, named - defined


FOREIGN = {"None", "True", "False", "AssertionError", "GridSearchCV", "SVR", "Makefile"}


def test_commands_name_experiments():
    for document in DOCUMENTS:
        for name in re.findall(r"reproduce (?:NAME=)?([a-z][\w-]+)", text_of(document)):
            assert name in EXPERIMENTS or name in ("typos", "all"), f"{document}: {name}"


def test_architecture_is_short_and_names_every_room():
    text = text_of("docs/architecture.md")
    assert text.count("\n") <= 125
    rooms = {path.name for path in (ROOT / "src" / "mercer").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms <= set(re.findall(r"`(\w+)/?`", text))
