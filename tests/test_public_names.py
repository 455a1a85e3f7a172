"""Names that are there after `import mercer`, each imported when it is first used."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import mercer
from mercer import embeddings


def fresh(code):
    """Run code in a new process."""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_all_names_exist():
    assert all(hasattr(mercer, name) for name in mercer.__all__)
    assert set(mercer.__all__) <= set(dir(mercer))
    assert mercer.PrincipalComponents is embeddings.PrincipalComponents


def test_type_checkers_see_the_names_that_are_imported_lazily():
    tree = ast.parse(Path(mercer.__file__).read_text(encoding="utf-8"))
    (block,) = (
        node for node in tree.body if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
    )
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    assert seen.keys() == set(mercer.__all__) - {"__version__"}
    for name, module in seen.items():
        assert getattr(mercer, name) is getattr(importlib.import_module(module), name)


def test_rooms_need_no_import_of_their_own():
    fresh("import mercer; mercer.testing.check_kernel; assert 'pytest' not in __import__('sys').modules")
    fresh("import mercer; mercer.kernels.Gaussian(1.0); mercer.report.Table")
    fresh("from mercer import *; DependencyEstimator; save; testing.check_decoder")
    assert {"kernels", "solvers", "testing"} <= set(dir(mercer))


@pytest.mark.parametrize("name", ["nothing", "_nothing", "__wrapped__"])
def test_unknown_names_are_refused(name):
    with pytest.raises(AttributeError, match=f"module 'mercer' has no attribute '{name}'"):
        getattr(mercer, name)


def test_models_can_be_pickled_by_their_public_names():
    fresh(
        "import mercer, pickle; model = mercer.DependencyEstimator(alpha=0.1)\n"
        "assert repr(pickle.loads(pickle.dumps(model))) == repr(model)"
    )
