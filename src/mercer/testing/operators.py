"""The contract of separable operators."""

from __future__ import annotations

import numpy as np

from mercer.operators import Outputs, SeparableOperator
from mercer.solvers import GramEigh, RidgePath


def check_operator(
    operator: SeparableOperator, coordinates: np.ndarray, input_gram: np.ndarray, alpha: float = 0.1, atol: float = 1e-8
) -> None:
    r"""Check that a matrix C is symmetric, positive semi-definite, and solved as :math:`(k \otimes C + \alpha I)`.

    Parameters
    ----------
    operator : SeparableOperator
        The operator under test.
    coordinates : array (n, r)
        Output coordinates V; small, since the dense system has n·r rows.
    input_gram : array (n, n)
        k.
    alpha, atol : float
        α, and the absolute tolerance.

    Examples
    --------
    >>> from mercer.operators import Covariance
    >>> rows = np.random.default_rng(0).standard_normal((6, 2))
    >>> check_operator(Covariance(), rows, rows @ rows.T)
    """
    n, r = coordinates.shape
    values, vectors = np.linalg.eigh(input_gram)
    values = np.maximum(values, 0.0)
    before, outputs = coordinates.copy(), Outputs(coordinates, n, False, GramEigh(vectors, values, vectors))
    matrix = np.asarray(operator.matrix(outputs))
    assert matrix.shape == (r, r), f"{operator!r}.matrix has shape {matrix.shape}; expected {(r, r)}"
    assert np.allclose(matrix, matrix.T, atol=atol), f"{operator!r}.matrix is not symmetric"
    lowest, highest = np.linalg.eigvalsh(matrix)[[0, -1]]
    assert lowest >= -atol * max(highest, 1.0), f"{operator!r}.matrix has the negative eigenvalue {lowest:.3g}"
    assert np.array_equal(before, coordinates), f"{operator!r}.matrix changed the coordinates"
    spectrum = operator.spectrum(outputs)
    if spectrum is not None:
        Q = np.eye(r) if spectrum.vectors is None else np.asarray(spectrum.vectors)
        rebuilt = (Q * np.asarray(spectrum.values)) @ Q.T
        assert np.allclose(rebuilt, matrix, atol=atol), f"{operator!r}: spectrum and matrix differ"
    block_system = np.kron(matrix, input_gram) + alpha * np.eye(n * r)
    Z = np.linalg.solve(block_system, coordinates.ravel(order="F")).reshape(n, r, order="F")
    ridge = RidgePath(GramEigh(vectors, values, vectors), coordinates, spectrum)
    solved = np.asarray(ridge.coefficients(alpha)[0])
    gap = float(np.abs(input_gram @ solved - input_gram @ Z @ matrix).max())
    assert gap <= atol, f"{operator!r}: the solver and the dense block system differ by {gap:.3g}"
    order = np.random.default_rng(0).permutation(n)
    moved = operator.matrix(Outputs(coordinates[order], n, False, GramEigh(vectors[order], values, vectors[order])))
    assert np.allclose(np.asarray(moved), matrix, atol=atol), f"{operator!r}.matrix depends on the order of the pairs"
