"""Candidates that were not trained on: the score chosen for them, under each loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.beyond import massbank
from experiments.experiment import Experiment, Outcome, Piece, mean_row
from mercer import AutoEstimator, DependencyEstimator
from mercer.datasets import load_pronunciations, load_qm9
from mercer.decoders import Candidates, Decoder, ExpectedLoss, Standardized
from mercer.kernels import GaussianOf, Kernel, Precomputed, Subsequence, Tanimoto
from mercer.losses import EditDistance, ZeroOne
from mercer.selection import LeaveOneOut

SPELLING, SMILES, SPECTRA = "spelling", "SMILES", "MassBank"
LOSSES: dict[str, dict[str, Any]] = {
    SPELLING: {"none": None, "ZeroOne": ZeroOne(), "EditDistance": EditDistance()},
    SMILES: {"none": None, "ZeroOne": ZeroOne(), "EditDistance": EditDistance()},
    SPECTRA: {"none": None, "ZeroOne": ZeroOne(), "kernel": "kernel"},
}
CHOSEN, AUTO = "chosen", "AutoEstimator"
GIVEN: dict[str, Decoder] = {
    "kernel's score": Candidates(),
    "standardised by 1/2": Standardized(strength=0.5),
    "standardised": Standardized(),
    "expected loss": ExpectedLoss(),
}
"""Decoders that are given, and then score the candidates themselves."""
FULL = {SPELLING: (800, 500, 5000), SMILES: (800, 500, 5000), SPECTRA: (3180, 799, 799)}
SMALL = {SPELLING: (120, 40, 200), SMILES: (120, 40, 200), SPECTRA: (160, 60, 60)}
"""Training pairs, test inputs, candidates."""
ALPHAS = (0.03, 0.1, 0.3, 1.0)
SEED = 0
BAR = 86.0


class NewCandidates(Experiment):
    """Accuracy among candidates without a weight of their own."""

    name = "candidates"
    title = "Candidates that were not trained on"
    source = "Not from the papers: misspelt words, molecules by their fingerprints, and MassBank."
    protocol = (
        "None of the candidates was trained on, and the right one is among them. Spelling: Dutch words with one random edit "
        "(a letter dropped, added, replaced, or two exchanged), Subsequence(2) on both sides; 800 pairs, 500 test words, 5000 "
        "candidates. SMILES: molecules of QM9 by their Morgan fingerprint (Tanimoto), outputs as strings; the same numbers. "
        "MassBank: as in that experiment, Gaussian of the cosines and Tanimoto of plain fingerprints, 799 candidates. Alpha by "
        f"leave-one-out (MassBank: of {ALPHAS}). 'chosen' is decoder='auto', whose score for new candidates is chosen by the "
        "loss of training outputs kept out of training; the others are decoders that were given, with the same alpha. "
        "'AutoEstimator' (spelling) is given the loss alone, and the candidates as outputs without an input."
    )
    digits = 1
    apart = ("task",)
    best = "max"

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each task and loss, and for each loss of spelling one of AutoEstimator."""
        found = [
            Piece(f"{task}-{loss}".lower(), {"task": task, "loss": loss, "small": small})
            for task, losses in LOSSES.items()
            for loss in losses
        ]
        return found + [
            Piece(f"{piece.key}-auto", piece.settings | {"method": AUTO})
            for piece in found
            if piece.settings["task"] == SPELLING
        ]

    def parameters(self, small: bool) -> dict[str, Any]:
        """Return the sizes and the grid."""
        return {"sizes": SMALL if small else FULL, "alphas": ALPHAS}

    def seeds(self, small: bool) -> list[int]:
        """Return the seed of the draws."""
        return [SEED]

    def run(self, piece: Piece) -> Outcome:
        """Fit with the loss, then choose among the candidates by each score."""
        chosen = task(piece.settings["task"], piece.settings["small"])
        loss = LOSSES[piece.settings["task"]][piece.settings["loss"]]
        if piece.settings.get("method") == AUTO:
            return piece.settings | automatic(chosen, loss, "fast" if piece.settings["small"] else "balanced")
        model = DependencyEstimator(chosen.input_kernel, chosen.output_kernel, alpha=chosen.alpha, loss=loss)
        model.fit(chosen.X, chosen.y)
        hits = {CHOSEN: chosen.hits(model)}
        for name, decoder in GIVEN.items():
            if not (isinstance(decoder, ExpectedLoss) and loss in (None, "kernel")):
                kernels = (chosen.input_kernel, chosen.output_kernel)
                given = DependencyEstimator(*kernels, alpha=model.alpha_, loss=loss, decoder=decoder)
                hits[name] = chosen.hits(given.fit(chosen.X, chosen.y))
        return {**piece.settings, "hits": hits, "reason": model.candidate_rule_.reason, "alpha": model.alpha_}

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return the percentage of right answers."""
        return [
            mean_row(100.0 * np.asarray(hits), method, "top-1, %", task=outcome["task"], loss=outcome["loss"])
            for outcome in outcomes
            for method, hits in outcome["hits"].items()
        ]

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Compare spelling with its bar, and the choice with the best given decoder."""
        chosen = {(row["task"], row["loss"]): row["value"] for row in rows if row["method"] == CHOSEN}
        spelled: dict[str, list[float]] = {}
        for row in rows:
            if row["task"] == SPELLING and row["method"] in (CHOSEN, AUTO):
                spelled.setdefault(row["method"], []).append(row["value"])
        behind = {
            (row["task"], row["loss"]): row["value"] - chosen[row["task"], row["loss"]]
            for row in sorted(rows, key=lambda row: row["value"])
            if row["method"] != AUTO
        }
        worst = max(behind, key=lambda case: behind[case])
        return [
            *(
                f"Spelling, under any loss{', by AutoEstimator' * (method == AUTO)}: {min(values):.1f} % or more "
                f"({'meets' if min(values) >= BAR else 'misses'} {BAR:.0f} %)."
                for method, values in spelled.items()
            ),
            f"At most {max(0.0, behind[worst]):.1f} points behind the best given decoder ({worst[0]}, loss {worst[1]}).",
        ]


