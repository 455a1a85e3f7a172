"""Handwritten words: reading, the choices inside a fold, and the small version of both experiments."""

import numpy as np
import pytest

from experiments.papers.kadri_words import BY_LETTER, METHODS, OURS
from experiments.papers.kadri_words_methods import Fold, Grams, OwnKernels, image_features, letters_alone
from experiments.papers.kadri_words_page import _marked, _strip, word_example
from experiments.papers.kadri_words_reading import Reader, characters_right, letter_rows
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import HandwrittenWords, store
from mercer.kernels import Gaussian, Polynomial
from mercer.operators import ConditionalCovariance, Covariance, Identity

LETTERS = {symbol: np.random.default_rng(i).integers(0, 2, (16, 8)) for i, symbol in enumerate("abcd")}


def drawn(strings, noise=0.05, seed=0):
    """Words of the made-up letters, some pixels turned over."""
    rng = np.random.default_rng(seed)
    images, names = np.empty(len(strings), dtype=object), np.empty(len(strings), dtype=object)
    for i, word in enumerate(strings):
        clean = np.asarray([LETTERS[symbol] for symbol in word])
        images[i], names[i] = clean ^ (rng.random(clean.shape) < noise), word
    return HandwrittenWords(images, names, np.zeros(len(strings), dtype=int))


@pytest.fixture(scope="module")
def fold():
    train = ["abc", "bad", "cab", "ad", "dab", "bc"] * 3 + ["dd"]
    return Fold(drawn(train), drawn(["abc", "cab", "ad", "bad", "bc"], seed=1))


def test_reading_by_letter_and_by_word():
    reader = Reader.of(["ab", "ba", "abb"])
    points = reader.indicators(["ab", "bb", "abb"]).astype(float)
    assert reader.by_letter(points, [2, 2, 3]) == ["ab", "bb", "abb"]
    points[1, 0] += 0.6  # an a at the first place is nearly as likely as the b
    assert reader.by_word(points, [2, 2, 3]) == ["ab", "ab", "abb"]


def test_positions_and_lengths_no_training_word_has():
    reader = Reader.of(["ab", "ba"])
    points = reader.indicators(["ab", "b"]).astype(float)
    assert reader.by_letter(points, [3, 1]) == ["ab?", "b"]
    assert reader.by_word(points, [3, 1]) == ["ab?", "b"]


def test_a_word_that_occurs_once_is_no_candidate_for_itself():
    reader = Reader.of(["ab", "ab", "ba"])
    points = reader.indicators(["ab", "ab", "ba"]).astype(float)
    assert reader.by_word(points, [2, 2, 2], ["ab", "ab", "ba"]) == ["ab", "ab", "ab"]


def test_characters_not_words_are_counted():
    assert characters_right(["aaaa", "b"], ["aaab", "b"]) == 80.0


def test_features_are_the_papers(fold):
    """Φ(x) = [k(c_m, x_{v(c_m)})], 0 where x has no such position, written out."""
    kernel = Polynomial(degree=3)
    train, test = letter_rows(fold.train), letter_rows(fold.test)
    landmarks = [(position, letter) for word in train for position, letter in enumerate(word)]

    def features(word):
        return [float(kernel([c], [word[p]])[0, 0]) if p < len(word) else 0.0 for p, c in landmarks]

    left, right = np.asarray([features(w) for w in train]), np.asarray([features(w) for w in test])
    scale = np.mean(np.sum(left**2, axis=1))
    grams = image_features(fold, kernel)
    np.testing.assert_allclose(grams.cross, right @ left.T / scale)
    vectors, values = grams.spectrum.vectors, grams.spectrum.values
    np.testing.assert_allclose((vectors * values) @ vectors.T, left @ left.T / scale, atol=1e-9)


def test_operators_solve_the_literal_system(fold):
    """Prop. 1: T X k + nλX = I, h = Σ_j (T X k_x)_j ψ(y_j)."""
    grams = image_features(fold, Polynomial(degree=3))
    gram = (grams.spectrum.vectors * grams.spectrum.values) @ grams.spectrum.vectors.T
    outputs = fold.targets @ fold.targets.T
    n, lam, eps = len(gram), 0.01, 0.1
    conditional = outputs - np.linalg.solve(gram + n * eps * np.eye(n), gram @ outputs)
    for operator, T in ((Covariance(), outputs), (ConditionalCovariance(eps), conditional)):
        system = np.kron(gram, T) + n * lam * np.eye(n * n)
        X = np.linalg.solve(system, np.eye(n).ravel(order="F")).reshape(n, n, order="F")
        expected = (T @ X @ grams.cross.T).T @ fold.targets
        np.testing.assert_allclose(grams.points(operator, lam), expected, atol=1e-8)


def test_left_out_words_are_predicted_by_the_others(fold):
    kernel = Gaussian(4.0)
    grams = image_features(fold, kernel)
    gram = (grams.spectrum.vectors * grams.spectrum.values) @ grams.spectrum.vectors.T
    strings = fold.train.strings
    points = np.empty_like(fold.targets)
    for word in set(strings):
        out = strings == word
        system = gram[np.ix_(~out, ~out)] + 0.1 * np.eye(int(np.sum(~out)))
        points[out] = gram[np.ix_(out, ~out)] @ np.linalg.solve(system, fold.targets[~out])
    assert grams.unseen(0.1) == pytest.approx(fold.left_out(points)[0])


