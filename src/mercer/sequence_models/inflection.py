"""Inflected forms from lemmas and tags."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.core.collections import as_objects
from mercer.core.threads import one_blas_thread
from mercer.core.validation import check_instance, check_whole
from mercer.decoders import Ranked
from mercer.sequence_models.base import WordEstimator, require_as_many
from mercer.sequence_models.edits import Vowels
from mercer.sequence_models.inflection_decision import Decision
from mercer.sequence_models.inflection_models import FormModels
from mercer.sequence_models.inflection_search import Request
from mercer.sequence_models.inventory import alternating_class
from mercer.sequence_models.progress import to_stderr
from mercer.structures.sequences import require_sequence

_TOGETHER = 512  # requests searched at a time


@dataclass(eq=False, repr=False)
class Inflection(WordEstimator):
    r"""Inflect words: from a lemma and tags, such as ``("take", "V;PST")``, to a form. 100 examples can be enough.

    1. The cheapest `Script` takes each training lemma to its form: a prefix, letters dropped, an ending, a change of the last
       vowels of the stem, a particle that moves.
    2. Its steps are decisions, each a kernel ridge (`Decision`) from tags, letters and the steps before it: the front of the
       word, the ending one letter at a time from right to left, the letters dropped, the vowels changed.

    .. math:: \log p(\text{form} \mid \text{lemma}, \text{tags}) = \max_{\text{scripts}} \sum_t \log p(\text{step}_t \mid
              \text{lemma}, \text{tags}, \text{steps before } t)

    3. The cost of a difference in each tag or letter is learned by exact leave-one-out. Unseen combinations of known tags are
       near those that share the tags that matter most.
    4. A beam search combines the steps, so that forms can have words in front and endings never seen as a whole.
    5. With 300 lemmas or more, a `Transducer` copies, drops and writes letter by letter, and sees consonants that alternate
       inside the word. The forms that either finds are ranked as whole words, by both, by small networks (`FormNetworks`) of
       the steps of the transducer, in which letters and tags are vectors that are learned, by the runs of letters from the end
       of the form given the tags, and by the letters it adds, with a trust in each that is learned from lemmas left out. The
       transducer and the networks also learn from a pair made up from each training pair: its stem is swapped for random letters
       of the same shape (`MadeUpPairs`).

    .. math:: \log p(\text{form}) = t_1 \log p_\text{scripts} + t_2 \log p_\text{transducer} + t_3 \log p_\text{networks}
              + t_4 \log p_\text{ending} + t_5 \cdot (\text{letters added}) - \log Z

    Parameters
    ----------
    width : int, default=8
        Partial scripts that the beam keeps, and so the most forms `rank` can give.
    sample : int, default=400
        Most steps of each kind that the weights are learned from, drawn at random.
    rounds : int, default=40
        Rounds of that learning; 0 leaves all weights equal.
    landmarks : int, default=6000
        Most steps of each kind that a ridge has coefficients for; with more steps, a fit within the span of a random sample.
    vowels : str, default="aeiou"
        The letters that are vowels, with any accent. Where no training word has one of them, as in other scripts, they are the
        smaller of two classes of letters that alternate.
    loss : None, Loss or callable
        The loss that `score` averages; by default 1 for a form that is not exactly right.
    seed : int, default=0
        Seed of the samples.
    n_jobs : int, optional
        Words that are searched, and networks that learn, at a time, in threads; -1 for one for each core.
    verbose : int, default=0
        1 to write a line when a part of the fit is done, with the time that is left.

    Attributes
    ----------
    particles_ : list of str
        The particles that training forms move to the end.
    models_ : FormModels
        The scripts' decisions, the transducer, the networks and whole forms.
    trust_ : array
        The trust in scripts and, if there is a transducer, in it, in the networks and in each of `FORM_SCORES`.

    Notes
    -----
    A tag never seen in training makes its combination unlike any other, and has no other effect. A letter never seen is unlike
    any other, and is kept if the script keeps it. Letters are dropped from the end of a lemma only if a training lemma lost the
    same letters, unless no script is left then. A lemma that no script fits, where there is no transducer, is its own form, with
    score −∞. An empty form is a form like any other.

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

    width: int = 8
    sample: int = 400
    rounds: int = 40
    landmarks: int = 6000
    vowels: str = "aeiou"
    loss: Any = None
    seed: int = 0
    n_jobs: int | None = None
    verbose: int = 0

    @one_blas_thread
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from lemmas, each alone or in a pair (lemma, tags), and their forms."""
        for name, least in (("width", 1), ("sample", 1), ("rounds", 0), ("landmarks", 1)):
            check_whole(getattr(self, name), name, least, expected=f"a whole number, {least} or more")
        self._check_settings()
        check_instance(self.vowels, "vowels", str, expected="a string of letters such as 'aeiou'")
        requests = as_requests(X)
        forms = as_forms(y, len(requests))
        decision = Decision(self.sample, self.rounds, self.landmarks, self.seed)
        vowels = vowels_in([*(request.lemma for request in requests), *forms], self.vowels)
        models = FormModels(decision, vowels, self.width, self.seed, self.n_jobs)
        models.fit(requests, forms, to_stderr if self.verbose else None)
        self._forget_calibration()
        self.models_, self.particles_, self.trust_ = models, models.search_.particles, models.trust_
        return self

    def rank(self, X: Any, k: int = 5, candidates: Any = None) -> list[Ranked]:
        """Return the `k` likeliest forms of each input, or as many as the beam found, best first, with their log-probabilities.

        Candidates have that of the cheapest script, and of the best alignment, that lead to them. Without a transducer, it is −∞
        for a script with a step never seen in training.
        """
        check_is_fitted(self, "models_")
        check_whole(k, "k")
        requests = as_requests(X)
        if candidates is not None:
            given = as_forms(candidates, len(as_objects(candidates, "candidates")), "candidates")
            return [_best(given, self.models_.scores(request, given), k) for request in requests]
        blocks = (requests[start : start + _TOGETHER] for start in range(0, len(requests), _TOGETHER))
        found = (forms for block in blocks for forms in self.models_.found(block))
        return [_best(list(forms), np.asarray(list(forms.values())), k) for forms in found]

    def score(self, X: Any, y: Any) -> float:
        """Return minus the mean loss of the predictions; by default, minus the share of forms that are not exactly right."""
        predicted = self.predict(X)
        return -self._mean_loss(as_objects(as_forms(y, len(predicted))), predicted)


def vowels_in(words: Sequence[str], letters: str) -> Vowels:
    """Return the vowels: those given, or, where no word has one of them, the smaller of two classes of letters that alternate."""
    given = Vowels(letters)
    if not letters or any(letter in given for word in words for letter in word):
        return given
    plain = [[unicodedata.normalize("NFD", letter.lower())[0] for letter in word if letter.isalpha()] for word in words]
    return Vowels("".join(sorted(map(str, alternating_class(plain)))))


def as_requests(X: Any) -> list[Request]:
    """Convert lemmas, or pairs (lemma, tags), to requests; tags in one string are separated by ``;``."""
    return [_request(item, f"X[{i}]") for i, item in enumerate(as_objects(X, "X"))]


def as_forms(y: Any, n: int, name: str = "y") -> list[str]:
    """Convert `y` to strings, one for each of `n` inputs."""
    forms = as_objects(y, name)
    for i, form in enumerate(forms):
        check_instance(form, f"{name}[{i}]", str, expected="a string")
    require_as_many(n, len(forms), name)
    return [str(form) for form in forms]


def _request(item: Any, name: str) -> Request:
    require_sequence(item, name, "a lemma, or a pair (lemma, tags) such as ('go', 'V;PST')")
    pair = (item, ()) if isinstance(item, str) else tuple(item)
    if len(pair) != 2:
        raise ValueError(f"{name} is {pair!r:.60}; expected a lemma, or a pair (lemma, tags)")
    lemma, tags = pair
    check_instance(lemma, f"lemma of {name}", str, expected="a string")
    if not lemma:
        raise ValueError(f"the lemma of {name} is empty; expected at least one letter. Drop such rows first")
    parts = tags.split(";") if isinstance(tags, str) else tags
    require_sequence(parts, f"tags of {name}", "a string such as 'V;PST', or a tuple of strings")
    for tag in parts:
        check_instance(tag, f"tag of {name}", str, expected="a string")
    return Request(str(lemma), tuple(str(tag).strip() for tag in parts if tag.strip()))


def _best(forms: list[str], scores: np.ndarray, k: int) -> Ranked:
    order = np.argsort(-scores, kind="stable")[:k]
    return Ranked(as_objects([forms[i] for i in order]), scores[order])
