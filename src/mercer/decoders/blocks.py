"""Candidates that are not all in memory at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import Array
from mercer.core.collections import Collection, concatenate, count, take
from mercer.decoders.base import Decoder, Ranked
from mercer.decoders.pool import ROUNDING, top

_ENTRIES = 2**23
"""Most features of candidates held at a time, 64 MiB of doubles."""


@dataclass
class Blocks:
    """Candidates block by block, for ``predict`` and ``rank``: only one block is held at a time.

    Parameters
    ----------
    blocks : iterable of collections
        For example a generator that reads a file; one call uses it up.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> model = DependencyEstimator(alpha=0.1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> blocks = (np.arange(start, start + 1.0, 0.25) for start in range(3))
    >>> model.predict([[1.0]], candidates=Blocks(blocks))
    array([1.])
    """

    blocks: Iterable[Any]


def best_of_blocks(
    decoder: Decoder, H: Array, blocks: Iterable[Any], k: int, encode: Callable[[Any, str], Collection] | None = None
) -> list[Ranked]:
    """The k best of all candidates in the blocks for each point, ties to those that came first.

    `encode` turns a block, with a name for errors, into the form the output kernel works on.
    """
    found: list[Ranked] | None = None
    for number, block in enumerate(blocks):
        name = f"candidates[{number}]"
        if not hasattr(block, "__len__"):
            raise TypeError(
                f"{name} is {block!r:.40}, a {type(block).__name__}; expected a block, that is a collection of candidates"
            )
        for part in _parts(block, max(1, _ENTRIES // H.shape[1])):
            ranked = decoder.choose(H, part if encode is None else encode(part, name), k)
            found = ranked if found is None else [_merged(*pair, k) for pair in zip(found, ranked, strict=True)]
    if found is None:
        raise ValueError("candidates has no blocks; expected at least one output to choose from")
    return found


def _parts(block: Any, size: int) -> Iterator[Any]:
    rows = block.shape[0] if hasattr(block, "shape") else len(block)
    for start in range(0, rows, size):
        yield block[start : start + size]


def _merged(first: Ranked, second: Ranked, k: int) -> Ranked:
    scores = np.concatenate([first.scores, second.scores])
    order, values = top(scores[None, :], min(k, len(scores)), ROUNDING * np.abs(scores).max(keepdims=True))
    if count(first.objects) == k and order.max() < k:
        return first
    return Ranked(take(concatenate(first.objects, second.objects), order[0]), values[0])
