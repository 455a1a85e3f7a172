"""The conditional covariance operator and kernel dimension reduction (INRIA report, section 4.3).

Fukumizu, Bach and Jordan (2009) choose a projection B of the inputs by the trace of the conditional covariance of the outputs
given B x, which is least where B x says all about y. The operator of Kadri et al. is that operator.
"""

import numpy as np
import pytest

from mercer.kernels import Gaussian
from mercer.operators import ConditionalCovariance, InducedJoint

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 3))
Y = np.sin(2.0 * X[:, :1]) + 0.05 * rng.standard_normal((60, 1))
EPS = 0.01


def kdr_objective(inputs):
    """Tr[G_Y (G_X + nεI)⁻¹] with centred Gram matrices, as Fukumizu, Bach and Jordan write it."""
    n = len(inputs)
    H = np.eye(n) - 1 / n
    G_X, G_Y = (H @ Gaussian(1.0)(each) @ H for each in (inputs, Y))
    return np.trace(G_Y @ np.linalg.inv(G_X + n * EPS * np.eye(n)))


def trace_of_operator(inputs):
    """The trace of C for centred inputs and outputs, from the operator of the library."""
    kernel = Gaussian(1.0).centered()
    joint = InducedJoint(kernel, kernel, ConditionalCovariance(EPS)).resolve(inputs, Y)
    return float(np.trace(joint.matrix))


@pytest.mark.parametrize("columns", [[0], [1], [0, 1], [0, 1, 2]])
def test_its_trace_is_the_objective_of_kernel_dimension_reduction(columns):
    """tr C = ε Tr[G_Y (G_X + nεI)⁻¹]."""
    inputs = X[:, columns]
    assert trace_of_operator(inputs) == pytest.approx(EPS * kdr_objective(inputs), rel=1e-6)


def test_the_input_that_determines_the_output_has_the_least_trace():
    traces = [trace_of_operator(X[:, [a]]) for a in range(3)]
    assert int(np.argmin(traces)) == 0
    assert traces[0] < 0.5 * min(traces[1:])


def test_a_rotation_is_found_by_the_trace():
    """Along a circle of directions the least trace is at the one that was turned away."""
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    turned = X[:, :2] @ turn.T  # the informative direction is now (cos, sin)
    grid = np.linspace(0, np.pi, 37)[:-1]
    traces = [trace_of_operator(turned @ np.array([[np.cos(a)], [np.sin(a)]])) for a in grid]
    assert abs(grid[int(np.argmin(traces))] - angle) < 0.1
