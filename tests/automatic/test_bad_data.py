"""Bad data for AutoEstimator: an error that names the cure or a stated rule, and never a half-fitted model."""

import numpy as np
import pandas as pd
import pytest

from mercer import AutoEstimator
from mercer.core import memory
from mercer.losses import F1, EditDistance, Kendall

rng = np.random.default_rng(0)
X = rng.standard_normal((20, 3))
y = X[:, 0]
GAPS = np.full((20, 3), np.nan)


def refused(error, match, X=X, y=y, fitting=None, **parameters):
    model = AutoEstimator(**{"effort": "fast"} | parameters)
    before = dict(vars(model))
    with pytest.raises(error, match=match):
        model.fit(X, y, **fitting or {})
    assert vars(model) == before
    fitted = AutoEstimator(effort="fast", time_limit=1e-9).fit(X_GOOD, Y_GOOD)
    fitted.set_params(**{"time_limit": None} | parameters)
    before = dict(vars(fitted))
    with pytest.raises(error, match=match):
        fitted.fit(X, y, **fitting or {})
    assert vars(fitted) == before


X_GOOD, Y_GOOD = X.copy(), y.copy()


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"inputs": None}, r"inputs=None; expected 'auto'"),
        ({"inputs": "vector"}, r"inputs='vector'; expected 'auto'"),
        ({"outputs": "number"}, r"outputs='number'; expected 'auto'"),
        ({"effort": "quick"}, r"effort='quick'; expected 'fast', 'balanced' or 'best'"),
        ({"effort": None}, r"effort=None"),
        ({"loss": "f1"}, r"loss='f1'; expected a loss such as"),
        ({"loss": F1}, r"loss=<class .*; expected a loss such as"),
        ({"time_limit": 0}, r"time_limit=0; expected a number of seconds"),
        ({"time_limit": "5"}, r"time_limit='5'"),
        ({"time_limit": np.nan}, r"time_limit=nan"),
        ({"n_jobs": "two"}, r"n_jobs='two'; expected"),
        ({"n_jobs": 0}, r"n_jobs=0; expected"),
        ({"random_state": "x"}, r"random_state='x'; expected a whole number from 0"),
        ({"random_state": -1}, r"random_state=-1"),
        ({"verbose": "much"}, r"verbose='much'"),
    ],
)
def test_parameters(parameters, match):
    refused(ValueError, match, **parameters)


@pytest.mark.parametrize(
    ("error", "match", "data"),
    [
        (ValueError, "X is None", {"X": None}),
        (ValueError, "y to be passed", {"y": None}),
        (TypeError, "X is a single str", {"X": "text"}),
        (TypeError, "y is a single str", {"y": "text"}),
        (TypeError, "X is a dict", {"X": {"a": [1.0]}}),
        (ValueError, r"0 sample\(s\)", {"X": X[:0], "y": y[:0]}),
        (ValueError, "empty", {"X": [], "y": []}),
        (ValueError, "a single pair", {"X": X[:1], "y": y[:1]}),
        (ValueError, "X has 20 objects and y has 19", {"y": y[:-1]}),
        (ValueError, "2D array", {"X": X[:, 0]}),
        (ValueError, "NaN or infinity, first in row 3", {"y": np.where(np.arange(20) == 3, np.nan, y)}),
        (ValueError, "infinity", {"X": np.where(np.eye(20, 3), np.inf, X)}),
        (ValueError, "no value in any of its columns", {"X": GAPS}),
        (ValueError, "Complex data not supported", {"X": X * 1j}),
        (TypeError, r"y\[1\] is 1\.5.*objects of one kind", {"y": ["a", 1.5] * 10}),
        (TypeError, r"y\[1\] is \('b',\).*objects of one kind", {"y": [{"a"}, ("b",)] * 10}),
        (ValueError, r"y\[1\] is None.*Drop or fill", {"y": ["a", None] * 10}),
        (ValueError, "groups holds a single group", {"fitting": {"groups": [0] * 20}}),
        (ValueError, "groups has shape", {"fitting": {"groups": [0, 1]}}),
        (ValueError, "sample_weight", {"fitting": {"sample_weight": np.zeros(20)}}),
        (ValueError, "sample_weight", {"fitting": {"sample_weight": -np.ones(20)}}),
        (ValueError, "extra_outputs is empty", {"fitting": {"extra_outputs": []}}),
        (TypeError, r"y for label sets \(the loss is F1.*outputs=", {"loss": F1()}),
        (ValueError, r"y for rankings \(the loss is Kendall", {"loss": Kendall()}),
        (TypeError, r"y for strings \(the loss is Edit", {"loss": EditDistance()}),
        (TypeError, r"taken for vectors \(inputs='vectors' was given", {"X": ["ab"] * 20, "inputs": "vectors"}),
        (ValueError, r"y for rankings \(outputs='rankings' was given", {"outputs": "rankings"}),
        (ValueError, "cannot tell any of them apart", {"X": [""] * 20}),
    ],
)
def test_data(error, match, data):
    refused(error, match, **data)


