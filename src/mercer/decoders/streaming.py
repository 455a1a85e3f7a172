"""The best of very many candidates, read block by block: bounded memory, and the answer of all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mercer.core.arrays import Array
from mercer.core.collections import Collection, concatenate, count, is_blocks, take
from mercer.decoders.base import Decoder, Ranked, check_count
from mercer.decoders.pool import ROUNDING, top

_ENTRIES = 2**23
"""Most features of candidates held at a time, 64 MiB of doubles."""


class Leaders(NamedTuple):
    """The best candidates of each point so far."""

    objects: Collection
    """Each of them once."""
    places: np.ndarray
    """Their places among the objects, best first."""
    scores: np.ndarray

    def merged(self, other: Leaders, k: int) -> Leaders:
        """Return the k best of these and of others that came later; ties go to those that came first."""
        scores = np.concatenate([self.scores, other.scores], axis=1)
        index = np.concatenate([self.places, count(self.objects) + other.places], axis=1)
        order, values = top(scores, min(k, scores.shape[1]), ROUNDING * np.abs(scores).max(axis=1))
        index = np.take_along_axis(index, order, axis=1)
        if index.max() < count(self.objects):
            return Leaders(self.objects, index, values)
        kept, index = np.unique(index, return_inverse=True)
        objects = take(concatenate(self.objects, other.objects), kept)
        return Leaders(objects, index.reshape(order.shape), values)

    def ranked(self) -> list[Ranked]:
        """Return the ranking of each point."""
        return [Ranked(take(self.objects, row), scores) for row, scores in zip(self.places, self.scores, strict=True)]


@dataclass
class BestOf:
    """The best candidates of a block for each point."""

    decoder: Decoder
    points: Array
    k: int
    encode: Callable[[Any, str], Collection] | None = None
    """Turns a block, with a name for errors, into the form the output kernel works on."""

    def __call__(self, block: Any, name: str = "candidates") -> Leaders:
        """Return the k best of a block, ties in its order."""
        if not hasattr(block, "__len__"):
            raise TypeError(
                f"{name} is {block!r:.40}, a {type(block).__name__}; expected a block, that is a collection of candidates"
            )
        block = block if self.encode is None else self.encode(block, name)
        if type(self.decoder).choose is not Decoder.choose:
            return _led(self.decoder.choose(self.points, block, self.k))
        pool = self.decoder._given(block, name)
        index, scores = pool.best(self.decoder._points(self.points), self.k, batch=self.decoder._batch())
        kept, index = np.unique(index, return_inverse=True)
        return Leaders(take(pool.objects, kept), index.reshape(scores.shape), scores)


def _led(ranked: list[Ranked]) -> Leaders:
    """The rankings of a decoder with a way of its own to choose, all of one length."""
    objects: Any = ranked[0].objects
    for each in ranked[1:]:
        objects = concatenate(objects, each.objects)
    scores = np.stack([each.scores for each in ranked])
    return Leaders(objects, np.arange(scores.size).reshape(scores.shape), scores)


def best_of_blocks(
    decoder: Decoder, H: Array, blocks: Any, k: int, encode: Callable[[Any, str], Collection] | None = None
) -> list[Ranked]:
    """Return the k best of all candidates in the blocks for each point, ties to those that came first.

    Scores that differ by rounding tie, as among candidates that are compared at once. Blocks of `RowBlocks` are compared where
    they are, others one after the other.
    """
    task = BestOf(decoder, H, check_count(k), encode)
    size = max(1, _ENTRIES // H.shape[1])
    parts = blocks.each(task, most=size) if is_blocks(blocks) else _each(task, blocks, size)
    found: Leaders | None = None
    for part in parts:
        found = part if found is None else found.merged(part, k)
    if found is None:
        raise ValueError("candidates has no blocks; expected at least one output to choose from")
    return found.ranked()


def _each(task: BestOf, blocks: Iterable[Any], size: int) -> Iterator[Leaders]:
    for number, block in enumerate(blocks):
        name = f"candidates[{number}]"
        if not hasattr(block, "__len__"):
            task(block, name)  # says what is wrong
        rows = block.shape[0] if hasattr(block, "shape") else len(block)
        for start in range(0, rows, size):
            yield task(block[start : start + size], name)
