"""Simulated experiments of the entangled-kernels poster, with several draws of the quantities it leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from experiments.charts import Line, line_chart
from experiments.experiment import Experiment, Outcome, Piece, mean_row
from experiments.papers.entangled_methods import (
    ALPHAS,
    MEASURES,
    Ascent,
    entangled_paths,
    independent_path,
    measures,
    nested,
    output_kernel_path,
)
from experiments.protocol import Split
from mercer.kernels import Gaussian
from mercer.report import paragraph, section
from mercer.selection import alignment

KRR, OKL, EKL, TRACE, KNOWN = "KRR", "OKL", "EKL", "ptrEKL", "A and T known"
METHODS = (KRR, OKL, EKL, TRACE, KNOWN)
METRIC = "MSE"
INPUTS, TEST, DRAWS = 3, 40, 8
NOISE = {"few directions, noise": 0.5}
OUTPUTS, SAMPLES, FIXED = (2, 5, 10, 20), (5, 10, 20, 30), 10
WAYS = {
    "same": "A = K, which makes the kernel separable",
    "one input": "A is a Gaussian kernel of the first input alone",
    "unrelated": "A is the kernel of other inputs, which are never seen",
    "few directions": "A projects on the third and fourth eigenvector of K",
    "few directions, noise": "the same, with noise of half their standard deviation on the outputs that are seen",
}
ASCENTS = tuple(Ascent(rank, gamma, steps) for rank in (10, 50) for gamma in (0.1, 0.9) for steps in (5, 20))


class Simulated(Experiment):
    """Simulated plots of the poster."""

    name = "entangled-simulated"
    title = "Simulated: error against the number of outputs and of samples"
    source = (
        "Huusari and Kadri, poster on entangled kernel learning, figure on simulated data (no numbers are printed)."
    )
    protocol = (
        f"vec(Y) = (A⊗T + K⊗I) vec(C), {DRAWS} draws; methods see K and Y of n samples and predict Y of {TEST} others. "
        "The poster does not say what A, T, K and C are. Here K is a Gaussian kernel at the median distance of "
        f"{INPUTS} normal inputs; C is standard normal; T = WWᵀ with W normal and of p/2 columns, scaled to a mean "
        "diagonal of one; and A is drawn in five ways: "
        + "; ".join(f"“{way}”: {meaning}" for way, meaning in WAYS.items())
        + f". Y is scaled to unit variance. p varies at n = {FIXED}, n at p = {FIXED}. Alpha, rank, γ and the number of "
        "steps are chosen by inner folds in which all is learned again (leave-one-out up to n = 15, five folds above). “A "
        "and T known” is the best possible prediction: the conditional mean of the outputs given the model. "
        "Predictions are compared with outputs without noise. The kernel that EKL chose at n = p is measured: its distance to "
        "the nearest k ⊗ T and to symmetric blocks (no sum of separable kernels is nearer), relative to its norm. The "
        "last two ways were added after the results with the others, and with three choices of eigenvectors and two noise "
        "levels, had been seen."
    )
    digits = 3
    apart = ("n", "p")
    bounds = (KNOWN,)

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each draw and way of drawing A."""
        draws, ways = (3, ("same", "few directions, noise")) if small else (DRAWS, tuple(WAYS))
        return [
            Piece(f"{way.replace(',', '').replace(' ', '-')}-{seed}", {"way": way, "seed": seed, "small": small})
            for way in ways
            for seed in range(draws)
        ]

    def seeds(self, small: bool) -> list[int]:
        """Return the seeds of the draws."""
        return list(range(3 if small else DRAWS))

    def parameters(self, small: bool) -> dict[str, Any]:
        """Return sizes and grids."""
        return {
            "n, p": [list(size) for size in _sizes(small)],
            "alphas": [round(float(alpha), 6) for alpha in ALPHAS],
            "rank, gamma, steps": [[each.rank, each.gamma, each.steps] for each in ASCENTS],
        }

    def run(self, piece: Piece) -> Outcome:
        """Run all sizes on one draw."""
        way, seed, small = (piece.settings[key] for key in ("way", "seed", "small"))
        found = []
        for n, p in _sizes(small):
            K, A, mixing, Y = draw(way, n + TEST, p, seed)
            noise = NOISE.get(way, 0.0)
            seen = Y + noise * np.random.default_rng([seed, n, p]).standard_normal(Y.shape)
            train, test = np.arange(n), np.arange(n, n + TEST)
            whole, trace = entangled_paths(ASCENTS[:2] if small else ASCENTS, seed)
            scores = {KNOWN: _mse(conditional_mean(mixing, seen[:n], noise), Y[test])}
            for name, path in ((KRR, independent_path), (OKL, output_kernel_path), (EKL, whole), (TRACE, trace)):
                predicted, (_, setting) = nested(path, [K], seen, Split(train, test), seed)
                scores[name] = _mse(predicted, Y[test])
                if name == EKL:
                    ascent = ASCENTS[setting // len(ALPHAS)]
            found.append(
                {"n": n, "p": p, "scores": scores, "alignment": float(alignment(A[:n, :n], K[:n, :n], centered=True))}
            )
            if n == p == FIXED:
                found[-1]["measures"] = measures(K, seen, train, ascent, seed) | {"rank": float(ascent.rank)}
        return {"way": way, "sizes": found}

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return the MSE of every method for every A, n and p; then its difference to KRR over all sizes."""
        rows, gaps = [], []
        for way in dict.fromkeys(outcome["way"] for outcome in outcomes):
            own = [outcome["sizes"] for outcome in outcomes if outcome["way"] == way]
            for i, size in enumerate(own[0]):
                for method in METHODS:
                    scores = [sizes[i]["scores"][method] for sizes in own]
                    rows.append(mean_row(scores, method, METRIC, A=way, n=size["n"], p=size["p"]))
            for method in METHODS[1:]:
                # one value per draw: the sizes of a draw are not independent
                below = [np.mean([s["scores"][KRR] - s["scores"][method] for s in sizes]) for sizes in own]
                gaps.append(mean_row(below, method, "below KRR, mean of all sizes", A=way))
            aligned = [np.mean([s["alignment"] for s in sizes]) for sizes in own]
            gaps.append(mean_row(aligned, "A", "alignment with K", A=way))
            learned = [size["measures"] for sizes in own for size in sizes if "measures" in size]
            for name, metric in (MEASURES | {"rank": "rank chosen"}).items():
                gaps.append(mean_row([each[name] for each in learned], EKL, metric, A=way, n=FIXED, p=FIXED))
        return rows + gaps

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Say where EKL is ahead of KRR, and what there was to gain."""
        notes = []
        overall = {(row["A"], row["method"]): row for row in rows if row["metric"] != METRIC and "n" not in row}
        for way in dict.fromkeys(row["A"] for row in rows):
            known = overall[way, KNOWN]["value"]
            parts = []
            for method in (EKL, TRACE, OKL):
                row = overall[way, method]
                parts.append(f"{method} is {_verdict(row)} KRR ({row['value']:+.3f} ± {row['error']:.3f})")
            notes.append(
                f"A “{way}” (alignment with K {overall[way, 'A']['value']:.2f}): {', '.join(parts)}; knowing A and T "
                f"would gain {known:.3f}."
            )
            measured = {row["metric"]: row["value"] for row in rows if row["A"] == way and row["metric"] != METRIC}
            if MEASURES["product_distance"] in measured:
                notes.append(
                    f"A “{way}”, n = p = {FIXED}: the kernel of EKL is {measured[MEASURES['product_distance']]:.2f} of its "
                    f"norm away from the nearest separable one and at least {measured[MEASURES['asymmetry']]:.2f} from every "
                    f"sum of separable ones, with an effective rank of {measured[MEASURES['effective_rank']]:.1f}."
                )
        for method in (EKL, TRACE):
            wins, losses, total = self._counts(rows, method)
            notes.append(
                f"{method} is below KRR by more than two of its own standard errors at {wins} of {total} pairs of A "
                f"and size, above by as much at {losses}."
            )
        small = [row for row in rows if row["metric"] == METRIC and row["p"] == FIXED]
        for way in dict.fromkeys(row["A"] for row in small):
            at = {
                n: self._gap([row for row in small if row["A"] == way], n) for n in sorted({row["n"] for row in small})
            }
            shown = ", ".join(f"{gap:+.3f} at n = {n}" for n, gap in at.items())
            notes.append(f"A “{way}”, p = {FIXED}: the better of EKL and ptrEKL is below KRR by {shown}.")
        if {(way, TRACE) for way in ("few directions", "few directions, noise")} <= overall.keys():
            quiet, noisy = (overall[way, TRACE]["value"] for way in ("few directions", "few directions, noise"))
            notes.append(
                f"With the same A, ptrEKL is below KRR by {quiet:+.3f} without noise and by {noisy:+.3f} with it; the poster's "
                "model has none."
            )
        return notes

    def _counts(self, rows: list[dict[str, Any]], method: str) -> tuple[int, int, int]:
        scores = [row for row in rows if row["metric"] == METRIC]
        krr = {(row["A"], row["n"], row["p"]): row["value"] for row in scores if row["method"] == KRR}
        own = [
            (krr[row["A"], row["n"], row["p"]] - row["value"], row["error"])
            for row in scores
            if row["method"] == method
        ]
        return sum(gap > 2 * e for gap, e in own), sum(gap < -2 * e for gap, e in own), len(own)

    def _gap(self, rows: list[dict[str, Any]], n: int) -> float:
        mean = {m: np.mean([row["value"] for row in rows if row["method"] == m and row["n"] == n]) for m in METHODS}
        return float(mean[KRR] - min(mean[EKL], mean[TRACE]))

    def blocks(self, rows: list[dict[str, Any]], outcomes: Sequence[Outcome]) -> Iterable[str]:
        """Draw the two plots of the poster for each A."""
        for way in dict.fromkeys(outcome["way"] for outcome in outcomes):
            yield section(f"A “{way}”")
            yield paragraph(f"{WAYS[way]}.")
            for varied, fixed, label in (("p", "n", "outputs"), ("n", "p", "samples")):
                lines = {}
                for method in METHODS:
                    own = [
                        row for row in rows if row["method"] == method and row["A"] == way and row["metric"] == METRIC
                    ]
                    own = sorted((row for row in own if row[fixed] == FIXED), key=lambda row: row[varied])
                    lines[method] = Line(*([row[key] for row in own] for key in (varied, "value", "error")))
                title = f"{fixed} = {FIXED}"
                yield line_chart(lines, across=f"{varied}, {label}", up="MSE ± standard error", title=title)


def draw(way: str, n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw K and A (n, n), the matrix from C to the outputs, samples first (np, np), and the outputs Y (n, p)."""
    rng = np.random.default_rng(seed)
    inputs, other = rng.standard_normal((n, INPUTS)), rng.standard_normal((n, INPUTS))
    kernel = Gaussian(scale="median").resolve(inputs)
    K = kernel(inputs)
    A = {
        "same": lambda: K,
        "one input": lambda: Gaussian(scale="median").resolve(inputs[:, :1])(inputs[:, :1]),
        "unrelated": lambda: kernel(other),
        "few directions": lambda: _projection(K),
        "few directions, noise": lambda: _projection(K),
    }[way]()
    W = rng.standard_normal((p, max(1, p // 2)))
    T = W @ W.T
    T *= p / np.trace(T)
    C = rng.standard_normal((n, p))
    Y = K @ C + A @ C @ T
    return K, A, (np.kron(A, T) + np.kron(K, np.eye(p))) / np.std(Y), Y / np.std(Y)


def conditional_mean(mixing: np.ndarray, outputs: np.ndarray, noise: float = 0.0) -> np.ndarray:
    """Compute the mean of later outputs given the first ones, seen with noise; mixing·mixingᵀ is their covariance."""
    seen, unseen = np.split(mixing, [outputs.size])
    covariance = seen @ seen.T
    ridge = noise**2 + 1e-10 * np.trace(covariance) / len(covariance)
    weights = np.linalg.solve(covariance + ridge * np.eye(len(covariance)), outputs.ravel())
    return (unseen @ (seen.T @ weights)).reshape(-1, outputs.shape[1])


def _projection(K: np.ndarray) -> np.ndarray:
    vectors = np.linalg.eigh(K)[1][:, -4:-2]
    return len(K) / 2 * vectors @ vectors.T


def _verdict(row: dict[str, Any]) -> str:
    if abs(row["value"]) <= 2 * row["error"]:
        return "level with"
    return "ahead of" if row["value"] > 0 else "behind"


def _mse(predicted: np.ndarray, outputs: np.ndarray) -> float:
    return float(np.mean((predicted - outputs) ** 2))


def _sizes(small: bool) -> list[tuple[int, int]]:
    if small:
        return [(FIXED, 2), (FIXED, FIXED), (20, FIXED)]
    return [(FIXED, p) for p in OUTPUTS] + [(n, FIXED) for n in SAMPLES if n != FIXED]
