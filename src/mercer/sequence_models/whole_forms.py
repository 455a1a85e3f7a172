"""Scores of whole inflected forms: the letters from the end of the form, given the tags; how much longer than the lemma it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mercer.sequence_models.inflection_search import Request
from mercer.sequence_models.ngrams import NgramModel

FORM_SCORES = ("ending", "longer")
_ORDER = 5


class WholeForms:
    """A model of the runs of letters of forms, read from the end after the tags, and the number of letters a form adds."""

    def fit(self, requests: Sequence[Request], forms: Sequence[str]) -> WholeForms:
        """Learn from requests and their forms."""
        pairs = zip(requests, forms, strict=True)
        self.runs_ = NgramModel(_ORDER).fit([_backwards(request, form) for request, form in pairs])
        return self

    def scores(self, request: Request, forms: Sequence[str]) -> np.ndarray:
        """Return a row of `FORM_SCORES` for each form of a request."""
        rows = [
            (self.runs_.log_probability(_backwards(request, form)), len(form) - len(request.lemma)) for form in forms
        ]
        return np.asarray(rows, dtype=float).reshape(len(forms), len(FORM_SCORES))


def _backwards(request: Request, form: str) -> list[str]:
    """Return the tags as one symbol, then the letters of a form from the last to the first."""
    return [f"<{';'.join(request.tags)}>", *reversed(form)]
