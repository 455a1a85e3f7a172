"""The models of `Inflection`, scripts, the transducer and whole forms, and the trust in each, learned from words left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from mercer.selection.folds import KFold
from mercer.sequence_models.aligned import trust_in_scores
from mercer.sequence_models.edits import Vowels, particles_moved, script_of
from mercer.sequence_models.form_networks import FormNetworks
from mercer.sequence_models.harmony import Harmony
from mercer.sequence_models.inflection_decision import Decision
from mercer.sequence_models.inflection_search import Columns, Request, Search
from mercer.sequence_models.made_up_pairs import MadeUpPairs, with_made_up_pairs
from mercer.sequence_models.networks import Networks
from mercer.sequence_models.progress import Progress
from mercer.sequence_models.transducer import Transducer
from mercer.sequence_models.whole_forms import FORM_SCORES, WholeForms

_FOLDS = 3
_ENOUGH = 300  # lemmas, below which there is no transducer: it needs more examples than scripts do
_LEFT_OUT = 300  # pairs left out, after which no more folds are
SCORES = ("scripts", "transducer", "networks", *FORM_SCORES)
PRIOR = np.asarray([0.6, 0.2, 0.2, 0.0, 0.0])
"""The scores of a form, and the trust in each before any pair is left out."""
_MODELS = 3
_SHARES = {"trust": 0.4, "scripts": 0.15, "transducer": 0.15, "networks": 0.3}  # of the time to fit
_BEHIND = (6.0, 4.0)  # forms of scripts, and of the transducer, so much less likely than their best are not considered
_MADE_UP = 1  # pairs made up from each training pair, for the transducer and the networks
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
    n_jobs: int | None = None  # threads

    def fit(
        self, requests: Sequence[Request], forms: Sequence[str], write: Callable[[str], None] | None = None
    ) -> FormModels:
        """Learn the models, and the trust in each from pairs left out, with all pairs of their lemmas.

        `write` takes a line when a part is done, with the time that is left.
        """
        self.trust_ = np.asarray([1.0])
        lemmas = {lemma: i for i, lemma in enumerate(dict.fromkeys(request.lemma for request in requests))}
        enough = len(lemmas) >= _ENOUGH
        progress = Progress(f"{len(forms)} forms", _SHARES if enough else {"scripts": 1.0}, write)
        if enough:
            groups = np.asarray([lemmas[request.lemma] for request in requests])
            splits = KFold(_FOLDS, random_state=self.seed).splits(len(forms), groups)
            self.trust_ = self.learned_trust(*self._left_out_lists(requests, forms, splits))
            progress.done("trust")
        return self._fit(requests, forms, progress.done)

    def found(self, requests: Sequence[Request]) -> list[dict[str, float]]:
        """Return the forms that either model finds for each request, with their scores."""
        return [dict(zip(listed.forms, self._shares(listed), strict=True)) for listed in self.lists(requests)]

    def scores(self, request: Request, forms: Sequence[str]) -> np.ndarray:
        """Return the score of each form of one request."""
        (listed,) = self.lists([request], [list(forms)])
        by_form = dict(zip(listed.forms, self._shares(listed), strict=True))
        return np.asarray([by_form[form] for form in forms])

    def _fit(self, requests: Sequence[Request], forms: Sequence[str], done: Callable[[str], None]) -> FormModels:
        lemmas, tags = [request.lemma for request in requests], [request.tags for request in requests]
        particles, harmony = particles_moved(lemmas, forms), Harmony().fit([*lemmas, *forms], self.vowels)
        search = Search(Columns(tags, self.vowels, harmony), particles, self.width)
        pairs = zip(lemmas, forms, strict=True)
        scripts = [script_of(lemma, form, self.vowels, search.particle(lemma)) for lemma, form in pairs]
        self.search_ = search.fit(requests, scripts, self.decision)
        done("scripts")
        self.transducer_ = None
        if len(self.trust_) > 1:
            maker, rng = MadeUpPairs(lemmas, self.vowels, harmony), np.random.default_rng(self.seed)
            more = with_made_up_pairs((lemmas, tags, list(forms)), maker, _MADE_UP, rng)
            self.transducer_ = Transducer(seed=self.seed).fit(*more, self.vowels)
            done("transducer")
            self.networks_ = FormNetworks(Networks(members=3, epochs=40, seed=self.seed, n_jobs=self.n_jobs))
            self.networks_.fit(self.transducer_, *more)
            self.whole_ = WholeForms().fit(requests, forms)
            done("networks")
        return self

    def _left_out_lists(
        self, requests: Sequence[Request], forms: Sequence[str], splits: list[tuple[np.ndarray, np.ndarray]]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return the scores of the forms found for pairs left out, and whether each is right."""
        scores: list[np.ndarray] = []
        correct: list[np.ndarray] = []
        for train, held_out in splits:
            part = FormModels(self.decision, self.vowels, self.width, self.seed, self.n_jobs)
            part.trust_ = PRIOR
            part._fit([requests[i] for i in train], [forms[i] for i in train], lambda _: None)
            lists = part.lists([requests[i] for i in held_out])
            scores += [listed.scores for listed in lists]
            correct += [
                np.asarray([f == forms[i] for f in listed.forms]) for i, listed in zip(held_out, lists, strict=True)
            ]
            if len(scores) >= _LEFT_OUT:
                break
        return scores, correct

    def learned_trust(self, scores: list[np.ndarray], correct: list[np.ndarray]) -> np.ndarray:
        """Return the trust in each score, from lists of forms left out and whether each is right."""
        trust = trust_in_scores(scores, correct, PRIOR)
        # with a trust below zero in a model, a form that it rules out would gain by it
        return np.concatenate([np.maximum(trust[:_MODELS], 0.0), trust[_MODELS:]])

    def lists(self, requests: Sequence[Request], more: Sequence[list[str]] | None = None) -> list[Listed]:
        """Return the forms found for each request, then `more`, with the scores of each model."""
        run = Parallel(n_jobs=self.n_jobs, prefer="threads")
        models = [self.search_.forms(requests)]
        if self.transducer_ is not None:
            search = delayed(self.transducer_.forms)
            models.append(run(search(*request, self.width) for request in requests))
            models = [[_likely(own, behind) for own in found] for found, behind in zip(models, _BEHIND, strict=True)]
        forms = [list(dict.fromkeys(form for found in each for form in found)) for each in zip(*models, strict=True)]
        numbers = [len(known) for known in forms]
        if more is not None:
            forms = [list(dict.fromkeys([*known, *given])) for known, given in zip(forms, more, strict=True)]
        missing = [(i, form) for i, found in enumerate(models[0]) for form in forms[i] if form not in found]
        if missing:
            logs = self.search_.scores([requests[i] for i, _ in missing], [form for _, form in missing])
            for (i, form), score in zip(missing, logs, strict=True):
                models[0][i][form] = float(score)
        if self.transducer_ is not None:
            rest = [[f for f in known if f not in found] for found, known in zip(models[1], forms, strict=True)]
            score = delayed(self.transducer_.scores)
            logs = run(score(*request, own) for request, own in zip(requests, rest, strict=True))
            for found, own, scores in zip(models[1], rest, logs, strict=True):
                found.update(zip(own, scores.tolist(), strict=True))
        columns = [np.asarray([[found[i][f] for found in models] for f in known]) for i, known in enumerate(forms)]
        if self.transducer_ is not None:
            score = delayed(self._of_forms)
            more_columns = run(score(self.transducer_, *each) for each in zip(requests, forms, strict=True))
            pairs = zip(columns, more_columns, strict=True)
            columns = [np.hstack([np.maximum(own, _FLOOR), others]) for own, others in pairs]
        return [Listed(*each) for each in zip(forms, columns, numbers, strict=True)]

    def _of_forms(self, transducer: Transducer, request: Request, forms: Sequence[str]) -> np.ndarray:
        """Return the scores of networks and of whole forms, a row for each form of a request."""
        by_networks = self.networks_.scores(transducer, *request, forms)
        return np.column_stack([np.maximum(by_networks, _FLOOR), self.whole_.scores(request, forms)])

    def _shares(self, listed: Listed) -> np.ndarray:
        """Return the score of each form."""
        if len(self.trust_) == 1:
            return listed.scores[:, 0]
        totals = listed.scores @ self.trust_
        return totals - np.logaddexp.reduce(totals[: listed.found])


def _likely(forms: dict[str, float], behind: float) -> dict[str, float]:
    best = max(forms.values(), default=0.0)
    return {form: score for form, score in forms.items() if score >= best - behind}
