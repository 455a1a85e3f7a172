"""The contract of a solver."""

from __future__ import annotations

import numpy as np

from mercer.core.arrays import to_numpy
from mercer.core.collections import Collection
from mercer.kernels.base import Kernel
from mercer.solvers import Cholesky, Ridge, Solver, SpectralSolver, Tridiagonal


def check_solver(
    solver: Solver,
    kernel: Kernel,
    inputs: Collection,
    queries: Collection,
    alpha: float = 0.1,
    atol: float = 1e-7,
) -> None:
    r"""Check that `solver` gives the dense weights :math:`(k + \alpha I)^{-1} k_x`, and exact leave-one-out.

    An approximate solver passes with a tolerance (or rank) that makes its factor complete on `inputs`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.solvers import Exact
    >>> X = np.random.default_rng(0).standard_normal((8, 2))
    >>> check_solver(Exact(), Gaussian(1.0), X, X[:3] + 0.1)
    """
    kernel = kernel.resolve(inputs)
    gram, cross = to_numpy(kernel(inputs)).copy(), to_numpy(kernel(queries, inputs))
    n = len(gram)
    dense = np.linalg.solve(gram + alpha * np.eye(n), cross.T).T
    if isinstance(solver, Cholesky):
        weights = to_numpy(solver.factorize(kernel, inputs, alpha)(cross))
        assert np.allclose(weights, dense, atol=atol), f"{solver!r}: weights differ from the dense solution"
        return
    if isinstance(solver, Tridiagonal):
        form = solver.factorize(kernel, inputs)
        solved = form.outside(form.solve(form.inside(np.eye(n)), np.ones(n), alpha))
        assert np.allclose(cross @ solved, dense, atol=atol), f"{solver!r}: weights differ from the dense solution"
        assert np.array_equal(to_numpy(kernel(inputs)), gram), f"{solver!r} changed the inputs it was given"
        return
    assert isinstance(solver, SpectralSolver), f"{solver!r} is none of Cholesky, Tridiagonal and SpectralSolver"
    spectrum = solver.factorize(kernel, inputs)
    vectors, values = to_numpy(spectrum.vectors), to_numpy(spectrum.values)
    assert np.allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-8), f"{solver!r}: U is not orthonormal"
    assert values.min() >= 0, f"{solver!r}: an eigenvalue is below zero"
    left_out = np.trace(gram - (vectors * values) @ vectors.T) / np.trace(gram)
    assert abs(left_out - spectrum.residual) <= 1e-8, f"{solver!r}: residual says {spectrum.residual}, is {left_out}"

    basis = cross if spectrum.pivots is None else cross[:, spectrum.pivots]
    ridge = Ridge(spectrum, None)
    weights = basis @ to_numpy(ridge.coefficients(alpha))
    gap = np.abs(weights - dense).max()
    assert gap <= atol, f"{solver!r}: weights differ from the dense solution by {gap:.3g}"
    left = to_numpy(ridge.leave_one_out(alpha))
    for j in range(min(n, 5)):
        rest = np.delete(np.arange(n), j)
        expected = np.linalg.solve(gram[np.ix_(rest, rest)] + alpha * np.eye(n - 1), gram[rest, j])
        gap = np.abs(left[j, rest] - expected).max()
        assert gap <= atol, f"{solver!r}: leave-one-out of pair {j} differs from a refit by {gap:.3g}"
        assert left[j, j] == 0, f"{solver!r}: pair {j} has weight on itself when it is left out"
    assert np.array_equal(to_numpy(kernel(inputs)), gram), f"{solver!r} changed the inputs it was given"
    again = solver.factorize(kernel, inputs)
    assert np.array_equal(to_numpy(again.values), values), f"{solver!r}: two runs differ"
