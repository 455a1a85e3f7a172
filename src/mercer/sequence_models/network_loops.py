"""Compiled loops that networks share: what is left out, the bend, slopes of classes, steps down."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mercer.core.compiled import compiled

_FIRST, _SECOND = 0.9, 0.999  # memory of the mean slope, and of its square
_FLAT = np.float32(
    7.9053
)  # where the hyperbolic tangent is one, and the quotient of polynomials that is equal to it before
_ABOVE = np.asarray(
    [4.893525e-3, 6.3726193e-4, 1.4857224e-5, 5.1222971e-8, -8.6046715e-11, 2.0001879e-13, -2.7607685e-16], np.float32
)
_BELOW = np.asarray([4.893525e-3, 2.2684346e-3, 1.1853470e-4, 1.1982584e-6], np.float32)
OWN = 0.5  # weight of a class of its own, next to its features


class ClassFeatures(NamedTuple):
    """The features of classes, those of class c at ``starts[c]`` to ``starts[c + 1]``: their numbers, and their values."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray


class Options(NamedTuple):
    """The classes that each kind of row can have, ``classes[kind, :sizes[kind]]``."""

    classes: np.ndarray
    sizes: np.ndarray


class Outward(NamedTuple):
    """Weights from a hidden layer to classes and to their features, and the bias of classes; or their slopes."""

    weights: np.ndarray  # (classes + features, hidden)
    bias: np.ndarray  # (1, classes)


class ClassRoom(NamedTuple):
    """Room for the weights into each class, for their slopes, for the batch that a class was met in, and for scores."""

    into: np.ndarray
    by_into: np.ndarray
    met: np.ndarray
    scores: np.ndarray


def class_features(features: np.ndarray) -> ClassFeatures:
    """Return the features that are not zero."""
    with_features = [np.flatnonzero(row) for row in features]
    starts, columns = np.cumsum([0, *map(len, with_features)]), np.concatenate(with_features)
    return ClassFeatures(starts, columns, features[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), columns])


def options_of(allowed: np.ndarray) -> Options:
    """Return the classes marked in each row of `allowed`.

    Examples
    --------
    >>> options_of(np.array([[True, False, True], [False, False, True]])).classes.tolist()
    [[0, 2], [2, 0]]
    """
    kinds, classes = np.nonzero(allowed)
    sizes = np.bincount(kinds, minlength=len(allowed))
    found = np.zeros((len(allowed), sizes.max()), dtype=np.int64)
    found[kinds, np.arange(len(kinds)) - np.repeat(np.cumsum(sizes) - sizes, sizes)] = classes
    return Options(found, sizes)


def class_room(classes: int, hidden: int) -> ClassRoom:
    """Return room for so many classes."""
    into, by_into = (np.empty((classes, hidden), np.float32) for _ in range(2))
    return ClassRoom(into, by_into, np.full(classes, -1), np.empty(classes, np.float32))


@compiled
def add_slopes_of_classes(  # noqa: PLR0913
    seen: np.ndarray,
    by_seen: np.ndarray,
    classes: np.ndarray,
    kinds: np.ndarray,
    options: Options,
    features: ClassFeatures,
    outward: Outward,
    slopes: Outward,
    room: ClassRoom,
    batch: int,
    share: np.float32,
) -> None:
    """Put the slope of −log p(class), times `share`, in each row of `seen` into `by_seen`, and add those in the weights.

    `batch` is a number that no call before had.
    """
    into, by_into, met, scores = room
    number = outward.bias.shape[1]
    by_seen[:] = 0.0
    for b in range(len(seen)):
        own, highest = options.classes[kinds[b], : options.sizes[kinds[b]]], np.float32(-np.inf)
        if len(own) == 1:
            continue
        for q in range(len(own)):
            if met[own[q]] != batch:  # the weights into a class are put together once for each batch
                met[own[q]] = batch
                by_into[own[q]] = 0.0
                _put_together(into[own[q]], own[q], outward.weights, number, features)
            scores[q] = _dot(seen[b], into[own[q]]) + outward.bias[0, own[q]]
            highest = max(highest, scores[q])
        total = np.float32(0.0)
        for q in range(len(own)):
            scores[q] = np.exp(scores[q] - highest)
            total += scores[q]
        for q in range(len(own)):
            excess = (scores[q] / total - np.float32(own[q] == classes[b])) * share
            slopes.bias[0, own[q]] += excess
            _add(by_into[own[q]], excess, seen[b])
            _add(by_seen[b], excess, into[own[q]])
    for c in range(number):
        if met[c] == batch:
            _spread(by_into[c], c, slopes.weights, number, features)


