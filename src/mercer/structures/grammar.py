"""Small context-free grammars: all parses of a sentence, and their probabilities."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from mercer.structures.trees import Tree, as_tree, is_node, nodes, production

Right = tuple[Any, ...]
"""The right side of a rule: a nonterminal is a tuple of its label, a word stands for itself."""

_ALTERNATIVE = re.compile(r"^(?P<symbols>.*?)(?:\[(?P<probability>[^\]]*)\])?\s*$")


@dataclass(frozen=True)
class Grammar:
    """A context-free grammar with probabilities.

    Parameters
    ----------
    rules : dict
        The probability of each rule, a pair of its label and its right side as `mercer.structures.trees.production`
        gives it: ``("VP", (("V",), ("NP",)))``, ``("N", ("dog",))``.
    start : str
        The label of whole sentences.

    Examples
    --------
    >>> grammar = Grammar.read('''
    ...     S  -> NP VP
    ...     VP -> V NP [0.7] | VP PP [0.3]
    ...     NP -> 'I' [0.4] | 'men' [0.2] | 'hats' [0.2] | NP PP [0.2]
    ...     PP -> P NP
    ...     V  -> 'saw'
    ...     P  -> 'with'
    ... ''')
    >>> from mercer.structures.trees import bracketed
    >>> for tree in grammar.parses("I saw men with hats".split()):
    ...     print(f"{grammar.log_probability(tree):.2f} {bracketed(tree)}")
    -6.10 (S (NP I) (VP (V saw) (NP (NP men) (PP (P with) (NP hats)))))
    -5.70 (S (NP I) (VP (VP (V saw) (NP men)) (PP (P with) (NP hats))))
    """

    rules: dict[tuple[Hashable, Right], float]
    start: Hashable = "S"

    @classmethod
    def read(cls, text: str, start: Hashable = "S") -> Grammar:
        """Read a grammar with one line per label, ``VP -> V NP [0.7] | 'runs' [0.3]``; words are in quotes.

        Alternatives without a probability share what the other alternatives of their label leave.
        """
        rules: dict[tuple[Hashable, Right], float] = {}
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            label, arrow, right = line.partition("->")
            if not arrow or len(label.split()) != 1:
                example = "VP -> V NP [0.7] | 'runs'"
                raise ValueError(f"line {number} of the grammar is {line.strip()!r}; expected a line such as {example}")
            alternatives = [_alternative(part, number) for part in right.split("|")]
            given = [share for _, share in alternatives if share is not None]
            spare = (1.0 - sum(given)) / max(1, len(alternatives) - len(given))
            for side, share in alternatives:
                rules[label.strip(), side] = spare if share is None else share
        return cls(rules, start)

    @classmethod
    def learned(cls, trees: Iterable[Any], start: Hashable = "S") -> Grammar:
        """Estimate a grammar from a treebank: each production by its relative frequency under its label."""
        counts = Counter(production(node) for tree in trees for node in nodes(as_tree(tree)))
        labels: Counter[Hashable] = Counter()
        for (label, _), times in counts.items():
            labels[label] += times
        return cls({rule: times / labels[rule[0]] for rule, times in counts.items()}, start)

    def log_probability(self, tree: Any) -> float:
        """Log-probability of a tree; minus infinity if it uses a production that is not in the grammar."""
        shares = [self.rules.get(production(node), 0.0) for node in nodes(as_tree(tree))]
        return sum(map(math.log, shares)) if all(share > 0 for share in shares) else -math.inf

    def parses(self, words: Sequence[Hashable], limit: int = 10_000) -> list[Tree]:
        """List every tree of the grammar over the words, in an order that depends on the rules alone.

        Raises ValueError if a part of the sentence has more than `limit` parses.
        """
        if isinstance(words, str):
            raise TypeError(f"words is the text {words!r:.60}; expected a list of words, such as text.split()")
        return _Chart(self, tuple(words), limit).spanning(self.start, 0, len(words))


class _Chart:
    """Parses of all parts of one sentence, each part parsed once."""

    def __init__(self, grammar: Grammar, words: tuple[Hashable, ...], limit: int) -> None:
        self.words, self.limit = words, limit
        self.rights: dict[Hashable, list[Right]] = {}
        for label, right in grammar.rules:
            self.rights.setdefault(label, []).append(right)
        _require_no_cycle(self.rights)
        self.found: dict[tuple[Hashable, int, int], list[Tree]] = {}

    def spanning(self, label: Hashable, begin: int, end: int) -> list[Tree]:
        """Trees with this label over a part of the sentence."""
        key = (label, begin, end)
        if key not in self.found:
            children = [below for right in self.rights.get(label, []) for below in self.sequences(right, begin, end)]
            if len(children) > self.limit:
                parses = f"{' '.join(map(str, self.words[begin:end]))!r:.80} has {len(children)} parses as {label!r}"
                raise ValueError(f"{parses}, and limit={self.limit}; raise the limit, or shorten the sentence")
            self.found[key] = [(label, *below) for below in children]
        return self.found[key]

    def sequences(self, right: Right, begin: int, end: int) -> list[tuple[Any, ...]]:
        """Children for each way in which the symbols of a right side cover a part of the sentence."""
        first, rest = right[0], right[1:]
        if not rest:
            return [(part,) for part in self.symbol(first, begin, end)]
        # each symbol covers at least one word
        return [
            (part, *others)
            for middle in range(begin + 1, end - len(rest) + 1)
            for part in self.symbol(first, begin, middle)
            for others in self.sequences(rest, middle, end)
        ]

    def symbol(self, symbol: Any, begin: int, end: int) -> list[Any]:
        """Trees of a nonterminal, or the word itself if it stands there."""
        if is_node(symbol):
            return self.spanning(symbol[0], begin, end)
        return [symbol] if end == begin + 1 and self.words[begin] == symbol else []


def _alternative(text: str, line: int) -> tuple[Right, float | None]:
    """Parse the right side of one rule, and its probability if given."""
    found = _ALTERNATIVE.match(text.strip())
    assert found is not None
    symbols = found["symbols"].split()
    if not symbols:
        raise ValueError(f"line {line} of the grammar has an empty alternative; expected labels, or words in quotes")
    try:
        share = None if found["probability"] is None else float(found["probability"])
    except ValueError:
        share = math.nan
    if share is not None and not 0 < share <= 1:
        given = f"[{found['probability']}] in line {line} of the grammar"
        raise ValueError(f"{given}; expected a probability above 0, at most 1")
    return tuple(part[1:-1] if part[0] in "'\"" and part[-1] == part[0] else (part,) for part in symbols), share


def _require_no_cycle(rights: dict[Hashable, list[Right]]) -> None:
    """Raise ValueError if a label rewrites to itself alone: it would have infinitely many trees."""
    single = {
        label: {right[0][0] for right in alternatives if len(right) == 1 and is_node(right[0])}
        for label, alternatives in rights.items()
    }
    try:
        TopologicalSorter(single).prepare()
    except CycleError as error:
        label = error.args[1][0]
        why = f"{label!r} can be rewritten to {label!r} alone, which gives infinitely many trees"
        raise ValueError(f"{why}; expected a grammar without such a cycle") from error
