"""Files for a public forge: workflows, forms of issues, hooks and the conda recipe say what their readers take."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from mercer._version import __version__
from mercer.cli.main import app

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
WORKFLOWS, FORMS = ROOT / ".github/workflows", ROOT / ".github/ISSUE_TEMPLATE"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMMANDS = {command.callback.__name__ for command in app.registered_commands}
SHELL = {"python", "make", "mercer", "printf", "cut", "test"}
"""Commands that the machines of the forge have, or that the step before has installed."""
SCHEMAS = {
    "github-workflows": sorted(WORKFLOWS.glob("*.yml")),
    "github-issue-forms": [FORMS / "bug.yml", FORMS / "feature.yml"],
    "github-issue-config": [FORMS / "config.yml"],
    "citation-file-format": [ROOT / "CITATION.cff"],
}


def content(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_follow_their_schema(schema):
    """By the schemas that check-jsonschema brings along, where it is installed."""
    main = pytest.importorskip("check_jsonschema").main
    arguments = ["--builtin-schema", f"vendor.{schema}", *map(str, SCHEMAS[schema])]
    with pytest.raises(SystemExit) as done:
        main(arguments)
    assert done.value.code == 0


@pytest.mark.parametrize("path", SCHEMAS["github-issue-forms"], ids=lambda path: path.stem)
def test_forms_have_the_keys_of_forms(path):
    form = content(path)
    assert (
        {"name", "description", "body"} <= set(form) <= {"name", "description", "body", "labels", "title", "assignees"}
    )
    for part in form["body"]:
        assert set(part) <= {"type", "id", "attributes", "validations"}
        assert part["type"] in ("textarea", "input", "dropdown", "markdown", "checkboxes")
        assert set(part["attributes"]) <= {"label", "description", "placeholder", "value", "render", "options"}


@pytest.mark.parametrize("path", SCHEMAS["github-workflows"], ids=lambda path: path.stem)
def test_workflows_run_what_there_is(path):
    """Targets of make exist, jobs that are needed too, and every action has a version."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    jobs = content(path)["jobs"]
    for job in jobs.values():
        assert job["runs-on"]
        assert job.get("needs") in (None, *jobs)
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert re.fullmatch(r"[\w-]+/[\w-]+@[\w./]+", step.get("uses", "a/b@v1"))
            run = step.get("run", "")
            assert set(re.findall(r"\bmake (\w+)", run)) <= targets
            assert set(re.findall(r"^mercer (\w+)", run, re.MULTILINE)) <= COMMANDS
            assert set(re.findall(r"python -m (\w+)", run)) <= {"pip", "pytest"}
            assert {line.split()[0] for line in run.splitlines()} <= SHELL
            for extra in re.findall(r"\.\[([\w,]+)\]", run):
                assert set(extra.split(",")) <= set(PROJECT["optional-dependencies"])


def test_a_matrix_has_systems_and_pythons_that_there_are():
    """Names of machines that the forge offers; the Pythons are those of the classifiers, by another test."""
    matrix = content(WORKFLOWS / "tests.yml")["jobs"]["tests"]["strategy"]["matrix"]
    assert set(matrix) == {"os", "python"}
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    named = {line.rpartition(" :: ")[2] for line in PROJECT["classifiers"] if line.startswith("Operating System")}
    assert named == {"Linux", "MacOS", "Windows"}
    assert all(type(each) is str for each in matrix["python"]), "3.10 without quotes would be 3.1"
    used = set(re.findall(r"matrix\.(\w+)", (WORKFLOWS / "tests.yml").read_text(encoding="utf-8")))
    assert used == set(matrix)


def test_the_tag_of_a_release_is_the_version():
    """The step that compares them is run by the shell, as on the forge."""
    steps = content(WORKFLOWS / "release.yml")["jobs"]["build"]["steps"]
    (check,) = [step["run"] for step in steps if "GITHUB_REF_NAME" in step.get("run", "")]
    shell = shutil.which("sh") or pytest.skip("needs a shell")
    for tag, code in ((f"v{__version__}", 0), ("v9.9", 1)):
        assert (
            subprocess.run([shell, "-c", check], cwd=ROOT, env=os.environ | {"GITHUB_REF_NAME": tag}).returncode == code
        )


def test_hooks_are_commands_of_the_test_environment():
    stated = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("test = [")[2].partition("]\n\n")[0]
    packages = {"ruff": "ruff", "mypy": "mypy", "lint-imports": "import-linter"}
    hooks = [hook for repo in content(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    for hook in hooks:
        assert {"id", "name", "entry", "language"} <= set(hook)
        assert hook["language"] == "system"
        assert f'"{packages[hook["entry"].split()[0]]}>' in stated
    assert len({hook["id"] for hook in hooks}) == len(hooks)


def test_the_conda_recipe_is_read(tmp_path):
    jinja2 = pytest.importorskip("jinja2")

    def load_file_regex(load_file, regex_pattern, from_recipe_dir):
        assert not from_recipe_dir
        return re.search(regex_pattern, (ROOT / load_file).read_text(encoding="utf-8"))

    text = (ROOT / "conda/meta.yaml").read_text(encoding="utf-8")
    recipe = yaml.safe_load(jinja2.Template(text).render(load_file_regex=load_file_regex, PYTHON="python"))
    version = (ROOT / "src/mercer/_version.py").read_text(encoding="utf-8")
    assert f'"{recipe["package"]["version"]}"' in version
    assert (ROOT / "conda" / recipe["source"]["path"] / "pyproject.toml").exists()
    assert (ROOT / recipe["about"]["license_file"]).exists()
    assert recipe["build"]["noarch"] == "python"
    assert recipe["build"]["entry_points"] == ["mercer = mercer.cli.main:main"]
