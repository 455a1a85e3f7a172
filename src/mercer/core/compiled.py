"""Loops compiled by numba, which is imported at the first call of one (that takes about a second)."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from threading import RLock
from typing import Any, Generic, ParamSpec, TypeVar, overload

P = ParamSpec("P")
R = TypeVar("R")

_LOCK = RLock()


class Deferred(Generic[P, R]):
    """A numba function that is made at the first call of it, or of a compiled function that names it.

    It then replaces this object in its module, so that later calls cost nothing more and compiled functions can call each other.
    """

    def __init__(self, function: Callable[..., Any], make: Callable[[], Callable[P, R]]) -> None:
        update_wrapper(self, function)
        self._function = function
        self._make = make
        self._made: Callable[P, R] | None = None

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Call the compiled function."""
        return (self._made or self.made())(*arguments, **named)

    def made(self) -> Callable[P, R]:
        """Return the function of numba, made if it is not yet."""
        with _LOCK:
            if self._made is None:
                self._made, names = self._make(), self._function.__globals__
                for name in (self._function.__name__, *self._function.__code__.co_names):
                    value = names.get(name)
                    if isinstance(value, Deferred):
                        names[name] = value.made()
            return self._made


@overload
def compiled(function: Callable[P, R]) -> Deferred[P, R]: ...
@overload
def compiled(**options: Any) -> Callable[[Callable[P, R]], Deferred[P, R]]: ...
def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function by ``numba.njit(cache=True, nogil=True, **options)`` at its first call.

    A compiled function may call others of its module, or others imported by name. Options go in parentheses:
    ``@compiled(inline="always")``.
    """

    def decorate(function: Callable[..., Any]) -> Deferred[..., Any]:
        def make() -> Any:
            from numba import njit

            # an interactive function has no file beside which to keep the result
            cached = not function.__code__.co_filename.startswith("<")
            return njit(**{"cache": cached, "nogil": True} | options)(function)

        return Deferred(function, make)

    return decorate if function is None else decorate(function)


def deferred(factory: Callable[[], Any]) -> Any:
    """Return a function of numba, such as an intrinsic, that `factory` makes at its first use."""
    return Deferred(factory, factory)
