"""Molecules from tandem mass spectra."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from experiments.experiment import Experiment, Outcome, Piece, mean_row
from experiments.protocol import paper_estimator
from mercer.datasets import load_massbank
from mercer.datasets.molecules import MolecularSpectra
from mercer.decoders import Candidates, Decoder, Standardized
from mercer.estimators import NeighborsEstimator
from mercer.estimators.base import ObjectEstimator
from mercer.kernels import GaussianOf, Kernel, NeutralLosses, Peaks, Precomputed, Tanimoto
from mercer.report import Table, section, table_html

NEIGHBOURS = "k-NN on cosines, Tanimoto"
RIDGE = "ridge on cosines, Tanimoto"
LADDER: dict[str, tuple[str, bool, bool, bool, bool]] = {
    # output kernel, Gaussian on top, standardised, inputs chosen, ridge (not neighbours)
    NEIGHBOURS: ("plain", False, False, False, False),
    RIDGE: ("plain", False, False, False, True),
    "+ scores standardised per candidate": ("plain", False, True, False, True),
    "+ Gaussian of the cosines": ("plain", True, True, False, True),
    "+ rare bits weigh more": ("rare", True, True, False, True),
    "+ six fingerprints": ("six", True, True, False, True),
    "+ peak weights and power chosen": ("six", True, True, True, True),
}
"""Methods; each adds one choice to the one before."""
BEST = "+ peak weights and power chosen"
ALL, SAME_MASS, EVERYONE = "untrained molecules", "of the same mass", "all, trained ones too"
TOP = (1, 10, 20)
BARS = {1: 50.0, 10: 85.0}
ALPHAS = (0.1, 0.3)
POWERS, WEIGHTS = (0.1, 0.25), (None, "idf")
KINDS = ("morgan", "features", "atom-pairs", "torsions", "paths", "maccs")
FOLDS, SEED, PPM = 3, 0, 5e-6
SMALL = (160, 60)


class MassBank(Experiment):
    """Ranking of new molecules for their spectra."""

    name = "massbank"
    title = "MassBank: molecules from spectra"
    source = "Not from the papers: 3979 merged MS/MS spectra of MassBank, 799 molecules held out by the hash of their InChIKey."
    protocol = (
        "Trained on 3180 spectra; each of the 799 test spectra ranks the 799 test molecules, none of which was trained on. "
        "Among all 3979 the training molecules would have weights of their own, which the true molecule never has. A candidate "
        "with the same score as the true one counts as ranked before it. Alpha, the number of neighbours, intensity power and "
        f"peak weights are chosen inside the training spectra: {FOLDS} folds, each held-out spectrum ranking the molecules of "
        "its fold, by the mean reciprocal rank. Weights of bits and peaks are counted on training molecules and spectra alone. "
        "Input kernel: cosine of peaks plus cosine of neutral losses, bins of 0.01. The precursor's m/z, the origin of losses, "
        "is that of the true formula. 'of the same mass': candidates within 5 ppm, for spectra with at least two."
    )
    digits = 1
    best = "max"

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each method."""
        return [Piece(f"line-{i}", {"method": method, "small": small}) for i, method in enumerate(LADDER)]

    def parameters(self, small: bool) -> dict[str, Any]:
        """Return the grids."""
        return {"alphas": ALPHAS, "powers": POWERS, "weights": WEIGHTS, "fingerprints": KINDS, "folds": FOLDS}

    def seeds(self, small: bool) -> list[int]:
        """Return the seed of the folds."""
        return [SEED]

    def run(self, piece: Piece) -> Outcome:
        """Choose inside the training spectra, then rank the test molecules once."""
        small, method = piece.settings["small"], piece.settings["method"]
        data = _data(small)
        train, test = np.flatnonzero(~data.is_test), np.flatnonzero(data.is_test)
        chosen = _choose(method, small, train)
        model = _model(method, small, chosen).fit(train, train)
        outcome: Outcome = {"ranks": ranks(model, test, test).tolist(), "chosen": chosen}
        near = [test[np.abs(data.masses[test] - data.masses[i]) <= PPM * data.masses[i]] for i in test]
        several = [(i, own) for i, own in zip(test, near, strict=True) if len(own) > 1]
        outcome["mass_ranks"] = [int(ranks(model, np.array([i]), own)[0]) for i, own in several]
        outcome["mass_sizes"] = [len(own) for _, own in several]
        if method == BEST:
            outcome["everyone_ranks"] = ranks(model, test, np.arange(len(data))).tolist()
            outcome["examples"] = _examples(model, data, test)
        return outcome

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return percentages of spectra whose molecule is among the first."""
        found = []
        for method, outcome in zip(LADDER, outcomes, strict=True):
            settings = {ALL: "ranks", SAME_MASS: "mass_ranks", EVERYONE: "everyone_ranks"}
            for setting, key in settings.items():
                for k in TOP if setting != SAME_MASS else TOP[:1]:
                    if outcome.get(key):
                        hits = 100.0 * (np.asarray(outcome[key]) <= k)
                        found.append(mean_row(hits, method, f"top-{k}, %", setting=setting))
        chance = [100.0 / size for size in outcomes[0]["mass_sizes"]]
        if chance:
            found.append(mean_row(chance, "drawn at random", "top-1, %", setting=SAME_MASS))
        return found

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Compare with the bars, and give the gain of each choice."""
        at = {(row["method"], row["setting"], row["metric"]): row["value"] for row in rows}
        reached = {k: at[BEST, ALL, f"top-{k}, %"] for k in TOP}
        bars = ", ".join(
            f"top-{k} {reached[k]:.1f} % ({'meets' if reached[k] >= bar else 'misses'} the bar of {bar:.0f} %)"
            for k, bar in BARS.items()
        )
        firsts = [at[method, ALL, "top-1, %"] for method in LADDER]
        steps = ", ".join(
            f"{method.removeprefix('+ ')} {after - before:+.1f}"
            for method, before, after in zip(list(LADDER)[1:], firsts, firsts[1:], strict=False)
        )
        notes = [f"Among the test molecules: {bars}.", f"Top-1 by choice, in points: {steps}."]
        mass = at.get((BEST, SAME_MASS, "top-1, %"))
        if mass is not None:
            knn = at[next(iter(LADDER)), SAME_MASS, "top-1, %"]
            errors = {
                row["method"]: row["error"]
                for row in rows
                if (row["setting"], row["metric"]) == (SAME_MASS, "top-1, %")
            }
            notes.append(
                f"Among molecules of the same mass the first is right in {mass:.1f} % of the spectra, "
                f"by chance in {at['drawn at random', SAME_MASS, 'top-1, %']:.1f} %, by k-NN in {knn:.1f} % (standard errors "
                f"{errors[BEST]:.1f} and {errors[next(iter(LADDER))]:.1f}): "
                + ("ahead." if mass - knn > 2 * errors[BEST] else "not distinguishable from k-NN.")
            )
        return notes

    def blocks(self, rows: list[dict[str, Any]], outcomes: Sequence[Outcome]) -> Iterable[str]:
        """Show the choices, and some rankings."""
        yield section("Chosen inside the training spectra")
        lines = [
            [method, *(str(outcome["chosen"].get(name, "")) for name in ("alpha", "power", "weights"))]
            for method, outcome in zip(LADDER, outcomes, strict=True)
        ]
        yield table_html(Table(["method", "alpha", "power", "peak weights"], lines))
        yield section("The first three for some test spectra")
        shown = [
            [each["truth"], str(each["rank"]), *each["first"]]
            for outcome in outcomes
            for each in outcome.get("examples", [])
        ]
        yield table_html(Table(["molecule", "its rank", "first", "second", "third"], shown))


