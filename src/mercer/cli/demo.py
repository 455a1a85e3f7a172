"""The command ``mercer demo``: complete handwritten digits by five methods and two pre-images, chosen in training."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from mercer.core.arrays import to_numpy
from mercer.core.files import written_atomically
from mercer.datasets import DigitHalves, load_digit_halves
from mercer.decoders import Candidates, Decoder, FixedPoint
from mercer.embeddings import PrincipalComponents
from mercer.estimators import DependencyEstimator, NeighborsEstimator
from mercer.estimators.base import ObjectEstimator
from mercer.kernels import Gaussian
from mercer.losses import KernelLoss
from mercer.operators import ConditionalCovariance, Covariance, Identity
from mercer.report import (
    Card,
    Picture,
    Result,
    Table,
    gallery,
    page,
    paragraph,
    pivot,
    print_table,
    section,
    table_html,
)
from mercer.report.progress import tracked
from mercer.selection import choose_scale

SEED = 0
METRIC, BASELINE = "output-kernel loss", "k nearest neighbours"
CANDIDATE, CONTINUOUS = "best training half", "continuous"
PRE_IMAGES: dict[str, Decoder] = {CANDIDATE: Candidates(), CONTINUOUS: FixedPoint()}
LEAST_TRAINED = 40  # fewest training pairs on which parameters are chosen
EXAMPLES, EXTREMES = 16, 6  # pictures of the first test digits, and of the largest margins either way

Way = tuple[str, str]  # a method, and its pre-image


@dataclass(frozen=True)
class Size:
    """Number of digits, and the settings tried for each method."""

    digits: int
    scales: tuple[float, ...]
    eps: tuple[float, ...]


FULL = Size(1797, (0.25, 0.35, 0.5, 0.7, 1.0), (0.1, 1.0, 10.0))
QUICK = Size(300, (0.35, 0.7), (0.1,))


@dataclass
class Fold:
    """Predictions for all other folds after training on one."""

    test: np.ndarray
    predictions: dict[Way, np.ndarray]
    losses: dict[Way, np.ndarray]
    chosen: dict[str, dict[str, Any]]


NEXT = """
Next, from files of your own:

  mercer fit data.csv --output COLUMN -o model    learn a column from the others
  mercer predict model new.csv --coverage 0.9     answers, how sure they are
  mercer report model test.csv -o page.html       a page to look through"""


def run(output: str | Path, folds: int = 5, quick: bool = False, silent: bool = False) -> Path:
    """Print the table of the demonstration, write ``index.html`` and ``demo.json`` to a folder, and return the page.

    Each fold is trained on once and tested on all others; `quick` uses fewer digits and settings.
    """
    start, size, folder = time.perf_counter(), QUICK if quick else FULL, Path(output)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"output is {str(folder)!r}, a file; expected a folder to write to")
    most = size.digits // LEAST_TRAINED
    if not 2 <= folds <= most:
        why = f"so that each fold of the {size.digits} digits has at least {LEAST_TRAINED}"
        raise ValueError(f"folds is {folds}; expected 2 to {most}, {why}")
    folder.mkdir(parents=True, exist_ok=True)  # fails before the work, not after it
    digits = load_digit_halves()
    order = np.random.default_rng(SEED).permutation(len(digits.labels))[: size.digits]
    parts = np.array_split(order, folds)
    # the output kernel defines the loss: its scale is chosen once, by alignment with clusters (Weston 4.3)
    outputs = digits.outputs[parts[0]]
    scales = Gaussian(scale="median").resolve(outputs).scale * np.geomspace(0.1, 2.0, 14)
    output_kernel = choose_scale(Gaussian(), outputs, scales, random_state=SEED).kernel
    done = run_folds(digits, parts, output_kernel, size)
    by_digit = [
        _row(way, [fold.losses[way][digits.labels[fold.test] == digit] for fold in done]) | {"digit": int(digit)}
        for digit in np.unique(digits.labels)
        for way in pictured(done)
    ]
    parameters = {"digits": size.digits, "folds": folds, "output scale": output_kernel.scale}
    parameters["chosen"] = [fold.chosen for fold in done]
    seconds = time.perf_counter() - start
    result = Result("digit halves", mean_losses(done) + by_digit, parameters, seeds=[SEED], seconds=seconds)
    result.to_json(folder / "demo.json")
    write_page(folder / "index.html", result, digits, done)
    if not silent:
        print_table(loss_table(result))
    return folder / "index.html"


def run_folds(digits: DigitHalves, parts: list[np.ndarray], output_kernel: Gaussian, size: Size) -> list[Fold]:
    """Train on each part in turn, and test on the others."""
    loss, folds = KernelLoss(output_kernel), []
    steps = len(parts) * len(variants(digits.inputs[parts[0]], output_kernel, size))
    # matrices this small lose more to several BLAS threads than they gain
    with tracked("completing digits", steps) as begin, threadpool_limits(1):
        for number, train in enumerate(parts, start=1):
            test = np.setdiff1d(np.concatenate(parts), train)
            fold = Fold(test, {}, {}, {})
            inputs, outputs = digits.inputs[train], digits.outputs[train]
            for method, models in variants(inputs, output_kernel, size).items():
                begin(f"{method}, fold {number} of {len(parts)}")
                fitted = [clone(model).fit(inputs, outputs) for model in models]
                model = min(fitted, key=lambda model: float(np.min(model.loo_path_)))
                fold.chosen[method] = fix_parameters(model)
                for pre_image, decoder in PRE_IMAGES.items():
                    model.set_params(decoder=decoder).fit(inputs, outputs)
                    predicted = model.predict(digits.inputs[test])
                    fold.predictions[method, pre_image] = predicted
                    fold.losses[method, pre_image] = to_numpy(loss.paired(digits.outputs[test], predicted))
            folds.append(fold)
    return folds


def variants(inputs: np.ndarray, output_kernel: Gaussian, size: Size) -> dict[str, list[ObjectEstimator]]:
    """Return the settings of each method to choose from: the input scale, in medians, and eps."""
    median = Gaussian(scale="median").resolve(inputs).scale
    kernels = [Gaussian(float(factor * median)) for factor in size.scales]
    eps_and_kernels = [(eps, kernel) for eps in size.eps for kernel in kernels]
    return {
        # the order of neighbours does not depend on the scale
        BASELINE: [NeighborsEstimator(kernels[-1], output_kernel, k="loo")],
        "identity (Cortes)": [DependencyEstimator(kernel, output_kernel, Identity()) for kernel in kernels],
        "principal components (Weston)": [
            DependencyEstimator(kernel, output_kernel, embedding=PrincipalComponents()) for kernel in kernels
        ],
        "covariance (Kadri)": [DependencyEstimator(kernel, output_kernel, Covariance()) for kernel in kernels],
        "conditional covariance (Kadri)": [
            DependencyEstimator(kernel, output_kernel, ConditionalCovariance(eps)) for eps, kernel in eps_and_kernels
        ],
    }


def fix_parameters(model: ObjectEstimator) -> dict[str, Any]:
    """Set the parameters of a model to those chosen in training, and return them."""
    if "k" in model.get_params(deep=False):
        model.set_params(k=int(model.k_))
        return {"k": model.k}
    model.set_params(alpha=float(model.alpha_))
    eps = getattr(model.operator, "eps", None)
    chosen = {"input scale": model.input_kernel_.scale, "alpha": model.alpha}
    return chosen if eps is None else {**chosen, "eps": eps}


def mean_losses(folds: list[Fold]) -> list[dict[str, Any]]:
    """Return the mean loss of each method and pre-image, with its standard deviation over the folds."""
    return [_row(way, [fold.losses[way] for fold in folds]) for way in folds[0].losses]


def _row(way: Way, losses: list[np.ndarray]) -> dict[str, Any]:
    means = [np.mean(each) for each in losses]
    spread = float(np.std(means, ddof=1))
    return {"method": way[0], "pre-image": way[1], "metric": METRIC, "value": float(np.mean(means)), "error": spread}


def pictured(folds: list[Fold]) -> list[Way]:
    """Return the methods and pre-images to picture: the baseline, and the best method decoded twice."""
    rows = [row for row in mean_losses(folds) if row["method"] != BASELINE]
    best = min(rows, key=lambda row: row["value"])["method"]
    return [(BASELINE, CANDIDATE), (best, CANDIDATE), (best, CONTINUOUS)]


def loss_table(result: Result) -> Table:
    """Return the losses, methods × pre-images."""
    rows = [row for row in result.rows if "digit" not in row]
    title = f"{rows[0]['metric']}, mean ± std over {result.parameters['folds']} folds (lower is better)"
    return pivot(rows, "method", "pre-image", title=title)


def write_page(path: Path, result: Result, digits: DigitHalves, folds: list[Fold]) -> None:
    """Write the page: protocol, tables and pictures."""
    ways = pictured(folds)
    baseline, _, continuous = ways
    fold, about = folds[0], result.environment
    by_margin = np.argsort(fold.losses[baseline] - fold.losses[continuous])
    short = [row | {"way": _short((row["method"], row["pre-image"])), "error": None} for row in result.rows]
    title = "Loss for each digit: k-NN, and KDE with its two pre-images"
    by_digit = pivot((row for row in short if "digit" in row), "digit", "way", title=title, within="row")
    blocks = [
        paragraph(_summary(result, fold)),
        table_html(loss_table(result)),
        paragraph(_spread(result)),
        section("The first test digits"),
        paragraph(
            f"The first {EXAMPLES} test digits of the first fold: the true lower half, then those predicted by k-NN and KDE "
            f"with their losses. KDE is the method of smallest loss in the table, {continuous[0]}, decoded as the best training "
            "half (candidate) and as any picture (continuous)."
        ),
        gallery(_card(i, digits, fold, ways) for i in range(min(EXAMPLES, len(by_margin)))),
        section("Where KDE wins, and where it loses"),
        paragraph(_comparison(folds)),
        table_html(by_digit),
        paragraph("The largest margins over k-NN:"),
        gallery(_card(i, digits, fold, ways) for i in by_margin[::-1][:EXTREMES]),
        paragraph("The largest margins of k-NN:"),
        gallery(_card(i, digits, fold, ways) for i in by_margin[:EXTREMES]),
    ]
    footer = (
        f"mercer {about['mercer']}, NumPy {about['numpy']}, SciPy {about['scipy']}, scikit-learn {about['sklearn']}, Python "
        f"{about['python']}; {about['cores']} cores, {about['cpu']}; {result.seconds:.0f} seconds, seed {SEED}."
    )
    with written_atomically(path) as temporary:
        temporary.write_text(page("Completing handwritten digits", blocks, footer), encoding="utf-8")


def _summary(result: Result, fold: Fold) -> str:
    parameters = result.parameters
    trained = parameters["digits"] - len(fold.test)
    return (
        f"{len(fold.chosen)} methods learn to draw the lower half of a digit from its upper half. {parameters['digits']} digits "
        f"of scikit-learn's 8×8 set are cut into {parameters['folds']} folds; each (about {trained} digits) is trained on in "
        "turn and all others are the test. Input scale, alpha, number of neighbours and eps are chosen by leave-one-out inside "
        "the training fold. The loss of a predicted half ŷ is 2 − 2 exp(−‖y − ŷ‖² / 2σ²), the squared distance under a Gaussian "
        f"kernel, with σ = {parameters['output scale']:.3g} set by kernel alignment on the first fold."
    )


def _spread(result: Result) -> str:
    """Compare the differences between kernel methods with their standard deviations."""
    rows = [r for r in result.rows if "digit" not in r and r["method"] != BASELINE and r["pre-image"] == CONTINUOUS]
    values = [row["value"] for row in rows]
    return (
        f"With a continuous pre-image the {len(rows)} kernel methods lie within {max(values) - min(values):.3f} of each "
        f"other, and the largest standard deviation among them is {max(row['error'] for row in rows):.3f}. The folds "
        "share test digits, so these deviations do not test which method is better."
    )


def _comparison(folds: list[Fold]) -> str:
    def share(way: Way, other: Way) -> str:
        return f"{np.mean(np.concatenate([fold.losses[way] < fold.losses[other] for fold in folds])):.1%}"

    baseline, *others = pictured(folds)
    best, free = (f"for {share(way, baseline)} of the test digits, k-NN for {share(baseline, way)}" for way in others)
    return (
        f"With a continuous pre-image KDE has the smaller loss {free}. Choosing among the same training halves as k-NN it has "
        f"the smaller loss {best}; the rest are ties."
    )


def _card(i: int, digits: DigitHalves, fold: Fold, ways: list[Way]) -> Card:
    index = fold.test[i]
    given = digits.inputs[index][None]
    pictures = [Picture(digits.whole(given, digits.outputs[index][None])[0], "true", divided=True)]
    for way in ways:
        image = digits.whole(given, fold.predictions[way][i][None])[0]
        pictures.append(Picture(image, _short(way), f"{fold.losses[way][i]:.2f}", divided=True))
    return Card(f"a {digits.labels[index]}", pictures)


def _short(way: Way) -> str:
    return "k-NN" if way[0] == BASELINE else {CANDIDATE: "candidate", CONTINUOUS: "continuous"}[way[1]]
