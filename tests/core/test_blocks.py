"""Collections in row blocks: every kind reads the same rows, draws the same sample, and says when rows change."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer.core.blocks import ArrayBlocks, Batches, SomeRows, as_blocks, in_memory, least_priorities, priorities
from mercer.core.collections import count, take

ROWS = np.random.default_rng(0).standard_normal((23, 2))
WORDS = np.array([f"w{i}" for i in range(23)], dtype=object)


def batches(rows, ends):
    cuts = [0, *sorted(ends), count(rows)]
    return Batches(lambda: (take(rows, slice(a, b)) for a, b in pairwise(cuts)))


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else rows


@given(ends=st.lists(st.integers(0, 23), max_size=5), most=st.integers(1, 30), drawn=st.integers(1, 30))
@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("rows", [ROWS, WORDS, sparse.csr_array(ROWS)], ids=["vectors", "words", "sparse"])
def test_blocks_are_the_rows_however_they_are_cut(rows, ends, most, drawn):
    for blocks in (batches(rows, ends), ArrayBlocks(rows, step=5), SomeRows(ArrayBlocks(rows), np.arange(23))):
        # a sample that is drawn before the rows are counted is the same as after
        positions, some = blocks.sample(drawn)
        assert np.array_equal(positions, least_priorities(23, drawn, 0))
        assert np.array_equal(dense(some), dense(take(rows, positions)))
        assert len(blocks) == 23
        assert all(count(block) <= most for _, block in blocks.blocks(most))
        assert np.array_equal(dense(in_memory(blocks)), dense(rows))
        places = [where for where, _ in blocks.blocks(most)]
        assert np.array_equal(np.concatenate([np.arange(23)[where] for where in places]), np.arange(23))
        chosen = np.array([0, 4, 22])
        assert np.array_equal(dense(blocks.gather(chosen)), dense(take(rows, chosen)))
        assert np.array_equal(dense(in_memory(blocks[chosen])), dense(take(rows, chosen)))


def test_a_sample_depends_on_the_seed_and_does_not_favour_places():
    first = least_priorities(5000, 500, 0)
    assert not np.array_equal(first, least_priorities(5000, 500, 1))
    assert abs(first.mean() - 2500) < 250
    whole = priorities(0, 200_000, 3)
    assert np.array_equal(whole[70_000:131_100], priorities(70_000, 131_100, 3))


def test_work_on_blocks():
    weights = np.arange(23.0)
    blocks = batches(ROWS, [4, 9]).mapped(lambda block: 2.0 * block)
    parts = list(blocks.each(lambda block, weight: block * weight[:, None], weights, most=3))
    np.testing.assert_allclose(np.concatenate(parts), 2.0 * ROWS * weights[:, None])
    total, number = blocks.total(lambda block: (block.sum(axis=0), len(block)), most=3)
    np.testing.assert_allclose(total, 2.0 * ROWS.sum(axis=0))
    assert number == 23

    def tile(own, other, rows, others):
        values = own @ (own if other is None else other).T
        return values @ others, values.T @ rows

    np.testing.assert_allclose(blocks.tiles(tile, ROWS, most=4), 4.0 * ROWS @ (ROWS.T @ ROWS))


def test_rows_that_change_between_passes_are_an_error():
    lengths = iter([10, 8, 12])
    blocks = Batches(lambda: [ROWS[: next(lengths)]])
    assert len(blocks) == 10
    with pytest.raises(ValueError, match=r"X gave 10 rows when it was first read, and 8 when it was read again"):
        list(blocks.blocks())
    with pytest.raises(
        ValueError, match=r"10 rows .* and more than 10 when it was read again; .*begin anew at each call"
    ):
        list(blocks.blocks())


def test_what_cannot_be_read_twice_is_refused():
    with pytest.raises(
        TypeError, match="an iterator, which can be read once, .*a function that returns a new iterator"
    ):
        Batches(iter([ROWS]))
    with pytest.raises(TypeError, match="X is 3; expected a function that returns batches"):
        Batches(3)
    with pytest.raises(TypeError, match="batch 1 of X is 3.0, a float; expected a collection of rows"):
        len(Batches(lambda: [ROWS, 3.0]))
    with pytest.raises(ValueError, match="X has no rows"):
        in_memory(Batches(list))
    with pytest.raises(ValueError, match="X has no rows"):
        Batches(list).total(lambda block: (0,))
    with pytest.raises(ValueError, match="increasing order"):
        ArrayBlocks(ROWS)[np.array([3, 1])]


def test_collections_in_memory_are_not_blocks(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    assert as_blocks(ROWS) is None
    assert as_blocks(WORDS) is None
    assert np.array_equal(in_memory(as_blocks(np.load(tmp_path / "rows.npy", mmap_mode="r"))), ROWS)
