"""Separable operator-valued kernels, and sums of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.core.arrays import Array, clip_spectrum, eigh, like, namespace, to_numpy
from mercer.core.collections import Collection
from mercer.kernels import Gaussian
from mercer.kernels.base import Kernel
from mercer.operators.base import OperatorSpectrum, Outputs, SeparableOperator
from mercer.operators.blocks import KroneckerSum, full
from mercer.operators.valued import OperatorValuedKernel, output_matrix


class Separable(OperatorValuedKernel, SeparableOperator):
    r"""One similarity of inputs and one matrix of outputs, :math:`K(x, z) = k(x, z)\, T`.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian(scale="median")
        k.
    T : array (p, p) or (p,), optional
        Symmetric and positive semi-definite; a vector is a diagonal matrix. None is the identity: outputs are then
        learned one by one.

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
        """The one scalar kernel."""
        return [self.kernel]

    def check_parameters(self) -> None:
        """K is a kernel, T symmetric and positive semi-definite."""
        if not isinstance(self.kernel, Kernel):
            raise TypeError(
                f"kernel={self.kernel!r:.60} in Separable; expected a scalar kernel such as mercer.kernels.Gaussian()"
            )
        if self.T is not None:
            output_matrix(self.T)

    @property
    def is_identity(self) -> bool:  # type: ignore[override]
        """Whether outputs are learned one by one, with the same weight."""
        return self.T is None or (np.ndim(self.T) == 1 and bool(np.all(to_numpy(self.T) == 1.0)))

    def matrix(self, outputs: Outputs | None = None) -> Array:
        """Return T as an array, (p,) where it is diagonal by construction."""
        return output_matrix(self.T)

    def spectrum(self, outputs: Outputs) -> OperatorSpectrum | None:
        """Return the eigendecomposition of T; None stands for the identity."""
        if self.is_identity:
            return None
        T = like(self.matrix(), outputs.coordinates)
        if T.ndim == 1:
            return OperatorSpectrum(T, None)
        values, vectors = eigh(namespace(T).asarray(T, copy=True))
        return OperatorSpectrum(clip_spectrum(values, "T"), vectors)

    def _resolved(self, X: Collection, p: int) -> Separable:
        return Separable(self.kernel.resolve(X), np.ones(p) if self.T is None else self.matrix())

    def _block(self, x: Collection, z: Collection) -> Array:
        return self.kernel(x, z)[0, 0] * full(self.matrix())

    def _gram(self, X: Collection, Z: Collection | None) -> KroneckerSum:
        return KroneckerSum([self.kernel(X, Z)], [self.matrix()])


class SumOfSeparable(OperatorValuedKernel):
    r"""Several similarities of inputs, each with its matrix of outputs, :math:`K(x, z) = \sum_l k_l(x, z)\, T_l`.

    Parameters
    ----------
    terms : sequence of Separable or of (kernel, T)
        At least one.

    Examples
    --------
    What all tasks share, and what each has for itself:

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
        """The k_l."""
        return [term.kernel for term in self._terms()]

    def check_parameters(self) -> None:
        """Every term is separable, and their matrices have one size."""
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
        if not isinstance(self.terms, list | tuple) or len(self.terms) == 0:
            raise ValueError(f"terms={self.terms!r:.60}; expected a list with at least one Separable or (kernel, T)")
        found = []
        for i, term in enumerate(self.terms):
            if isinstance(term, tuple) and len(term) == 2:
                term = Separable(*term)
            if not isinstance(term, Separable):
                raise TypeError(f"terms[{i}] is {term!r:.60}; expected a Separable, or a pair (kernel, T)")
            found.append(term)
        return found

    def _resolved(self, X: Collection, p: int) -> SumOfSeparable:
        return SumOfSeparable([term.resolve(X, p) for term in self._terms()])

    def _block(self, x: Collection, z: Collection) -> Array:
        parts = [term._block(x, z) for term in self._terms()]
        return sum(parts[1:], start=parts[0])

    def _gram(self, X: Collection, Z: Collection | None) -> KroneckerSum:
        terms = self._terms()
        return KroneckerSum([term.kernel(X, Z) for term in terms], [term.matrix() for term in terms])