def test_own_kernels_read_the_words_and_know_their_grid(fold):
    own = OwnKernels(fold, blurs=(0.0, 0.5), scales=(0.5, 1.0))
    assert fold.score(own.points(own.best(0)))["letters"] == 100.0
    plain = own.best(0, blurs=(0.0,), same=(False,))
    assert plain.setting[0] == 0.0
    assert plain.setting[2] is False
    assert plain.right <= own.best(0).right
    by_hand = own.kernel(0.5, 1.0, True)(letter_rows(fold.test, 0.5), letter_rows(fold.train, 0.5))
    np.testing.assert_allclose(own.grams(0.5, 1.0, True).cross, by_hand)
    assert isinstance(own.grams(0.5, 1.0, True), Grams)
    assert letters_alone(fold, own.letter_kernel(0.0, 1.0), *own.letters(0.0)) == list(fold.test.strings)


def test_choosing_never_looks_at_the_test_words(fold):
    other = Fold(fold.train, drawn(["dd", "dd"], noise=0.5, seed=9))
    for one in (image_features(fold, Polynomial()), OwnKernels(fold, (0.5,), (1.0,)).grams(0.5, 1.0, False)):
        twin = Grams(other, one.spectrum, one.cross)
        found, again = (grams.choose([Identity(), Covariance()], [0.01, 1.0]) for grams in (one, twin))
        assert (type(found[0]), found[1]) == (type(again[0]), again[1])
    assert OwnKernels(fold, (0.0, 0.5), (1.0,)).table == OwnKernels(other, (0.0, 0.5), (1.0,)).table


def test_blur_keeps_letters_apart(fold):
    together = letter_rows(fold.train, 0.8)
    order = np.arange(len(fold.train))[::-1]
    backwards = letter_rows(fold.train.take(order), 0.8)
    for i, j in enumerate(order):
        np.testing.assert_array_equal(backwards[i], together[j])


def test_pictures_hold_the_pixels_and_mark_the_mistakes(fold):
    example = word_example(fold.test, 0, {"ours": "abd"})
    strip = _strip(example["letters"])
    assert strip.shape == (16, 3 * 8 + 2)
    np.testing.assert_array_equal(strip[:, 9:17], 2.0 * fold.test.images[0][1] - 1.0)
    assert _marked("abd", "abc").count("<b ") == 1


@pytest.fixture
def data():
    folder = store.data_folder()
    if folder is None or not (folder / "ocr_letters").is_dir():
        pytest.skip("needs the OCR words: set MERCER_DATA to a folder that holds ocr_letters/")


@pytest.mark.data
@pytest.mark.usefixtures("data")
def test_small_table(tmp_path):
    table = experiment("kadri-table2-right")
    result = reproduce(table, tmp_path, small=True)
    by_letter = {row["method"]: row["value"] for row in result.rows if row["reading"] == BY_LETTER}
    ours = next(r["value"] for r in result.rows if r["setting"] == OURS and r["reading"] == BY_LETTER)
    assert ours > by_letter[METHODS["identity"][0]] + 10
    assert by_letter[METHODS["chain"][0]] > 70
    assert all(0 <= row["value"] <= 100 for row in result.rows)
    again = table.rows([table.run(piece) for piece in table.pieces(small=True)])
    assert again == result.rows
    text = (tmp_path / "kadri-table2-right.html").read_text(encoding="utf-8")
    assert "Gain of each choice" in text
    assert text.count("<img") == 1 + 18  # the scores first


@pytest.mark.data
@pytest.mark.usefixtures("data")
def test_small_report(tmp_path):
    table = experiment("report-words")
    result = reproduce(table, tmp_path, small=True)
    values = {(row["method"], row["distinct words"]): row["value"] for row in result.rows}
    assert values["identity, λ = 0.01", 1] > 99
    assert values["identity, λ = 0.01", 55] < 50
    assert table.rows([table.run(piece) for piece in table.pieces(small=True)]) == result.rows
    assert "By the number of distinct words" in (tmp_path / "report-words.html").read_text(encoding="utf-8")


@pytest.mark.data
def test_small_readings(tmp_path):
    folder = store.data_folder()
    if folder is None or not (folder / "ocr_letters").is_dir():
        pytest.skip("needs the words: set MERCER_DATA to a folder that holds ocr_letters/")
    made = experiment("words-readings")
    rows = reproduce(made, tmp_path, small=True).rows
    chosen = [row for row in rows if row.get("reading") == "chosen inside"]
    assert [row["method"] for row in chosen] == ["identity", "covariance", "conditional covariance"]
    every = [row for row in rows if not row.get("reading")]
    assert len(every) == 2 * 8 * (1 + 1 + 4)
    best = max(
        (row for row in every if row["method"] == "covariance" and "left out" in row["metric"]),
        key=lambda row: row["value"],
    )
    same = [
        row["value"]
        for row in every
        if row["method"] == "covariance"
        and row["metric"] == "% of characters right"
        and all(row[key] == best[key] for key in ("kernel", "scaling", "centred", "λ of"))
    ]
    assert same == [chosen[1]["value"]]