def test_as_many_labels_as_pairs_are_refused_before_memory_runs_out(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda *device: 2**30)
    labels = [f"label {i}" for i in range(100_000)]
    with pytest.raises(MemoryError, match="weights on 100000 distinct outputs.*fewer pairs"):
        AutoEstimator(effort="fast", outputs="classes").fit(np.arange(1e5)[:, None], labels)


# -- rules --------------------------------------------------------------------------------------------------------

NAMES = np.array(list("ab") * 10)


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        (np.ones(20), 1.0),
        (["a"] * 20, "a"),
        ([{"a", "b"}] * 20, {"a", "b"}),
        (np.tile([2, 0, 1], (20, 1)), np.array([2, 0, 1])),
        (np.full((20, 2), 3.0), np.array([3.0, 3.0])),
        ([frozenset()] * 20, set()),
    ],
)
def test_constant_outputs_are_predicted(outputs, expected):
    model = AutoEstimator(effort="fast").fit(X, outputs)
    assert all(np.all(each == expected) for each in model.predict(X))
    assert model.left_out_loss_ == 0


@pytest.mark.parametrize(
    "inputs", [np.ones((20, 3)), np.zeros((20, 1)), ["abc"] * 20], ids=["ones", "zeros", "strings"]
)
def test_constant_inputs_give_the_mean(inputs):
    found = AutoEstimator(effort="fast").fit(inputs, y).predict(inputs[:3])
    assert np.allclose(found, y.mean())


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize(
    "outputs",
    [y, X, NAMES, [{"a"}, {"b"}, {"a", "b"}] * 7, np.argsort(X, axis=1), [f"w{i}" for i in range(20)]],
    ids=["numbers", "vectors", "classes", "label sets", "rankings", "strings"],
)
def test_two_and_three_pairs(n, outputs):
    for inputs in (X, [f"text {i}" for i in range(20)]):
        model = AutoEstimator(effort="fast").fit(inputs[:n], outputs[:n])
        assert len(model.predict(inputs[:5])) == 5
        assert np.isfinite(model.left_out_loss_)


def test_one_column():
    model = AutoEstimator(effort="fast").fit(X[:, :1], np.sin(y))
    assert np.abs(model.predict(X[:, :1]) - np.sin(y)).max() < 0.2


def test_a_column_without_values_is_ignored():
    more = np.column_stack([X, GAPS[:, 0]])
    with pytest.warns(UserWarning, match=r"no value in the columns \['x3'\], which are ignored"):
        model = AutoEstimator(effort="fast").fit(more, y)
    assert np.corrcoef(model.predict(more), y)[0, 1] > 0.9
    frame = pd.DataFrame({"a": y, "b": [None] * 20})
    with pytest.warns(UserWarning, match="which are ignored"):
        AutoEstimator(effort="fast").fit(frame, y)


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_numbers_in_any_unit(size):
    usual = AutoEstimator(effort="fast").fit(X, y).predict(X)
    assert np.allclose(AutoEstimator(effort="fast").fit(X * size, y).predict(X * size), usual, atol=0.1)


def test_a_row_far_out_spoils_nothing():
    far = np.vstack([X, [[1e9] * 3]])
    model = AutoEstimator(effort="fast").fit(far, np.append(y, 0.0))
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.9


@pytest.mark.parametrize(
    "data",
    [{"y": y[:-1]}, {"y": np.where(y == y[3], np.nan, y)}, {"X": X * 1e120}, {"fitting": {"groups": [0] * 20}}],
)
def test_kinds_are_named_in_errors_about_kinds_alone(data):
    with pytest.raises(ValueError, match=".") as caught:
        AutoEstimator().fit(data.get("X", X), data.get("y", y), **data.get("fitting", {}))
    assert "was taken for" not in str(caught.value)
