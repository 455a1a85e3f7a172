"""The life of an estimator, in any order: fits, fits that fail, answers, copies, files, parameters, threads."""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sklearn.base import clone

import mercer
from mercer import CurveRidge, DependencyEstimator, NeighborsEstimator, OperatorValuedRidge
from mercer.core.collections import hash_key
from mercer.kernels import Classes, Gaussian, LabelSets, Subsequence

pytestmark = pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")

rng = np.random.default_rng(0)
X = rng.standard_normal((10, 2))
WORDS = ["abab", "abba", "baab", "bbaa", "aabb", "baba", "abaa", "bbab", "aaab", "babb"]
STRINGS = Subsequence(2).normalized()
KINDS = {
    "vectors": (DependencyEstimator(Gaussian(1.0), alpha=0.1), X, np.sin(X), X[:3] + 0.1),
    "classes": (DependencyEstimator(Gaussian(1.0), Classes(), alpha=0.1), X, [word[0] for word in WORDS], X[:3] + 0.1),
    "strings": (DependencyEstimator(STRINGS, STRINGS, alpha=0.1), WORDS, WORDS[::-1], ["abb", "baa", "bb"]),
    "label sets": (DependencyEstimator(STRINGS, LabelSets(), alpha=0.1), WORDS, list(map(set, WORDS)), ["abb", "ba"]),
    "ridge": (OperatorValuedRidge(alpha=0.1), X, X[:, 0], X[:3] + 0.1),
    "curves": (CurveRidge(alpha=0.1), X, np.cumsum(np.repeat(X, 2, axis=1), axis=1), X[:3] + 0.1),
    "neighbours": (NeighborsEstimator(Gaussian(1.0), k=3), X, np.sin(X), X[:3] + 0.1),
}


def said(model, new):
    """Predictions, rankings, sets and doubts of a model, in a form that can be compared."""
    ranked, sets = model.rank(new, 2), model.predict_set(new, 0.6)
    rows = [(list(map(hash_key, found.objects)), found.scores.round(9).tolist()) for found in (*ranked, *sets)]
    return [*map(hash_key, model.predict(new)), rows, model.abstention_score(new).round(9).tolist()]


class Life(RuleBasedStateMachine):
    """A model beside the data and parameters of its last fit that succeeded."""

    @initialize(kind=st.sampled_from(sorted(KINDS)))
    def begin(self, kind):
        self.given, self.X, self.y, self.new = KINDS[kind]
        self.model = clone(self.given)
        self.fits(9, 2)

    @property
    def parameter(self):
        return "k" if isinstance(self.given, NeighborsEstimator) else "alpha"

    @rule(rows=st.integers(6, 10), value=st.sampled_from([1, 2, 3]))
    def fits(self, rows, value):
        self.model.set_params(**{self.parameter: value}).fit(self.X[:rows], self.y[:rows])
        self.expected = said(clone(self.model).fit(self.X[:rows], self.y[:rows]), self.new)

    @rule(bad=st.sampled_from(["lengths", "nothing", "parameter", "weights"]))
    def fails_to_fit(self, bad):
        known, more, data = getattr(self.model, self.parameter), {}, [self.X[1:], self.y[1:]]
        if bad == "parameter":
            self.model.set_params(**{self.parameter: -1})
        elif bad == "weights":
            more = {"sample_weight": [-1.0] * 9}
        else:
            data = [self.X[1:], self.y] if bad == "lengths" else [self.X, None]
        with pytest.raises((ValueError, TypeError)):
            self.model.fit(*data, **more)
        self.model.set_params(**{self.parameter: known})

    @rule()
    def is_asked_for_the_impossible(self):
        with pytest.raises((ValueError, TypeError)):
            self.model.predict(None)
        with pytest.raises(ValueError, match="coverage"):
            self.model.predict_set(self.new, 2.0)

    @rule()
    def is_saved_and_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            self.model = mercer.load(mercer.save(self.model, Path(folder) / "model"))

    @rule()
    def is_cloned(self):
        copied = clone(self.model)
        assert repr(copied) == repr(self.model)
        assert not hasattr(copied, "map_")

    @rule()
    def is_compared_with_another_value(self):
        """A parameter that is set does not change what was learned."""
        known = getattr(self.model, self.parameter)
        self.model.set_params(**{self.parameter: known + 1})
        self.answers_as_before()
        self.model.set_params(**{self.parameter: known})

    @rule()
    def is_shared_by_threads(self):
        with ThreadPoolExecutor(3) as threads:
            assert list(threads.map(lambda _: said(self.model, self.new), range(3))) == [self.expected] * 3

    @rule()
    def is_calibrated_and_fitted_again(self):
        self.model.calibrate(self.X, self.y)
        assert len(self.model.predict_set(self.new, 0.5)) == len(self.new)
        self.fits(8, 2)

    @invariant()
    def answers_as_before(self):
        if hasattr(self, "model"):
            assert said(self.model, self.new) == self.expected


TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=14,
    stateful_step_count=10,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
