"""Separable operator-valued kernels, and sums of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.core.arrays import Array, like, to_numpy
from mercer.core.collections import Collection
from mercer.core.validation import check_instance
from mercer.kernels import Gaussian, Kernel
from mercer.operators.base import OperatorSpectrum, Outputs, SeparableOperator
from mercer.operators.blocks import KroneckerSum
from mercer.operators.valued import OperatorValuedKernel, check_list, output_matrix


class Separable(OperatorValuedKernel, SeparableOperator):  # type: ignore[misc]  # a call returns its blocks
    r"""One kernel of inputs and one matrix of outputs, :math:`K(x, z) = k(x, z)\, T`.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian(scale="median")
        k.
    T : array (p, p) or (p,), optional
        Symmetric and positive semi-definite; a vector is a diagonal matrix. By default the identity: outputs are learned alone.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Separable(Linear(), [[2.0, 1.0], [1.0, 2.0]]).block([1.0, 2.0], [3.0, 4.0])
    array([[22., 11.],
           [11., 22.]])
    """

    def __init__(self, kernel: Kernel = Gaussian(scale="median"), T: Any = None) -> None:  # noqa: B008
        self.kernel = kernel
        self.T = T

    @property
    def outputs(self) -> int | None:
        """p, the size of T."""
        return None if self.T is None else len(self.T)

    def kernels(self) -> list[Kernel]:
        """Return the one scalar kernel."""
        return [self.kernel]

    def check_parameters(self) -> None:
        """Raise an error unless k is a kernel and T is symmetric and positive semi-definite."""
        check_instance(self.kernel, "kernel", Kernel, expected="a scalar kernel such as mercer.kernels.Gaussian()")
        if self.T is not None:
            output_matrix(self.T)

    @property
    def is_identity(self) -> bool:  # type: ignore[override]
        """True if outputs are learned alone, with the same weight."""
        return self.T is None or (np.ndim(self.T) == 1 and bool(np.all(to_numpy(self.T) == 1.0)))

    def matrix(self, outputs: Outputs | None = None) -> Array:
        """Return T as an array, (p,) if it was given as a diagonal."""
        T = output_matrix(self.T)
        return T if outputs is None else like(T, outputs.coordinates)

    def spectrum(self, outputs: Outputs) -> OperatorSpectrum | None:
        """Return the eigendecomposition of T, or None for the identity."""
        if self.is_identity:
            return None
        return OperatorSpectrum(self.matrix(outputs), None) if np.ndim(self.T) == 1 else super().spectrum(outputs)

    def _resolved(self, X: Collection, p: int) -> Separable:
        return Separable(self.kernel.resolve(X), np.ones(p) if self.T is None else self.matrix())

    def _gram(self, X: Collection, Z: Collection | None) -> KroneckerSum:
        return KroneckerSum([self.kernel(X, Z)], [self.matrix()])


class SumOfSeparable(OperatorValuedKernel):
    r"""Several kernels of inputs, each with its matrix of outputs, :math:`K(x, z) = \sum_l k_l(x, z)\, T_l`.

    Parameters
    ----------
    terms : sequence of Separable or of (kernel, T)
        At least one.

    Examples
    --------
    A part shared by all tasks, and one for each task alone:

    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, Linear
    >>> kernel = SumOfSeparable([(Linear(), np.ones((2, 2))), (Gaussian(1.0), np.eye(2))])
    >>> kernel.block([2.0], [2.0])
    array([[5., 4.],
           [4., 5.]])
    """

    def __init__(self, terms: Sequence[Any]) -> None:
        self.terms = terms

    @property
    def outputs(self) -> int | None:
        """p, the size of the matrices."""
        sizes = [term.outputs for term in self._terms()]
        return None if None in sizes else sizes[0]

    def kernels(self) -> list[Kernel]:
        """Return the k_l."""
        return [term.kernel for term in self._terms()]

    def check_parameters(self) -> None:
        """Raise an error unless every term is separable and the matrices have one size."""
        terms = self._terms()
        for i, term in enumerate(terms):
            try:
                term.check_parameters()
            except ValueError as error:
                raise ValueError(f"terms[{i}]: {error}") from None
        sizes = [term.outputs for term in terms if term.outputs is not None]
        if len(set(sizes)) > 1:
            raise ValueError(f"terms have matrices of sizes {sizes}; expected one size, the number of outputs")

    def _terms(self) -> list[Separable]:
        check_list(self.terms, "terms", "a list with at least one Separable or (kernel, T)")
        terms = [Separable(*term) if type(term) is tuple and len(term) == 2 else term for term in self.terms]
        for i, term in enumerate(terms):
            check_instance(term, f"terms[{i}]", Separable, expected="a Separable, or a pair (kernel, T)")
        return terms

    def _resolved(self, X: Collection, p: int) -> SumOfSeparable:
        return SumOfSeparable([term.resolve(X, p) for term in self._terms()])

    def _gram(self, X: Collection, Z: Collection | None) -> KroneckerSum:
        terms = self._terms()
        return KroneckerSum([term.kernel(X, Z) for term in terms], [term.matrix() for term in terms])
