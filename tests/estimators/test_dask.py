"""Collections of Dask: the answers of one machine, on threads and on a cluster of two processes, one of which may die."""

import os
import signal

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from mercer import AutoEstimator, DependencyEstimator
from mercer.core.dask_blocks import DaskBlocks
from mercer.kernels import Classes, Columns, Gaussian, Subsequence
from mercer.operators import Covariance
from mercer.solvers import ConjugateGradient, Exact, LowRank

dask = pytest.importorskip("dask", reason="Dask is not installed: pip install mercer[distributed]")
distributed = pytest.importorskip("dask.distributed", reason="dask.distributed is not installed")
array, bag = pytest.importorskip("dask.array"), pytest.importorskip("dask.bag")

RANDOM = np.random.default_rng(0)
X, NEW = RANDOM.standard_normal((120, 3)), RANDOM.standard_normal((9, 3))
Y = np.sin(X @ RANDOM.standard_normal((3, 2))) + 0.1 * RANDOM.standard_normal((120, 2))
WORDS = np.array(sorted({"".join(RANDOM.choice(list("abc"), RANDOM.integers(3, 9))) for _ in range(200)})[:120], object)
ROWS = array.from_array(X, chunks=(50, 2))


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 2}),
        distributed.LocalCluster(**options) as found,
        distributed.Client(found) as client,
    ):
        yield client


def frames(**columns):
    pandas = pytest.importorskip("pandas")
    frame = pytest.importorskip("dask.dataframe")
    return frame.from_pandas(pandas.DataFrame(columns), npartitions=3)


def unknown_chunks():
    return ROWS[array.from_array(np.ones(120, dtype=bool), chunks=50)]


@pytest.mark.parametrize("alpha", [0.1, "loo", "kfold"])
@pytest.mark.parametrize("solver", [LowRank(40), ConjugateGradient(40, tol=1e-10)], ids=repr)
def test_threads_give_the_model_of_one_machine(solver, alpha):
    expected = DependencyEstimator(Gaussian("median"), solver=solver, alpha=alpha).fit(X, Y)
    for inputs in (ROWS, unknown_chunks(), frames(a=X[:, 0], b=X[:, 1], c=X[:, 2])):
        model = DependencyEstimator(Gaussian("median"), solver=solver, alpha=alpha)
        model.fit(inputs, array.from_array(Y, chunks=(70, 1)))
        np.testing.assert_allclose(model.predict(NEW), expected.predict(NEW), atol=1e-8)
        np.testing.assert_allclose(model.predict(inputs), expected.predict(X), atol=1e-8)


def test_bags_of_objects():
    kernel, last = Subsequence(2).normalized(), [word[-1] for word in WORDS]
    expected = DependencyEstimator(kernel, Classes(), solver=LowRank(40)).fit(WORDS, last)
    words = bag.from_sequence(WORDS.tolist(), npartitions=3)
    # a partition that is an iterator can be read once
    for inputs in (words, words.map(str.upper).map(str.lower), frames(word=WORDS)["word"]):
        model = DependencyEstimator(kernel, Classes(), solver=LowRank(40))
        model.fit(inputs, bag.from_sequence(last, npartitions=2))
        assert model.alpha_ == pytest.approx(expected.alpha_)
        assert model.predict(inputs).tolist() == expected.predict(WORDS).tolist()
        ranked, wanted = model.rank(WORDS[:5], 2), expected.rank(WORDS[:5], 2)
        assert [each.objects.tolist() for each in ranked] == [each.objects.tolist() for each in wanted]


def test_tables_in_partitions():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"number": X[:, 0], "word": WORDS})
    expected = DependencyEstimator(Columns(), solver=LowRank(30), alpha=0.1).fit(table, Y)
    model = DependencyEstimator(Columns(), solver=LowRank(30), alpha=0.1).fit(frames(number=X[:, 0], word=WORDS), Y)
    np.testing.assert_allclose(model.predict(table), expected.predict(table), atol=1e-8)


def test_candidates_in_partitions():
    model = DependencyEstimator(Gaussian(1.0), Gaussian(1.0), alpha=0.1).fit(X, Y)
    candidates = RANDOM.standard_normal((300, 2))
    found = model.rank(NEW, 4, array.from_array(candidates, chunks=(70, 1)))
    for one, two in zip(found, model.rank(NEW, 4, candidates), strict=True):
        assert np.array_equal(one.objects, two.objects)
        np.testing.assert_allclose(one.scores, two.scores)


