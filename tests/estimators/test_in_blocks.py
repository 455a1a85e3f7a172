"""Estimators on inputs that are read in blocks: the answers of inputs in memory, and errors that name what is wrong."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import mercer
from mercer import DependencyEstimator, NeighborsEstimator, OperatorValuedRidge
from mercer.core import memory
from mercer.io import ArrayBlocks, Batches, open_rows, pairs_of
from mercer.kernels import Classes, Gaussian, Precomputed, Subsequence
from mercer.selection import LeaveOneOut
from mercer.solvers import ConjugateGradient, Exact, LowRank

RANDOM = np.random.default_rng(0)
X, NEW = RANDOM.standard_normal((120, 3)), RANDOM.standard_normal((9, 3))
Y = np.sin(X @ RANDOM.standard_normal((3, 2))) + 0.1 * RANDOM.standard_normal((120, 2))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    found = tmp_path_factory.mktemp("rows")
    np.save(found / "X.npy", X)
    np.save(found / "Y.npy", Y)
    pandas.DataFrame(X, columns=list("abc")).to_parquet(found / "X.parquet", row_group_size=50)
    pandas.DataFrame(Y, columns=list("pq")).to_parquet(found / "Y.parquet")
    return found


def sources(folder):
    mapped = np.load(folder / "X.npy", mmap_mode="r"), np.load(folder / "Y.npy", mmap_mode="r")
    yield "memory maps", *mapped
    yield "npy", open_rows(folder / "X.npy"), open_rows(folder / "Y.npy", name="y")
    yield "parquet", open_rows(folder / "X.parquet"), open_rows(folder / "Y.parquet", name="y")
    yield "batches", *pairs_of(lambda: ((X[i : i + 32], Y[i : i + 32]) for i in range(0, 120, 32)))
    yield "single precision", ArrayBlocks(X.astype(np.float32).astype(float)), Y


@pytest.mark.parametrize("alpha", [0.1, "loo", "gcv", "kfold"])
@pytest.mark.parametrize("solver", [LowRank(40), ConjugateGradient(40, tol=1e-10)], ids=repr)
def test_every_source_gives_the_model_of_inputs_in_memory(folder, solver, alpha):
    expected = DependencyEstimator(Gaussian("median"), solver=solver, alpha=alpha).fit(X, Y)
    for name, inputs, outputs in sources(folder):
        atol = 1e-5 if name == "single precision" else 1e-7
        model = DependencyEstimator(Gaussian("median"), solver=solver, alpha=alpha).fit(inputs, outputs)
        assert model.alpha_ == pytest.approx(expected.alpha_, rel=1e-4), name
        np.testing.assert_allclose(model.predict(NEW), expected.predict(NEW), atol=atol, err_msg=name)
        np.testing.assert_allclose(model.predict(inputs), expected.predict(X), atol=atol, err_msg=name)
        assert model.n_features_in_ == 3
        assert model.score(inputs, Y) == pytest.approx(expected.score(X, Y), abs=1e-4)


def test_objects_in_blocks():
    words = np.array(
        sorted({"".join(RANDOM.choice(list("abc"), RANDOM.integers(3, 9))) for _ in range(120)})[:80], object
    )
    last = [word[-1] for word in words]
    kernel = Subsequence(2).normalized()
    expected = DependencyEstimator(kernel, Classes(), solver=LowRank(30)).fit(words, last)
    blocks = Batches(lambda: (words[i : i + 13].tolist() for i in range(0, 80, 13)))
    model = DependencyEstimator(kernel, Classes(), solver=LowRank(30)).fit(blocks, last)
    assert model.predict(words).tolist() == expected.predict(words).tolist()
    assert model.alpha_ == pytest.approx(expected.alpha_)
    assert [each.objects.tolist() for each in model.rank(blocks, k=2)] == [
        each.objects.tolist() for each in expected.rank(words, k=2)
    ]


def test_predictions_block_by_block(folder, tmp_path):
    model = DependencyEstimator(Gaussian(1.0), solver=LowRank(30), alpha=0.1).fit(open_rows(folder / "X.npy"), Y)
    blocks = Batches(lambda: np.array_split(X, 5))
    expected = model.predict(X)
    parts = list(model.predict_blocks(blocks))
    assert len(parts) == 5
    np.testing.assert_allclose(np.concatenate(parts), expected)
    out = np.empty((120, 2))
    assert model.predict_blocks(X, out=out) is out
    np.testing.assert_allclose(out, expected)
    np.testing.assert_allclose(model.predict_blocks(blocks, out=tmp_path / "P.npy"), expected)
    np.testing.assert_allclose(np.load(tmp_path / "P.npy"), expected)
    with pytest.raises(ValueError, match=r"out has shape \(3, 2\); expected \(120, 2\), a row for each input"):
        model.predict_blocks(X, out=np.empty((3, 2)))
    with pytest.raises(ValueError, match="expected an array, or the name of a .npy file"):
        model.predict_blocks(X, out="predictions.csv")


def test_a_file_of_predictions_is_whole_or_not_there(tmp_path):
    model = DependencyEstimator(Gaussian(1.0), solver=LowRank(30), alpha=0.1).fit(X, Y)
    with pytest.raises(ValueError, match="a block of X contains NaN or infinity|Input X contains NaN"):
        model.predict_blocks(Batches(lambda: [X, X * np.nan]), out=tmp_path / "P.npy")
    assert not list(tmp_path.iterdir())
    words = DependencyEstimator(Gaussian(1.0), Classes(), solver=LowRank(30), alpha=0.1).fit(
        X, np.where(Y[:, 0] > 0, "up", "down").astype(object)
    )
    with pytest.raises(TypeError, match="the predictions are objects; expected numbers. Iterate over predict_blocks"):
        words.predict_blocks(X, out=tmp_path / "P.npy")


def test_a_saved_model_predicts_and_does_not_hold_the_inputs(folder, tmp_path):
    model = DependencyEstimator(Gaussian(1.0), solver=LowRank(30)).fit(
        np.load(folder / "X.npy", mmap_mode="r"), np.load(folder / "Y.npy", mmap_mode="r")
    )
    assert model.map_.left_out_points().shape == (120, 2)
    again = mercer.load(mercer.save(model, tmp_path / "model.skops"))
    np.testing.assert_allclose(again.predict(NEW), model.predict(NEW))
    with pytest.raises(ValueError, match="not part of a model that was saved or copied; fit again to leave pairs out"):
        again.map_.left_out_points()
    exact = DependencyEstimator(Gaussian(1.0), solver=ConjugateGradient(30), alpha=0.1).fit(ArrayBlocks(X), Y)
    with pytest.raises(TypeError, match="predict from all training inputs, which are read in blocks and not saved"):
        mercer.save(exact, tmp_path / "model.skops")


def test_sample_weights_and_grid_search():
    weights = RANDOM.integers(0, 3, 120).astype(float)
    expected = DependencyEstimator(Gaussian(1.0), solver=LowRank(30)).fit(X, Y, sample_weight=weights)
    model = DependencyEstimator(Gaussian(1.0), solver=LowRank(30)).fit(ArrayBlocks(X), Y, sample_weight=weights)
    np.testing.assert_allclose(model.predict(NEW), expected.predict(NEW), atol=1e-7)
    search = GridSearchCV(DependencyEstimator(Gaussian(1.0), solver=LowRank(30)), {"alpha": [1e-2, 1e2]}, cv=3)
    assert search.fit(Batches(lambda: np.array_split(X, 4)), Y).best_params_ == {"alpha": 1e-2}


def test_a_fold_may_have_fewer_pairs_than_the_rank():
    model = DependencyEstimator(Gaussian(1.0), solver=LowRank(110, 0.0), alpha="kfold").fit(X, Y)
    assert model.solver_.rank_ == 110


def test_memory_maps_stay_arrays_for_other_solvers_unless_they_do_not_fit(folder, monkeypatch):
    mapped = np.load(folder / "X.npy", mmap_mode="r")
    assert isinstance(DependencyEstimator(Gaussian(1.0), solver=Exact(), alpha=0.1).fit(mapped, Y).solver_, Exact)
    assert "Cholesky" in repr(DependencyEstimator(Gaussian(1.0), alpha=0.1).fit(mapped, Y).solver_)
    assert NeighborsEstimator(k=2).fit(mapped, Y).predict(NEW).shape == (9, 2)
    monkeypatch.setattr(memory, "available_bytes", lambda near=None: 8 * 120 * 3 * 3)
    assert isinstance(DependencyEstimator(Gaussian(1.0), alpha=0.1).fit(mapped, Y).solver_, ConjugateGradient)


@pytest.mark.parametrize(
    ("model", "inputs", "message"),
    [
        (
            NeighborsEstimator(),
            ArrayBlocks(X),
            "is read in blocks, and NeighborsEstimator.* learns from inputs in memory",
        ),
        (OperatorValuedRidge(), ArrayBlocks(X), "OperatorValuedRidge.* learns from inputs in memory; use Depend"),
        (
            DependencyEstimator(solver=Exact()),
            ArrayBlocks(X),
            r"solver=Exact\(\) does not solve this problem: it works on",
        ),
        (
            DependencyEstimator(Precomputed(), solver=LowRank(3)),
            ArrayBlocks(X),
            "takes a Gram matrix; pass the objects",
        ),
        (DependencyEstimator(solver=LowRank(3)), ArrayBlocks(X[:50]), "X has 50 objects and y has 120"),
        (DependencyEstimator(solver=LowRank(3)), Batches(list), "X is empty; expected at least one object"),
        (DependencyEstimator(solver=LowRank(121)), ArrayBlocks(X), "rank=121, and there are 120 training pairs"),
        (
            DependencyEstimator(solver=LowRank(3)),
            Batches(lambda: [X[:100], X[100:, :2]]),
            "a block of X has 2 features, and 3 were expected|concatenat",
        ),
        (
            DependencyEstimator(solver=LowRank(3)),
            Batches(lambda: [X[:100], np.where(np.arange(20)[:, None] == 4, np.nan, X[100:])]),
            "a block of X contains NaN or infinity, first in row 4",
        ),
        (DependencyEstimator(solver=LowRank(3)), Batches(lambda: [["a"] * 120]), "a block of X has dtype"),
    ],
)
def test_bad_input(model, inputs, message):
    before = dict(vars(model))
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(inputs, Y)
    assert vars(model) == before


@pytest.mark.parametrize(("alpha", "passes"), [(0.1, 2), (LeaveOneOut([0.1, 1.0]), 3), ("gcv", 2)])
def test_batches_are_read_twice_and_once_more_to_leave_pairs_out(alpha, passes):
    calls = []

    def read():
        calls.append(len(calls))
        return np.array_split(X, 5)

    DependencyEstimator(Gaussian("median"), solver=LowRank(30), alpha=alpha).fit(Batches(read), Y)
    assert len(calls) == passes


def test_a_device_that_is_not_there():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(ValueError, match="device='cuda' is not there"):
        DependencyEstimator(Gaussian(1.0), solver=LowRank(5, device="cuda"), alpha=0.1).fit(ArrayBlocks(X), Y)


def test_a_tolerance_that_double_precision_does_not_reach():
    with pytest.raises(ValueError, match="tol=1e-16; expected a relative residual from 1e-14"):
        DependencyEstimator(Gaussian(1.0), solver=ConjugateGradient(5, tol=1e-16), alpha=0.1).fit(ArrayBlocks(X), Y)


def test_batches_that_end_early_are_an_error():
    turns = iter(range(100))

    def read():
        return [X[:120] if next(turns) == 0 else X[:60]]

    model = DependencyEstimator(Gaussian(1.0), solver=LowRank(5), alpha=0.1)
    with pytest.raises(ValueError, match="X gave 120 rows when it was first read, and 60 when it was read again"):
        model.fit(Batches(read), Y)
    assert not hasattr(model, "map_")
