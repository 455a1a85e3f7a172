"""Inflected forms from lemmas and tags."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.core.collections import as_objects
from mercer.decoders import Ranked
from mercer.sequence_models.base import WordEstimator, check_how_many
from mercer.sequence_models.edits import Vowels
from mercer.sequence_models.edits_search import particles_moved, script_of
from mercer.sequence_models.inflection_columns import Columns
from mercer.sequence_models.inflection_search import Search
from mercer.sequence_models.inflection_words import as_forms, as_requests

_TOGETHER = 512
"""Requests searched at a time."""


class Inflection(WordEstimator):
    r"""Inflect words: from a lemma and tags, such as ``("take", "V;PST")``, to a form; learned from as few as 100 examples.

    1. The cheapest `Script` takes each training lemma to its form: a prefix, letters that go, an ending, a change of the last
       vowels of the stem, a particle that moves.
    2. Its steps are decisions, each a kernel ridge (`Decision`) from tags, letters and the steps before it: the front of the
       word, the ending one letter at a time from right to left, how much of the lemma goes, which vowels change.

    .. math:: \log p(\text{form} \mid \text{lemma}, \text{tags}) = \max_{\text{scripts}} \sum_t \log p(\text{step}_t \mid
              \text{lemma}, \text{tags}, \text{steps before } t)

    3. What a difference in each tag or letter costs is learned by exact leave-one-out. Unseen combinations of known tags are near
       those that share most of what matters.
    4. A beam search puts steps together, so that forms can have endings never seen as a whole.

    Parameters
    ----------
    width : int, default=8
        Beginnings that the beam keeps, and so the most forms `rank` can give.
    sample : int, default=400
        Steps of each kind that the weights are learned from, drawn at random where there are more.
    rounds : int, default=40
        Rounds of that learning; 0 leaves all weights as they start, alike.
    landmarks : int, default=5000
        Steps of each kind that carry a ridge; where there are more, a fit within the span of as many, drawn at random.
    vowels : str, default="aeiou"
        The letters that are vowels, with any accent.
    loss : None, Loss or callable
        What `score` averages; by default the share of forms that are not exactly right.
    seed : int, default=0
        Of what is drawn.

    Attributes
    ----------
    particles_ : list of str
        The particles that training forms move to the end.
    search_ : Search
        The decisions.

    Notes
    -----
    A tag never seen in training makes its combination unlike any other, and says nothing more. A letter never seen is unlike any
    other, and is kept where the script keeps it. Letters go from the end of a lemma only where a training lemma lost just these,
    unless no script is left then. A lemma that no script fits is its own form, with score −∞.

    Examples
    --------
    >>> lemmas = ["walk", "bake", "play", "hope", "talk", "note", "jump", "dance"]
    >>> X = [(lemma, tags) for tags in ("V;PST", "V;PRS;PTCP") for lemma in lemmas]
    >>> y = ["walked", "baked", "played", "hoped", "talked", "noted", "jumped", "danced"]
    >>> y += ["walking", "baking", "playing", "hoping", "talking", "noting", "jumping", "dancing"]
    >>> model = Inflection().fit(X, y)
    >>> model.predict([("smoke", "V;PRS;PTCP"), ("look", "V;PST")])
    array(['smoking', 'looked'], dtype=object)
    >>> Inflection().fit(["cat", "dog", "box", "fox"], ["cats", "dogs", "boxes", "foxes"]).predict(["bat", "ox"])
    array(['bats', 'oxes'], dtype=object)
    """

    def __init__(
        self,
        width: int = 8,
        sample: int = 400,
        rounds: int = 40,
        landmarks: int = 5000,
        vowels: str = "aeiou",
        loss: Any = None,
        seed: int = 0,
    ) -> None:
        self.width = width
        self.sample = sample
        self.rounds = rounds
        self.landmarks = landmarks
        self.vowels = vowels
        self.loss = loss
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from lemmas, each alone or in a pair (lemma, tags), and their forms."""
        self._check_parameters()
        requests = as_requests(X)
        forms = as_forms(y, len(requests))
        lemmas, vowels = [request.lemma for request in requests], Vowels(self.vowels)
        particles = particles_moved(lemmas, forms)
        tags = (tag for request in requests for tag in request.tags)
        search = Search(Columns(tags, vowels), particles, self.width)
        scripts = [
            script_of(lemma, form, vowels, search.particle(lemma)) for lemma, form in zip(lemmas, forms, strict=True)
        ]
        names = ("sample", "rounds", "landmarks", "seed")
        search.fit(requests, scripts, {name: getattr(self, name) for name in names})
        self.particles_, self.search_ = particles, search
        return self

    def rank(self, X: Any, k: int = 5, candidates: Any = None) -> list[Ranked]:
        """The `k` likeliest forms of each input, best first, with the logarithms of their probabilities.

        Fewer than `k` where the beam found fewer. Candidates, where given, have the probability of the cheapest script that leads
        to them; −∞ where that has a step never seen in training.
        """
        check_is_fitted(self, "search_")
        check_how_many(k)
        requests = as_requests(X)
        if candidates is not None:
            given = as_forms(candidates, len(as_objects(candidates, "candidates")), "candidates")
            return [_best(given, self.search_.scores(request, given), k) for request in requests]
        ranked = []
        for start in range(0, len(requests), _TOGETHER):
            for found in self.search_.forms(requests[start : start + _TOGETHER]):
                ranked.append(_best(list(found), np.asarray(list(found.values())), k))
        return ranked

    def score(self, X: Any, y: Any) -> float:
        """Minus the mean loss of the predictions; by default, minus the share of forms that are not exactly right."""
        predicted = self.predict(X)
        forms = as_forms(y, len(predicted))
        return -self._mean_loss(as_objects(forms), predicted)

    def _check_parameters(self) -> None:
        for name, least in (("width", 1), ("sample", 1), ("rounds", 0), ("landmarks", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise ValueError(f"{name}={value!r}; expected a whole number, {least} or more")
        if not isinstance(self.vowels, str):
            raise TypeError(f"vowels={self.vowels!r}; expected a string of letters such as 'aeiou'")


def _best(forms: list[str], scores: np.ndarray, k: int) -> Ranked:
    order = np.argsort(-scores, kind="stable")[:k]
    return Ranked(as_objects([forms[i] for i in order]), scores[order])
