import numpy as np
import pytest

from mercer.datasets import Faces, load_faces, store


@pytest.fixture
def cmu_faces():
    folder = store.data_folder()
    if folder is None or not (folder / "cmu_faces").is_dir():
        pytest.skip("needs the CMU faces: set MERCER_DATA to a folder that holds cmu_faces/")


@pytest.mark.data
@pytest.mark.usefixtures("cmu_faces")
@pytest.mark.parametrize(("size", "shape"), [("quarter", (30, 32)), ("half", (60, 64))])
def test_faces(size, shape):
    faces = load_faces(size)
    assert faces.images.shape == (624, *shape)
    assert faces.images.min() >= 0
    assert 0.4 < faces.images.max() <= 1
    assert len(set(faces.person)) == 20


@pytest.mark.data
@pytest.mark.usefixtures("cmu_faces")
@pytest.mark.parametrize(("pose", "count"), [("left", 153), ("right", 151)])
def test_pairs_are_two_views_of_one_picture(pose, count):
    faces = load_faces()
    pairs = faces.pairs(pose)
    assert pairs.inputs.shape == pairs.outputs.shape == (count, 30, 32)
    where = {image.tobytes(): i for i, image in enumerate(faces.images)}
    for source, target, person in zip(pairs.inputs, pairs.outputs, pairs.person, strict=True):
        i, j = where[source.tobytes()], where[target.tobytes()]
        assert (faces.pose[i], faces.pose[j]) == (pose, "straight")
        assert faces.person[i] == faces.person[j] == person
        assert (faces.expression[i], faces.eyes[i]) == (faces.expression[j], faces.eyes[j])


def made_up():
    keys = [("ann", "left"), ("ann", "straight"), ("ann", "right"), ("bob", "left"), ("bob", "up")]
    person, pose = (np.array(column) for column in zip(*keys, strict=True))
    images = np.arange(5 * 6, dtype=float).reshape(5, 2, 3)
    return Faces(images, person, pose, np.array(["sad"] * 5), np.array(["open"] * 5))


def test_pictures_without_a_counterpart_are_left_out():
    pairs = made_up().pairs(["left", "right"])
    assert pairs.person.tolist() == ["ann", "ann"]
    assert pairs.inputs[:, 0, 0].tolist() == [0, 12]
    assert pairs.outputs[:, 0, 0].tolist() == [6, 6]


def test_mirrored_pairs_are_flipped_on_both_sides():
    pairs = made_up().pairs("left").with_mirrored()
    assert pairs.inputs[1].tolist() == [[2, 1, 0], [5, 4, 3]]
    assert pairs.outputs[1].tolist() == [[8, 7, 6], [11, 10, 9]]
    assert pairs.person.tolist() == ["ann", "ann"]


def test_unknown_names():
    with pytest.raises(ValueError, match="pose='down'; expected 'straight', 'left', 'right' or 'up'"):
        made_up().pairs("down")
    with pytest.raises(ValueError, match="size='full'; expected 'quarter' or 'half'"):
        load_faces("full")


def test_archive_of_the_wrong_shape(tmp_path, monkeypatch):
    path = tmp_path / "cmu_faces" / "cmu_faces_quarter.npz"
    path.parent.mkdir()
    about = {name: np.array(["x"] * 3) for name in ("person", "pose", "expression", "eyes")}
    np.savez(path, X=np.zeros((3, 30, 32), dtype=np.uint8), **about)
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    sums = store.Source(store.hashlib.sha256(path.read_bytes()).hexdigest())
    monkeypatch.setitem(store.SOURCES, "cmu_faces/cmu_faces_quarter.npz", sums)
    with pytest.raises(ValueError, match=r"holds \{'X': \(3, 30, 32\).*expected \{'X': \(624, 30, 32\)"):
        load_faces()
