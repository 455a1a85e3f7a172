import numpy as np
import pytest

from mercer.datasets import load_ocr_words, store


@pytest.fixture(scope="module")
def words():
    folder = store.data_folder()
    if folder is None or not (folder / "ocr_letters").is_dir():
        pytest.skip("needs the OCR words: set MERCER_DATA to a folder that holds ocr_letters/")
    return load_ocr_words()


@pytest.mark.data
def test_words_letters_and_folds(words):
    assert len(words) == 6877
    assert len(set(words.strings)) == 55
    assert np.bincount(words.folds).tolist() == [626, 704, 684, 698, 693, 651, 739, 717, 690, 675]
    assert all(image.shape == (len(word), 16, 8) for image, word in zip(words.images, words.strings, strict=True))
    letters = np.concatenate(list(words.images))
    assert letters.shape == (52152, 16, 8)
    assert np.unique(letters).tolist() == [0, 1]


@pytest.mark.data
def test_images_show_the_letters(words):
    """An l is tall and narrow, an m is short and wide: the mean image of each tells them apart."""
    letters, text = np.concatenate(list(words.images)), np.asarray(list("".join(words.strings)))
    ink = {symbol: letters[text == symbol].mean(axis=0) for symbol in "lm"}
    assert ink["l"][:4].sum() > ink["m"][:4].sum()
    assert ink["m"][:, [0, -1]].sum() > ink["l"][:, [0, -1]].sum()


@pytest.mark.data
def test_some_of_the_words(words):
    few = words.take(np.array([3, 6876]))
    assert few.strings.tolist() == [words.strings[3], words.strings[6876]]
    np.testing.assert_array_equal(few.images[1], words.images[6876])


def test_a_file_of_another_shape_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "words.npz"
    arrays = {"pixels_packed": np.zeros((2, 16), np.uint8), "label": np.zeros(2, np.int8), "words": np.array(["aa"])}
    np.savez(path, **arrays, word_fold=np.zeros(1, np.int8))
    monkeypatch.setattr("mercer.datasets.store.fetch", lambda name: path)
    with pytest.raises(ValueError, match=r"holds \{'pixels_packed': \(2, 16\), .*; expected"):
        load_ocr_words()


def test_letters_out_of_order_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "words.npz"
    arrays = {
        "pixels_packed": np.zeros((3, 16), np.uint8),
        "label": np.array([0, 1, 2], np.int8),
        "words": np.array(["acb"]),
    }
    np.savez(path, **arrays, word_fold=np.zeros(1, np.int8))
    monkeypatch.setattr("mercer.datasets.store.fetch", lambda name: path)
    monkeypatch.setattr("mercer.datasets.images._WORDS", 1)
    monkeypatch.setattr("mercer.datasets.images._LETTERS", 3)
    with pytest.raises(ValueError, match="do not spell its words in order"):
        load_ocr_words()