class Deadly:
    """Partitions whose worker is killed when one of them is read for the n-th time, for all `turns` n."""

    def __init__(self, folder, turns):
        self.reads, self.turns = folder / "reads", turns

    def __call__(self, part, number):
        if number == 1:
            with self.reads.open("a") as file:
                file.write("x")
            if self.reads.stat().st_size in self.turns:
                os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        return part

    def rows(self, parts):
        read = dask.delayed(self, pure=False)
        return bag.from_delayed([read(part, i) for i, part in enumerate(parts)])


@pytest.mark.parametrize(
    ("solver", "alpha", "turn"),
    [(LowRank(40), "loo", 3), (ConjugateGradient(40, tol=1e-10), 0.1, 5)],
    ids=["low", "cg"],
)
def test_a_worker_that_is_killed_changes_nothing(cluster, tmp_path, solver, alpha, turn):
    kernel = Subsequence(2).normalized()
    expected = DependencyEstimator(kernel, solver=solver, alpha=alpha).fit(WORDS, Y)
    before = set(cluster.run(os.getpid).values())
    words = Deadly(tmp_path, {turn}).rows([part.tolist() for part in np.array_split(WORDS, 3)])
    model = DependencyEstimator(kernel, solver=solver, alpha=alpha).fit(words, Y)
    cluster.wait_for_workers(2)
    assert (tmp_path / "reads").stat().st_size > turn
    assert len(before - set(cluster.run(os.getpid).values())) == 1
    np.testing.assert_allclose(model.predict(WORDS), expected.predict(WORDS), atol=1e-8)


def test_workers_that_die_again_and_again_are_an_error(cluster, tmp_path):
    words = Deadly(tmp_path, set(range(3, 100))).rows([part.tolist() for part in np.array_split(WORDS, 3)])
    model = DependencyEstimator(Subsequence(2).normalized(), solver=LowRank(40), alpha=0.1)
    with pytest.raises(
        RuntimeError, match="workers of the cluster died again and again at the same task .*nothing was learned"
    ):
        model.fit(words, Y)
    assert not hasattr(model, "map_")
    cluster.wait_for_workers(2)


def test_joblib_on_the_cluster(cluster):
    def searched():
        model = DependencyEstimator(Gaussian(1.0), solver=LowRank(30))
        return GridSearchCV(model, {"alpha": [1e-2, 1e2]}, cv=3, n_jobs=2).fit(X, Y).cv_results_["mean_test_score"]

    def folds(n_jobs):
        model = DependencyEstimator(Gaussian(1.0), operator=Covariance(), alpha="kfold", n_jobs=n_jobs)
        return model.fit(X, Y).predict(NEW)

    def automatic():
        return AutoEstimator(effort="fast", random_state=0, n_jobs=2).fit(X[:40], Y[:40]).predict(NEW)

    expected = searched(), folds(None), automatic()
    with joblib.parallel_config("dask"):
        np.testing.assert_allclose(searched(), expected[0], atol=1e-8)
        np.testing.assert_allclose(folds(None), expected[1], atol=1e-8)
        np.testing.assert_allclose(folds(2), expected[1], atol=1e-8)
        np.testing.assert_allclose(automatic(), expected[2], atol=1e-8)


def test_the_bench_kills_a_worker_too(cluster):
    from experiments.bench.dask import compare

    rows = compare(200, 20, cluster)
    assert all(row["met"] for row in rows if row["bar"] is not None)


def test_bad_input():
    with pytest.raises(ValueError, match=r"solver=Exact\(\) does not solve this problem: it works on inputs in memory"):
        DependencyEstimator(solver=Exact()).fit(ROWS, Y)
    with pytest.raises(ValueError, match="X has 120 objects and y has 119"):
        DependencyEstimator(solver=LowRank(5)).fit(ROWS, Y[1:])
    with pytest.raises(ValueError, match="without axes; expected one row per object"):
        DaskBlocks.of(array.from_array(np.array(1.0)))
    with pytest.raises(TypeError, match="of Dask; expected an array, a bag or a dataframe"):
        DaskBlocks.of(dask.delayed(3))
    columns = ROWS[:, array.from_array(np.ones(3, dtype=bool), chunks=2)]
    with pytest.raises(ValueError, match=r"are not known along the second axis; call X.compute_chunk_sizes\(\) first"):
        DaskBlocks.of(columns)
    with pytest.raises(ValueError, match="increasing order"):
        DaskBlocks.of(ROWS)[np.array([3, 1])]
    with pytest.raises(ValueError, match="has no rows"):
        DaskBlocks.of(ROWS[:0]).total(lambda block: (0,))
