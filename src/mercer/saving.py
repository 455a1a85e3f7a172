"""Saving and loading fitted models without ever running code from a file.

Models are written by skops: arrays, plain values, and the names of the types they belong to. Loading builds only types on
a published list, `trusted_types()`: those of this library and a few that hold data (sets, graphs, sparse rows), beside those
of NumPy, SciPy and scikit-learn that skops itself trusts. Pickle is not offered.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Sequence
from importlib import import_module
from json import JSONDecodeError
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import BadZipFile, is_zipfile

from mercer.core.files import written_atomically
from mercer.structures.graphs import forget_views

_ROOMS = (
    "kernels",
    "losses",
    "embeddings",
    "operators",
    "solvers",
    "decoders",
    "selection",
    "estimators",
    "structures",
    "uncertainty",
    "sequence_models",
    "cli",
)
_FORMAT = "mercer-model"
_DATA = ("builtins.frozenset", "networkx.classes.graph.Graph", "scipy.sparse._csr.csr_array")
"""Types of other libraries that training pairs and kernels may hold: values, and nothing that is called."""


def save(model: Any, path: str | Path) -> Path:
    """Write a model to `path`.

    Examples
    --------
    >>> import mercer, tempfile, pathlib
    >>> model = mercer.DependencyEstimator(alpha=0.1).fit([[0.0], [1.0]], [0.0, 1.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = mercer.save(model, pathlib.Path(folder) / "model.skops")
    ...     same = mercer.load(file).predict([[0.5]]) == model.predict([[0.5]])
    >>> bool(same[0])
    True
    """
    from mercer._version import __version__

    sio = _skops()
    path = Path(path)
    forget_views(model)
    content = {"format": _FORMAT, "version": __version__, "model": model}
    try:
        data = sio.dumps(content)
    except (RuntimeError, TypeError, AttributeError) as error:
        raise TypeError(
            f"the model holds something skops cannot write ({error}); tensors of other libraries are such: fit on NumPy arrays "
            "to save a model"
        ) from error
    foreign = [name for name in sio.get_untrusted_types(data=data) if name not in trusted_types()]
    nameless = [name for name in foreign if "<" in name]
    if nameless:
        raise TypeError(
            f"the model holds {', '.join(nameless)}, which no one can import again; write it as a function with a name, at the "
            "top of a module"
        )
    if foreign:
        _warn_foreign(foreign)
    with written_atomically(path) as temporary:
        temporary.write_bytes(data)
    return path


def load(path: str | Path, trust: Sequence[str] = ()) -> Any:
    """Read a model from `path`, building nothing but trusted types.

    Parameters
    ----------
    path : path
        A file written by `save`.
    trust : sequence of str
        Full names of further types or functions that the file may use: of your own, such as ``"mymodule.my_loss"``, or of a
        library you trust, such as ``"sklearn.tree._tree.Tree"`` for ``regressor=RandomForestRegressor()``. Only name what you
        would import yourself.
    """
    sio = _skops()
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"path={str(path)!r}; there is no such file")
    if path.is_dir():
        raise ValueError(f"path={str(path)!r} is a folder; expected a file written by mercer.save")
    if not is_zipfile(path):
        raise ValueError(f"{path.name} is not a saved model; expected a file written by mercer.save")
    try:
        asked = _asked(sio, path)
        allowed = {*trusted_types(), *trust}
        foreign = [name for name in asked if name not in allowed]
        if foreign:
            raise ValueError(
                f"{path.name} asks for {', '.join(foreign)}, which mercer.load does not build. If it is code of your own, "
                f"or of a library you trust, pass trust={foreign!r}; otherwise do not load this file"
            )
        content = sio.load(path, trusted=asked)
    except (BadZipFile, KeyError, EOFError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is damaged: {error}; save the model again") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError(f"{path.name} is a skops file but not a mercer model; expected a file written by mercer.save")
    return content["model"]


def _asked(sio: Any, path: Path) -> list[str]:
    """The types a file asks for; an error if it holds none, as an archive of another kind does."""
    try:
        asked: list[str] = sio.get_untrusted_types(file=path)
    except (TypeError, JSONDecodeError) as error:
        raise ValueError(
            f"{path.name} is not a saved model ({error}); expected a file written by mercer.save"
        ) from error
    return asked


def trusted_types() -> frozenset[str]:
    """The full names of the types `load` builds, beyond those skops trusts by default.

    Examples
    --------
    >>> "mercer.kernels.vectors.Gaussian" in trusted_types()
    True
    """
    names = set(_DATA)
    for module in _modules():
        for _, item in inspect.getmembers(module, inspect.isclass):
            if item.__module__ == module.__name__:
                names.add(f"{item.__module__}.{item.__qualname__}")
    return frozenset(names)


def _modules() -> list[ModuleType]:
    modules = [import_module("mercer.core.pivoted"), import_module("mercer.core.gram_eigh")]
    for room in _ROOMS:
        package = import_module(f"mercer.{room}")
        modules.append(package)
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            modules.append(import_module(found.name))
    return modules


def _warn_foreign(names: list[str]) -> None:
    import warnings

    warnings.warn(
        f"the model holds {', '.join(names)}; to load it, the reader must have that code and pass trust={names!r}",
        UserWarning,
        stacklevel=3,
    )


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError("saving and loading models needs skops; run 'pip install mercer[save]'") from error
    return skops.io
