"""Trees: bracketed text, nested tuples, and the nodes of one.

A tree is a node; a node is a tuple of its label and its children, each a node or a leaf: ``("S", ("NP", "I"), ("VP",
"run"))``. A leaf is a word, or anything hashable that is no tuple. The same in brackets is ``(S (NP I) (VP run))``. Trees of
other libraries that are lists with a method ``label()``, such as those of nltk, are taken too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Any

Tree = tuple[Any, ...]
"""A node: its label, then its children."""

_TOKENS = re.compile(r"[()]|[^\s()]+")


def parse_tree(text: str) -> Tree:
    """The tree that is written in brackets, as nested tuples; an error names the position of what is wrong.

    Examples
    --------
    >>> parse_tree("(S (NP I) (VP run))")
    ('S', ('NP', 'I'), ('VP', 'run'))
    >>> parse_tree("(S (NP I)")
    Traceback (most recent call last):
    ...
    ValueError: unbalanced brackets in '(S (NP I)': the one opened at position 0 is never closed
    """
    open_nodes: list[list[Any]] = []
    opened_at: list[int] = []
    tree: Tree | None = None
    for token in _TOKENS.finditer(text):
        symbol, position = token.group(), token.start()
        if tree is not None:
            if symbol == ")":
                raise ValueError(
                    f"unbalanced brackets in {text!r:.200}: nothing is open where position {position} closes"
                )
            raise ValueError(
                f"{symbol!r} at position {position} of {text!r:.200}; expected one tree, which has ended before"
            )
        if symbol == "(":
            if open_nodes and not open_nodes[-1]:
                open_nodes[-1].append("")  # "((": a node without a label, as the roots of treebanks are
            open_nodes.append([])
            opened_at.append(position)
        elif not open_nodes:
            if symbol == ")":
                raise ValueError(
                    f"unbalanced brackets in {text!r:.200}: nothing is open where position {position} closes"
                )
            raise ValueError(
                f"{symbol!r} at position {position} of {text!r:.200}; expected a tree, which begins with '('"
            )
        elif symbol == ")":
            node = tuple(open_nodes.pop()) or ("",)
            opened_at.pop()
            if open_nodes:
                open_nodes[-1].append(node)
            else:
                tree = node
        else:
            open_nodes[-1].append(symbol)
    if opened_at:
        raise ValueError(
            f"unbalanced brackets in {text!r:.200}: the one opened at position {opened_at[-1]} is never closed"
        )
    if tree is None:
        raise ValueError(f"{text!r:.200} holds no tree; expected one such as '(S (NP I) (VP run))'")
    return tree


def bracketed(tree: Any) -> str:
    """The tree in brackets, on one line.

    Examples
    --------
    >>> bracketed(("S", ("NP", "I"), ("VP", "run")))
    '(S (NP I) (VP run))'
    """
    parts: list[str] = []
    stack: list[Any] = [as_tree(tree)]
    while stack:
        thing = stack.pop()
        if isinstance(thing, _Written):
            parts.append(thing)
        elif isinstance(thing, tuple):
            parts.append(f"({_word(thing[0], empty=True)}")
            stack.append(_Written(")"))
            for child in reversed(thing[1:]):
                stack += [child, _Written(" ")]
        else:
            parts.append(_word(thing))
    return "".join(parts)


def as_tree(thing: Any, name: str = "tree") -> Tree:
    """A tree in any of its forms, as nested tuples.

    Examples
    --------
    >>> as_tree("(NP (D the) (N dog))") == as_tree(["NP", ["D", "the"], ("N", "dog")])
    True
    """
    if isinstance(thing, str):
        try:
            return parse_tree(thing)
        except ValueError as error:
            raise ValueError(f"{name} is no tree: {error}") from error
    if not isinstance(thing, tuple | list):
        raise TypeError(
            f"{name} is {thing!r:.60}, a {type(thing).__name__}; expected a tree: text in brackets, '(S (NP I) (VP run))', "
            "or nested tuples, ('S', ('NP', 'I'), ('VP', 'run'))"
        )
    return _nested(thing, name)


def nodes(tree: Tree) -> Iterator[Tree]:
    """Every node, children before their parents.

    Examples
    --------
    >>> [node[0] for node in nodes(("S", ("NP", "I"), ("VP", "run")))]
    ['NP', 'VP', 'S']
    """
    stack = [(tree, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        else:
            stack.append((node, True))
            stack += [(child, False) for child in reversed(node[1:]) if isinstance(child, tuple)]


def flattened(tree: Any) -> tuple[tuple[Hashable, ...], ...]:
    """The tree from left to right: label and number of children of each node, and each word. Equal for equal trees only.

    Unlike nested tuples this is hashed and compared without recursion, so that trees may be deep.

    Examples
    --------
    >>> flattened("(S (NP I) (VP run))")
    (('S', 2), ('NP', 1), ('I',), ('VP', 1), ('run',))
    """
    parts: list[tuple[Hashable, ...]] = []
    stack: list[Any] = [as_tree(tree)]
    while stack:
        thing = stack.pop()
        if isinstance(thing, tuple):
            parts.append((thing[0], len(thing) - 1))
            stack += reversed(thing[1:])
        else:
            parts.append((thing,))
    return tuple(parts)


def leaves(tree: Any) -> list[Hashable]:
    """The words of a tree from left to right.

    Examples
    --------
    >>> leaves("(S (NP I) (VP run))")
    ['I', 'run']
    """
    words: list[Hashable] = []
    stack: list[Any] = [as_tree(tree)]
    while stack:
        thing = stack.pop()
        if isinstance(thing, tuple):
            stack += reversed(thing[1:])
        else:
            words.append(thing)
    return words


def brackets(tree: Any) -> Counter[tuple[Hashable, int, int]]:
    """How often each label stands over each stretch of words, as (label, first word, word after the last).

    Examples
    --------
    >>> sorted(brackets("(S (NP I) (VP run))"))
    [('NP', 0, 1), ('S', 0, 2), ('VP', 1, 2)]
    """
    found: Counter[tuple[Hashable, int, int]] = Counter()
    stack: list[tuple[Any, int]] = [(as_tree(tree), -1)]
    words = 0
    while stack:
        thing, begin = stack.pop()
        if not isinstance(thing, tuple):
            words += 1
        elif begin < 0:
            stack.append((thing, words))
            stack += [(child, -1) for child in reversed(thing[1:])]
        else:
            found[thing[0], begin, words] += 1
    return found


def production(node: Tree) -> tuple[Hashable, tuple[Hashable, ...]]:
    """The rule a node is an example of: its label, and for each child the label in a tuple, or the word.

    Examples
    --------
    >>> production(("VP", ("V", "see"), "it"))
    ('VP', (('V',), 'it'))
    """
    return node[0], tuple((child[0],) if isinstance(child, tuple) else child for child in node[1:])


class _Written(str):
    """Text that is final, beside words that still have to be looked at."""


def _word(symbol: Any, empty: bool = False) -> str:
    """A label or word as it stands in brackets."""
    text = str(symbol)
    if re.search(r"[\s()]", text) or not (text or empty):
        raise ValueError(
            f"{symbol!r:.60} cannot be written between brackets; expected a word without spaces and brackets, not empty"
        )
    return text


def _nested(thing: Any, name: str) -> Tree:
    """Lists, tuples and trees of other libraries as tuples, without recursion: trees may be deep."""
    done: list[Any] = []
    stack: list[tuple[Any, int]] = [(thing, -1)]
    while stack:
        part, children = stack.pop()
        if children >= 0:
            node = (part, *done[len(done) - children :])
            del done[len(done) - children :]
            done.append(node)
        elif isinstance(part, tuple | list):
            label, below = _parts(part, name)
            stack.append((label, len(below)))
            stack += [(child, -1) for child in reversed(below)]
        else:
            _require_hashable(part, "the leaf", name)
            done.append(part)
    return done[0]


def _parts(node: Any, name: str) -> tuple[Hashable, list[Any]]:
    """The label and the children of a node."""
    if callable(getattr(node, "label", None)):
        return node.label(), list(node)
    if not node:
        raise ValueError(f"{name} holds an empty {type(node).__name__}; expected a node: its label, then its children")
    if isinstance(node[0], tuple | list):
        raise ValueError(
            f"{name} holds {node!r:.60}, which begins with a {type(node[0]).__name__}; expected the label of a node first, then "
            "its children"
        )
    _require_hashable(node[0], "the label", name)
    return node[0], list(node[1:])


def _require_hashable(symbol: Any, what: str, name: str) -> None:
    try:
        hash(symbol)
    except TypeError as error:
        raise TypeError(
            f"{name} has {what} {symbol!r:.60}, a {type(symbol).__name__}, which has no hash; expected a word, or a tuple for a "
            "node"
        ) from error
