"""Cholesky factors made tile by tile, where one call of LAPACK crashes."""

import numpy as np
import pytest

from mercer.core import arrays


@pytest.fixture
def tiles(monkeypatch):
    monkeypatch.setattr(arrays, "_TILED", 10)
    monkeypatch.setattr(arrays, "_TILE", 7)


@pytest.mark.parametrize("n", [8, 11, 14, 15, 40])
def test_tiles_give_the_factor_of_lapack_in_place(tiles, n):
    rows = np.random.default_rng(n).standard_normal((n, n + 3))
    gram = rows @ rows.T
    expected = np.linalg.cholesky(gram)
    found = arrays.cholesky(gram)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert n <= 10 or found is gram


@pytest.mark.parametrize("bad", [2, 9, 25])
def test_tiles_refuse_what_is_not_positive_definite(tiles, bad):
    gram = np.eye(26)
    gram[bad, bad] = -1.0
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        arrays.cholesky(gram)
