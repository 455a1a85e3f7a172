"""Fingerprints: they change with the code of imported modules, and with nothing else."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.fingerprint import PACKAGES, code_fingerprint, imported_modules, written
from experiments.registry import experiment

ROOT = Path(__file__).parents[2]

FILES = {
    "exps/__init__.py": "",
    "exps/start.py": '''"""Start."""
from typing import TYPE_CHECKING

import numpy
from house import lazy_name
from house.direct import value
from house.room import exported

if TYPE_CHECKING:
    from house.typed import Only


class Start:
    """A class."""

    size: int = 3
    """An attribute."""

    def run(self):
        # a comment
        from house.late import later

        return later(value)
''',
    "exps/other.py": "x = 1\n",
    "house/__init__.py": """from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from house.lazy import lazy_name
    from house.unused import unused_name
""",
    "house/direct.py": "value = 1\n",
    "house/late.py": "from . import deep\n\n\ndef later(x):\n    return deep.double(x)\n",
    "house/deep.py": "def double(x):\n    return 2 * x\n",
    "house/lazy.py": "lazy_name = 1\n",
    "house/typed.py": "class Only: ...\n",
    "house/unused.py": "unused_name = 1\n",
    "house/room/__init__.py": "from house.room.part import exported\nfrom .sibling import another\n",
    "house/room/part.py": "exported = 1\n",
    "house/room/sibling.py": "another = 1\n",
}


@pytest.fixture
def tree(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def packages(tree):
    return {"exps": tree / "exps", "house": tree / "house"}


def fingerprint(tree):
    return code_fingerprint(tree / "exps" / "start.py", packages(tree))


def replace(tree, name, old, new):
    path = tree / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_modules_are_those_imported_at_any_depth(tree):
    assert set(imported_modules(tree / "exps" / "start.py", packages(tree))) == {
        "exps",
        "house",
        "house.direct",
        "house.late",
        "house.deep",
        "house.lazy",
        "house.room",
        "house.room.part",
        "house.room.sibling",
    }


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("exps/start.py", '"""Start."""', '"""Begin.\n\nAt length.\n"""'),
        ("exps/start.py", '"""A class."""', '"""Another text."""'),
        ("exps/start.py", '"""An attribute."""', ""),
        ("exps/start.py", "# a comment", "# another"),
        ("house/deep.py", "    return", '    """Double it."""\n\n    return'),
        ("house/deep.py", "2 * x", "(2  *  x)  # twice"),
    ],
)
def test_texts_and_layout_change_nothing(tree, name, old, new):
    before = fingerprint(tree)
    replace(tree, name, old, new)
    assert fingerprint(tree) == before


@pytest.mark.parametrize("name", ["exps/other.py", "house/typed.py", "house/unused.py"])
def test_modules_that_are_not_imported_change_nothing(tree, name):
    before = fingerprint(tree)
    (tree / name).write_text("changed = True\n", encoding="utf-8")
    assert fingerprint(tree) == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("exps/start.py", "size: int = 3", "size: int = 4"),
        ("house/direct.py", "1", "2"),
        ("house/deep.py", "2 * x", "3 * x"),
        ("house/lazy.py", "1", "2"),
        ("house/room/__init__.py", "another", "another as alias"),
        ("house/room/part.py", "1", "'text'"),
        ("house/room/sibling.py", "1", "2"),
    ],
)
def test_code_of_imported_modules_changes_it(tree, name, old, new):
    before = fingerprint(tree)
    replace(tree, name, old, new)
    assert fingerprint(tree) != before


def test_importing_a_whole_package_follows_all_of_it(tree):
    (tree / "exps" / "other.py").write_text("import house\n", encoding="utf-8")
    found = imported_modules(tree / "exps" / "other.py", packages(tree))
    assert {"house", "house.unused", "house.room.part"} <= set(found)


LOADED = """
import sys
from experiments.registry import experiment
experiment(sys.argv[1])
print(*(name for name in sys.modules if name.partition(".")[0] in ("experiments", "mercer")))
"""


@pytest.mark.parametrize("name", ["weston-table3", "g2p"])
def test_every_module_an_experiment_loads_is_found(name):
    kind = type(experiment(name))
    found = set(imported_modules(Path(inspect.getfile(kind))))
    run = [sys.executable, "-c", LOADED, name]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split()) - {kind.__module__, "experiments.registry"}
    assert loaded
    assert not loaded - found


def test_the_command_line_is_not_part_of_an_experiment():
    found = imported_modules(PACKAGES["experiments"] / "papers" / "gait.py")
    assert not any(name.startswith(("mercer.cli", "experiments.bench", "experiments.command")) for name in found)


SAMPLE = """
class Thing(Base, key=1):
    def run(self, *, x: int = 2) -> None:
        return f"a{x!r:>{self.width}}b" 'c' if x[1:, None] else u"é", b"", ..., 1.5
"""
WRITTEN = (
    "Module(body=[ClassDef(name='Thing',bases=[Name(id='Base',ctx=Load())],keywords=[keyword(arg='key',value=Constant(value=1))],"
    "body=[FunctionDef(name='run',args=arguments(args=[arg(arg='self')],kwonlyargs=[arg(arg='x',annotation=Name(id='int',"
    "ctx=Load()))],kw_defaults=[Constant(value=2)]),body=[Return(value=Tuple(elts=[IfExp(test=Subscript(value=Name(id='x',"
    "ctx=Load()),slice=Tuple(elts=[Slice(lower=Constant(value=1)),Constant(value=None)],ctx=Load()),ctx=Load()),"
    "body=JoinedStr(values=[Constant(value='a'),FormattedValue(value=Name(id='x',ctx=Load()),conversion=114,"
    "format_spec=JoinedStr(values=[Constant(value='>'),FormattedValue(value=Attribute(value=Name(id='self',ctx=Load()),"
    "attr='width',ctx=Load()),conversion=-1)])),Constant(value='bc')]),orelse=Constant(value='\\xe9')),Constant(value=b''),"
    "Constant(value=Ellipsis),Constant(value=1.5)],ctx=Load()))],returns=Constant(value=None))])])"
)


def test_trees_are_written_alike_under_every_version_of_python():
    """The text is fixed here, and the tests run under several versions."""
    tree = ast.parse(SAMPLE)
    assert written(tree) == WRITTEN
    # as newer versions have it: a field more, and text of a formatted string in pieces
    definition = tree.body[0].body[0]
    definition.type_params = []
    definition._fields = (*ast.FunctionDef._fields, "type_params")
    joined = next(node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr))
    joined.values = [*joined.values[:-1], ast.Constant("b"), ast.Constant(""), ast.Constant("c")]
    assert written(tree) == WRITTEN
