"""The ridge problem, the solver protocol, and `Auto`, which asks the solvers in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from mercer.core import memory
from mercer.core.arrays import Array, cached_property, clip_spectrum, eigh, like, namespace, on_device, to_numpy
from mercer.core.collections import Collection, count, is_blocks
from mercer.core.gram_eigh import GramEigh
from mercer.kernels.base import Kernel
from mercer.kernels.grams import row_blocks
from mercer.operators.base import Operator, OperatorSpectrum, Outputs
from mercer.operators.identity import Identity
from mercer.solvers.kernel_products import gram_on
from mercer.solvers.kernel_values import WAY_OUT, BlockBasis, KernelBasis, check_gram, gram_matrix

if TYPE_CHECKING:
    from mercer.solvers.factorization import Factorization

_DRAWN = 20_000  # inputs in blocks that are drawn for a mean


@dataclass
class RidgeProblem:
    r"""The one ridge problem of the library.

    .. math:: \min_{h, b} \sum_i w_i \|h(x_i) + b - v_i\|^2 + \alpha \|h\|_K^2, \qquad K(x, z) = k(x, z)\, C

    for a separable operator C, and with the operator's own K(x, z) for any other.

    Parameters
    ----------
    kernel : Kernel
        k, resolved.
    inputs : collection
        The n training inputs, checked; in memory, or in blocks (`mercer.core.blocks.RowBlocks`).
    targets : array (n, r), optional
        V; None for the n×n identity, whose points are weights on the training outputs.
    operator : Operator
        C, or an operator-valued kernel that is resolved.
    alpha : float, optional
        The one value of alpha to solve for; None if it is to be chosen.
    fit_intercept : bool
        True for a b, which is not penalised.
    sample_weight : array (n,), optional
        w > 0; None for all ones.
    groups : int array (n,), optional
        The group of each pair, 0, 1, …; a group is left out as one.
    observed : boolean array (n, r), optional
        The targets that are known; None for all.
    outputs : array (N, r), optional
        Coordinates of all outputs, the paired ones first, for operators learned from them.
    orthogonal : bool
        True if the columns of `outputs` are orthogonal and, with an intercept, sum to zero.
    wants_left_out : bool
        True if left-out points will be asked for.
    """

    kernel: Kernel
    inputs: Collection
    targets: Array | None = None
    operator: Operator = field(default_factory=Identity)
    alpha: float | None = None
    fit_intercept: bool = True
    sample_weight: np.ndarray | None = None
    groups: np.ndarray | None = None
    observed: np.ndarray | None = None
    outputs: Array | None = None
    orthogonal: bool = False
    wants_left_out: bool = False

    @cached_property
    def prepared(self) -> Any:
        """The inputs, encoded once for the Gram matrix and for predictions."""
        return self.kernel.prepare(self.inputs, checked=True)

    def basis(self) -> Any:
        """Return the kernel values of new inputs, by which predictions are made."""
        if is_blocks(self.inputs):
            return BlockBasis(self.kernel, self.inputs)
        return KernelBasis.of(self.kernel, self.prepared)

    @property
    def in_blocks(self) -> bool:
        """True if the inputs are read in blocks and are not in memory."""
        return is_blocks(self.inputs)

    @cached_property
    def mean_norm(self) -> float:
        """The mean of k(x, x) over the inputs, or over a sample of those in blocks."""
        some = self.inputs.sample(_DRAWN)[1] if is_blocks(self.inputs) else self.inputs
        return float(np.mean(to_numpy(self.kernel.diag(some))))

    @property
    def size(self) -> int:
        """The number of pairs, n."""
        return count(self.inputs)

    def matrices(self, own: float, each: float = 6.0) -> float:
        """Return the number of n×n matrices of a fit that holds `own` of them, and `each` arrays of the size of the targets.

        ``python -m experiments bench core`` measures them.
        """
        return own + each * (0.7 if self.targets is None else self.targets.shape[1] / self.size)

    @cached_property
    def roots(self) -> np.ndarray | None:
        """Square roots of the sample weights; None if all are one."""
        return None if self.sample_weight is None else np.sqrt(np.asarray(self.sample_weight, dtype=float))

    @cached_property
    def total(self) -> float:
        """The sum of the sample weights."""
        return float(self.size) if self.sample_weight is None else float(np.sum(self.sample_weight))

    def scaled(self, rows: Array) -> Array:
        """Return √w times the rows, one for each pair."""
        return rows if self.roots is None else rows * like(self.roots, rows)[:, None]

    def unscaled(self, rows: Array) -> Array:
        """Return the rows divided by √w."""
        return rows if self.roots is None else rows / like(self.roots, rows)[:, None]

    def constant(self, reference: Array) -> Array | None:
        """Return the unit vector along √w, which is not penalised; None without an intercept."""
        if not self.fit_intercept:
            return None
        ones = np.ones(self.size) if self.roots is None else self.roots
        return like(ones / np.sqrt(self.total), reference)

    def centred(self, rows: Array) -> Array:
        """Return scaled rows without their part along the constant; as they are without an intercept."""
        constant = self.constant(rows)
        return rows if constant is None else rows - constant[:, None] * (constant @ rows)

    def mean(self, rows: Array) -> Array:
        """Return the weighted mean of rows that are not scaled."""
        if self.sample_weight is None:
            return namespace(rows).mean(rows, axis=0)
        return (like(np.asarray(self.sample_weight, dtype=float), rows) @ rows) / self.total

    @property
    def members(self) -> list[np.ndarray] | None:
        """Positions of the pairs of each group; None if pairs are left out one by one."""
        if self.groups is None:
            return None
        return [np.flatnonzero(self.groups == group) for group in range(int(self.groups.max()) + 1)]

    def gram(self, matrices: float = 3.0, *, decomposed: bool = False, device: str | None = None) -> Array:
        """Return √w k √w as an array that may be overwritten; `matrices` of its size have to fit in memory.

        With `decomposed` a negative eigenvalue is not looked for, since the decomposition will show it.
        """
        # what is orthogonal to the constant does not show every negative eigenvalue
        seen = decomposed and not self.fit_intercept
        if device is not None and not self.kernel.pairwise and not hasattr(self.inputs, "device"):
            memory.require_near(device, (self.size, self.size, matrices), "the exact fit (input kernel)", WAY_OUT)
            gram = gram_on(device, self.kernel, self.inputs)
            check_gram(gram, self.kernel, "input", decomposed=seen)
            return self.scale_gram(gram)
        gram = gram_matrix(self.kernel, self.prepared, "input", matrices, decomposed=seen)
        # a precomputed one may be the user's own matrix
        gram = namespace(gram).asarray(gram, copy=True) if self.kernel.pairwise else gram
        return self.scale_gram(on_device(gram, device))

    def scale_gram(self, gram: Array) -> Array:
        """Multiply a Gram matrix of the inputs by √w on both sides, in place."""
        if self.roots is not None:
            roots = like(self.roots, gram)
            for rows in row_blocks(gram):
                gram[rows, :] = gram[rows, :] * roots[rows, None] * roots
        return gram

    def decomposed(self, device: str | None = None) -> GramEigh:
        """Decompose the scaled Gram matrix, orthogonal to the constant."""
        gram = self.gram(self.matrices(3.2), decomposed=True, device=device)
        return self.decompose(gram, f"the input Gram matrix of {self.kernel!r}")

    def decompose_features(self, rows: Array) -> GramEigh:
        """Decompose the scaled Gram matrix of explicit features of the inputs, orthogonal to the constant."""
        constant = self.constant(rows)
        return GramEigh.of_features(self.scaled(rows), constant, None if constant is None else self.mean(rows))

    def decompose(self, gram: Array, name: str) -> GramEigh:
        """Decompose a scaled Gram matrix of the inputs, which is overwritten."""
        mean = None
        if self.fit_intercept:
            gram, mean = self.centre_gram(gram, lift=True)
        values, vectors = eigh(gram)
        xp, values = namespace(values), clip_spectrum(values, name)
        # eigenvalues that are noise would be fitted by a smaller alpha
        noise = 8.0 * float(xp.finfo(values.dtype).eps) * float(values[-1])
        values = xp.where(values > noise, values, xp.zeros_like(values))
        if mean is not None:
            # the last eigenvector is the constant; its eigenvalue is of the size of k before the constant was taken off
            values, vectors = values[:-1], vectors[:, :-1]
        return GramEigh(vectors, values, vectors, constant=self.constant(vectors), mean=mean)

    def centre_gram(self, gram: Array, lift: bool = False) -> tuple[Array, Array]:
        """Make a scaled Gram matrix orthogonal to the constant, in place, and return it with the mean kernel values.

        With `lift` the constant becomes the eigenvector of the largest eigenvalue.
        """
        xp, q = namespace(gram), self.constant(gram)
        assert q is not None
        along = gram @ q
        level = float(q @ along)
        half = along - 0.5 * level * q
        squares = 0.0
        for rows in row_blocks(gram):
            squares += float(xp.sum(gram[rows, :] * gram[rows, :]))
            gram[rows, :] = gram[rows, :] - q[rows, None] * half - half[rows, None] * q
        if lift:
            top = squares**0.5 or 1.0
            for rows in row_blocks(gram):
                gram[rows, :] += (2.0 * top) * q[rows, None] * q
        mean = along / self.total**0.5
        return gram, mean if self.roots is None else mean / like(self.roots, mean)

    def operator_outputs(self, inputs: Any, reference: Array) -> Outputs:
        """Return the outputs an operator is resolved from, in the library and on the device of `reference`."""
        rows = self.targets if self.outputs is None else self.outputs
        if rows is None:
            raise ValueError(f"operator={self.operator!r} needs an embedding with coordinates")
        rows, n = like(rows, reference), self.size
        total, roots = self.total + rows.shape[0] - n, np.ones(rows.shape[0])
        if self.roots is not None:
            roots[:n] = self.roots
            rows = rows * like(roots, rows)[:, None]
        if self.fit_intercept and not self.orthogonal:
            constant = like(roots / np.sqrt(total), rows)
            rows = rows - constant[:, None] * (constant @ rows)
        weighted = None if self.roots is None else like(roots, rows)
        return Outputs(rows, n, self.orthogonal and weighted is None, inputs, total, weighted)

    def operator_spectrum(self, inputs: Any, reference: Array) -> tuple[OperatorSpectrum | None, Array | None]:
        """Return the eigendecomposition of C (None for the identity), and UᵀV if that took it."""
        if self.operator.is_identity:
            return None, None
        outputs = self.operator_outputs(inputs, reference)
        spectrum = self.operator.spectrum(outputs)
        return spectrum, vars(outputs).get("inside")


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


def separable_only(problem: RidgeProblem, one_alpha: bool = False) -> str | None:
    """Return why a solver for k(x, z)·C, and with `one_alpha` for one alpha, does not solve the problem; None if it does."""
    if one_alpha and problem.alpha is None:
        return "it solves one alpha, and alpha is to be chosen; use solver='auto' or Exact()"
    if not problem.operator.separable:
        return f"{problem.operator!r} is not one kernel times one matrix; use Structured()"
    if problem.observed is not None:
        return "some outputs are missing; use Structured()"
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