@dataclass(frozen=True)
class Task:
    """Kernels, training pairs, test inputs with their outputs, and candidates."""

    input_kernel: Kernel
    output_kernel: Kernel
    alpha: Any
    X: Any
    y: Any
    queries: Any
    truth: Any
    candidates: Any

    def hits(self, model: AutoEstimator | DependencyEstimator) -> list[int]:
        """Return 1 for each right answer of a model, 0 for the others."""
        found = model.predict(self.queries, candidates=self.candidates)
        return [int(one == right) for one, right in zip(found, self.truth, strict=True)]


def automatic(chosen: Task, loss: Any, effort: str) -> Outcome:
    """Choose among the candidates by an estimator that is given the loss alone."""
    model = AutoEstimator(loss, effort=effort, random_state=SEED)
    model.fit(chosen.X, chosen.y, extra_outputs=chosen.candidates)
    return {
        "hits": {AUTO: chosen.hits(model)},
        "reason": model.candidate_order_.reason,
        "left out": model.left_out_loss_,
    }


def task(name: str, small: bool) -> Task:
    """Return one of the tasks."""
    sizes = (SMALL if small else FULL)[name]
    if name == SPECTRA:
        data = massbank._data(small)
        known, new = np.flatnonzero(~data.is_test), np.flatnonzero(data.is_test)
        inputs = GaussianOf(Precomputed(massbank._input_gram(small, 0.25, None)), scale=1.0)
        outputs = Precomputed(massbank._output_gram(small, "plain"))
        return Task(inputs, outputs, LeaveOneOut(ALPHAS), known, known, new, new, new)
    rng = np.random.default_rng(SEED)
    strings: Kernel = Subsequence(2).normalized()
    spelling = name == SPELLING
    words = load_pronunciations("dut").train.words if spelling else load_qm9().smiles.tolist()
    words = sorted({word for word in words if len(word) >= 4 or not spelling})
    letters = sorted(set("".join(words)))
    drawn = [words[i] for i in rng.permutation(len(words))[: sizes[0] + sizes[2]]]
    train, candidates = drawn[: sizes[0]], drawn[sizes[0] :]
    test = candidates[: sizes[1]]
    seen = [[misspelt(word, letters, rng) for word in part] if spelling else part for part in (train, test)]
    return Task(strings if spelling else Tanimoto(), strings, "loo", seen[0], train, seen[1], test, candidates)


def misspelt(word: str, letters: list[str], rng: np.random.Generator) -> str:
    """Return a word with one letter dropped, added or replaced, or with two letters exchanged.

    Examples
    --------
    >>> misspelt("word", ["x"], np.random.default_rng(0))
    'wrod'
    """
    kind, i = int(rng.integers(4)), int(rng.integers(len(word) - 1))
    if kind == 0:
        return word[:i] + word[i + 1 :]
    if kind == 3:
        return word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    return word[:i] + str(rng.choice(letters)) + word[i + kind - 1 :]
