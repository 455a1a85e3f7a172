"""Saving and loading of models without running code from a file.

Models are written by skops: arrays, plain values and the names of their types. Loading builds only types on a published
list, `trusted_types()`: those of this library and a few that hold data (sets, graphs, sparse rows), besides those of NumPy,
SciPy and scikit-learn that skops itself trusts. Pickle is not offered. A file is checked before anything is built, and refused
by a `LoadError`.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from io import BytesIO
from pathlib import Path
from pkgutil import iter_modules, walk_packages
from types import ModuleType
from typing import IO, Any

from mercer._version import __version__
from mercer.core.archives import check_archive, compressed
from mercer.core.files import written_atomically
from mercer.core.portable import portable
from mercer.structures.graphs import forget_views

__all__ = ["LoadError", "load", "save", "trusted_types"]

_FORMAT = "mercer-model"
_WITHOUT_MODELS = ("cli", "datasets", "plots", "report", "testing")  # rooms whose types are never part of a model
# types of other libraries that training pairs and kernels may hold; none of them can be called
_SPARSE = ("scipy.sparse._csr.csr_array", "scipy.sparse._csr.csr_matrix")
_DATA = ("builtins.frozenset", "networkx.classes.graph.Graph", *_SPARSE)


class LoadError(ValueError):
    """A file that `load` refuses; the message says why."""


def save(model: Any, path: str | Path) -> Path:
    """Write a model to `path`.

    Arrays of other libraries, on any device, are written as NumPy arrays: a model fitted on a GPU is loaded anywhere, and then
    predicts from NumPy arrays.

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
    sio, path = require_skops(), Path(path)
    content = {"format": _FORMAT, "version": __version__, "model": portable(model)}
    forget_views(content)  # after looking into the model, which makes views
    try:
        data = compressed(sio.dumps(content))
    except (RuntimeError, TypeError, AttributeError) as error:
        raise TypeError(f"skops cannot write a part of the model: {error}") from error
    try:
        check_archive(BytesIO(data))
    except ValueError as error:
        raise ValueError(f"the model cannot be saved so that mercer.load would take it: {error}") from error
    foreign = [name for name in sio.get_untrusted_types(data=data) if name not in trusted_types()]
    if nameless := [name for name in foreign if "<" in name]:
        held = f"the model holds {', '.join(nameless)}, which cannot be imported"
        raise TypeError(f"{held}; define it with a name at the top of a module")
    if foreign:
        advice = f"to load it, the reader must have that code and pass trust={foreign!r}"
        warnings.warn(f"the model holds {', '.join(foreign)}; {advice}", UserWarning, stacklevel=2)
    with written_atomically(path) as temporary:
        temporary.write_bytes(data)
    return path


def load(path: str | Path, trust: Sequence[str] = ()) -> Any:
    """Read a model from `path`, building only trusted types.

    Parameters
    ----------
    path : path
        A file written by `save`.
    trust : sequence of str
        Full names of further types or functions that the file may use: your own, such as ``"mymodule.my_loss"``, or those of
        a library you trust, such as ``"sklearn.tree._tree.Tree"`` for ``regressor=RandomForestRegressor()``. Only name what
        you would import yourself.

    Raises
    ------
    LoadError
        A ValueError, for a file that is damaged, asks for other types, or claims more than its size allows.
    """
    sio, path = require_skops(), Path(path)
    if not path.exists():
        raise FileNotFoundError(f"path={str(path)!r}; there is no such file")
    if not path.is_file():
        what = "a folder" if path.is_dir() else "a device or a pipe"
        raise LoadError(f"path={str(path)!r} is {what}; expected a file written by mercer.save")
    with path.open("rb") as file:
        try:
            return _built(sio, file, path.name, trust)
        except LoadError:
            raise
        except Exception as error:  # whatever a damaged or hostile file leads to
            why = f"{type(error).__name__}: {error!s:.300}"
            raise LoadError(
                f"{path.name} is not a saved model, or is damaged ({why}); expected a file written by mercer.save"
            ) from error


def _built(sio: Any, file: IO[bytes], name: str, trust: Sequence[str]) -> Any:
    check_archive(file)
    named = sio.get_untrusted_types(file=file)
    foreign = [each for each in named if each not in {*trusted_types(), *trust}]
    if foreign:
        advice = (
            f"If it is code of your own, or of a library you trust, pass trust={foreign!r}; otherwise do not load it"
        )
        raise LoadError(f"{name} asks for {', '.join(foreign)}, which mercer.load does not build. {advice}")
    content = sio.load(file, trusted=named)
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise LoadError(f"{name} is a skops file but not a mercer model; expected a file written by mercer.save")
    return content["model"]


@cache
def trusted_types() -> frozenset[str]:
    """Full names of the types `load` builds, beyond those skops trusts by default.

    Examples
    --------
    >>> "mercer.kernels.vectors.Gaussian" in trusted_types()
    True
    """
    own = (
        f"{module.__name__}.{item.__qualname__}"
        for module in _modules()
        for _, item in inspect.getmembers(module, inspect.isclass)
        if item.__module__ == module.__name__
    )
    return frozenset([*_DATA, *own])


def require_skops() -> Any:
    """Import ``skops.io``, which takes a second; raise ImportError with the remedy if it is missing."""
    try:
        import skops.io
    except ImportError as error:
        raise ImportError("saving and loading models needs skops; run 'pip install skops'") from error
    return skops.io


def _modules() -> Iterator[ModuleType]:
    for room in iter_modules([str(Path(__file__).parent)]):
        if room.ispkg and room.name not in _WITHOUT_MODELS:
            package = import_module(f"mercer.{room.name}")
            yield package
            yield from (import_module(each.name) for each in walk_packages(package.__path__, f"{package.__name__}."))
