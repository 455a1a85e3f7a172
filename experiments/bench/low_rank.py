"""Time of low-rank fits: two small eigenproblems beside the large system of the paper, and Nyström features of scikit-learn."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from experiments.bench import problems
from experiments.bench.exact import INPUT, OUTPUT
from experiments.bench.sizes import Sizes
from experiments.bench.timing import Bar, Rows, Task, interleaved, ratio_row, row
from experiments.protocol import paper_estimator
from mercer.core.arrays import NumericalWarning, to_numpy
from mercer.core.pivoted import pivoted_cholesky
from mercer.estimators import DependencyEstimator
from mercer.kernels import Gaussian, Linear
from mercer.operators import Covariance
from mercer.solvers import LowRank

ALPHA = 0.01

QUERIES = 50


def low_rank(sizes: Sizes) -> Rows:
    """Compare the fit with Woodbury's formula: times, and the largest difference of the predictions."""
    n, m = sizes.low_rank_pairs, sizes.rank
    inputs, outputs = problems.vectors(n + QUERIES)
    X, Y, queries = inputs[:n], outputs[:n], inputs[n:]
    solver = LowRank(rank=m, tol=0.0)
    model = paper_estimator(INPUT, OUTPUT, Covariance(), alpha=ALPHA, solver=solver)
    # the paper's side gets its factors for free; the fit computes its own
    left, right = pivoted_cholesky(INPUT, X, rank=m), pivoted_cholesky(OUTPUT, Y, rank=m)
    U, V = to_numpy(left.factor), to_numpy(right.factor)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)  # so few columns leave much out
        fits = interleaved({"fit": lambda: model.fit(X, Y)}, 3 * sizes.repeats)["fit"]
    systems: dict[str, np.ndarray] = {}

    def solve(how: str) -> None:
        systems[how] = woodbury(U, V, n * ALPHA, how)

    # seconds against milliseconds: one round is enough on this side
    ways = ("inverse", "Cholesky")
    seconds = interleaved({how: partial(solve, how) for how in ways}, 1, warm_up=False)

    ours = model.decision_weights(queries) @ V
    features = to_numpy(left.extend(INPUT(queries, X[left.pivots])))
    theirs = points(V, systems["inverse"], features)
    difference = float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)))
    sized: dict[str, Any] = {"n": n, "rank": m}
    name = "low-rank covariance fit"
    rows = [row(name, "relative difference from Woodbury", [difference], Bar(1e-10), **sized)]
    for how, bar in (("inverse", Bar(100.0, "≥")), ("Cholesky", None)):
        timed = {"seconds": float(np.min(fits)), "reference_seconds": float(seconds[how][0])}
        metric = f"× faster than Woodbury by {how}"
        rows.append(ratio_row(name, metric, (seconds[how], fits), bar, **timed, **sized))
    return rows


def nystroem(sizes: Sizes) -> Rows:
    """Compare a low-rank fit for one alpha with Nyström features and a ridge of scikit-learn: times, and errors on new inputs."""
    n, m = sizes.nystroem_pairs, sizes.nystroem_rank
    inputs, outputs = problems.clusters(n + n // 10, features=50, outputs=20)
    kernel: Any = Gaussian("median").resolve(inputs[:n])
    ours = DependencyEstimator(kernel, Linear(), solver=LowRank(m), alpha=1.0)
    features = Nystroem(gamma=0.5 / kernel.scale**2, n_components=m, random_state=problems.SEED)
    theirs = make_pipeline(features, Ridge(alpha=1.0))
    models = {"mercer": ours, "scikit-learn": theirs}
    tasks: dict[str, Task] = {name: partial(model.fit, inputs[:n], outputs[:n]) for name, model in models.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        seconds = interleaved(tasks, sizes.repeats)
    errors = {name: float(np.mean((model.predict(inputs[n:]) - outputs[n:]) ** 2)) for name, model in models.items()}
    timed = {"seconds": float(seconds["mercer"].min()), "reference_seconds": float(seconds["scikit-learn"].min())}
    method, sized = "low-rank fit, one alpha", {"n": n, "rank": m}
    times = (seconds["mercer"], seconds["scikit-learn"])
    ratio = errors["mercer"] / errors["scikit-learn"]
    return [
        ratio_row(method, "× Nystroem + Ridge of scikit-learn", times, Bar(1.2), **timed, **sized),
        row(method, "test error / Nystroem + Ridge", [ratio], Bar(1.0), **sized),
    ]


def woodbury(U: np.ndarray, V: np.ndarray, ridge: float, how: str) -> np.ndarray:
    """Solve for M of Kadri's report 7.3, vec M = (nλ I + UᵀU ⊗ VᵀV)⁻¹ vec(VᵀU), columns stacked."""
    system = np.kron(U.T @ U, V.T @ V)
    system.ravel()[:: len(system) + 1] += ridge
    right = (V.T @ U).ravel(order="F")
    # the transpose is in the order LAPACK works in, so nothing is copied
    if how == "inverse":
        stacked = scipy.linalg.inv(system.T, overwrite_a=True, check_finite=False) @ right
    else:
        factor = scipy.linalg.cho_factor(system.T, overwrite_a=True, check_finite=False)
        stacked = scipy.linalg.cho_solve(factor, right, check_finite=False)
    return stacked.reshape(V.shape[1], U.shape[1], order="F")


def points(V: np.ndarray, M: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Compute h(x) in the coordinates of V, VᵀV VᵀX k_x with k_x = U u(x).

    The report has VᵀX U = (VᵀU − VᵀV M UᵀU) / nλ, which the system says is M itself; the difference as printed is
    between nearly equal matrices and would lose five digits.
    """
    return features @ (V.T @ V @ M).T
