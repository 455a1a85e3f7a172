"""Weston's toy strings: constructed pre-images compared with training outputs and with all strings."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.beyond.toy_strings_page import (
    ANY_LENGTH,
    CANDIDATES,
    CLEAN_STRING,
    CONSTRUCTED,
    ENUMERATED,
    METHODS,
    METRICS,
    PAPER,
    PREDICTED,
    SHORTER,
    TRUE,
    blocks,
    notes,
    shown_in_summary,
)
from experiments.beyond.toy_strings_truth import KERNEL, LONGEST, all_strings, features, posterior
from experiments.experiment import Experiment, Outcome, Piece, mean_row
from experiments.papers.toy_strings import CLEAN, StringPairs, make_string_pairs
from experiments.papers.weston_strings_methods import parts
from experiments.protocol import Split, paper_estimator
from mercer.core.arrays import NumericalWarning
from mercer.decoders import BeamSearch, BranchAndBound, Candidates
from mercer.embeddings import Embedding, Implicit
from mercer.kernels import GaussianOf, Kernel, Spectrum, Subsequence
from mercer.selection import LeaveOneOut

FIRST_SEED, SEEDS = 200, 16
SCALES = tuple(float(scale) for scale in 1.0 / np.sqrt(2.0 * 10.0 ** np.arange(-2, 3)))
ALPHAS = tuple(float(alpha) for alpha in 10.0 ** np.arange(-2, 4))

OUTPUT_KERNELS: dict[str, Kernel] = {
    PAPER: KERNEL,
    "decay 0.5": Subsequence(3, 0.5).normalized(),
    "n-grams, 1 to 3": Spectrum((1, 3)).normalized(),
}

Found = dict[str, dict[str, list[list[float]]]]
"""Scores by kernel and method, one list for each fold."""

PROVEN = 5
"""Number of points of the first piece for which the optimum is proven."""


class ConstructedStrings(Experiment):
    """Pre-images found in three ways from the same h(x): both losses, and why the nearest string is not the best answer."""

    name = "toy-strings-construction"
    title = "Toy strings: the pre-image constructed"
    source = (
        "The task of Weston et al. 2002, Table 1, and its open question: 'efficiently finding pre-images for structured objects "
        "such as strings is an open problem'."
    )
    protocol = (
        "200 new pairs for each seed, 4 folds. Inputs: the paper's kernel with a Gaussian on top; its width and alpha "
        "by exact leave-one-out distance before the pre-image inside the training part, so that every way to decode starts from "
        "the same h(x). The string loss is the squared distance under the paper's output kernel, whichever kernel was learned "
        "with. The class of an answer is the class that writes it most often, which is known exactly; for a string no class "
        "writes, that of the nearest clean string. Strings of zero norm are not allowed as answers. 'h known' replaces h(x) "
        "by the true mean of ψ(y) given x. 'No class writes it', 'hybrid' (cosine of 0.4 or more with the clean strings of two "
        "classes) and 'new' (in no training pair) are shares of the answers; 'distance to h' is the objective of decoding."
    )
    digits = 3

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each seed."""
        settings = {"n": 80, "kernels": [PAPER]} if small else {"n": 200, "kernels": list(OUTPUT_KERNELS)}
        return [
            Piece(f"seed-{seed}", {"seed": seed, "examples": seed == FIRST_SEED} | settings)
            for seed in self.seeds(small)
        ]

    def seeds(self, small: bool) -> list[int]:
        """Return the seeds; each draws pairs and folds."""
        return list(range(FIRST_SEED, FIRST_SEED + (2 if small else SEEDS)))

    def parameters(self, small: bool) -> dict[str, Any]:
        """Return the grids."""
        kernels = {name: repr(kernel) for name, kernel in OUTPUT_KERNELS.items()}
        return {"scales": SCALES, "alphas": ALPHAS, "folds": 4, "output_kernels": kernels, "longest": LONGEST}

    def run(self, piece: Piece) -> Outcome:
        """Decode in every way, on the folds of one draw."""
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericalWarning)  # outputs of zero norm, see the protocol
            return _run(**piece.settings)

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return the losses of every kernel, and further scores of the paper's kernel."""
        return [row for row in all_rows(outcomes) if shown_in_summary(row)]

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Compare the three ways."""
        return notes(rows)

    def blocks(self, rows: list[dict[str, Any]], outcomes: Sequence[Outcome]) -> Iterable[str]:
        """Show tables and examples."""
        return blocks(all_rows(outcomes), outcomes)


def all_rows(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return every score of every method, means over the seeds."""
    rows = []
    for setting, method in product((*OUTPUT_KERNELS, TRUE), METHODS):
        if method in outcomes[0]["scores"].get(setting, {}):
            values = np.asarray([outcome["scores"][setting][method] for outcome in outcomes])
            rows += [
                mean_row(own, method, metric, kernel=setting) for metric, own in zip(METRICS, values.T, strict=True)
            ]
    return rows


def _run(seed: int, n: int, examples: bool, kernels: list[str]) -> Outcome:
    pairs = make_string_pairs(n, seed)
    found: Found = {}
    certain: list[list[float]] = []
    shown: dict[str, Any] = {}
    for fold, test in enumerate(parts(n, 4, [seed])):
        train = np.setdiff1d(np.arange(n), test)
        for setting in kernels:
            kernel = OUTPUT_KERNELS[setting]
            embedding, points = _learned(pairs, train, test, kernel)
            answers = _answers(embedding, points)
            _add(found, setting, _scores(answers, pairs, Split(train, test), embedding, points))
            if kernel is KERNEL:
                certain += _certainty(points, pairs.classes[train], answers[ENUMERATED])
                if examples and fold == 0:
                    shown = {"examples": _examples(pairs, test, answers), "proven": _proven(embedding, points[:PROVEN])}
    embedding, points = _known(pairs.inputs)
    clean = np.asarray(CLEAN, dtype=object)[posterior(pairs.inputs.tolist()).argmax(axis=1)]
    answers = _answers(embedding, points) | {CLEAN_STRING: clean}
    _add(found, TRUE, _scores(answers, pairs, Split(np.arange(n), np.arange(n)), embedding, points))
    scores = {
        setting: {method: np.mean(values, axis=0).tolist() for method, values in methods.items()}
        for setting, methods in found.items()
    }
    return {"scores": scores, "certainty": certain} | shown


