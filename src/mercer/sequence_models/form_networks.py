"""Networks from the letters around a step of a transducer, and the tags, to what it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Any

import numpy as np

from mercer.core.compiled import compiled
from mercer.sequence_models.networks import Networks, Task
from mercer.sequence_models.symbols import UNKNOWN, Alphabet
from mercer.sequence_models.tag_views import Tags
from mercer.sequence_models.transducer import Transducer
from mercer.sequence_models.transducer_features import DROP, WRITE, advance, letter_at

_LETTERS = 16  # columns with a letter: of the lemma around the place and at its end, and of what is written
_COUNTS = 3  # columns with a small number: letters left, the last action, the harmony of the lemma
_FAR = 6  # letters left are counted up to this number
_LOWEST = -15.0  # log-probability below which a step is not counted


@dataclass
class FormNetworks:
    """`Networks` of the steps of a `Transducer`, in which letters and tags are vectors that are learned.

    Tags that never come together are in one column (`exclusive_tags`), and the set of all tags is one more.
    """

    networks: Networks = field(default_factory=lambda: Networks(members=3, epochs=40))

    def fit(
        self, transducer: Transducer, lemmas: Sequence[str], tags: Sequence[Tags], forms: Sequence[str]
    ) -> FormNetworks:
        """Learn from lemmas with tags and their forms; the steps are those of a fitted transducer."""
        self.groups_ = [Alphabet(group) for group in exclusive_tags(tags)]
        self.sets_ = Alphabet(tags)
        found = [self._steps(transducer, *each) for each in zip(lemmas, tags, zip(forms), strict=True)]
        rows, actions, kinds = (np.concatenate(parts) for parts in zip(*(each[:3] for each in found), strict=True))
        number = WRITE + len(transducer.groups_)
        allowed = np.ones((2, number), dtype=bool)
        allowed[1, DROP] = False
        features = np.zeros((number, int(transducer.groups_.max()) + 1))
        features[np.arange(WRITE, number), transducer.groups_] = 1.0
        symbols = int(self._starts(transducer)[-1])
        self.networks.fit(Task(rows, actions, kinds, allowed), symbols, features)
        self._readout = self.networks.readout()
        return self

    def scores(self, transducer: Transducer, lemma: str, tags: Tags, forms: Sequence[str]) -> np.ndarray:
        """Return the log-probability of the likeliest edits from the lemma to each of some forms."""
        if not forms:
            return np.empty(0)
        rows, actions, kinds, owners = self._steps(transducer, lemma, tags, forms)
        distinct, which = np.unique(np.column_stack([rows, kinds]), axis=0, return_inverse=True)
        logs = np.empty((len(distinct), self._readout.outward.shape[2]))
        before = self.networks.before_hidden(distinct[:, :-1])
        for kind, classes in enumerate((np.arange(logs.shape[1]), np.delete(np.arange(logs.shape[1]), DROP))):
            mine = np.flatnonzero(distinct[:, -1] == kind)
            logs[np.ix_(mine, classes)] = self._readout.log_probabilities(before[:, mine], classes)
        return np.bincount(owners, np.maximum(logs[which.ravel(), actions], _LOWEST), minlength=len(forms))

    def _steps(
        self, transducer: Transducer, lemma: str, tags: Tags, forms: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the row, the action, the kind (1 if no letter can be dropped) and the form of each step to some forms."""
        x, starts = transducer.codes(lemma), self._starts(transducer)
        paths = [transducer.actions(lemma, form) for form in forms]
        owners, actions = np.repeat(np.arange(len(forms)), [len(path) for path in paths]), np.concatenate(paths)
        rows = np.empty((len(actions), len(starts) - 1), dtype=np.int64)
        kinds = np.empty(len(actions), dtype=np.int64)
        _replay(x, actions, owners, transducer.kinds_, transducer.info(lemma), rows, kinds)
        for k, known in enumerate(self.groups_, _LETTERS + _COUNTS):
            rows[:, k] = 1 + max([UNKNOWN, *known.codes(tags).tolist()])
        rows[:, -1] = 1 + self.sets_.codes([tags])[0]
        rows[:, _LETTERS:] += starts[_LETTERS:-1]
        return rows, actions, kinds, owners

    def _starts(self, transducer: Transducer) -> np.ndarray:
        """Return the first number of the symbols of each column, and their number in all; letters share theirs."""
        sizes = [_FAR + 1, 4, 3, *(len(known) + 1 for known in (*self.groups_, self.sets_))]
        ends = len(transducer.groups_) + np.cumsum([0, *sizes])
        return np.concatenate([np.zeros(_LETTERS, dtype=np.int64), ends])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if hasattr(self, "sets_"):
            self._readout = self.networks.readout()


def exclusive_tags(tags: Sequence[Tags]) -> list[list[str]]:
    """Put tags that never come together into groups, the most frequent tags first.

    Examples
    --------
    >>> exclusive_tags([("V", "PST"), ("V", "PRS", "SG"), ("V", "PRS", "PL")])
    [['V'], ['PRS', 'PST'], ['PL', 'SG']]
    """
    together = {pair for each in tags for pair in combinations(sorted(set(each)), 2)}
    counts = Counter(chain.from_iterable(map(set, tags)))
    groups: list[list[str]] = []
    for tag in sorted(counts, key=lambda tag: (-counts[tag], tag)):
        fitting = (g for g in groups if not any((min(tag, t), max(tag, t)) in together for t in g))
        group = next(fitting, None)
        if group is None:
            groups.append([tag])
        else:
            group.append(tag)
    return groups


@compiled
def _replay(  # noqa: PLR0913
    x: np.ndarray,
    actions: np.ndarray,
    owners: np.ndarray,
    vowels: np.ndarray,
    info: np.ndarray,
    rows: np.ndarray,
    kinds: np.ndarray,
) -> None:
    """Put the letters and numbers that each step looks at into the first columns of `rows`."""
    n, out = len(x), np.zeros(len(actions) + 1, dtype=np.int64)
    i = m = 0
    region, act = (0, 0), 3
    for step in range(len(actions)):
        if step == 0 or owners[step] != owners[step - 1]:
            i = m = 0
            region, act = (0, 0), 3
        row = rows[step]
        for k in range(8):
            row[k] = letter_at(x, n, i + k - 3)
        for k in range(4):
            row[8 + k] = letter_at(out, m, m - 1 - k)
        row[12] = 0
        for k in range(m - 1, -1, -1):
            if vowels[out[k]]:
                row[12] = out[k]
                break
        row[13], row[14], row[15] = info[4], info[5], info[6]
        row[16], row[17], row[18] = min(n - i, 6), act, info[0]
        kinds[step] = int(i == n or m > region[0])
        i, m, region, act = advance(x, i, out, m, region, actions[step])
