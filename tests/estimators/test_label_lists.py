"""Label sets written as lists or tuples are sets to losses too, and come back as they were written."""

import numpy as np
import pytest
from scipy import sparse

from mercer import DependencyEstimator
from mercer.estimators.data import TargetCodec
from mercer.kernels import Gaussian, GaussianOf, LabelSets, Overlap, Subsequence
from mercer.losses import F1, Hamming, ZeroOne

rng = np.random.default_rng(0)
X = rng.standard_normal((20, 3))
LISTS = [["b", "a"], ["a"], ["a", "b"], []] * 5
SETS = [set(labels) for labels in LISTS]


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("loss", [Hamming(), ZeroOne(), F1(), None], ids=repr)
@pytest.mark.parametrize(
    "kernel", [LabelSets(), LabelSets() + Overlap(), GaussianOf(Overlap(1.0), 1.0).normalized()], ids=repr
)
def test_lists_are_learned_decoded_and_scored_as_sets_are(kernel, loss, kind):
    written = [kind(labels) for labels in LISTS]
    model = DependencyEstimator(Gaussian("median"), kernel, loss=loss).fit(X, written)
    twin = DependencyEstimator(Gaussian("median"), kernel, loss=loss).fit(X, SETS)
    assert [set(labels) for labels in model.predict(X)] == list(twin.predict(X))
    assert model.score(X, written) == twin.score(X, SETS)
    given = model.predict(X[:2], candidates=[[kind("ab")], [kind("a")]])
    assert [set(labels) for labels in given] == [{"a", "b"}, {"a"}]
    shown = model.explain(X[0], k=1)
    for found in (
        *model.predict(X),
        *given,
        *model.rank(X[:1], k=2)[0].objects,
        shown.prediction,
        shown.carriers[0].output,
    ):
        assert type(found) is kind
        assert list(found) == sorted(set(found))


def test_labels_of_several_types_have_an_order():
    model = DependencyEstimator(Gaussian("median"), LabelSets(), alpha=1e-6).fit(X, [[1, "a"], ["a"]] * 10)
    assert model.predict(X[:1]).tolist() == [[1, "a"]]


def test_sequences_stay_sequences():
    form = TargetCodec.of([["a", "b"]], Subsequence(2))
    assert form.labels is None
    assert form.encode([["b", "a"]], Subsequence(2), "y")[0] == ["b", "a"]


def test_the_name_of_a_sparse_form_reaches_nothing_but_sparse_forms():
    rows = np.eye(2)
    assert isinstance(TargetCodec(None, "csr_array").decode(rows), sparse.csr_array)
    with pytest.raises(KeyError):
        TargetCodec(None, "load_npz").decode(rows)
