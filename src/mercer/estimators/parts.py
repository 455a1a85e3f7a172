"""The parts an estimator is put together from, chosen when the user leaves them open; each choice says why."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from mercer.core.arrays import is_numpy_array
from mercer.core.collections import Collection, count, is_numeric
from mercer.decoders import Decoder, ExpectedF1, ExpectedLoss, auto_decoder
from mercer.embeddings import Embedding, Features, FeaturesOf, Implicit, Pivoted, PrincipalComponents, Spectral
from mercer.estimators.data import Pairs
from mercer.kernels import LabelsBySize
from mercer.kernels.base import Kernel
from mercer.operators import Covariance, Identity, Operator, OperatorValuedKernel
from mercer.solvers import Auto, Choice, Cholesky, Exact, LowRank, Solver, Structured, Tridiagonal


def choose_solver(
    solver: Any, operator: Operator | OperatorValuedKernel, one_alpha: bool, spectral: bool = False
) -> Choice:
    """The solver, from ``"auto"``, `Auto()` or the one the user gave."""
    if isinstance(operator, OperatorValuedKernel) != isinstance(solver, Structured):
        if not isinstance(operator, OperatorValuedKernel):
            raise ValueError(f"solver={solver!r} is for operator-valued kernels, and came with operator={operator!r}")
        if not (isinstance(solver, str) and solver == "auto"):
            raise ValueError(f"solver={solver!r} came with operator={operator!r}; expected 'auto' or Structured()")
        return Choice(Structured(), "an operator-valued kernel is solved as its structure allows")
    if isinstance(solver, Structured):
        return Choice(clone(solver), "given")
    if isinstance(solver, str) and solver == "auto":
        solver = Auto()
    if isinstance(solver, Auto):
        return solver.choose(operator, one_alpha, spectral)
    if not isinstance(solver, Solver):
        raise TypeError(f"solver={solver!r}; expected 'auto' or a solver from mercer.solvers, such as Exact()")
    if isinstance(solver, Cholesky) and not (one_alpha and isinstance(operator, Identity)):
        raise ValueError(
            f"solver=Cholesky() solves one alpha with the identity operator, and came with operator={operator!r} and "
            f"{'one alpha' if one_alpha else 'alpha to be chosen'}; use solver='auto' or Exact()"
        )
    if isinstance(solver, Tridiagonal) and (not one_alpha or isinstance(operator, Identity)):
        raise ValueError(
            f"solver=Tridiagonal() solves one alpha with an operator on the outputs, and came with operator={operator!r} and "
            f"{'one alpha' if one_alpha else 'alpha to be chosen'}; use solver='auto' or Exact()"
        )
    if isinstance(solver, Exact):
        solver.check_parameters()
    if getattr(solver, "penalty", "function") != "function" and not isinstance(operator, Identity):
        raise ValueError(
            f"penalty={solver.penalty!r} goes with operator=Identity() only, and came with {operator!r}; "
            "use penalty='function'"
        )
    return Choice(clone(solver), "given")


def on_numpy(objects: Collection) -> bool:
    """Whether objects are worked on by NumPy: its arrays, and objects that are no arrays."""
    return is_numpy_array(objects) or not is_numeric(objects)


def choose_decoder(decoder: Any, kernel: Kernel, loss: Any, outputs: Collection | None = None) -> Choice:
    """The decoder, from ``"auto"`` or the one the user gave."""
    if isinstance(decoder, str) and decoder == "auto":
        return Choice(*auto_decoder(kernel, loss, outputs))
    if not isinstance(decoder, Decoder):
        raise TypeError(f"decoder={decoder!r}; expected 'auto' or a decoder from mercer.decoders, such as Candidates()")
    return Choice(clone(decoder), "given")


def choose_embedding(
    embedding: Any, pairs: Pairs, operator: Operator | OperatorValuedKernel, solver: Solver, decoder: Decoder
) -> Choice:
    """The embedding, from ``"auto"`` or the one the user gave."""
    if not (isinstance(embedding, str) and embedding == "auto"):
        if not isinstance(embedding, Embedding):
            raise TypeError(
                f"embedding={embedding!r}; expected 'auto' or one of mercer.embeddings, such as PrincipalComponents()"
            )
        if isinstance(embedding, Implicit) and not isinstance(operator, Identity):
            raise ValueError(
                f"operator={operator!r} acts on coordinates, which embedding=Implicit() does not have; use "
                "embedding='auto' or Spectral()"
            )
        return Choice(clone(embedding), "given")
    if isinstance(operator, Identity) and isinstance(decoder, ExpectedLoss):
        return Choice(Implicit(), "the expected loss is taken over the weights on the training outputs")
    kernel, outputs = pairs.output_kernel, pairs.everything
    if isinstance(operator, Identity) and isinstance(decoder, ExpectedF1):
        if LabelsBySize().feature_map(outputs).dimension <= count(outputs):
            return Choice(FeaturesOf(LabelsBySize()), "the expected F1 depends on labels and sizes of sets alone")
        return Choice(Implicit(), "the expected F1 is taken over the weights on the training outputs")
    features = kernel.feature_map(outputs)
    if features is not None and features.dimension <= count(outputs):
        return Choice(Features(), f"{kernel!r} has {features.dimension} explicit features")
    if isinstance(operator, OperatorValuedKernel):
        return Choice(
            PrincipalComponents(n_components=operator.outputs), "an operator-valued kernel acts on coordinates"
        )
    if isinstance(solver, LowRank):
        return Choice(Pivoted(solver.rank, solver.tol), "the low-rank solver factors both sides")
    if isinstance(operator, Identity):
        return Choice(Implicit(), "the identity operator needs no coordinates")
    needs = f"{type(operator).__name__} needs coordinates"
    if isinstance(operator, Covariance) or not on_numpy(outputs):
        return Choice(Spectral(), f"{needs}, and eigenvectors give exact ones")
    return Choice(Pivoted(tol=0.0), f"{needs}, and a whole Cholesky factor gives exact ones at the least cost")
