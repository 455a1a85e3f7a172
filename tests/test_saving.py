"""Models survive a round trip bit for bit, and files that ask for more are refused."""

import errno
import json
import os
import stat
import zipfile
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVR

import mercer
from mercer import DependencyEstimator, NeighborsEstimator
from mercer.decoders import Candidates, FixedPoint
from mercer.embeddings import PrincipalComponents
from mercer.kernels import (
    Classes,
    FromFunction,
    Gaussian,
    GaussianOf,
    Jittered,
    Kemeny,
    LabelSets,
    Laplacian,
    Linear,
    Mismatch,
    Overlap,
    OverlapOf,
    Patches,
    Positions,
    Precomputed,
    RankHamming,
    Spectrum,
    Subsequence,
    SubsetTree,
    Subtree,
    WeightedDegree,
)
from mercer.learners import RelevantWords
from mercer.losses import F1, EditDistance, Hamming, Kendall
from mercer.operators import ConditionalCovariance, Covariance
from mercer.saving import trusted_types
from mercer.selection import LeaveOneOut
from mercer.solvers import LowRank

rng = np.random.default_rng(0)
X = rng.standard_normal((12, 3))
Y = rng.standard_normal((12, 2))
WORDS = ["abab", "abba", "baab", "bbaa", "aabb", "baba", "abaa", "bbab", "aaab", "babb", "abbb", "baaa"]
RANKINGS = np.argsort(rng.random((12, 4)), axis=1)
SETS = [frozenset(w) | {len(w)} for w in WORDS]


