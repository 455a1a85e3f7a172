"""Views of a set of tags: all of it, all but one, pairs, single tags, nothing; models learn from each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from mercer.sequence_models.symbols import UNKNOWN, Alphabet

Tags = tuple[str, ...]


class TagViews:
    """The subsets of tags that a model has weights for, numbered.

    Of subsets that the same training inputs have, the smallest is kept. The set of all tags of an input is always one, apart from
    its subsets, so that inputs with the same tags are told from those that have more.
    """

    def fit(self, tags: Sequence[Tags]) -> TagViews:
        """List the views of training inputs."""
        owners: dict[tuple[str, ...], list[int]] = {}
        for i, each in enumerate(tags):
            for view in _views(each):
                owners.setdefault(view, []).append(i)
        seen: dict[tuple[int, ...], tuple[str, ...]] = {}
        whole = [view for view in owners if view[:1] == ("=",)]
        for view in sorted(owners, key=lambda view: (len(view), view)):
            if view[:1] != ("=",):
                seen.setdefault(tuple(owners[view]), view)
        self.views_ = Alphabet([*seen.values(), *whole])
        return self

    def codes(self, tags: Tags) -> np.ndarray:
        """Return the numbers of the views that this set of tags has, the empty one first."""
        codes = self.views_.codes(list(_views(tags)))
        return codes[codes != UNKNOWN]


def _views(tags: Tags) -> Iterator[tuple[str, ...]]:
    every = tuple(sorted(set(tags)))
    yield ()
    for size in sorted({1, 2, len(every) - 1} & set(range(1, len(every) + 1))):
        yield from (("", *view) for view in combinations(every, size))
    yield ("=", *every)
