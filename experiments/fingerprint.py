"""Fingerprints of code: a file and every module of this repository it imports, without comments and docstrings."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import mercer

PACKAGES: dict[str, Path] = {
    "experiments": Path(__file__).parent,
    "mercer": Path(mercer.__file__).parent,
}
"""Packages whose modules are followed, and their folders."""


def code_fingerprint(path: Path, packages: Mapping[str, Path] = PACKAGES) -> str:
    """Digest of the code of `path` and of the modules it imports.

    Imports are read from the source, those inside functions included; imports for type checking alone are not followed.
    A change of a comment, a docstring or the layout of the code leaves the digest as it is.

    Parameters
    ----------
    path : Path
        A Python file.
    packages : mapping of str to Path
        Packages whose modules are followed, and their folders.
    """
    parts = [_read(path).digest]
    for name, file in sorted(imported_modules(path, packages).items()):
        parts += [name, _read(file).digest]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def imported_modules(path: Path, packages: Mapping[str, Path] = PACKAGES) -> dict[str, Path]:
    """Modules of `packages` that `path` imports, directly or through others, and their files.

    Examples
    --------
    >>> found = imported_modules(PACKAGES["experiments"] / "papers" / "gait.py")
    >>> "mercer.estimators.curves" in found, "experiments.papers.weston_strings" in found
    (True, False)
    """
    found: dict[str, Path] = {}
    package = _package_of(path, packages)
    waiting = [*_with_parents(package, packages), *_modules(_read(path), package, packages)]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found[name] = file = _file(name, packages)
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        waiting += _modules(_read(file), package, packages)
    return found


@dataclass(frozen=True)
class _Import:
    """An import statement for one name: `name` from `module`, or the module itself where `name` is None."""

    module: str
    name: str | None = None
    level: int = 0


@dataclass
class _Source(ast.NodeVisitor):
    """Code of one file: its digest, the imports it runs, and those for type checking by the name they bind."""

    digest: str
    imports: list[_Import] = field(default_factory=list)
    typing_only: dict[str, _Import] = field(default_factory=dict)
    _typing: bool = False

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            self._add(_Import(each.name), each.asname or each.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for each in node.names:
            self._add(_Import(node.module or "", each.name, node.level), each.asname or each.name)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) not in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            self.generic_visit(node)
            return
        self._typing = True
        for each in node.body:
            self.visit(each)
        self._typing = False
        for each in node.orelse:
            self.visit(each)

    def _add(self, found: _Import, bound: str) -> None:
        if self._typing:
            self.typing_only[bound] = found
        else:
            self.imports.append(found)


class _WithoutTexts(ast.NodeTransformer):
    """Remove docstrings, those of attributes included: statements that are a string and nothing else."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        alone = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if alone else self.generic_visit(node)


def _read(path: Path) -> _Source:
    return _parse(path.read_text(encoding="utf-8"))


@cache
def _parse(text: str) -> _Source:
    tree = _WithoutTexts().visit(ast.parse(text))
    source = _Source(hashlib.sha256(written(tree).encode()).hexdigest())
    source.visit(tree)
    return source


def written(node: object) -> str:
    """Write a syntax tree in the same way under every version of Python, as `ast.dump` does not.

    Fields that are None or empty are left out, since versions differ in those they have; pieces of text side by side in a
    formatted string are joined; letters beyond ASCII are escaped, since versions differ in those they can print.

    Examples
    --------
    >>> written(ast.parse("x = 1"))
    "Module(body=[Assign(targets=[Name(id='x',ctx=Store())],value=Constant(value=1))])"
    """
    if isinstance(node, list):
        return f"[{','.join(map(written, node))}]"
    if not isinstance(node, ast.AST):
        return ascii(node)
    fields = {name: value for name, value in ast.iter_fields(node) if value is not None and value != []}
    if isinstance(node, ast.JoinedStr):
        fields = {"values": _joined(node.values)}
    elif isinstance(node, ast.Constant):
        fields = {"value": node.value}  # None is a value here
    parts = [f"{name}={written(value)}" for name, value in fields.items()]
    return f"{type(node).__name__}({','.join(parts)})"


def _joined(values: list[ast.expr]) -> list[ast.expr]:
    found: list[ast.expr] = []
    for each in values:
        before = found[-1] if found else None
        if isinstance(each, ast.Constant) and isinstance(before, ast.Constant):
            found[-1] = ast.Constant(str(before.value) + str(each.value))
        elif not (isinstance(each, ast.Constant) and each.value == ""):
            found.append(each)
    return found


def _modules(source: _Source, package: str, packages: Mapping[str, Path]) -> Iterator[str]:
    """Names of the modules that the imports of `source` load, the packages they are in included."""
    for each in source.imports:
        yield from _loaded(each, package, packages)


def _loaded(each: _Import, package: str, packages: Mapping[str, Path]) -> Iterator[str]:
    module = each.module
    if each.level:
        above = package.split(".")[: len(package.split(".")) - each.level + 1]
        module = ".".join([*above, *([module] if module else [])])
    root = module.partition(".")[0]
    if root not in packages:
        return
    if each.name is None and module == root:  # any of its modules may be used as an attribute
        folder = packages[root]
        parts = (path.relative_to(folder).with_suffix("").parts for path in folder.rglob("*.py"))
        yield from (".".join([root, *own]).removesuffix(".__init__") for own in parts)
        return
    yield from _with_parents(module, packages)
    if each.name is None:
        return
    if _exists(f"{module}.{each.name}", packages):
        yield f"{module}.{each.name}"
    elif _exists(module, packages):  # a name that the package imports when it is first used
        lazy = _read(_file(module, packages)).typing_only.get(each.name)
        if lazy is not None:
            yield from _loaded(lazy, module, packages)


def _with_parents(module: str, packages: Mapping[str, Path]) -> Iterator[str]:
    """Yield the packages that importing `module` loads, and `module` itself."""
    names = module.split(".") if module else []
    for length in range(1, len(names) + 1):
        parent = ".".join(names[:length])
        if _exists(parent, packages):
            yield parent


def _candidates(name: str, packages: Mapping[str, Path]) -> list[Path]:
    root, *parts = name.split(".")
    folder = packages[root].joinpath(*parts)
    return [folder / "__init__.py", *([folder.with_suffix(".py")] if parts else [])]


def _exists(name: str, packages: Mapping[str, Path]) -> bool:
    return any(path.is_file() for path in _candidates(name, packages))


def _file(name: str, packages: Mapping[str, Path]) -> Path:
    return next(path for path in _candidates(name, packages) if path.is_file())


def _package_of(path: Path, packages: Mapping[str, Path]) -> str:
    """Package that `path` is in; empty where it is in none of `packages`."""
    for root, folder in packages.items():
        if path.is_relative_to(folder):
            return ".".join([root, *path.relative_to(folder).parent.parts])
    return ""
