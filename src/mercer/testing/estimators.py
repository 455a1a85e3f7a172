"""The contract of estimators on objects, which the checks of scikit-learn do not cover."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict

from mercer.core.collections import hash_key


def check_object_estimator(estimator: Any, X: Any, Y: Any, grid: dict[str, list[Any]] | None = None) -> None:
    """Check on at least six pairs of objects what scikit-learn checks on arrays; `grid` is for a search.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> from mercer.kernels import Classes, Subsequence
    >>> words = ["ab", "ba", "abb", "bba", "aab", "baa"]
    >>> check_object_estimator(DependencyEstimator(Subsequence(2), Classes(), alpha=0.1), words, words)
    """
    name = type(estimator).__name__
    before = repr(estimator)
    model = clone(estimator)
    assert model.fit(X, Y) is model, f"{name}.fit must return self"
    assert repr(estimator) == before == repr(model), f"{name}.fit changed a parameter"
    predicted = model.predict(X)
    assert len(predicted) == len(X), f"{name}.predict gave {len(predicted)} outputs for {len(X)} inputs"
    again = clone(estimator).fit(X, Y).predict(X)
    assert _keys(again) == _keys(predicted), f"{name}: two fits on the same pairs differ"
    one_by_one = [model.predict(X[i : i + 1])[0] for i in range(len(X))]
    assert _keys(one_by_one) == _keys(predicted), f"{name}.predict depends on the other inputs of the batch"
    best = [found.objects[0] for found in model.rank(X, k=1, candidates=Y)]
    chosen = model.predict(X, candidates=Y)
    assert _keys(best) == _keys(chosen), f"{name}: rank(k=1) and predict disagree on the candidates"
    assert set(_keys(chosen)) <= set(_keys(Y)), f"{name}.predict(candidates=…) gave an object that is not a candidate"
    assert np.isfinite(model.score(X, Y)), f"{name}.score is not finite"
    folds = cross_val_predict(clone(estimator), X, Y, cv=KFold(2))
    assert len(folds) == len(X), f"cross_val_predict gave {len(folds)} outputs"
    search = GridSearchCV(clone(estimator), grid or {"loss": [None, "rkhs"]}, cv=KFold(2), error_score="raise").fit(
        X, Y
    )
    assert search.best_score_ <= 0, f"{name}.score must be minus a loss"


def _keys(objects: Any) -> list[Any]:
    return [hash_key(item) for item in objects]
