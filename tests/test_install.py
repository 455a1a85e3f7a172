"""What is installed: wheel and sdist, versions that agree, and every optional package named when it is missing."""

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import numpy as np
import pytest

import mercer

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TOOLS = {"test", "docs", "rivals", "all"}  # extras for those who change the library, and the sum of the others


def name_of(requirement):
    return re.split(r"[\[<>=! ]", requirement)[0].lower()


def test_twine_is_content_with_wheel_and_sdist(tmp_path):
    pytest.importorskip("twine")
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    files = sorted(map(str, tmp_path.iterdir()))
    assert [Path(name).suffix for name in files] == [".whl", ".gz"]
    done = subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    with tarfile.open(files[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "src/mercer/py.typed", "tests/conftest.py"} <= names


def test_versions_agree():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    dated = re.search(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", changes, re.MULTILINE)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert dated.group(1) == mercer.__version__
    assert f"version: {mercer.__version__}\ndate-released: {dated.group(2)}\n" in citation


def test_pythons_of_classifiers_are_those_that_are_tested():
    stated = {c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)}
    tested = re.search(r"python: \[(.*)\]", (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8")).group(1)
    assert stated == set(re.findall(r"3\.\d+", tested))
    assert PROJECT["requires-python"] == f">={min(stated)}"


def test_the_conda_recipe_has_the_same_requirements():
    recipe = (ROOT / "conda/meta.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    stated = {line.strip("- ").replace(" ", "") for line in run.splitlines()} - {"python>=3.11"}
    assert stated == set(PROJECT["dependencies"])


def test_all_is_the_sum_of_the_other_extras():
    (requirement,) = PROJECT["optional-dependencies"]["all"]
    summed = set(re.search(r"\[(.*)\]", requirement).group(1).split(","))
    assert summed == set(PROJECT["optional-dependencies"]) - TOOLS


# -- each optional package hidden in turn ----------------------------------------------------------------


def hide(monkeypatch, package):
    """Make a package, and all its modules, unknown to import."""
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)


@pytest.fixture
def files(tmp_path):
    """Files of every format, none of which has to be read when its package is missing."""
    for name in ("a.parquet", "a.sdf", "a.mgf", "a.msp"):
        (tmp_path / name).write_bytes(b"anything")
    (tmp_path / "a.smi").write_text("CCO 1\nCCC 2\n")
    (tmp_path / "a.csv").write_text("smiles,y\n" + "CCO,1\nCCC,2\nCCCC,3\n" * 5)
    return tmp_path


COMMANDS = [
    ("tables", "pyarrow", ("fit", "a.parquet", "--output", "y", "-o", "m")),
    ("molecules", "rdkit", ("fit", "a.sdf", "--output", "y", "-o", "m")),
    ("molecules", "rdkit", ("fit", "a.smi", "-o", "m")),
    ("molecules", "rdkit", ("fit", "a.csv", "--input-kind", "molecules", "-o", "m")),
    ("spectra", "matchms", ("fit", "a.mgf", "-o", "m")),
    ("spectra", "matchms", ("fit", "a.msp", "-o", "m")),
    ("report", "jinja2", ("report", "m", "a.csv", "-o", "p.html")),
    ("report", "matplotlib", ("report", "m", "a.csv", "-o", "p.html")),
]


@pytest.mark.parametrize(("extra", "package", "arguments"), COMMANDS)
def test_a_command_without_its_package_says_so_before_it_learns(
    files, monkeypatch, mercer_command, extra, package, arguments
):
    def refused(*arguments, **options):
        raise AssertionError("nothing may be learned or answered")

    monkeypatch.setattr(mercer.AutoEstimator, "fit", refused)
    monkeypatch.chdir(files)
    hide(monkeypatch, package)
    code, out, err = mercer_command(*arguments)
    assert (code, out) == (2, "")
    assert f"pip install mercer[{extra}]" in err.splitlines()[-1]
    assert not (files / "m").exists()


def graphs_without_networkx():
    from mercer.kernels import WeisfeilerLehman

    WeisfeilerLehman()(["no graph"])


def barycentres_without_pot():
    import networkx as nx

    from mercer import DependencyEstimator
    from mercer.decoders import Barycenter
    from mercer.kernels import Gaussian, WeisfeilerLehman

    graphs = [nx.path_graph(n) for n in (2, 3, 4)]
    kernel = WeisfeilerLehman(node_label=None)
    model = DependencyEstimator(Gaussian(1.0), kernel, decoder=Barycenter(node_label=None), alpha=0.1)
    model.fit([[0.0], [1.0], [2.0]], graphs).predict([[0.5]])


def frames_without_narwhals():
    pandas = pytest.importorskip("pandas")
    from mercer.kernels import Columns

    Columns().check(pandas.DataFrame({"a": ["x", "y"], "b": [1, 2]}))


def displays_without_matplotlib():
    from mercer.plots import CoverageDisplay

    CoverageDisplay(np.array([0.5]), np.array([0.5]), 10).plot()


def downloads_without_pooch():
    from mercer.datasets import store

    store._download(store.Source("0" * 64, "http://127.0.0.1/none"), Path("none"), "none")


CALLS = [
    ("graphs", "networkx", graphs_without_networkx),
    ("transport", "ot", barycentres_without_pot),
    ("tables", "narwhals", frames_without_narwhals),
    ("plots", "matplotlib", displays_without_matplotlib),
    ("data", "pooch", downloads_without_pooch),
]


@pytest.mark.parametrize(("extra", "package", "call"), CALLS, ids=[extra for extra, _, _ in CALLS])
def test_a_call_without_its_package_names_the_extra(monkeypatch, extra, package, call):
    hide(monkeypatch, package)
    with pytest.raises(ImportError, match=rf"pip install mercer\[{extra}\]"):
        call()


def test_every_extra_is_hidden_above():
    """All but torch, whose tensors cannot be made without it, and dask, whose clusters cannot."""
    covered = {extra for extra, _, _ in COMMANDS} | {extra for extra, _, _ in CALLS}
    assert covered | {"gpu", "distributed"} >= set(PROJECT["optional-dependencies"]) - TOOLS
