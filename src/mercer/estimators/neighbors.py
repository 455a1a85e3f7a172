"""Nearest neighbours for any objects."""

from __future__ import annotations

from typing import Any

from mercer.embeddings.implicit import Implicit
from mercer.estimators.base import ObjectEstimator
from mercer.kernels import Gaussian, Linear
from mercer.kernels.base import Kernel
from mercer.learners.neighbors import Neighbors


class NeighborsEstimator(ObjectEstimator):
    r"""Predict the object closest to the mean of the outputs of the k nearest inputs.

    .. math:: h(x) = \frac{1}{k} \sum_{j \in N_k(x)} \psi(y_j)

    Distances are those in the feature space of the input kernel; equally near inputs keep the order of the data. Training inputs
    of norm zero (empty rows, strings too short for the kernel) come after all others, except for inputs of norm zero. Kernels
    that are not positive semi-definite by construction are checked on a Gram matrix, of 300 objects if none of all is needed.

    Parameters
    ----------
    input_kernel, output_kernel : Kernel
        As for `DependencyEstimator`.
    k : int or "loo", default="loo"
        The number of neighbours. "loo" chooses between 1 and 30 by exact leave-one-out.
    decoder : "auto" or Decoder
        Turns the mean into an object. Weston et al. choose among the training outputs, ``decoder=Candidates()``.
    loss : None, "kernel", "rkhs" or callable
        As for `DependencyEstimator`.

    Attributes
    ----------
    k_, ks_, loo_path_ : int, array, array
        The number of neighbours in use, those tried, and the leave-one-out loss of each.

    Examples
    --------
    >>> from mercer import NeighborsEstimator
    >>> from mercer.kernels import Classes, Linear
    >>> model = NeighborsEstimator(Linear(), Classes(), k=1)
    >>> model.fit([[0.0], [1.0], [5.0]], ["low", "low", "high"]).predict([[4.0]])
    array(['high'], dtype=object)
    """

    learner_type = Neighbors

    def __init__(
        self,
        input_kernel: Kernel = Gaussian(scale="median"),  # noqa: B008 - kernels are values; fit never changes them
        output_kernel: Kernel = Linear(),  # noqa: B008
        k: Any = "loo",
        decoder: Any = "auto",
        loss: Any = None,
    ) -> None:
        self.input_kernel = input_kernel
        self.output_kernel = output_kernel
        self.k = k
        self.decoder = decoder
        self.loss = loss

    def _parts(self) -> tuple[Any, Any]:
        # kernel values of vectors far from zero would cancel
        return self.decoder, "auto" if self.output_kernel.takes_vectors else Implicit()