def _learned(pairs: StringPairs, train: np.ndarray, test: np.ndarray, kernel: Kernel) -> tuple[Embedding, np.ndarray]:
    """Return the embedding of the training outputs, and h(x) of the test inputs as weights on them."""
    models = [
        paper_estimator(GaussianOf(KERNEL, scale), kernel, alpha=LeaveOneOut(ALPHAS), decoder=Candidates())
        for scale in SCALES
    ]
    fitted = [model.fit(pairs.inputs[train], pairs.outputs[train]) for model in models]
    best = min(fitted, key=lambda model: float(np.min(np.asarray(model.loo_path_))))
    return Implicit().fit(kernel, pairs.outputs[train]), best.decision_weights(pairs.inputs[test])


def _known(inputs: np.ndarray) -> tuple[Embedding, np.ndarray]:
    """Return the same for the true h(x): the weight of a string is its probability given the input."""
    known = all_strings()
    some = np.flatnonzero(known.chances.max(axis=1) > 0)
    return Implicit().fit(KERNEL, known.strings[some]), posterior(inputs.tolist()) @ known.chances[some].T


def _answers(embedding: Embedding, points: np.ndarray) -> dict[str, np.ndarray]:
    known, rows = all_strings(), features(embedding.kernel_)
    norms = np.round(np.sum(rows**2, axis=1), 12)
    wanted = points @ rows[known.places(embedding.outputs_)]
    scores = np.where(norms > 0, 2.0 * wanted @ rows.T - norms, -np.inf)
    lengths = np.asarray([len(text) for text in known.strings])
    longest = max(map(len, embedding.outputs_))
    return {
        CANDIDATES: Candidates().fit(embedding).decode(points),
        CONSTRUCTED: BeamSearch().fit(embedding).decode(points),
        PREDICTED: BeamSearch(length="predicted").fit(embedding).decode(points),
        ANY_LENGTH: BeamSearch(length=(1, LONGEST)).fit(embedding).decode(points),
        SHORTER: known.strings[np.where(lengths <= longest, scores, -np.inf).argmax(axis=1)],
        ENUMERATED: known.strings[scores.argmax(axis=1)],
    }


def _add(found: Found, setting: str, scores: dict[str, list[float]]) -> None:
    for method, values in scores.items():
        found.setdefault(setting, {}).setdefault(method, []).append(values)


def _scores(
    answers: dict[str, np.ndarray], pairs: StringPairs, split: Split, embedding: Embedding, points: np.ndarray
) -> dict[str, list[float]]:
    """Compute the scores (`METRICS`) of every method on one fold."""
    known, seen = all_strings(), set(pairs.outputs[split.train])
    own, paper = features(embedding.kernel_), features(KERNEL)
    wanted = points @ own[known.places(embedding.outputs_)]
    truth = paper[known.places(pairs.outputs[split.test])]
    found = {}
    for method, answer in answers.items():
        place = known.places(answer)
        scores = (
            np.sum((paper[place] - truth) ** 2, axis=1),
            known.classes[place] != pairs.classes[split.test],
            np.sum((own[place] - wanted) ** 2, axis=1),
            known.chances[place].max(axis=1) == 0,
            known.hybrid[place],
            [len(text) for text in answer],
            [text not in seen for text in answer],
        )
        found[method] = [float(np.mean(values)) for values in scores]
    return found


def _certainty(points: np.ndarray, classes: np.ndarray, answers: np.ndarray) -> list[list[float]]:
    """Return for each point the largest share of its weight on one class, and whether the nearest string is a hybrid."""
    weight = np.maximum(points @ (classes[:, None] == np.arange(len(CLEAN))), 0.0)
    share = weight.max(axis=1) / np.maximum(weight.sum(axis=1), 1e-12)
    return [
        [round(float(a), 4), float(b)]
        for a, b in zip(share, all_strings().hybrid[all_strings().places(answers)], strict=True)
    ]


def _proven(embedding: Embedding, points: np.ndarray) -> list[bool]:
    """Tell for some points whether branch and bound proves that the answer of beam search is the best."""
    exact = BranchAndBound(time_limit=20.0).fit(embedding)
    beam = BeamSearch().fit(embedding)
    reports = zip(exact.reports(points), beam.reports(points), strict=True)
    return [bool(best.optimal and found.objective <= best.objective + 1e-9) for best, found in reports]


def _examples(pairs: StringPairs, test: np.ndarray, answers: dict[str, np.ndarray]) -> list[list[str]]:
    """Return inputs for which the ways to decode differ."""
    shown = []
    methods = (CANDIDATES, CONSTRUCTED, ENUMERATED)
    for i in range(len(test)):
        texts = [str(answers[method][i]) for method in methods]
        if len(set(texts)) > 1:
            clean = str(CLEAN[pairs.classes[test[i]]])
            shown.append([clean, str(pairs.inputs[test[i]]), str(pairs.outputs[test[i]]), *texts])
    return shown[:12]
