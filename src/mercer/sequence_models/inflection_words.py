"""What is to be inflected: a lemma and the tags of the form that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mercer.core.collections import as_objects

SEPARATOR = ";"


class Request(NamedTuple):
    """A lemma and its tags."""

    lemma: str
    tags: tuple[str, ...]


def as_requests(X: Any, name: str = "X") -> list[Request]:
    """Each of `X`, a lemma or a pair (lemma, tags), with its tags as a tuple; tags in one string are parted by ``;``.

    Examples
    --------
    >>> as_requests([("go", "V;PST"), ("ox", ("N", "PL")), "child"])[:2]
    [Request(lemma='go', tags=('V', 'PST')), Request(lemma='ox', tags=('N', 'PL'))]
    """
    return [_request(item, f"{name}[{i}]") for i, item in enumerate(as_objects(X, name))]


def as_forms(y: Any, n: int, name: str = "y") -> list[str]:
    """`y` as strings, one for each of `n` inputs."""
    forms = list(as_objects(y, name))
    for i, form in enumerate(forms):
        if not isinstance(form, str):
            raise TypeError(f"{name}[{i}] is {form!r:.40}, a {type(form).__name__}; expected a string")
    if len(forms) != n:
        raise ValueError(f"X has {n} objects and {name} has {len(forms)}; expected as many of each")
    return [str(form) for form in forms]


def _request(item: Any, name: str) -> Request:
    if isinstance(item, str):
        return _checked(item, (), name)
    if isinstance(item, Sequence) or getattr(item, "ndim", 0) == 1:
        if len(item) != 2:
            raise ValueError(f"{name} is {tuple(item)!r:.60}; expected a lemma, or a pair (lemma, tags)")
        return _checked(item[0], _tags(item[1], name), name)
    raise TypeError(
        f"{name} is {item!r:.40}, a {type(item).__name__}; expected a lemma, or a pair (lemma, tags) such as ('go', 'V;PST')"
    )


def _checked(lemma: Any, tags: tuple[str, ...], name: str) -> Request:
    if not isinstance(lemma, str):
        raise TypeError(f"the lemma of {name} is {lemma!r:.40}, a {type(lemma).__name__}; expected a string")
    if not lemma:
        raise ValueError(f"the lemma of {name} is empty; expected at least one letter. Drop such rows first")
    return Request(str(lemma), tags)


def _tags(tags: Any, name: str) -> tuple[str, ...]:
    parts = tags.split(SEPARATOR) if isinstance(tags, str) else tags
    if not isinstance(parts, Sequence) and getattr(parts, "ndim", 0) != 1:
        raise TypeError(
            f"the tags of {name} are {tags!r:.40}; expected a string such as 'V;PST', or a tuple of strings"
        )
    for tag in parts:
        if not isinstance(tag, str):
            raise TypeError(f"the tags of {name} hold {tag!r:.40}, a {type(tag).__name__}; expected strings")
    return tuple(str(tag).strip() for tag in parts if tag.strip())
