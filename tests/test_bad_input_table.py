"""Bad input to every estimator, kernel, part and command: the error names the argument and the cure, and harms no fitted model.

Tables of (bad value, words of the message) are crossed with all estimators and readers; more than 800 cases.
"""

import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone

from mercer import (
    AutoEstimator,
    CurveRidge,
    DependencyEstimator,
    EntangledRidge,
    NeighborsEstimator,
    OperatorValuedRidge,
    OutputKernelLearning,
    PrincipalComponents,
)
from mercer.decoders import Candidates, ExpectedLoss, FixedPoint, Standardized
from mercer.estimators import JointKernelMap
from mercer.io.records import FORMATS, read
from mercer.kernels import (
    FromFunction,
    Gaussian,
    LabelSets,
    Laplacian,
    Linear,
    Mismatch,
    Polynomial,
    Precomputed,
    Spectrum,
    Subsequence,
    SubsetTree,
    WeightedDegree,
)
from mercer.losses import F1, CostMatrix, EditDistance, TopK
from mercer.operators import ConditionalCovariance
from mercer.selection import KFold, LeaveOneOut
from mercer.sequence_models import AlignedSequences, Inflection
from mercer.solvers import LowRank

rng = np.random.default_rng(0)
X = rng.standard_normal((12, 3))
Y = rng.standard_normal((12, 2))
NEW = rng.standard_normal((3, 3))
WORDS = ["abab", "abba", "baab", "bbaa", "aabb", "baba"]
ESTIMATORS = {
    "DependencyEstimator": DependencyEstimator(),
    "NeighborsEstimator": NeighborsEstimator(k=3),
    "OperatorValuedRidge": OperatorValuedRidge(),
    "EntangledRidge": EntangledRidge(kraus_rank=2, max_iter=2, random_state=0),
    "OutputKernelLearning": OutputKernelLearning(),
    "CurveRidge": CurveRidge(),
    "JointKernelMap": JointKernelMap(),
}
RIDGES = [name for name in ESTIMATORS if name != "NeighborsEstimator"]


@cache
def fitted(name):
    model = clone(ESTIMATORS[name]).fit(X, Y)
    return model, model.predict(NEW)


def refuses(name, call, words):
    """The call fails with these words, and the model predicts what it did before."""
    model, before = fitted(name)
    with pytest.raises((ValueError, TypeError), match=words):
        call(model)
    assert np.array_equal(model.predict(NEW), before)


def changed(array, value, place=(4, 1)):
    array = array.copy()
    array[place] = value
    return array


def masked(array):
    return np.ma.array(array, mask=array > 1)