@pytest.mark.parametrize(
    ("model", "inputs", "outputs"),
    [
        (DependencyEstimator(), X, Y),
        (DependencyEstimator(), X, Y[:, 0]),
        (DependencyEstimator(Gaussian("median"), Gaussian("median"), Covariance(), decoder=FixedPoint()), X, Y),
        (DependencyEstimator(Gaussian(1.0), Gaussian(1.0), ConditionalCovariance(0.1), decoder=Candidates()), X, Y),
        (DependencyEstimator(Gaussian(1.0), Gaussian(1.0), embedding=PrincipalComponents()), X, Y),
        (
            DependencyEstimator(Gaussian(3.0), Gaussian(3.0), solver=LowRank(tol=1e-4), alpha=LeaveOneOut([0.1, 1])),
            X,
            Y,
        ),
        (DependencyEstimator(Subsequence(2).normalized().centered(), Subsequence(2).normalized()), WORDS, WORDS),
        (DependencyEstimator(GaussianOf(Subsequence(2)), LabelSets()), WORDS, SETS),
        (DependencyEstimator(GaussianOf(Subsequence(2)), Overlap(0.8), loss=F1()), WORDS, SETS),
        (DependencyEstimator(Gaussian(1.0), LabelSets(2), loss=F1(0.5)), X, (Y > 0).astype(int)),
        (DependencyEstimator(Gaussian(1.0), LabelSets(), loss=Hamming()), X, Y > 0),
        (DependencyEstimator(Subsequence(2), Positions(), alpha=0.1), WORDS, WORDS),
        (DependencyEstimator(output_kernel=Kemeny(), loss=Kendall()), X, RANKINGS),
        (DependencyEstimator(output_kernel=RankHamming().centered(), alpha=0.1), X, RANKINGS),
        (DependencyEstimator(Subsequence(2), Classes(), alpha=0.1), WORDS, [w[0] for w in WORDS]),
        (DependencyEstimator(Subsequence(2), Subsequence(2), loss=EditDistance()), WORDS, WORDS),
        (DependencyEstimator(Precomputed(), Linear(), alpha=0.1), X @ X.T, Y),
        (NeighborsEstimator(Subsequence(2), Classes(), k="loo"), WORDS, [w[0] for w in WORDS]),
        (
            DependencyEstimator(
                Gaussian(1.0), Gaussian(1.0), embedding=PrincipalComponents(), regressor=SVR(kernel="precomputed")
            ),
            X,
            Y,
        ),
        (DependencyEstimator(Linear(), LabelSets(), regressor=RelevantWords()), np.maximum(X, 0), (Y > 0).astype(int)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_round_trip_is_bit_for_bit(tmp_path, model, inputs, outputs):
    model.fit(inputs, outputs)
    loaded = mercer.load(mercer.save(model, tmp_path / "model.skops"))
    before, after = model.predict(inputs), loaded.predict(inputs)
    assert before.dtype == after.dtype
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    assert np.array_equal(model.decision_weights(inputs), loaded.decision_weights(inputs))
    assert repr(loaded) == repr(model)


TREES = [("S", ("A", word[0]), ("B", word[1])) for word in WORDS]
IMAGES = rng.random((12, 4, 4))
EVERY_KERNEL = [
    (Spectrum((1, 2)).normalized(), WORDS),
    (Mismatch(3, 1), WORDS),
    (WeightedDegree(2, 1), WORDS),
    (Subsequence(2).centered(), WORDS),
    (Spectrum(2) + 0.5 * WeightedDegree(2), WORDS),
    (SubsetTree(), TREES),
    (Subtree().normalized(), TREES),
    (LabelSets(), SETS),
    (Overlap(), SETS),
    (OverlapOf(Linear()), X),
    (Kemeny(), RANKINGS),
    (Patches((4, 4), 2, 1, Gaussian(1.0)), IMAGES.reshape(12, -1)),
    (Jittered(Gaussian(1.0), (4, 4), 1), IMAGES.reshape(12, -1)),
    (Laplacian("median") + Linear(), X),
]


@pytest.mark.parametrize(("kernel", "inputs"), EVERY_KERNEL, ids=lambda part: repr(part)[:40])
@pytest.mark.parametrize("alpha", [0.1, "loo"])
@pytest.mark.filterwarnings("error:the model holds")
def test_inputs_under_every_kernel_come_back(tmp_path, kernel, inputs, alpha):
    model = DependencyEstimator(kernel, Linear(), alpha=alpha).fit(inputs, Y)
    for ask in ("predict", "decision_weights"):
        before = getattr(model, ask)(inputs)
        again = mercer.load(mercer.save(model, tmp_path / "model.skops"))
        np.testing.assert_allclose(getattr(again, ask)(inputs), before, rtol=1e-12, atol=1e-13)


def test_an_unfitted_model_can_be_saved(tmp_path):
    model = DependencyEstimator(0.5 * Gaussian(2.0) + Linear(), Classes())
    assert repr(mercer.load(mercer.save(model, tmp_path / "m"))) == repr(model)


def dot(a, b):
    return float(np.dot(a, b))


def test_code_of_the_user_is_refused_by_name(tmp_path):
    model = DependencyEstimator(FromFunction(dot), Linear(), alpha=0.1).fit(list(X), Y)
    with pytest.warns(UserWarning, match=r"test_saving\.dot"):
        path = mercer.save(model, tmp_path / "model.skops")
    with pytest.raises(
        ValueError, match=r"model\.skops asks for .*test_saving\.dot, which mercer\.load does not build"
    ):
        mercer.load(path)
    names = [f"{dot.__module__}.dot"]
    assert np.array_equal(mercer.load(path, trust=names).predict(list(X)), model.predict(list(X)))


def test_a_library_the_user_trusts_is_named(tmp_path):
    from sklearn.ensemble import RandomForestRegressor

    model = DependencyEstimator(Linear(), Linear(), regressor=RandomForestRegressor(2, random_state=0)).fit(X, Y)
    with pytest.warns(UserWarning, match=r"sklearn\.tree\._tree\.Tree"):
        path = mercer.save(model, tmp_path / "model.skops")
    with pytest.raises(ValueError, match=r"or of a library you trust, pass trust=\['sklearn\.tree\._tree\.Tree'\]"):
        mercer.load(path)
    again = mercer.load(path, trust=["sklearn.tree._tree.Tree"])
    assert np.array_equal(again.predict(X), model.predict(X))


def test_a_file_that_asks_for_something_dangerous_is_refused(tmp_path):
    """Rewrite a saved model so that it asks for os.system."""
    path = mercer.save(DependencyEstimator(alpha=0.1).fit(X, Y), tmp_path / "model.skops")
    evil = tmp_path / "evil.skops"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(evil, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name == "schema.json":
                schema = json.loads(data)
                text = json.dumps(schema).replace('"Gaussian"', '"system"').replace("mercer.kernels.vectors", "os")
                data = text.encode()
            target.writestr(name, data)
    with pytest.raises(ValueError, match=r"evil\.skops asks for .*os\.system, which"):
        mercer.load(evil)


def test_files_that_are_not_models(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        mercer.load(tmp_path / "nothing")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ValueError, match="text is not a saved model"):
        mercer.load(tmp_path / "text")
    with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
        archive.writestr("a", "b")
    with pytest.raises(ValueError, match="zip is not a saved model, or is damaged"):
        mercer.load(tmp_path / "zip")
    for schema in ("{}", "hello"):
        with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
            archive.writestr("schema.json", schema)
        with pytest.raises(ValueError, match="zip is not a saved model"):
            mercer.load(tmp_path / "zip")
    with pytest.raises(ValueError, match="is a folder; expected a file"):
        mercer.load(tmp_path)


def test_the_published_list_is_this_library_and_nothing_that_runs():
    names = trusted_types()
    for name in names:
        module, _, qualified = name.rpartition(".")
        kind = getattr(import_module(module), qualified)
        assert isinstance(kind, type), name  # a function would be called
        if not name.startswith("mercer."):
            # of other libraries, data alone: no code of their own is run to build one, and none can be called
            assert "__setstate__" not in dir(kind), name
            assert "__call__" not in dir(kind), name
            assert module.split(".")[0] in ("builtins", "networkx", "scipy"), name
    assert {"mercer.estimators.dependency.DependencyEstimator", "mercer.kernels.vectors.Gaussian"} <= names


def test_the_published_list_covers_every_room_that_models_are_made_of():
    rooms = {name.split(".")[1] for name in trusted_types() if name.startswith("mercer.")}
    there = {path.name for path in Path(mercer.__file__).parent.iterdir() if (path / "__init__.py").exists()}
    assert there - rooms == {"cli", "datasets", "plots", "report", "testing"}
    assert {"mercer.core.gram_eigh.GramEigh", "mercer.io.file_model.FileModel"} <= trusted_types()
    assert trusted_types() is trusted_types()


MODEL = DependencyEstimator(alpha=0.1)


@pytest.mark.skipif(os.name != "posix", reason="needs links and permissions of POSIX")
def test_links_and_permissions_stay(tmp_path):
    (tmp_path / "models").mkdir()
    target, link = tmp_path / "models" / "real", tmp_path / "link"
    link.symlink_to(target)
    for mode in (0o640, 0o604):
        mercer.save(MODEL, link)  # first through a link to nothing, then to a file
        assert link.is_symlink()
        target.chmod(mode)
        mercer.save(MODEL, link)
        assert link.is_symlink()
        assert stat.S_IMODE(target.stat().st_mode) == mode
    assert repr(mercer.load(link)) == repr(MODEL)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["link", "models", "real"]


def test_new_files_have_the_usual_permissions(tmp_path):
    (tmp_path / "other").touch()
    mercer.save(MODEL, tmp_path / "model")
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_full_disk_names_the_file_and_keeps_the_old_model(tmp_path, monkeypatch):
    path = mercer.save(MODEL, tmp_path / "model")
    before = path.read_bytes()

    def full(self, data):
        with self.open("wb") as file:
            file.write(data[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left on device: '.*/model'"):
        mercer.save(MODEL, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
def test_devices_are_written_not_replaced():
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        mercer.save(MODEL, "/dev/full")
    assert not Path("/dev/full").is_file()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="permissions do not bind the superuser")
def test_a_folder_that_may_not_be_written_is_named_by_the_file(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="/model'"):
        mercer.save(MODEL, tmp_path / "model")