@compiled
def keep(kept: np.ndarray, dropout: float, state: np.ndarray) -> None:
    """Put 0 for a share that is left out, and for the rest a factor that makes up for it; eight draws from 64 bits."""
    flat, bits = kept.ravel(), state[0]
    least = round(256.0 * dropout)
    factor = np.float32(256.0 / (256.0 - least))
    for start in range(0, len(flat), 8):
        bits ^= bits << np.uint64(13)
        bits ^= bits >> np.uint64(7)
        bits ^= bits << np.uint64(17)
        for k in range(min(8, len(flat) - start)):
            flat[start + k] = factor if np.int64((bits >> np.uint64(8 * k)) & np.uint64(255)) >= least else 0.0
    state[0] = bits


@compiled
def join_vectors(vectors: np.ndarray, numbers: np.ndarray, kept: np.ndarray, joined: np.ndarray) -> None:
    """Put what is kept of the vectors of the symbols of each row, one after the other, into `joined`."""
    size = vectors.shape[1]
    for b in range(len(numbers)):
        for j in range(numbers.shape[1]):
            vector, place = vectors[numbers[b, j]], j * size
            for k in range(size):
                joined[b, place + k] = vector[k] * kept[b, place + k]


@compiled
def add_to_vectors(by_vectors: np.ndarray, numbers: np.ndarray, kept: np.ndarray, by_joined: np.ndarray) -> None:
    """Add the slopes of what `join_vectors` joined to those of the vectors."""
    size = by_vectors.shape[1]
    for b in range(len(numbers)):
        for j in range(numbers.shape[1]):
            vector, place = by_vectors[numbers[b, j]], j * size
            for k in range(size):
                vector[k] += by_joined[b, place + k] * kept[b, place + k]


@compiled(error_model="numpy")  # without checks for division by zero many entries are done at a time
def tangent(x: np.float32) -> np.float32:
    """Return the hyperbolic tangent, by a quotient of polynomials that is exact to the last digits of single precision."""
    x = min(max(x, -_FLAT), _FLAT)
    square = x * x
    above = _ABOVE[6]
    for power in range(5, -1, -1):
        above = above * square + _ABOVE[power]
    below = ((_BELOW[3] * square + _BELOW[2]) * square + _BELOW[1]) * square + _BELOW[0]
    return x * above / below


@compiled(error_model="numpy")
def bend(layer: np.ndarray, offset: np.ndarray, kept: np.ndarray, seen: np.ndarray) -> None:
    """Add the offset to a layer, take the hyperbolic tangent, and put what is kept of it into `seen`."""
    for b in range(layer.shape[0]):
        for k in range(layer.shape[1]):
            layer[b, k] = tangent(layer[b, k] + offset[0, k])
            seen[b, k] = layer[b, k] * kept[b, k]


@compiled
def unbend(by_layer: np.ndarray, layer: np.ndarray, kept: np.ndarray, by_offset: np.ndarray) -> None:
    """Turn slopes in what was kept of a layer into slopes before its bend, and add them to that of the offset."""
    for b in range(len(layer)):
        for k in range(layer.shape[1]):
            by_layer[b, k] *= kept[b, k] * (np.float32(1.0) - layer[b, k] * layer[b, k])
            by_offset[0, k] += by_layer[b, k]


@compiled(error_model="numpy")
def step_down(  # noqa: PLR0913
    weights: np.ndarray, slope: np.ndarray, mean: np.ndarray, square: np.ndarray, rate: float, done: int
) -> None:
    """Go one step down (Adam), `done` steps being done with this one."""
    first, second, one, least = np.float32(_FIRST), np.float32(_SECOND), np.float32(1.0), np.float32(1e-8)
    pace, factor = np.float32(rate / (1.0 - _FIRST**done)), np.float32(1.0 / (1.0 - _SECOND**done))
    for i in range(len(weights)):
        mean[i] = first * mean[i] + (one - first) * slope[i]
        square[i] = second * square[i] + (one - second) * slope[i] * slope[i]
        weights[i] -= pace * mean[i] / (np.sqrt(square[i] * factor) + least)


@compiled(fastmath=True)
def _dot(a: np.ndarray, b: np.ndarray) -> np.float32:
    total = np.float32(0.0)
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@compiled
def _add(to: np.ndarray, factor: np.float32, what: np.ndarray) -> None:
    for k in range(len(to)):
        to[k] += factor * what[k]


@compiled
def _put_together(into: np.ndarray, c: int, outward: np.ndarray, number: int, features: ClassFeatures) -> None:
    """Put the weights into class `c` together from its own and those of its features."""
    into[:] = 0.0
    _add(into, np.float32(OWN), outward[c])
    for z in range(features.starts[c], features.starts[c + 1]):
        _add(into, features.values[z], outward[number + features.columns[z]])


@compiled
def _spread(by_into: np.ndarray, c: int, slopes: np.ndarray, number: int, features: ClassFeatures) -> None:
    """Add the slope of the weights into class `c` to those of its own and of its features."""
    _add(slopes[c], np.float32(OWN), by_into)
    for z in range(features.starts[c], features.starts[c + 1]):
        _add(slopes[number + features.columns[z]], features.values[z], by_into)
