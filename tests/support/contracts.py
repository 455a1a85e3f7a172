"""Comparison of answers and of fitted models, and interruptions, for contracts that hold for every estimator."""

import functools
import inspect
import pickle
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer.core.collections import hash_key


def assert_same(found, expected, rtol=0.0, where=""):
    """Nested answers are equal: objects, and numbers up to the tolerance."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key in expected:
            assert_same(found[key], expected[key], rtol, f"{where}.{key}")
    elif isinstance(expected, list | tuple) and not isinstance(expected, str):
        assert len(found) == len(expected), where
        for i, (a, b) in enumerate(zip(found, expected, strict=True)):
            assert_same(a, b, rtol, f"{where}[{i}]")
    elif isinstance(expected, np.ndarray) and expected.dtype != object:
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol, err_msg=where)
    elif isinstance(expected, float | np.floating):
        assert found == pytest.approx(expected, rel=rtol, abs=rtol), where
    else:
        assert hash_key(found) == hash_key(expected), where


def snapshot(value, path="", found=None, seen=None):
    """All that can be reached from a value: the path of each part, and a form of it that can be compared."""
    found, seen = ({}, {}) if found is None else (found, seen)
    if isinstance(value, np.ndarray) and value.dtype != object:
        found[path] = (str(value.dtype), value.shape, value.tobytes())
    elif id(value) in seen:
        found[path] = seen[id(value)]
    elif isinstance(value, dict):
        found[path] = tuple(map(repr, value))
        for key, held in value.items():
            snapshot(held, f"{path}[{key!r}]", found, seen)
    elif isinstance(value, list | tuple | np.ndarray):
        found[path] = (type(value), len(value))
        for i, held in enumerate(value):
            snapshot(held, f"{path}[{i}]", found, seen)
    elif hasattr(value, "__dict__") and not isinstance(value, type | types.FunctionType | types.ModuleType):
        seen[id(value)] = found[path] = f"{type(value).__name__} at {path}"
        for name, held in vars(value).items():
            if not lazy(value, name):
                snapshot(held, f"{path}.{name}", found, seen)
    else:
        form = sorted(map(repr, value)) if isinstance(value, set | frozenset) else repr(value)
        found[path] = (type(value), pickle.dumps(value) if " at 0x" in form else form)
    return found


def lazy(owner, name):
    """Whether an attribute is computed when it is first read, from the object alone."""
    return isinstance(getattr(type(owner), name, None), functools.cached_property)


def state(model):
    """The fitted model, without what `predict_set` computes when it is first asked, and without times."""
    found = snapshot(model).items()
    return {path: part for path, part in found if not (path.startswith(".calibration_") or path.endswith(".seconds"))}


def assert_unchanged(model, before, why=""):
    after = state(model)
    changed = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
    assert not changed, why


LIBRARY = str(Path(mercer.__file__).parent)


class Interruption:
    """Raises KeyboardInterrupt at one of the calls of functions of the library."""

    def __init__(self, at=None):
        self.at, self.calls = at, 0

    def __call__(self, frame, event, argument):
        code = frame.f_code
        # what is raised in a generator that is being closed is ignored
        if event == "call" and code.co_filename.startswith(LIBRARY) and not code.co_flags & inspect.CO_GENERATOR:
            self.calls += 1
            if self.calls == self.at:
                sys.setprofile(None)
                caller = frame.f_back.f_code.co_qualname if frame.f_back else "compiled code"
                self.where = f"{code.co_qualname} from {caller}"
                raise KeyboardInterrupt

    def during(self, function, *arguments):
        sys.setprofile(self)
        try:
            function(*arguments)
        finally:
            sys.setprofile(None)
