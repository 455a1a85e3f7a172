"""The nearest of a finite set of objects."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array
from mercer.core.collections import Collection, take
from mercer.decoders.base import Decoder
from mercer.decoders.families import unscaled
from mercer.decoders.pool import Pool
from mercer.decoders.registry import register
from mercer.embeddings.base import Embedding
from mercer.kernels.base import Kernel
from mercer.losses.base import Loss


@register(priority=0)
class Candidates(Decoder):
    r"""The nearest training output, :math:`\arg\max_y 2\langle h, \psi(y)\rangle - l(y,y)`.

    Works with every output kernel. Equal outputs are one candidate, listed where the first of them is; of candidates whose
    scores are equal up to rounding the one listed first wins. Outputs the kernel cannot see (a 2-letter string under a
    length-3 kernel) are not candidates, unless there are no others.

    Parameters
    ----------
    batch_size : int, optional
        Points scored in one matrix product; by default as many as keep the scores under 128 MiB.

    Attributes
    ----------
    pool_ : Pool
        The candidates with their features, prepared once.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Linear
    >>> embedding = Implicit().fit(Linear(), np.array([[0.0], [1.0], [4.0]]))
    >>> decoder = Candidates().fit(embedding)
    >>> decoder.decode(np.array([[0.0, 0.5, 0.5]])).tolist()  # half way between 1 and 4
    [[1.0]]
    """

    pool_: Pool
    hidden_: np.ndarray

    def __init__(self, batch_size: int | None = None) -> None:
        self.batch_size = batch_size

    @classmethod
    def suits(cls, kernel: Kernel, loss: Loss, outputs: Collection | None) -> tuple[Decoder, str] | None:
        """For every kernel."""
        return cls(), f"{unscaled(kernel)!r} has no inverse of its own, so training outputs are compared"

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Collect the candidates and their features."""
        super().fit(embedding, loss)
        self.pool_, self.hidden_ = super()._training_pool()
        return self

    def _training_features(self, index: np.ndarray) -> tuple[Array, Array]:
        return 2.0 * self.embedding_.rows(index), self.embedding_.norms(take(self.embedding_.outputs_, index))

    def _training_pool(self) -> tuple[Pool, np.ndarray]:
        return self.pool_, self.hidden_
