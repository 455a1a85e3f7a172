"""The models of `Inflection`, scripts, the transducer and whole forms, and the trust in each, learned from words left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mercer.selection.folds import KFold
from mercer.sequence_models.aligned import trust_in_scores
from mercer.sequence_models.edits import Vowels, particles_moved, script_of
from mercer.sequence_models.harmony import Harmony
from mercer.sequence_models.inflection_decision import Decision
from mercer.sequence_models.inflection_search import Columns, Request, Search
from mercer.sequence_models.transducer import Transducer
from mercer.sequence_models.whole_forms import WholeForms

_FOLDS = 3
_ENOUGH = 300  # lemmas, below which there is no transducer: it needs more examples than scripts do
_LEFT_OUT = 300  # pairs left out, after which no more folds are
_PRIOR = np.asarray(
    [0.8, 0.2, 0.0, 0.0]
)  # the trust in scripts, transducer and whole forms before any pair is left out
_LIKELY = 4.0  # a form of the transducer so much less likely than its best is not considered
_FLOOR = -30.0  # a form that a model rules out has this log-probability


class Listed(NamedTuple):
    """Forms of a request with a row of scores for each; the first `found` are those that the models found."""

    forms: list[str]
    scores: np.ndarray
    found: int


@dataclass
class FormModels:
    """Scripts and a transducer, whose forms are ranked by Σ trust · score over their log-probabilities and `FORM_SCORES`.

    The score of a form is the logarithm of its share, Σ over the forms found of exp(Σ trust · score) being one.
    """

    decision: Decision  # the parameters of the decisions of scripts
    vowels: Vowels
    width: int
    seed: int

    def fit(self, requests: Sequence[Request], forms: Sequence[str]) -> FormModels:
        """Learn the models, and the trust in each from pairs left out, with all pairs of their lemmas."""
        self.trust_ = np.asarray([1.0])
        lemmas = {lemma: i for i, lemma in enumerate(dict.fromkeys(request.lemma for request in requests))}
        if len(lemmas) >= _ENOUGH:
            groups = np.asarray([lemmas[request.lemma] for request in requests])
            self.trust_ = self._learn_trust(
                requests, forms, KFold(_FOLDS, random_state=self.seed).splits(len(forms), groups)
            )
        return self._fit(requests, forms)

    def found(self, requests: Sequence[Request]) -> list[dict[str, float]]:
        """Return the forms that either model finds for each request, with their scores."""
        return [dict(zip(listed.forms, self._shares(listed), strict=True)) for listed in self._lists(requests)]

    def scores(self, request: Request, forms: Sequence[str]) -> np.ndarray:
        """Return the score of each form of one request."""
        (listed,) = self._lists([request], [list(forms)])
        by_form = dict(zip(listed.forms, self._shares(listed), strict=True))
        return np.asarray([by_form[form] for form in forms])

    def _fit(self, requests: Sequence[Request], forms: Sequence[str]) -> FormModels:
        lemmas, tags = [request.lemma for request in requests], [request.tags for request in requests]
        particles, harmony = particles_moved(lemmas, forms), Harmony().fit([*lemmas, *forms], self.vowels)
        search = Search(Columns(tags, self.vowels, harmony), particles, self.width)
        pairs = zip(lemmas, forms, strict=True)
        scripts = [script_of(lemma, form, self.vowels, search.particle(lemma)) for lemma, form in pairs]
        self.search_ = search.fit(requests, scripts, self.decision)
        self.transducer_ = None
        if len(self.trust_) > 1:
            self.transducer_ = Transducer(seed=self.seed).fit(lemmas, tags, forms, self.vowels)
            self.whole_ = WholeForms().fit(requests, forms)
        return self

    def _learn_trust(
        self, requests: Sequence[Request], forms: Sequence[str], splits: list[tuple[np.ndarray, np.ndarray]]
    ) -> np.ndarray:
        scores: list[np.ndarray] = []
        correct: list[np.ndarray] = []
        for train, held_out in splits:
            part = FormModels(self.decision, self.vowels, self.width, self.seed)
            part.trust_ = _PRIOR
            part._fit([requests[i] for i in train], [forms[i] for i in train])
            lists = part._lists([requests[i] for i in held_out])
            scores += [listed.scores for listed in lists]
            correct += [
                np.asarray([f == forms[i] for f in listed.forms]) for i, listed in zip(held_out, lists, strict=True)
            ]
            if len(scores) >= _LEFT_OUT:
                break
        trust = trust_in_scores(scores, correct, _PRIOR)
        # with a trust below zero in scripts or transducer, a form that they rule out would gain by it
        return np.concatenate([np.maximum(trust[:2], 0.0), trust[2:]])

    def _lists(self, requests: Sequence[Request], more: Sequence[list[str]] | None = None) -> list[Listed]:
        """Return the forms found for each request, then `more`, with the scores of each model."""
        by_scripts = self.search_.forms(requests)
        models = [by_scripts]
        if self.transducer_ is not None:
            models.append([_likely(self.transducer_.forms(lemma, tags, self.width)) for lemma, tags in requests])
        forms = [list(dict.fromkeys(form for found in each for form in found)) for each in zip(*models, strict=True)]
        numbers = [len(known) for known in forms]
        if more is not None:
            forms = [list(dict.fromkeys([*known, *given])) for known, given in zip(forms, more, strict=True)]
        missing = [(i, form) for i, found in enumerate(by_scripts) for form in forms[i] if form not in found]
        if missing:
            logs = self.search_.scores([requests[i] for i, _ in missing], [form for _, form in missing])
            for (i, form), score in zip(missing, logs, strict=True):
                by_scripts[i][form] = float(score)
        if self.transducer_ is not None:
            for (lemma, tags), found, known in zip(requests, models[1], forms, strict=True):
                rest = [form for form in known if form not in found]
                found.update(zip(rest, self.transducer_.scores(lemma, tags, rest).tolist(), strict=True))
        columns = [np.asarray([[found[i][f] for found in models] for f in known]) for i, known in enumerate(forms)]
        if self.transducer_ is not None:
            columns = [
                np.hstack([np.maximum(own, _FLOOR), self.whole_.scores(request, known)])
                for own, request, known in zip(columns, requests, forms, strict=True)
            ]
        return [Listed(*each) for each in zip(forms, columns, numbers, strict=True)]

    def _shares(self, listed: Listed) -> np.ndarray:
        """Return the score of each form."""
        if len(self.trust_) == 1:
            return listed.scores[:, 0]
        totals = listed.scores @ self.trust_
        return totals - np.logaddexp.reduce(totals[: listed.found])


def _likely(forms: dict[str, float]) -> dict[str, float]:
    best = max(forms.values(), default=0.0)
    return {form: score for form, score in forms.items() if score >= best - _LIKELY}
