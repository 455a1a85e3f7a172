"""``bench objects``: every comparison runs and compares the same values. Times are not asserted."""

import numpy as np
import pytest

from experiments.bench import objects
from experiments.bench.reporting import table

pytest.importorskip("rdkit", reason="rdkit is not installed")
pytest.importorskip("grakel", reason="GraKeL is not installed")


def test_every_comparison_is_of_the_same_values():
    result = objects.measure_all(quick=True)
    found = {(row["method"], row["metric"]): row for row in result.rows}
    assert result.experiment == "bench-objects"
    names = {method for method, _ in found}
    assert {"LabelSets Gram", "Overlap(1.0) Gram", "Peaks Gram", "Tanimoto Gram"} <= names
    assert {"WeisfeilerLehman Gram", "ShortestPath Gram", "RandomWalk Gram"} <= names
    apart = [row for (_, metric), row in found.items() if "difference" in metric]
    assert len(apart) == 8
    assert all(row["met"] for row in apart)
    memory = found["Tanimoto top-20 of 20 queries", "peak memory of the process, GiB"]
    assert 0.01 < memory["value"] < 2.0
    assert len(table(result).rows) == len(result.rows)


def test_fingerprints_are_like_those_of_molecules():
    packed = np.concatenate(list(objects.fingerprint_blocks(500, seed=0, size=200)))
    counts = np.unpackbits(packed, axis=1).sum(axis=1)
    assert packed.shape == (500, 256)
    assert 25 < counts.mean() <= objects.SET
    again = np.concatenate(list(objects.fingerprint_blocks(500, seed=0, size=200)))
    np.testing.assert_array_equal(packed, again)
