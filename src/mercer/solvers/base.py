"""The solver protocol, and `Auto`, which asks the solvers in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sklearn.base import BaseEstimator, clone

from mercer.core import memory
from mercer.solvers.problem import RidgeProblem

if TYPE_CHECKING:
    from mercer.solvers.factorization import Factorization


class Solver(BaseEstimator):
    """A way to solve ridge problems.

    A new solver defines `supports` and `factorize`; `mercer.testing.check_solver` is its contract.
    """

    one_alpha: bool = False
    """True if it solves for one value of alpha only; `Auto` then asks it for one alpha only."""
    makes_gram: bool = False
    """True if the whole Gram matrix of the inputs is made, which folds may share."""
    reads_blocks: bool = False
    """True if inputs may be read in blocks and need not be in memory."""
    why: str = "it supports the problem"
    """One sentence on why this solver is chosen; ``{kernel}`` stands for that of the inputs."""

    def supports(self, problem: RidgeProblem) -> str | None:
        """Return the reason why this solver cannot solve `problem`; None if it can."""
        return None

    def against(self, problem: RidgeProblem) -> str | None:
        """Return the reason of `supports`, or that inputs in blocks are not for this solver; None if it can solve it."""
        if problem.in_blocks and not self.reads_blocks:
            return (
                "it works on inputs in memory, and these are read in blocks, for LowRank(rank) and ConjugateGradient()"
            )
        return self.supports(problem)

    def for_part(self, size: int) -> Solver:
        """Return the solver for `size` pairs of a problem it was given for, as in a fold."""
        return self

    def choose(self, problem: RidgeProblem) -> Choice:
        """Return the solver for this problem, and the reason; raise ValueError if it is not supported."""
        against = self.against(problem)
        if against is not None:
            raise ValueError(f"solver={self!r} does not solve this problem: {against}")
        return Choice(clone(self), "given")

    def matrices(self, problem: RidgeProblem) -> float:
        """Return the number of n×n matrices that a fit holds at once; 0 if its memory does not grow with n²."""
        return 0.0

    def too_large(self, problem: RidgeProblem) -> str | None:
        """Return why a problem is too large for this solver on this machine, so that `Auto` asks the next; None if it is not."""
        needed, near = int(8 * self.matrices(problem) * problem.size**2), getattr(self, "device", None)
        free = memory.available_bytes(near or problem.inputs) if needed >= 8 * memory.SMALL else needed
        if needed <= free:
            return None
        return f"{self!r} needs {needed / 2**30:.3g} GiB and {free / 2**30:.3g} GiB are free"

    def factorize(self, problem: RidgeProblem) -> Factorization:
        """Do the work that is shared by all values of alpha."""
        raise TypeError(f"{type(self).__name__} must define factorize(problem)")

    def reason(self, problem: RidgeProblem) -> str:
        """Return one sentence on why this solver is chosen for a problem it supports."""
        return self.why.format(kernel=problem.kernel)

    def report(self, factorization: Factorization, embedding: Any) -> None:
        """Set attributes of this solver that describe a fit."""

    def output_embedding(self) -> Any:
        """Return the embedding of outputs this solver calls for; None for any."""
        return None


class Choice(NamedTuple):
    """A part that was chosen, and the reason in one sentence."""

    part: Any
    reason: str


class Auto(Solver):
    """Ask solvers in order, and take the first that supports the problem and for which it is not too large.

    =====================  ======================================================
    solver                 takes
    =====================  ======================================================
    `ExplicitFeatures`     separable operators, fewer input features than pairs
    `Cholesky`             the identity operator, one alpha
    `Tridiagonal`          other separable operators, one alpha, NumPy
    `Exact`                separable operators, alpha chosen
    `Structured`           any operator-valued kernel, missing outputs
    `ConjugateGradient`    separable operators, n×n matrices that do not fit
    `LowRank`              the same, too many pairs to compare each with each
    =====================  ======================================================

    The first five are exact, and so are conjugate gradients, to a relative residual of 1e-8. A problem too large for all that
    support it is left to the last of them, which says what is missing.

    Parameters
    ----------
    solvers : sequence of Solver, optional
        The solvers to ask; by default those of the table.
    device : str, optional
        Where their algebra runs, through PyTorch, such as ``"cuda"``; solvers that cannot run there are asked last. By default
        where the kernel values are.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.operators import Covariance
    >>> from mercer.solvers import RidgeProblem
    >>> Auto().choose(RidgeProblem(Gaussian(1.0), np.eye(3), np.eye(3), Covariance(), alpha=1.0)).part
    Tridiagonal()
    """

    def __init__(self, solvers: Sequence[Solver] | None = None, device: str | None = None) -> None:
        self.solvers = solvers
        self.device = device

    def choose(self, problem: RidgeProblem) -> Choice:
        """Return the first solver that supports the problem and has room for it, and the reason."""
        refused: list[str] = []
        crowded: list[str] = []
        last = None
        for solver in self._in_order():
            against = "it solves one alpha" if solver.one_alpha and problem.alpha is None else solver.against(problem)
            if against is not None:
                refused.append(f"{solver!r}: {against}")
                continue
            last, without_room = solver, solver.too_large(problem)
            if without_room is None:
                return Choice(clone(solver), "; ".join([solver.reason(problem), *crowded]))
            crowded.append(without_room)
        if last is None:
            raise ValueError("no solver supports this problem. " + "; ".join(refused))
        return Choice(clone(last), last.reason(problem))

    def _in_order(self) -> list[Solver]:
        """The solvers, those that run on the device first."""
        solvers = list(REGISTERED if self.solvers is None else self.solvers)
        if self.device is None:
            return solvers
        able = [solver for solver in solvers if "device" in solver.get_params(deep=False)]
        return [on_device_of(solver, self.device) for solver in able] + [own for own in solvers if own not in able]

    def factorize(self, problem: RidgeProblem) -> Factorization:
        """Factorize by the solver that is chosen."""
        return self.choose(problem).part.factorize(problem)


def on_device_of(solver: Solver, device: str) -> Solver:
    """Return a solver whose algebra runs on a device; raise ValueError for one that cannot."""
    if "device" not in solver.get_params(deep=False):
        raise ValueError(
            f"device={device!r}, and solver={solver!r} runs on the host; use solver='auto', or leave device=None"
        )
    return clone(solver).set_params(device=device)


REGISTERED: list[Solver] = []
"""The solvers `Auto` asks by default, in order."""


def register(solver: Solver, after: type[Solver] | None = None) -> None:
    """Have `Auto` ask a solver, after those of type `after`, or first by default."""
    place = next((i for i, known in enumerate(REGISTERED) if type(known) is after), -1)
    REGISTERED.insert(place + 1, solver)