DATES = np.arange("2000-01-01", "2000-01-13", dtype="datetime64[D]")
BOTH = {  # value of an argument by its array, and the words of the message, {} for the name of the argument
    "a text": (lambda a: "abc", "{} is a single str, 'abc'; expected a collection"),
    "bytes": (lambda a: b"abc", "{} is a single bytes"),
    "a mapping": (lambda a: {1: 2}, "{} is a dict, which has no order; expected a list or an array"),
    "a set": (lambda a: {1, 2}, "{} is a set, which has no order"),
    "a number": (lambda a: 3.0, "{} is 3.0, a float; expected a collection"),
    "no row": (lambda a: a[:0], "{} .*expected at least one object|0 sample"),
    "an empty list": (lambda a: [], "{} is empty; expected at least one|0 sample"),
    "ragged": (lambda a: [[1.0], [1.0, 2.0]] * 6, r"{} is ragged: {}\[0\] has shape \(1,\) and {}\[1\]"),
    "texts in rows": (lambda a: [["a", "b"]] * 12, "{} has dtype <U1; expected numbers"),
    "numbers as text": (lambda a: a.astype(str), "{} has dtype <U32; expected numbers"),
    "numbers as text, objects": (lambda a: a.astype(str).astype(object), "{}.*expected (a )?number"),
    "objects": (lambda a: [[object(), 1.0]] * 12, r"{}\[0\].*expected a (vector of )?number"),
    "dates": (lambda a: np.column_stack([DATES, DATES]), r"{} has dtype datetime64\[D\]; expected numbers"),
    "complex": (lambda a: a * 1j, "Complex data not supported|{} has dtype complex128; expected numbers"),
    "infinity": (lambda a: changed(a, np.inf), "{} contains (NaN or )?infinity"),
    "masked, as objects": (lambda a: masked(a).astype(object), "masked|number|NaN"),
    "too large": (lambda a: a * 1e200, "{} holds numbers of size .* overflow; scale {} first"),
    "too small": (lambda a: a * 1e-200, "{} holds numbers of size .* vanish; scale {} first"),
    "another length": (lambda a: a[:7], "X has (12|7) objects and y has (12|7); expected one output for each input"),
    "one row": (lambda a: a[:1], "X has (12|1) objects and y has (12|1)"),
    "missing": (lambda a: None, "{} (is|to be passed)"),
    "NaN": (lambda a: changed(a, np.nan), "{} contains NaN"),
    "masked": (masked, "{} is an array with masked entries.*[Ff]ill or drop them first"),
    "None in rows": (lambda a: changed(a.astype(object), None), "{}.*(NaN|None)"),
}
LEARNS_MISSING = {"NaN", "masked", "masked, as objects", "None in rows"}
EXTRA_X = {
    "one axis": (X[:, 0], "2D array"),
    "texts": (["a"] * 12, "X has dtype <U1; expected numbers.*use a kernel made for them"),
}
EXTRA_Y = {
    "texts": (["a"] * 12, "y.*expected (a )?number.*(output_kernel|output kernel)"),
    "numbers as texts": (["1.5"] * 12, "y.*expected (a )?number"),
    "label sets": ([{1, 2}] * 12, r"y\[0\] is \{1, 2\}, a set; expected a number.*LabelSets\(\)"),
    "dates": (DATES, r"y has dtype datetime64\[D\]; expected numbers"),
    "list of dates": (DATES.tolist(), "y.*expected a number"),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("argument", ["X", "y"])
def test_data_of_fit(name, kind, argument):
    make, words = BOTH[kind]
    if argument == "y" and name == "OperatorValuedRidge" and kind in LEARNS_MISSING:
        pytest.skip("missing outputs are learned from")
    data = {"X": X, "y": Y}
    data[argument] = make(data[argument])
    refuses(name, lambda model: model.fit(**data), words.replace("{}", argument))


TWELVE = WORDS * 2
BAD_WORDS = {
    "None": (None, "{} is None; expected a collection"),
    "a text": ("abc", "{} is a single str, 'abc'; expected a collection"),
    "numbers": ([1.0] * 12, r"{}\[0\](=| is )1.0.*expected a (string|lemma)"),
    "a set": ({1}, "{} is a set, which has no order"),
    "a mapping": ({1: 2}, "{} is a dict, which has no order"),
    "nothing": ([], "{} is empty; expected at least one object"),
    "a gap": (["a", None] * 6, r"{}\[1\] is None; expected an object. Drop or fill"),
    "NaN": ([float("nan")] * 12, r"{}\[0\] is nan; expected an object. Drop or fill"),
    "another length": (TWELVE[:5], "X has (12|5) objects and y has (12|5); expected as many of each"),
}


@pytest.mark.parametrize("model", [AlignedSequences(), Inflection()], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("argument", ["X", "y"])
@pytest.mark.parametrize("kind", BAD_WORDS)
def test_words(model, argument, kind):
    bad, words = BAD_WORDS[kind]
    data = {"X": TWELVE, "y": TWELVE} | {argument: bad}
    with pytest.raises((ValueError, TypeError), match=words.replace("{}", argument)):
        model.fit(**data)


@pytest.mark.parametrize("model", [AlignedSequences(), Inflection()], ids=lambda model: type(model).__name__)
def test_empty_words(model):
    with pytest.raises(ValueError, match="every input of X is empty; expected|the lemma of .* is empty; expected"):
        model.fit([""] * 12, TWELVE)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("kind", [*EXTRA_X, *(f"y: {kind}" for kind in EXTRA_Y)])
def test_more_data_of_fit(name, kind):
    if kind in EXTRA_X:
        bad, words = EXTRA_X[kind]
        refuses(name, lambda model: model.fit(bad, Y), words)
    else:
        bad, words = EXTRA_Y[kind[3:]]
        refuses(name, lambda model: model.fit(X, bad), words)


PREDICT = {
    "texts": (np.array([["a", "b", "c"]]), "X has dtype <U1; expected numbers"),
    "another width": (NEW[:, :2], "X has 2 features, but .* is expecting 3 features"),
    "NaN": (changed(NEW, np.nan, (1, 1)), "X contains NaN"),
    "nothing": ([], "X is empty; expected at least one object"),
    "None": (None, "X is None"),
    "too large": (NEW * 1e200, "X holds numbers of size .* scale X first"),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("kind", PREDICT)
def test_data_of_predict(name, kind):
    bad, words = PREDICT[kind]
    refuses(name, lambda model: model.predict(bad), words)


WEIGHTS = {
    "negative": ({"sample_weight": -np.ones(12)}, "sample_weight has negative or non-finite entries; expected"),
    "NaN": ({"sample_weight": np.full(12, np.nan)}, "sample_weight has negative or non-finite"),
    "texts": ({"sample_weight": ["a"] * 12}, "sample_weight has dtype <U1 .*expected one number for each of the 12"),
    "short": (
        {"sample_weight": np.ones(3)},
        r"sample_weight has .*shape \(3,\); expected one number for each of the 12",
    ),
    "zero": ({"sample_weight": np.zeros(12)}, "sample_weight is nearly all zero; expected at least two"),
    "groups, short": ({"groups": [1, 2]}, r"groups has shape \(2,\); expected one label for each of the 12 pairs"),
    "one group": ({"groups": ["a"] * 12}, "groups holds a single group, 'a'; expected at least two"),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_and_groups(name, kind):
    bad, words = WEIGHTS[kind]
    refuses(name, lambda model: model.fit(X, Y, **bad), words)


@pytest.mark.parametrize("name", RIDGES)
@pytest.mark.parametrize("alpha", ["0.1", "best", -1.0, 0, np.nan, np.inf, True, None, [0.1], LeaveOneOut([-1.0])])
def test_alpha(name, alpha):
    words = r"alphas?=.*; expected a? ?(positive|rule)"
    refuses(name, lambda model: clone(model).set_params(alpha=alpha).fit(X, Y), words)


METHODS = {
    "k of rank": (lambda model: model.rank(NEW, k=0), "k=0; expected a positive whole number"),
    "k of rank, text": (lambda model: model.rank(NEW, k="2"), "k='2'; expected a positive whole number"),
    "no candidates": (lambda model: model.predict(NEW, candidates=[]), "candidates is empty; expected at least one"),
    "candidates of another width": (
        lambda model: model.predict(NEW, candidates=np.ones((4, 5))),
        "candidates has 5 features; expected 2, as the outputs passed to fit have",
    ),
    "coverage": (lambda model: model.predict_set(NEW, coverage=2), "coverage=2"),
    "coverage, text": (lambda model: model.predict_set(NEW, coverage="0.9"), "coverage='0.9'"),
    "method of sets": (
        lambda model: model.predict_set(NEW, method="best"),
        "method='best'; expected 'auto' or 'jackknife",
    ),
    "labels of sets": (lambda model: model.predict_set(NEW, by=[1]), r"by=\[1\]; expected a function of one input"),
    "weights of sets": (
        lambda model: model.predict_set(NEW, weights=(-np.ones(12), np.ones(3))),
        "weights has negative or non-finite entries; expected density ratios",
    ),
    "weights, text": (
        lambda model: model.predict_interval(NEW, weights=(["a"] * 12, np.ones(3))),
        "weights holds 'a'; expected density ratios",
    ),
    "weights, short": (
        lambda model: model.predict_interval(NEW, weights=(np.ones(2), np.ones(3))),
        "weights holds 2 and 3 values; expected a function of one input, or a pair: 12 values",
    ),
    "constructed vectors": (
        lambda model: model.predict_set(NEW, candidates="constructed"),
        "the outputs are vectors; use predict_interval",
    ),
    "groups of calibrate": (
        lambda model: model.calibrate(X, Y, groups=[1]),
        "groups has 1 labels; expected one for each of the 12 pairs",
    ),
    "length of calibrate": (lambda model: model.calibrate(X, Y[:3]), "X has 12 objects and y has 3; expected as many"),
    "unknown parameter": (lambda model: clone(model).set_params(gama=1), "Invalid parameter 'gama' for estimator"),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("kind", METHODS)
def test_methods(name, kind):
    call, words = METHODS[kind]
    refuses(name, call, words)


KERNELS = [
    *(
        (Gaussian(scale), X, "scale=.* in Gaussian; expected a finite number above zero")
        for scale in ("1", 0, -1, np.nan, np.inf)
    ),
    *(
        (Laplacian(scale), X, "scale=.* in Laplacian; expected a finite number above zero")
        for scale in ("1", 0, -1, np.nan)
    ),
    *((Polynomial(degree=degree), X, "degree=.*; expected") for degree in (0, -1, 1.5, "2", None)),
    *((Subsequence(length), WORDS, "length=.*; expected") for length in (0, -1, "2", 2.5, None)),
    *((Subsequence(2, decay), WORDS, "decay=.*; expected") for decay in (0, -1, "0.5", np.nan, 2)),
    *((Spectrum(length), WORDS, "length.*expected") for length in (0, -1, "2", 2.5, (2, 1))),
    *((Mismatch(length, 1), WORDS, "length.*expected") for length in (0, "2", 2.5)),
    *((WeightedDegree(degree), WORDS, "degree.*expected") for degree in (0, "2", 2.5)),
    (Gaussian(1.0), ["a", "b"], "X has dtype <U1; expected numbers"),
    (Gaussian(1.0), None, "X is None; expected a collection"),
    (Linear(), [[1.0, np.nan]], "X contains NaN or infinity, first in row 0"),
    (Subsequence(2), ["ab", 3], r"X\[1\] is 3"),
    (Subsequence(2), "ab", r"X is a single str, 'ab'; expected a collection of objects. Write \[text\]"),
    (Subsequence(2), [], "X is empty; expected at least one object"),
    (LabelSets(), [{"a"}, None], r"X\[1\] is None; expected an object"),
    (SubsetTree(), ["(S (A a)"], "unbalanced|never closed"),
    (SubsetTree(), ["no tree"], r"X\[0\] is not a tree"),
    (FromFunction(lambda a, b: "x"), WORDS, "expected a finite real number"),
    (Precomputed(), np.ones((3, 2)), "square"),
]


@pytest.mark.parametrize(
    ("kernel", "data", "words"), KERNELS, ids=lambda part: repr(part)[:30] if part is not None else "None"
)
def test_kernels(kernel, data, words):
    with pytest.raises((ValueError, TypeError), match=words):
        kernel.resolve(data)(data)


@pytest.mark.parametrize("other", [3, "linear", None])
@pytest.mark.parametrize("name", ["input_kernel", "output_kernel"])
def test_parameters_that_are_not_kernels(name, other):
    with pytest.raises(TypeError, match=f"{name} is .*; expected a kernel such as mercer.kernels.Gaussian"):
        DependencyEstimator(**{name: other}).fit(X, Y)


PARTS = [
    (DependencyEstimator(solver="fast"), "solver='fast'; expected 'auto'"),
    (DependencyEstimator(solver=LowRank(rank="5")), "rank='5'; expected"),
    (DependencyEstimator(solver=LowRank(rank=2.5)), "rank=2.5; expected"),
    (DependencyEstimator(solver=LowRank(tol=-1.0)), "tol=-1.0; expected"),
    (DependencyEstimator(operator=ConditionalCovariance("1")), "eps='1'.*expected"),
    (DependencyEstimator(operator=ConditionalCovariance(-1.0)), "eps=-1.0.*expected"),
    (DependencyEstimator(embedding=PrincipalComponents(n_components="2")), "n_components='2'; expected"),
    (DependencyEstimator(embedding=PrincipalComponents(cutoff="0")), "cutoff='0'; expected"),
    (DependencyEstimator(decoder="best"), "decoder='best'; expected 'auto'"),
    (DependencyEstimator(decoder=Candidates), "decoder=.*; expected 'auto' or a decoder"),
    (DependencyEstimator(decoder=Candidates(batch_size=0)), "batch_size=0; expected"),
    (DependencyEstimator(decoder=Standardized(strength=2)), "strength=2; expected a number from 0 to 1"),
    (DependencyEstimator(decoder=ExpectedLoss()), "ExpectedLoss needs a loss and got None; pass loss="),
    (DependencyEstimator(decoder=FixedPoint()), "FixedPoint"),
    (DependencyEstimator(loss="f1"), "loss='f1'"),
    (DependencyEstimator(loss=3), "loss=3"),
    (DependencyEstimator(alpha=KFold(n_splits=1)), r"KFold\(n_splits=1\) cannot split 12 pairs; expected"),
    (DependencyEstimator(alpha=KFold(n_splits="5")), r"KFold\(n_splits='5'\) cannot split"),
    (DependencyEstimator(alpha=LeaveOneOut("a")), "alphas='a'; expected positive finite numbers"),
    (DependencyEstimator(regressor="svr"), "regressor='svr'; expected a learner"),
    (NeighborsEstimator(k="3"), "k='3'; expected"),
    (NeighborsEstimator(k=13), "k=13; expected a whole number between 1 and the number of pairs, 12"),
    (NeighborsEstimator(k=2.5), "k=2.5; expected"),
    (EntangledRidge(gamma="0.5"), "gamma='0.5'; expected a number between 0 and 1"),
    (EntangledRidge(kraus_rank="3"), "kraus_rank='3'; expected a whole number"),
    (EntangledRidge(max_iter=-1), "max_iter=-1; expected"),
    (EntangledRidge(mode="both"), "mode='both'; expected 'entangled' or 'partial-trace'"),
    (OutputKernelLearning(tol="0"), "tol='0'; expected"),
    (OutputKernelLearning(max_iter=1.5), "max_iter=1.5; expected"),
    (CurveRidge(lengths=[-1.0]), "lengths=.*; expected a list of finite numbers, zero or more"),
    (CurveRidge(lengths=["a"]), "lengths=.*; expected a list of finite numbers, zero or more"),
    (CurveRidge(grid=[0.0]), "y has 2 columns and grid has 1 points|grid"),
    (CurveRidge(grid=["a", "b"]), "grid"),
    (CurveRidge(period="5"), "period='5'; expected"),
    (JointKernelMap(joint_kernel=3), "joint_kernel=3; expected"),
    (OperatorValuedRidge(kernel=Linear), "kernel"),
    (OperatorValuedRidge(solver="fast"), "solver='fast'; expected"),
]


@pytest.mark.parametrize(("model", "words"), PARTS, ids=lambda part: repr(part)[:50])
def test_parameters_of_estimators_and_their_parts(model, words):
    with pytest.raises((ValueError, TypeError), match=words):
        model.fit(X, Y)


LOSSES = [
    (lambda: F1("1")(set(), set()), "empty='1'.*expected"),
    (lambda: F1()(3, {1}), "3.*expected"),
    (lambda: TopK(0)([0, 1], [0.2, 0.3]), "k=0.*expected"),
    (lambda: TopK("2")([0, 1], [0.2, 0.3]), "k='2'.*expected"),
    (lambda: CostMatrix(["a"], [[1.0, 2.0]])("a", "a"), "costs.*expected"),
    (lambda: CostMatrix(["a"], [[0.0]])("a", "b"), r"y_pred\[0\] is 'b'; expected one of the classes"),
    (lambda: CostMatrix("ab", np.eye(3))("a", "b"), "classes|costs"),
    (lambda: EditDistance()(3, "ab"), "3.*expected"),
]


@pytest.mark.parametrize("number", range(len(LOSSES)))
def test_losses(number):
    call, words = LOSSES[number]
    with pytest.raises((ValueError, TypeError), match=words):
        call()


FILES = {
    "missing": "missing: (no such file|not a folder); expected",
    "folder": "folder: a folder; expected|folder holds no images",
    "empty": "empty: (the file is empty|not a folder); expected",
    "zeros": "zeros.*(zero byte|not a|no molecules|no spectra)",
    "cr": "cr.*(CR alone|not a|no molecules|no spectra)",
    "latin": "latin.*(not UTF-8|not a|cannot read)",
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", FILES)
def test_readers(form, kind, tmp_path):
    (tmp_path / "folder").mkdir()
    for name, data in (
        ("empty", b""),
        ("zeros", b"\0\1" * 50),
        ("cr", b"a\tb\rc\td\r"),
        ("latin", b"\xe9\t\xfc\n" * 3),
    ):
        (tmp_path / name).write_bytes(data)
    try:
        with pytest.raises(ValueError, match=FILES[kind]):
            read(tmp_path / kind, form=form)
    except ImportError:
        pytest.skip("an optional package is not there")


COMMANDS = [
    (["fit", "nothing.tsv", "-o", "m"], "nothing.tsv: no such file; expected a text file"),
    (["fit", ".", "-o", "m"], "holds no images"),
    (["fit", "pairs.tsv", "-o", "."], "is a folder; expected a file for the model"),
    (["fit", "empty.tsv", "-o", "m"], "empty.tsv: the file is empty; expected a row of names"),
    (["fit", "one.tsv", "-o", "m"], "one.tsv has the columns input; name those to learn from"),
    (["fit", "cr.tsv", "-o", "m"], "lines end with CR alone; expected LF or CRLF"),
    (["fit", "escape.tsv", "-o", "m"], "escape.tsv has the columns input"),
    (["fit", "pairs.tsv", "-o", "m", "--alpha", "big"], "alpha"),
    (["fit", "pairs.tsv", "-o", "m", "--preset", "none"], "preset"),
    (["fit", "pairs.tsv", "-o", "m", "--input-kernel", "spectrum:x"], "spectrum"),
    (["fit", "pairs.tsv", "-o", "m", "--loss", "none"], "loss"),
    (["predict", "nothing", "pairs.tsv"], "there is no such file"),
    (["predict", "pairs.tsv", "pairs.tsv"], "is not a saved model"),
    (["predict", "/dev/zero", "pairs.tsv"], "is a device or a pipe; expected a file written by mercer.save"),
    (["demo", "--folds", "1"], "folds is 1; expected 2 to"),
]


@pytest.mark.skipif(os.name != "posix", reason="has a device among its files")
def test_commands(tmp_path):
    (tmp_path / "pairs.tsv").write_text("ab\tba\nabc\tcba\nb\tb\n")
    (tmp_path / "empty.tsv").write_text("")
    (tmp_path / "one.tsv").write_text("a\nb\n")
    (tmp_path / "cr.tsv").write_bytes(b"a\tb\rc\td\r")
    (tmp_path / "escape.tsv").write_bytes(b"a\x1b[2Jb\n")
    run = (
        "import sys\nfrom mercer.cli.main import main\n"
        "for words in eval(sys.stdin.read()):\n"
        "    sys.argv = ['mercer', *words]\n"
        "    try:\n        main()\n    except SystemExit as end:\n        print('status', end.code, file=sys.stderr)\n"
    )
    words = repr([command for command, _ in COMMANDS])
    found = subprocess.run(
        [sys.executable, "-c", run], input=words, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    said = found.stderr.split("status 2\n")
    assert len(said) == len(COMMANDS) + 1, found.stderr
    for (command, expected), sentence in zip(COMMANDS, said[:-1], strict=True):
        assert expected in sentence, (command, sentence)
        assert sentence.startswith("mercer: "), sentence
        assert "\x1b" not in sentence
    assert not (tmp_path / "m").exists()


# -- AutoEstimator, which takes more kinds of objects for inputs and outputs -----------------------------------------

TAKEN = {
    "X": {"ragged", "texts in rows", "numbers as text", "objects", "dates", "NaN", "None in rows"},
    "y": {"ragged", "texts in rows", "objects"},
}
NOT_ROWS = {"numbers as text": "y.*expected objects of one kind", "dates": "y.*expected objects of one kind"}
AUTOMATIC = {
    "inputs": ("words", "inputs='words'; expected 'auto' or one of 'vectors'"),
    "outputs": (3, "outputs=3; expected 'auto' or one of 'numbers'"),
    "effort": ("most", "effort='most'; expected 'fast', 'balanced' or 'best'"),
    "time_limit": (-1.0, "time_limit=-1.0; expected a number of seconds above zero, or None"),
    "n_jobs": (0, "n_jobs=0; expected a number of jobs"),
    "random_state": (-3, "random_state=-3; expected a whole number"),
    "verbose": ("yes", "verbose='yes'; expected 0, or 1"),
    "loss": (F1, "loss=.*expected a loss such as"),
}


@cache
def automatic():
    model = AutoEstimator(effort="fast", time_limit=1e-9).fit(X, Y)
    return model, model.predict(NEW)


def unharmed(call, words):
    model, before = automatic()
    with pytest.raises((ValueError, TypeError), match=words):
        call(model)
    assert np.array_equal(model.predict(NEW), before)


@pytest.mark.parametrize(
    ("argument", "kind"), [(each, kind) for each in TAKEN for kind in BOTH if kind not in TAKEN[each]]
)
def test_data_of_an_automatic_fit(argument, kind):
    make, words = BOTH[kind]
    words = NOT_ROWS.get(kind, words) if argument == "y" else words
    data = {"X": X, "y": Y}
    data[argument] = make(data[argument])
    unharmed(lambda model: model.fit(**data), words.replace("{}", argument))


@pytest.mark.parametrize(("argument", "kind"), [(each, kind) for each in TAKEN for kind in sorted(TAKEN[each])])
def test_objects_that_are_something_else_are_said_to_be(argument, kind):
    data = {"X": X, "y": Y}
    data[argument] = BOTH[kind][0](data[argument])
    model = AutoEstimator(effort="fast", time_limit=1e-9).fit(**data)
    name = {"X": "inputs", "y": "outputs"}[argument]
    assert model.kinds_[name] in ("table", "sets", "label sets")
    assert model.reasons_[name]


@pytest.mark.parametrize("name", AUTOMATIC)
def test_parameters_of_an_automatic_fit(name):
    value, words = AUTOMATIC[name]

    def refit(model):
        clone(model).set_params(**{name: value}).fit(X, Y)

    unharmed(refit, words)


@pytest.mark.parametrize("kind", PREDICT)
def test_inputs_of_an_automatic_prediction(kind):
    bad, words = PREDICT[kind]
    unharmed(lambda model: model.predict(bad), words)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_and_groups_of_an_automatic_fit(kind):
    bad, words = WEIGHTS[kind]
    unharmed(lambda model: model.fit(X, Y, **bad), words)
