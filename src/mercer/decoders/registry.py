"""The decoders that ``decoder="auto"`` chooses from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mercer.core.collections import Collection
from mercer.decoders.base import Decoder
from mercer.kernels.base import Kernel
from mercer.losses.base import resolve_loss

D = TypeVar("D", bound=type[Decoder])

_REGISTERED: dict[str, tuple[int, type[Decoder]]] = {}
"""Priority and class, by full name: a class defined again takes the place of the first."""


def register(priority: int = 100) -> Callable[[D], D]:
    """Offer a decoder class to `auto_decoder`, which asks its classmethod `suits`.

    Classes are asked from the highest priority down, of one priority the last registered first, and so by default before those
    of the library.

    Examples
    --------
    >>> from mercer.decoders import Candidates, auto_decoder
    >>> from mercer.kernels import Laplacian
    >>> class Nearest(Candidates):
    ...     @classmethod
    ...     def suits(cls, kernel, loss, outputs):
    ...         return (cls(), "distances are city blocks") if kernel == Laplacian(0.125) else None
    >>> _ = register()(Nearest)  # or @register() above the class
    >>> auto_decoder(Laplacian(0.125))
    (Nearest(), 'distances are city blocks')
    """

    def add(decoder: D) -> D:
        name = f"{decoder.__module__}.{decoder.__qualname__}"
        _REGISTERED.pop(name, None)
        _REGISTERED[name] = (priority, decoder)
        return decoder

    return add


def auto_decoder(kernel: Kernel, loss: Any = None, outputs: Collection | None = None) -> tuple[Decoder, str]:
    """The decoder for a resolved output kernel and a loss, and one sentence why.

    The registered decoders are asked in turn, and the first that suits is taken:

    ========  ==============  ===============================================================
    priority  decoder         suits
    ========  ==============  ===============================================================
    40        `ExpectedF1`    the loss `F1`
    40        `Thresholded`   `LabelSets` with the loss `Hamming`
    40        `ClosedForm`    `Linear`, also with the loss `SquaredError`, `RocAuc` or `TopK`
    40        `FixedPoint`    `Gaussian` on vectors
    40        `PerPosition`   `Positions`
    40        `KemenyOrder`   `Kemeny`, also with the loss `Kendall`
    40        `Assignment`    `RankHamming`, also with the loss `Hamming`
    40        `Sorting`       `Borda`, also with the loss `SquaredError`, and `Lehmer`
    30        `LongestPath`   `WeightedDegree` without shifts, sums with `Positions`
    20        `BeamSearch`    `Spectrum`, `Mismatch`, their sums, normalised or not
    10        `ExpectedLoss`  any loss that is not the distance of the kernel
    0         `Candidates`    any kernel
    ========  ==============  ===============================================================

    Where no loss is named, the loss is the distance of the kernel. Factors around the kernel change nothing. `LongestPath` and
    `BeamSearch` do not suit training `outputs` with too many symbols.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> auto_decoder(0.5 * Linear())
    (ClosedForm(), 'under Linear() the point is the vector, so nothing has to be searched')
    """
    named = resolve_loss(loss, kernel)
    for _, decoder in sorted(_REGISTERED.values(), key=lambda entry: entry[0])[::-1]:
        found = decoder.suits(kernel, named, outputs)
        if found is not None:
            return found
    raise TypeError(f"no registered decoder suits {kernel!r} with {named!r}; pass decoder=Candidates()")
