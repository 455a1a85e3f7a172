"""``bench strings``: string kernels against other packages, and strings constructed from points."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from experiments.bench import problems
from experiments.bench.reporting import finish
from experiments.bench.timing import Bar, PeerComparison, Rows, interleaved, row
from experiments.protocol import paper_estimator
from mercer.decoders import BeamSearch, EulerianWalk
from mercer.estimators import DependencyEstimator
from mercer.kernels import Mismatch, Spectrum, Subsequence, WeightedDegree
from mercer.report import Result, tracked

FASTER = 2.0
"""Factor by which ours must be faster than the peer."""

SECONDS, LINEAR = 10.0, 1.3
"""Seconds for all constructed strings, and the bar on their time relative to four times that of a quarter of them."""

LENGTH, DEGREE, DECAY = 3, 5, 0.5


@dataclass(frozen=True)
class StringSizes:
    """Sizes of one run."""

    strings: int = 400
    few: int = 60
    """Strings for a peer that takes milliseconds for each pair."""
    many: int = 2000
    shortest: int = 10
    longest: int = 60
    trained: int = 500
    decoded: int = 1000
    repeats: int = 5


QUICK = StringSizes(strings=20, few=6, many=30, trained=20, decoded=12, repeats=2)
"""Seconds in all: every row is there, but its value means nothing."""


def main(output: Path | None = None, quick: bool = False) -> None:
    """Measure all parts, print the table, and write the result as JSON to `output` if it is given."""
    finish(measure(QUICK if quick else StringSizes()), output)


def measure(sizes: StringSizes) -> Result:
    """Make the rows of all parts; a peer that is not installed has no rows."""
    begin, rows = time.perf_counter(), []
    with tracked("bench strings", len(PARTS)) as step:
        for name, part in PARTS.items():
            step(name)
            rows += part(sizes)
    parameters = {**asdict(sizes), "threads": numba.get_num_threads()}
    return Result("bench-strings", rows, parameters, [problems.SEED], seconds=time.perf_counter() - begin)


def against_strkernels(sizes: StringSizes) -> Rows:
    """Compare the kernels both have: subsequences and n-grams up to a length, and weighted degrees."""
    if find_spec("strkernels") is None:
        return []
    import strkernels as peer

    rows: Rows = []
    for letters in (4, 26):
        words = problems.strings(sizes.strings, letters, sizes.shortest, sizes.longest)
        subsequence = peer.SubsequenceStringKernel(normalizer=None, maxlen=LENGTH, ssk_lambda=DECAY)
        degrees = peer.WeightedDegreeStringKernel(normalizer=None, degree=DEGREE)
        pairs: dict[str, tuple[Any, Any, float]] = {
            f"Subsequence((1, {LENGTH}))": (Subsequence((1, LENGTH), DECAY), subsequence, 1.0),
            # their weights are whole numbers
            f"WeightedDegree({DEGREE})": (WeightedDegree(DEGREE), degrees, DEGREE * (DEGREE + 1) / 2),
        }
        for name, (ours, theirs, factor) in pairs.items():
            comparison = PeerComparison(name, "strkernels", _gram(ours, words), _gram(theirs, words, True), factor)
            rows += _compared(comparison, sizes, letters=letters, n=len(words))
    dna = [
        text.translate(str.maketrans("abcd", "ACGT"))
        for text in problems.strings(sizes.few, 4, sizes.shortest, sizes.longest)
    ]
    theirs = peer.SpectrumStringKernel(normalizer=None, order=LENGTH, alphabet=0)
    name = f"Spectrum((1, {LENGTH}))"
    comparison = PeerComparison(name, "strkernels", _gram(Spectrum((1, LENGTH)), dna), _gram(theirs, dna, True))
    return rows + _compared(comparison, sizes, letters=4, n=len(dna))


def against_scikit_learn(sizes: StringSizes) -> Rows:
    """Compare Spectrum and Mismatch with counts of n-grams by CountVectorizer and their sparse product."""
    rows: Rows = []
    for letters in (4, 26):
        words = problems.strings(sizes.many, letters, sizes.shortest, sizes.longest)
        counted = _vectorized(words, analyzer="char", ngram_range=(LENGTH, LENGTH), lowercase=False)
        comparison = PeerComparison(f"Spectrum({LENGTH})", "CountVectorizer", _gram(Spectrum(LENGTH), words), counted)
        rows += _compared(comparison, sizes, letters=letters, n=len(words))
        words = words[: sizes.strings]
        kernel = Mismatch(LENGTH, 1).resolve(words)
        near = _vectorized(words, analyzer=lambda text, symbols=kernel.alphabet: list(_near(text, symbols)))
        comparison = PeerComparison(f"Mismatch({LENGTH}, 1)", "CountVectorizer", _gram(kernel, words), near)
        rows += _compared(comparison, sizes, letters=letters, n=len(words))
    return rows


def constructed(sizes: StringSizes) -> Rows:
    """Measure the prediction of new strings of up to 20 letters under Spectrum(3)."""
    words = problems.strings(sizes.trained + sizes.decoded, 26, 5, 20)
    inputs = [text[::-1] for text in words]
    new, quarter = inputs[sizes.trained :], inputs[sizes.trained : sizes.trained + sizes.decoded // 4]
    rows: Rows = []
    for decoder in (BeamSearch(length=(LENGTH, 20)), EulerianWalk(length=(LENGTH, 20))):
        model = paper_estimator(
            Subsequence((1, LENGTH), 0.8).normalized(), Spectrum(LENGTH), alpha=0.01, decoder=decoder
        )
        model.fit(inputs[: sizes.trained], words[: sizes.trained])
        tasks: dict[str, Callable[[], Any]] = {"all": _predicting(model, new), "quarter": _predicting(model, quarter)}
        seconds = interleaved(tasks, sizes.repeats)
        name = f"predict under Spectrum({LENGTH}), {type(decoder).__name__}"
        details: dict[str, Any] = {"n": sizes.decoded, "letters": 26}
        ratios = seconds["all"] / seconds["quarter"] / 4.0
        rows.append(row(name, "seconds", seconds["all"], Bar(SECONDS), **details))
        rows.append(row(name, "× four times a quarter of the strings", ratios, Bar(LINEAR), **details))
    return rows


PARTS: dict[str, Callable[[StringSizes], Rows]] = {
    "strkernels": against_strkernels,
    "scikit-learn": against_scikit_learn,
    "strings from points": constructed,
}


def _compared(comparison: PeerComparison, sizes: StringSizes, **details: Any) -> Rows:
    return comparison.rows(sizes.repeats, faster=FASTER, tol=1e-10, **details)


def _gram(kernel: Any, words: list[str], both: bool = False) -> Callable[[], np.ndarray]:
    return (lambda: kernel(words, words)) if both else (lambda: kernel(words))


def _vectorized(words: list[str], **how: Any) -> Callable[[], np.ndarray]:
    def gram() -> np.ndarray:
        counts = CountVectorizer(**how).fit_transform(words)
        return (counts @ counts.T).toarray()

    return gram


def _near(text: str, symbols: Any) -> Iterator[str]:
    """Yield the words that differ from an n-gram of the text in at most one place."""
    for start in range(len(text) - LENGTH + 1):
        gram = text[start : start + LENGTH]
        yield gram
        for place in range(LENGTH):
            yield from (gram[:place] + other + gram[place + 1 :] for other in symbols if other != gram[place])


def _predicting(model: DependencyEstimator, inputs: list[str]) -> Callable[[], Any]:
    return lambda: model.predict(inputs)
