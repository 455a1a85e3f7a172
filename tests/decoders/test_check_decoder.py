"""The contract catches decoders that break it."""

import numpy as np
import pytest

from mercer.core.collections import as_objects, take
from mercer.decoders import Candidates, PerPosition, Ranked
from mercer.embeddings import Implicit
from mercer.kernels import Gaussian, Positions
from mercer.testing import check_decoder

Y = np.random.default_rng(0).normal(size=(6, 2))
H = np.random.default_rng(1).normal(size=(5, 6))


class Worst(Candidates):
    def decode(self, H, leave_out=None):
        return take(np.concatenate([r.objects[-1:] for r in self.rank(H, 99)]), slice(None))


class Forgetful(Candidates):
    """Leaves l(y, y) and the second point out of the account."""

    def decode(self, H, leave_out=None):
        found = super().decode(H, leave_out)
        return found if len(found) < 2 else np.concatenate([found[:1], found[:1], found[2:]])


class Short(Candidates):
    def decode(self, H, leave_out=None):
        return super().decode(H, leave_out) if len(H) > 1 else super().decode(np.repeat(H, 2, 0))


class Sociable(Candidates):
    """The answer drifts with the number of points decoded together, to ever better vectors."""

    def decode(self, H, leave_out=None):
        return np.full((len(H), 2), float(len(H)))

    def objective(self, H, objects):
        return -np.asarray(objects)[:, 0]


class Unsorted(Candidates):
    def rank(self, H, k, leave_out=None):
        return [Ranked(r.objects[::-1], r.scores[::-1]) for r in super().rank(H, k, leave_out)]


class Inflated(Candidates):
    def rank(self, H, k, leave_out=None):
        return [Ranked(r.objects, r.scores + 1.0) for r in super().rank(H, k, leave_out)]


class Stingy(Candidates):
    def rank(self, H, k, leave_out=None):
        return super().rank(H, min(k, 3), leave_out)


class Repeating(Candidates):
    def rank(self, H, k, leave_out=None):
        found = super().rank(H, k, leave_out)
        return [Ranked(np.repeat(r.objects[:1], len(r.objects), 0), r.scores) for r in found]


class WrongIndex(Candidates):
    """Returns the training output with the index of the candidate."""

    def choose(self, H, candidates, k=1):
        pool = self._given(candidates, "candidates")
        index, scores = pool.best(self._points(H), k)
        return [Ranked(take(Y, i), s) for i, s in zip(index, scores, strict=True)]


class AnyOfThem(Candidates):
    def choose_each(self, H, candidates, k=1):
        return [Ranked(c[:1], np.zeros(1)) for c in candidates]


class Stubborn(Candidates):
    def fit(self, embedding, loss=None):
        self.batch_size = 3
        return super().fit(embedding, loss)


class Companionable(Candidates):
    """Ranks a point alone in another order."""

    def rank(self, H, k, leave_out=None):
        found = super().rank(H, k, leave_out)
        return found if len(H) > 1 else [Ranked(found[0].objects[::-1], found[0].scores)]


class Remembering(Candidates):
    def decode(self, H, leave_out=None):
        self.last_ = super().decode(H, leave_out)
        return self.last_


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Worst(), "which is lower"),
        (Forgetful(), "which is lower"),
        (Short(), "1 objects came back for the points, 2 alone"),
        (Sociable(), "alone"),
        (Unsorted(), "not sorted best first"),
        (Inflated(), "minus the objective"),
        (Stingy(), "rank gave 3 objects"),
        (Repeating(), "repeats an object"),
        (WrongIndex(), "not one of its candidates|by choose"),
        (AnyOfThem(), "choose_each"),
        (Stubborn(), "changed the parameters"),
        (Companionable(), "ranked otherwise alone"),
        (Remembering(), "wrote to last_"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_broken_decoder_is_caught(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_decoder(broken, Implicit().fit(Gaussian(1.0), Y), H)


def test_a_sound_decoder_passes():
    check_decoder(Candidates(), Implicit().fit(Gaussian(1.0), Y), H)


def test_a_decoder_that_is_not_free_is_compared_with_what_it_may_return():
    strings = as_objects(["ab", "abc", "b"])
    embedding = Implicit().fit(Positions(), strings)
    points = np.random.default_rng(2).normal(size=(4, 3))
    check_decoder(PerPosition(2), embedding, points, candidates=["ab", "bb"])
    with pytest.raises(AssertionError, match="which is lower"):
        check_decoder(PerPosition(0), embedding, np.abs(points) + 1.0)
