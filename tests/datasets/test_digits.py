import numpy as np
import pytest

from mercer.datasets import load_digit_halves, load_usps, store


@pytest.fixture
def usps_folder():
    folder = store.data_folder()
    if folder is None or not (folder / "usps").is_dir():
        pytest.skip("needs the USPS digits: set MERCER_DATA to a folder that holds usps/")
    return folder / "usps"


def test_halves_put_together_are_the_digits():
    from sklearn.datasets import load_digits

    digits, original = load_digit_halves(), load_digits()
    whole = digits.whole(digits.inputs, digits.outputs)
    np.testing.assert_array_equal((whole + 1) * 8, original.images)
    np.testing.assert_array_equal(digits.labels, original.target)
    assert digits.inputs.min() == -1
    assert digits.outputs.max() == 1


def test_unknown_subset():
    with pytest.raises(ValueError, match="subset='all'; expected 'train' or 'test'"):
        load_usps("all")


@pytest.mark.data
@pytest.mark.parametrize(
    ("subset", "counts"),
    [
        ("train", [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]),
        ("test", [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]),
    ],
)
def test_usps_is_the_same_from_either_file(usps_folder, tmp_path, monkeypatch, subset, counts):
    packed = load_usps(subset)
    assert np.bincount(packed.labels).tolist() == counts
    assert packed.images.min() == -1
    assert packed.images.max() == 1

    (tmp_path / "usps").mkdir()
    (tmp_path / "usps" / f"zip.{subset}.gz").write_bytes((usps_folder / f"zip.{subset}.gz").read_bytes())
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = load_usps(subset)
    np.testing.assert_array_equal(packed.images, text.images)
    np.testing.assert_array_equal(packed.labels, text.labels)


@pytest.mark.data
def test_usps_halves(usps_folder):
    digits = load_usps()
    halves = digits.halves()
    assert halves.inputs.shape == halves.outputs.shape == (7291, 128)
    np.testing.assert_array_equal(halves.outputs[5].reshape(8, 16), digits.images[5, 8:])


def test_archive_of_the_wrong_shape(tmp_path, monkeypatch):
    path = tmp_path / "usps" / "usps.npz"
    path.parent.mkdir()
    np.savez(path, X_train=np.zeros((3, 256), dtype=np.float32), y_train=np.zeros(3, dtype=np.int8))
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    sums = store.Source(store.hashlib.sha256(path.read_bytes()).hexdigest())
    monkeypatch.setitem(store.SOURCES, "usps/usps.npz", sums)
    with pytest.raises(ValueError, match=r"shape \(\(3, 256\), .*expected \(\(7291, 256\)"):
        load_usps()
