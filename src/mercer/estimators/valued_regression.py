"""An operator-valued kernel on the coordinates of structured outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.estimators.block_ridge import BlockRidge
from mercer.estimators.regression import Fitted, Raw, Regression
from mercer.kernels.base import Kernel
from mercer.operators import OperatorValuedKernel
from mercer.selection.judges import Judge
from mercer.selection.ridge import LeaveOneOut, ridge_selection
from mercer.solvers import Structured


def check_same_inputs(operator: OperatorValuedKernel, input_kernel: Kernel) -> None:
    """The operator compares inputs by kernels of its own: the estimator's has to be one of them, or is not looked at."""
    own = operator.kernels()
    if own and all(repr(kernel) != repr(input_kernel) for kernel in own):
        names = " and ".join(map(repr, own))
        raise ValueError(
            f"input_kernel={input_kernel!r} and operator={operator!r}, which compares inputs by {names}; expected the same "
            "kernel in both places"
        )


def fit_valued(problem: Regression, alpha: Any, judge: Judge) -> tuple[Fitted, str]:
    """Solve for one alpha, or choose it by exact leave-one-out first; and how the system was solved."""
    operator, solver, targets = problem.operator, problem.solver, problem.embedding.coordinates_
    assert isinstance(operator, OperatorValuedKernel)
    assert isinstance(solver, Structured)
    if targets is None:
        raise ValueError(
            f"operator={operator!r} acts on coordinates, which embedding={problem.embedding!r} does not have; use "
            "embedding=PrincipalComponents(n_components=...)"
        )
    targets = targets[: problem.paired, :]
    if operator.outputs not in (None, targets.shape[1]):
        raise ValueError(
            f"operator={operator!r} is for {operator.outputs} outputs, and {problem.embedding!r} gives outputs "
            f"{targets.shape[1]} coordinates; expected as many, such as embedding=PrincipalComponents(cutoff=1e-12, "
            f"n_components={operator.outputs})"
        )
    rule = ridge_selection(alpha)
    if rule is not None and not isinstance(rule, LeaveOneOut):
        raise ValueError(
            f"alpha={alpha!r} with operator={operator!r}; expected a positive number, 'loo' or LeaveOneOut()"
        )
    kernel = operator.resolve(problem.inputs, targets.shape[1])
    ridge = BlockRidge(kernel, problem.inputs, targets, tol=solver.tol, max_iter=solver.max_iter)
    alphas = path = None
    if rule is not None:
        alphas = ridge.grid(rule)
        path = judge.leave_one_out(ridge, alphas.tolist())
        alpha = np.max(alphas[path == path.min()])
    return Fitted(ridge.solve(float(alpha)), Raw(), float(alpha), alphas, path), ridge.system.reason
