"""Parts that the user leaves open: the decoder and the embedding, each chosen with a reason."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from mercer.core.collections import Collection, count
from mercer.core.validation import check_instance
from mercer.decoders import Decoder, auto_decoder
from mercer.embeddings import Embedding, Features, PrincipalComponents
from mercer.kernels.base import Kernel
from mercer.learners.base import Learner
from mercer.solvers.auto import Choice


def choose_decoder(decoder: Any, kernel: Kernel, loss: Any, outputs: Collection | None = None) -> Choice:
    """Return the decoder, from ``"auto"`` or the one the user gave."""
    if isinstance(decoder, str) and decoder == "auto":
        return Choice(*auto_decoder(kernel, loss, outputs))
    expected = "'auto' or a decoder from mercer.decoders, such as Candidates()"
    return Choice(clone(check_instance(decoder, "decoder", Decoder, expected=expected)), "given")


def choose_embedding(embedding: Any, kernel: Kernel, outputs: Collection, learner: Learner, decoder: Decoder) -> Choice:
    """Return the embedding, from ``"auto"`` or the one the user gave."""
    if not (isinstance(embedding, str) and embedding == "auto"):
        expected = "'auto' or one of mercer.embeddings, such as PrincipalComponents()"
        return Choice(clone(check_instance(embedding, "embedding", Embedding, expected=expected)), "given")
    preferred = decoder.preferred_embedding(kernel, outputs) if learner.has_weights else None
    if preferred is not None:
        return Choice(*preferred)
    features = kernel.feature_map(outputs)
    if features is not None and features.dimension <= count(outputs):
        return Choice(Features(), f"{kernel!r} has {features.dimension} explicit features")
    preferred = learner.preferred_embedding(kernel, outputs)
    if preferred is not None:
        return Choice(*preferred)
    return Choice(PrincipalComponents(), f"{type(learner).__name__} predicts coordinates")
