import array_api_strict
import numpy as np
import pytest

from mercer import DependencyEstimator
from mercer.kernels import Gaussian, Linear, PartByPart, Positions, Precomputed, Subsequence
from mercer.testing import check_kernel

RNG = np.random.default_rng(0)
WORDS = [RNG.standard_normal((length, 3)) for length in (2, 4, 1, 3, 4, 2)]
TEXTS = [["the", "cat"], ["a"], ["the", "dog", "sat"], ["then"]]


@pytest.mark.parametrize("same_length", [False, True])
@pytest.mark.parametrize(
    ("kernel", "sequences"),
    [(Gaussian(2.0), WORDS), (Gaussian(scale="median") + Linear(), WORDS), (Subsequence(length=2), TEXTS)],
)
def test_contract(kernel, sequences, same_length):
    check_kernel(PartByPart(kernel, same_length), sequences)


@pytest.mark.parametrize("same_length", [False, True])
def test_against_the_definition(same_length):
    kernel = PartByPart(Gaussian(1.5), same_length)
    for i, x in enumerate(WORDS):
        for j, z in enumerate(WORDS):
            expected = sum(np.exp(-np.sum((a - b) ** 2) / 4.5) for a, b in zip(x, z, strict=False))
            expected *= not same_length or len(x) == len(z)
            assert kernel(WORDS)[i, j] == pytest.approx(expected)
            assert kernel(WORDS[: i + 1], WORDS)[i, j] == pytest.approx(expected)


def test_shorter_test_collections_and_other_libraries():
    kernel = PartByPart(Linear())
    np.testing.assert_allclose(kernel(WORDS[2:3], WORDS), kernel(WORDS)[2:3])
    strict = [array_api_strict.asarray(word) for word in WORDS]
    np.testing.assert_allclose(kernel(strict), kernel(WORDS))


def test_one_hot_parts_give_positions():
    texts = ["cab", "ab", "abba"]
    one_hot = [[[float(symbol == other) for other in "abc"] for symbol in text] for text in texts]
    np.testing.assert_array_equal(PartByPart(Linear())(one_hot), Positions()(texts))


def test_in_an_estimator():
    words = ["ab", "ba", "ab", "aa"]
    X = [np.asarray([[float(s == "a"), float(s == "b")] for s in word]) for word in words]
    model = DependencyEstimator(PartByPart(Gaussian(scale="median")), Positions(), alpha=0.01).fit(X, words)
    assert model.predict(X).tolist() == words


def test_errors():
    with pytest.raises(TypeError, match=r"X\[0\] is 3.0; expected a sequence of parts"):
        PartByPart(Linear())([3.0, 4.0])
    with pytest.raises(TypeError, match="expected a kernel on parts"):
        PartByPart(Precomputed())(WORDS)
