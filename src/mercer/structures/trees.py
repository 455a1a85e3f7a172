"""Trees: bracketed text, nested tuples, and their nodes.

A node is a tuple of its label and its children, each a node or a leaf: ``("S", ("NP", "I"), ("VP", "run"))``. A leaf is a
word, or any other hashable object except a tuple. The same tree in brackets is ``(S (NP I) (VP run))``. Lists with a method
``label()``, such as the trees of nltk, are accepted too.
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
    """Read a tree in brackets; an error names the position of the fault.

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
        if not open_nodes and (tree is not None or symbol != "("):
            raise ValueError(_misplaced(symbol, position, text, ended=tree is not None))
        if symbol == "(":
            if open_nodes and not open_nodes[-1]:
                open_nodes[-1].append("")  # "((": a node without a label, as the roots of treebanks are
            open_nodes.append([])
            opened_at.append(position)
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
        opened = f"the one opened at position {opened_at[-1]}"
        raise ValueError(f"unbalanced brackets in {text!r:.200}: {opened} is never closed")
    if tree is None:
        raise ValueError(f"{text!r:.200} holds no tree; expected one such as '(S (NP I) (VP run))'")
    return tree


def bracketed(tree: Any) -> str:
    """Write a tree in brackets, on one line.

    Examples
    --------
    >>> bracketed(("S", ("NP", "I"), ("VP", "run")))
    '(S (NP I) (VP run))'
    """
    parts: list[str] = []
    for thing, closing in _visits(as_tree(tree)):
        if closing:
            parts.append(")")
        else:
            parts.append(f" ({_word(thing[0], empty=True)}" if is_node(thing) else f" {_word(thing)}")
    return "".join(parts)[1:]


def as_tree(thing: Any, name: str = "tree") -> Tree:
    """Convert a tree in any of its forms to nested tuples.

    Examples
    --------
    >>> as_tree("(NP (D the) (N dog))") == as_tree(["NP", ["D", "the"], ("N", "dog")])
    True
    """
    if isinstance(thing, str):
        try:
            return parse_tree(thing)
        except ValueError as error:
            raise ValueError(f"{name} is not a tree: {error}") from error
    if not _is_nested(thing):
        forms = "text in brackets, '(S (NP I) (VP run))', or nested tuples, ('S', ('NP', 'I'), ('VP', 'run'))"
        raise TypeError(f"{name} is {thing!r:.60}, a {type(thing).__name__}; expected a tree: {forms}")
    return _as_tuples(thing, name)


def is_node(thing: Any) -> bool:
    """Whether a part of a tree is a node rather than a leaf."""
    return isinstance(thing, tuple)


def nodes(tree: Tree) -> Iterator[Tree]:
    """Yield every node, children before their parents."""
    return (thing for thing, closing in _visits(tree) if closing)


def flattened(tree: Any) -> tuple[tuple[Hashable, ...], ...]:
    """List (label, number of children) of each node and (word,), from left to right; equal for equal trees only.

    Unlike nested tuples the result is hashed and compared without recursion, so that trees may be deep.
    """
    visits = _visits(as_tree(tree))
    return tuple((part[0], len(part) - 1) if is_node(part) else (part,) for part, closing in visits if not closing)


def leaves(tree: Any) -> list[Hashable]:
    """List the words of a tree from left to right.

    Examples
    --------
    >>> leaves("(S (NP I) (VP run))")
    ['I', 'run']
    """
    return [thing for thing, _ in _visits(as_tree(tree)) if not is_node(thing)]


def brackets(tree: Any) -> Counter[tuple[Hashable, int, int]]:
    """Count the labelled spans of words of a tree, as (label, first word, word after the last).

    Examples
    --------
    >>> sorted(brackets("(S (NP I) (VP run))"))
    [('NP', 0, 1), ('S', 0, 2), ('VP', 1, 2)]
    """
    found: Counter[tuple[Hashable, int, int]] = Counter()
    starts: list[int] = []
    words = 0
    for thing, closing in _visits(as_tree(tree)):
        if closing:
            found[thing[0], starts.pop(), words] += 1
        elif is_node(thing):
            starts.append(words)
        else:
            words += 1
    return found


def production(node: Tree) -> tuple[Hashable, tuple[Hashable, ...]]:
    """Return the grammar rule of a node, such as ``("VP", (("V",), "it"))``: its label, then labels in tuples, and words."""
    return node[0], tuple((child[0],) if is_node(child) else child for child in node[1:])


def _visits(tree: Tree) -> Iterator[tuple[Any, bool]]:
    """Yield each node twice, before and (marked True) after its children, and each leaf once; without recursion."""
    stack: list[tuple[Any, bool]] = [(tree, False)]
    while stack:
        thing, closing = stack.pop()
        yield thing, closing
        if not closing and is_node(thing):
            stack.append((thing, True))
            stack += [(child, False) for child in thing[:0:-1]]


def _misplaced(symbol: str, position: int, text: str, ended: bool) -> str:
    """Return the message for a symbol outside of all brackets."""
    if symbol == ")":
        return f"unbalanced brackets in {text!r:.200}: nothing is open where position {position} closes"
    expected = "one tree, which has ended before" if ended else "a tree, which begins with '('"
    return f"{symbol!r} at position {position} of {text!r:.200}; expected {expected}"


def _word(symbol: Any, empty: bool = False) -> str:
    """Return a label or word as it is written in brackets."""
    text = str(symbol)
    if re.search(r"[\s()]", text) or not (text or empty):
        raise ValueError(f"{symbol!r:.60} cannot be written between brackets; expected a word without space or bracket")
    return text


def _is_nested(thing: Any) -> bool:
    return isinstance(thing, tuple | list)


def _as_tuples(thing: Any, name: str) -> Tree:
    """Convert lists, tuples and trees of other libraries to tuples, without recursion: trees may be deep."""
    done: list[Any] = []
    above: set[int] = set()  # the nodes that hold the current one, by identity
    stack: list[tuple[Any, Hashable, int]] = [(thing, None, -1)]
    while stack:
        part, label, children = stack.pop()
        if children >= 0:
            node = (label, *done[len(done) - children :])
            del done[len(done) - children :]
            done.append(node)
            above.remove(id(part))
        elif _is_nested(part):
            label, below = _label_and_children(part, name)
            if id(part) in above:
                raise ValueError(f"{name} has a cycle: the node {label!r:.60} holds itself; expected a tree")
            above.add(id(part))
            stack.append((part, label, len(below)))
            stack += [(child, None, -1) for child in reversed(below)]
        else:
            _require_hashable(part, "the leaf", name)
            done.append(part)
    return done[0]


def _label_and_children(node: Any, name: str) -> tuple[Hashable, list[Any]]:
    if callable(getattr(node, "label", None)):
        return node.label(), list(node)
    if not node:
        raise ValueError(f"{name} holds an empty {type(node).__name__}; expected a node: its label, then its children")
    if _is_nested(node[0]):
        begin = f"{node!r:.60}, which begins with a {type(node[0]).__name__}"
        raise ValueError(f"{name} holds {begin}; expected the label of a node first, then its children")
    _require_hashable(node[0], "the label", name)
    return node[0], list(node[1:])


def _require_hashable(symbol: Any, what: str, name: str) -> None:
    try:
        hash(symbol)
    except TypeError as error:
        found = f"{what} {symbol!r:.60}, a {type(symbol).__name__}, which has no hash"
        raise TypeError(f"{name} has {found}; expected a word, or a tuple for a node") from error