def ranks(model: ObjectEstimator, queries: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Return the rank of each query's molecule among the candidates, ties counted against it."""
    found = []
    for query, ranked in zip(queries, model.rank(queries, len(candidates), candidates), strict=True):
        own = ranked.scores[np.flatnonzero(ranked.objects == query)[0]]
        found.append(int(np.sum(ranked.scores >= own)))
    return np.asarray(found)


def _choose(method: str, small: bool, train: np.ndarray) -> dict[str, Any]:
    """Return the settings with the best mean reciprocal rank over the folds of the training spectra."""
    _, _, _, inputs, ridge = LADDER[method]
    grid: dict[str, Sequence[Any]] = {"alpha": ALPHAS[1:2] if small else ALPHAS} if ridge else {"k": (1, 3, 5, 10, 20)}
    if inputs:
        grid |= {"power": POWERS, "weights": WEIGHTS}
    folds = np.array_split(np.random.default_rng(SEED).permutation(train), 2 if small else FOLDS)
    tried = []
    for values in product(*grid.values()):
        settings = dict(zip(grid, values, strict=True))
        scores = []
        for fold in folds[:1] if small else folds:
            rest = np.setdiff1d(train, fold)
            model = _model(method, small, settings).fit(rest, rest)
            scores.append(np.mean(1.0 / ranks(model, fold, fold)))
        tried.append((float(np.mean(scores)), settings))
    return max(tried, key=lambda pair: pair[0])[1]


def _model(method: str, small: bool, settings: dict[str, Any]) -> ObjectEstimator:
    """Make the estimator of a method; inputs and outputs are positions in Gram matrices that are computed once."""
    output, bell, standardised, _, ridge = LADDER[method]
    kernel: Kernel = Precomputed(_input_gram(small, settings.get("power", 0.25), settings.get("weights")))
    if bell:
        kernel = GaussianOf(kernel, scale=1.0)
    decoder: Decoder = Standardized() if standardised else Candidates()
    if not ridge:
        return NeighborsEstimator(
            kernel, Precomputed(_output_gram(small, output)), k=settings.get("k", 1), decoder=decoder
        )
    return paper_estimator(
        kernel, Precomputed(_output_gram(small, output)), alpha=settings.get("alpha", 0.0), decoder=decoder
    )


@lru_cache(maxsize=1)
def _data(small: bool) -> MolecularSpectra:
    data = load_massbank()
    if not small:
        return data
    train, test = (np.flatnonzero(data.is_test == held)[:size] for held, size in zip((False, True), SMALL, strict=True))
    return data.take(np.concatenate([train, test]))


@lru_cache(maxsize=4)
def _input_gram(small: bool, power: float, weights: str | None) -> np.ndarray:
    """Average the cosines of peaks and of neutral losses, with weights counted on the training spectra."""
    data = _data(small)
    peaks = Peaks(power=power, weights=weights).normalized()
    kernel = (peaks + NeutralLosses(power=power, weights=weights).normalized()) * 0.5
    return kernel.resolve(data.spectra[~data.is_test])(data.spectra)


@lru_cache(maxsize=3)
def _output_gram(small: bool, which: str) -> np.ndarray:
    data = _data(small)
    if which == "plain":
        return Tanimoto()(data.fingerprints)
    kernel: Kernel = Tanimoto(weights="idf")
    if which == "six":
        radii = {"paths": 5}
        kernel = sum(Tanimoto(kind, radii.get(kind, 2), weights="idf") for kind in KINDS)  # type: ignore[assignment]
    return kernel.resolve(data.smiles[~data.is_test])(data.smiles)


def _examples(model: ObjectEstimator, data: MolecularSpectra, test: np.ndarray) -> list[dict[str, Any]]:
    queries = test[:8]
    own = ranks(model, queries, test)
    first = model.rank(queries, 3, test)
    return [
        {"truth": data.smiles[query], "rank": int(rank), "first": [data.smiles[i] for i in found.objects]}
        for query, rank, found in zip(queries, own, first, strict=True)
    ]
