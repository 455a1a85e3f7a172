"""Candidates that are read in blocks: the answer of all of them at once, whatever the blocks."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import DependencyEstimator
from mercer.decoders import Candidates, best_of_blocks
from mercer.decoders.streaming import BestOf
from mercer.embeddings import Implicit
from mercer.io import ArrayBlocks, Batches
from mercer.kernels import Gaussian, Linear, Subsequence, Tanimoto

RANDOM = np.random.default_rng(0)
X, NEW = RANDOM.standard_normal((40, 3)), RANDOM.standard_normal((6, 3))


def same(found, expected):
    for one, two in zip(found, expected, strict=True):
        assert np.array_equal(one.objects, two.objects)
        np.testing.assert_allclose(one.scores, two.scores, rtol=1e-9, atol=1e-12)


@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12), k=st.integers(1, 12), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_blocks_give_the_answer_of_all_at_once_with_ties_to_the_first(sizes, k, seed):
    """Candidates on a small grid, so that many are equal."""
    random = np.random.default_rng(seed)
    ends = np.cumsum([0, *sizes])
    candidates = np.column_stack([random.integers(-2, 3, ends[-1]), random.integers(0, 2, ends[-1])]).astype(float)
    decoder = Candidates().fit(Implicit().fit(Linear(), random.integers(-2, 3, (5, 2)).astype(float)))
    points = random.integers(-1, 2, (4, 5)).astype(float)
    expected = decoder.choose(points, candidates, k)
    parts = [candidates[a:b] for a, b in pairwise(ends)]
    same(best_of_blocks(decoder, points, parts, k), expected)
    same(best_of_blocks(decoder, points, Batches(lambda: parts), k), expected)


@pytest.mark.parametrize("kind", ["vectors", "fingerprints", "words"])
def test_estimators_rank_candidates_of_files_and_batches(kind, tmp_path):
    if kind == "vectors":
        outputs, kernel = X @ RANDOM.standard_normal((3, 4)), Gaussian(1.0)
        candidates = outputs[RANDOM.integers(0, 40, 300)] + 0.3 * RANDOM.standard_normal((300, 4))
    elif kind == "fingerprints":
        outputs, kernel = RANDOM.integers(0, 256, (40, 8)).astype(np.uint8), Tanimoto()
        candidates = RANDOM.integers(0, 256, (300, 8)).astype(np.uint8)
    else:
        kernel = Subsequence(2).normalized()
        outputs, candidates = (
            np.array(["".join(RANDOM.choice(list("abc"), 6)) for _ in range(n)], dtype=object) for n in (40, 300)
        )
    model = DependencyEstimator(Gaussian(1.0), kernel, alpha=0.1).fit(X, outputs)
    expected = model.rank(NEW, 7, candidates)
    sources = [Batches(lambda: np.array_split(candidates, 7)), ArrayBlocks(candidates, step=64)]
    if kind != "words":
        np.save(tmp_path / "candidates.npy", candidates)
        sources.append(np.load(tmp_path / "candidates.npy", mmap_mode="r"))
    for rows in sources:
        same(model.rank(NEW, 7, rows), expected)
        assert np.array_equal(model.predict(NEW, rows), model.predict(NEW, candidates))


def test_one_block_is_held_at_a_time(monkeypatch):
    held = []
    compare = BestOf.__call__
    monkeypatch.setattr(
        BestOf, "__call__", lambda self, block, name="": (held.append(len(block)), compare(self, block, name))[1]
    )
    monkeypatch.setattr("mercer.decoders.streaming._ENTRIES", 80)
    model = DependencyEstimator(Gaussian(1.0), alpha=0.1).fit(X, X[:, :2])
    candidates = RANDOM.standard_normal((300, 2))
    expected = model.rank(NEW, 3, candidates)
    same(model.rank(NEW, 3, ArrayBlocks(candidates)), expected)
    assert max(held) == 40


def test_a_decoder_that_chooses_in_its_own_way():
    class Last(Candidates):
        def choose(self, H, candidates, k=1):
            return super().choose(H, candidates[-2:], k)

    decoder = Last().fit(Implicit().fit(Linear(), X))
    found = best_of_blocks(decoder, np.eye(40)[:5], [X[:10], X[10:20]], 2)
    assert {tuple(x) for each in found for x in each.objects} <= {tuple(x) for x in [*X[8:10], *X[18:20]]}


def test_candidates_that_are_not_outputs():
    model = DependencyEstimator(Gaussian(1.0), alpha=0.1).fit(X, X[:, :2])
    with pytest.raises(ValueError, match="candidates has 3 features; expected 2"):
        model.rank(NEW, 3, ArrayBlocks(X))
    with pytest.raises(ValueError, match="candidates has no blocks"):
        model.rank(NEW, 3, Batches(list))
