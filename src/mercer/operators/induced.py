"""The joint kernel an operator induces."""

from __future__ import annotations

from mercer.core.arrays import Array, clip_spectrum, eigh, like
from mercer.core.collections import Collection, count
from mercer.core.gram_eigh import GramEigh
from mercer.embeddings import Embedding, Features, Spectral
from mercer.kernels.base import Kernel
from mercer.kernels.grams import own
from mercer.operators.base import Outputs, SeparableOperator
from mercer.operators.joint import JointKernel, TensorProductJoint


class InducedJoint(JointKernel):
    r"""The joint kernel of an operator learned from data, :math:`J = k(x, x')\, \langle \psi(y), C\, \psi(y') \rangle`.

    For the covariance operator, :math:`\frac{1}{n} k(x, x') \sum_s l(y, y_s)\, l(y_s, y')`: two outputs are alike when
    they are alike to the same training outputs.

    Parameters
    ----------
    input_kernel, output_kernel : Kernel
        k and l.
    operator : SeparableOperator
        C; `resolve` takes it from pairs. With `Identity()` that gives a `TensorProductJoint`.
    embedding : Embedding, optional
        The fitted coordinates C is given in; set by `resolve`.
    matrix : array, optional
        C in these coordinates; set by `resolve`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> from mercer.operators import Covariance
    >>> X, Y = np.array([[1.0], [2.0]]), np.array([[1.0], [3.0]])
    >>> InducedJoint(Linear(), Linear(), Covariance()).resolve(X, Y)(X, Y)  # x x' y y' (1² + 3²)/2
    array([[  5.,  30.],
           [ 30., 180.]])
    """

    def __init__(
        self,
        input_kernel: Kernel,
        output_kernel: Kernel,
        operator: SeparableOperator,
        embedding: Embedding | None = None,
        matrix: Array | None = None,
    ) -> None:
        self.input_kernel = input_kernel
        self.output_kernel = output_kernel
        self.operator = operator
        self.embedding = embedding
        self.matrix = matrix

    def resolve(self, X: Collection, Y: Collection) -> JointKernel:
        """The same with the operator taken from these pairs."""
        k, l = self.input_kernel.resolve(X), self.output_kernel.resolve(Y)
        if self.operator.is_identity:
            return TensorProductJoint(k, l)
        embedding = Spectral() if l.feature_map(Y) is None else Features()
        embedding.fit(l, l.check(Y, "Y"))
        values, vectors = eigh(own(k(X), k))
        values = clip_spectrum(values, f"the input Gram matrix of {k!r}")
        inputs = GramEigh(vectors, values, vectors)
        outputs = Outputs(like(embedding.coordinates_, vectors), count(Y), embedding.orthogonal_, inputs)
        return InducedJoint(k, l, self.operator, embedding, self.operator.matrix(outputs))

    def blocks(self, X: Collection, X2: Collection | None, width: int) -> Array:
        """k(x, x')·C."""
        gram = self.input_kernel(X, X2)
        return gram[:, :, None, None] * self._fitted()[1][None, None, :, :]

    def _matrix(self, X: Collection, Y: Collection, X2: Collection | None, Y2: Collection | None) -> Array:
        embedding, matrix = self._fitted()
        gram = self.input_kernel(X, X2)
        rows = like(embedding.transform(embedding.kernel_.check(Y, "Y")), matrix)
        others = rows if Y2 is None else like(embedding.transform(embedding.kernel_.check(Y2, "Y2")), matrix)
        return gram * (rows @ matrix @ others.T)

    def _fitted(self) -> tuple[Embedding, Array]:
        if self.embedding is None or self.matrix is None:
            raise ValueError(f"{type(self).__name__} has an operator learned from pairs; call resolve(X, Y) first")
        return self.embedding, self.matrix
