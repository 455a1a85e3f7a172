"""The command ``mercer evaluate``: the loss of a model on other pairs, beside simple baselines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold

from mercer.cli.console import Say, noted, shortened
from mercer.cli.fit import read_candidates
from mercer.cli.predict import loaded, read_for
from mercer.core.arrays import to_numpy
from mercer.core.collections import count, member
from mercer.estimators import DependencyEstimator, NeighborsEstimator
from mercer.estimators.base import ObjectEstimator
from mercer.io.cells import written
from mercer.io.file_model import FileModel, at_rows
from mercer.io.records import Records, report_bad
from mercer.learners import Constant
from mercer.report.progress import tracked
from mercer.uncertainty import Doubts
from mercer.uncertainty.nearest import nearness

MODEL, CONSTANT, NEIGHBORS = "this model", "constant", "k nearest neighbours"
_DRAWS = 2000  # bootstrap samples
_WORST = 5


@dataclass
class Evaluation:
    """Losses of a model and of the baselines on the same pairs.

    Attributes
    ----------
    losses : dict of str to array
        The loss of each pair, by method.
    inputs : collection
        X.
    predictions : collection
        Those of the model.
    truth : collection
        The right outputs.
    records : Records
        Where the pairs come from.
    loss : str
        The name of the loss.
    candidates : collection or None
        The outputs to choose from.
    doubts : Doubts or None
        Those about the predictions, once they were asked for.
    """

    losses: dict[str, np.ndarray]
    inputs: Any
    predictions: Any
    truth: Any
    records: Records
    loss: str
    candidates: Any = None
    doubts: Doubts | None = None

    def rows(self) -> list[dict[str, Any]]:
        """Return the mean loss of each method, with a 95 % interval."""
        found = []
        for method, losses in self.losses.items():
            low, high = interval(losses)
            found.append({"method": method, "loss": float(np.mean(losses)), "low": low, "high": high})
        return found

    def further(self) -> dict[str, float]:
        """Return the usual scores besides the loss: of numbers R² and errors in their units, else the share that is right."""
        truth, found = self.truth, self.predictions
        if is_numeric(found):  # numbers are predicted as doubles, though a file may hold whole ones
            a, b = (np.asarray(to_numpy(each), dtype=float).reshape(count(truth), -1) for each in (truth, found))
            spread = float(np.sum((a - a.mean(axis=0)) ** 2))
            scores = {"RMSE": float(np.sqrt(np.mean((a - b) ** 2))), "MAE": float(np.mean(np.abs(a - b)))}
            return scores | ({"R2": 1.0 - float(np.sum((a - b) ** 2)) / spread} if spread > 0 else {})
        right = [_same(member(truth, i), member(found, i)) for i in range(count(truth))]
        return {"exactly right": float(np.mean(right))}

    def worst(self, inputs: list[str], k: int = _WORST) -> list[dict[str, Any]]:
        """Return the pairs of largest loss."""
        losses, records = self.losses[MODEL], self.records
        order = np.argsort(-losses, kind="stable")[:k]
        return [
            {
                "where": records.where(int(i)),
                "input": ", ".join(written_input(records.columns[name][i]) for name in inputs),
                "truth": brief(member(self.truth, int(i))),
                "prediction": brief(member(self.predictions, int(i))),
                "loss": float(losses[i]),
            }
            for i in order
            if losses[i] > 0
        ]


def is_numeric(outputs: Any) -> bool:
    """Return True for outputs that are numbers or arrays of them, and not classes."""
    return hasattr(outputs, "dtype") and outputs.dtype.kind == "f"


def written_input(value: Any) -> str:
    """Return an input as text; arrays and spectra by their size."""
    return f"{'×'.join(map(str, value.shape))} numbers" if hasattr(value, "shape") and np.ndim(value) else brief(value)


def brief(value: Any) -> str:
    """Return an object as text, numbers with five digits.

    Examples
    --------
    >>> brief(0.123456789), brief(np.array([1.0, 2.5])), brief("word")
    ('0.12346', '1 2.5', 'word')
    >>> brief(208410.6)  # an amount is not written with an exponent
    '208411'
    """
    if isinstance(value, float | np.floating):
        return f"{value:.0f}" if 1e5 <= abs(float(value)) < 1e15 else f"{value:.5g}"
    if hasattr(value, "dtype") and value.dtype.kind == "f" and value.ndim == 1:
        return " ".join(f"{each:.5g}" for each in value[:8]) + " …" * (len(value) > 8)
    return written(value)


def _same(a: Any, b: Any) -> bool:
    return written(a) == written(b)


def interval(losses: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Return a bootstrap interval of the mean.

    Examples
    --------
    >>> low, high = interval(np.arange(100.0))
    >>> bool(low < 49.5 < high)
    True
    """
    n = len(losses)
    if n > 5000:  # the normal approximation is as good there
        half = 1.959964 * float(np.std(losses)) / np.sqrt(n)
        return float(np.mean(losses)) - half, float(np.mean(losses)) + half
    drawn = np.random.default_rng(0).integers(n, size=(_DRAWS, n))
    ends = np.quantile(losses[drawn].mean(axis=1), [(1 - level) / 2, (1 + level) / 2])
    return float(ends[0]), float(ends[1])


@dataclass(frozen=True)
class PairsFile:
    """A file of pairs to score a model on, as it was typed."""

    path: str
    skip_bad: bool = False
    candidates: str | None = None
    masks: str | None = None


def evaluate(model_path: Path, test: PairsFile, tell: Say, folds: int | None = None) -> tuple[FileModel, Evaluation]:
    """Score a model on the pairs of a file; with `folds`, models like it that are fitted on the other folds."""
    model = loaded(model_path)
    with noted(tell):
        return model, assessed(model, test, tell, folds)


def assessed(model: FileModel, test: PairsFile, tell: Say, folds: int | None = None) -> Evaluation:
    """Return the evaluation of a model on the pairs of a file."""
    path = test.path
    if not isinstance(model.estimator, ObjectEstimator):
        raise ValueError(f"a model of {type(model.estimator).__name__} has no losses; fit without --preset aligned")
    records = read_for(model, path, with_outputs=True, masks=test.masks)
    missing = [name for name in model.schema.outputs if name not in records.columns]
    if missing:
        raise ValueError(f"{path} has no column {missing[0]!r}, the output; it has {', '.join(records.columns)}")
    X, y, kept, bad = model.pairs_of(records)
    left_out = report_bad(path, [*records.bad, *bad], test.skip_bad)
    if left_out:
        tell(left_out)
    if len(kept) < 2:
        raise ValueError(f"{path} has {len(kept)} usable {records.unit}s; expected at least two pairs")
    if folds is not None and not 2 <= folds <= len(kept):
        raise ValueError(f"--folds {folds}; expected 2 to {len(kept)}, the number of pairs")
    if folds is None and Path(path).name == model.source and len(kept) == model.pairs:
        tell(f"{path} seems to be the training file, of which losses are too low; use mercer evaluate --folds 5")
    candidates = None if test.candidates is None else read_candidates(model, test.candidates, tell)
    if folds is not None and candidates is not None:
        raise ValueError("--folds and --candidates together have no meaning here; leave one out")
    return _held_out(model, X, y, kept, candidates) if folds is None else _folded(model, X, y, kept, folds)


def loss_name(estimator: ObjectEstimator) -> str:
    """Return the loss in words: the reason of a kernel's loss, such as squared errors, or else its name."""
    name, reason = repr(estimator.loss_), getattr(estimator, "reasons_", {}).get("loss", "")
    return reason if name.startswith("KernelLoss") and reason not in ("", "given") else name


def baselines(estimator: ObjectEstimator, inputs: Any, outputs: Any) -> dict[str, ObjectEstimator]:
    """Return the constant and the nearest neighbours, fitted on the same pairs under the same loss."""
    kernels = nearness(estimator.input_kernel_, inputs), estimator.output_kernel_
    loss = estimator.loss_
    made: dict[str, ObjectEstimator] = {
        CONSTANT: DependencyEstimator(*kernels, regressor=Constant(), loss=loss),
        NEIGHBORS: NeighborsEstimator(*kernels, loss=loss),
    }
    return {name: each.fit(inputs, outputs) for name, each in made.items()}


def _held_out(model: FileModel, X: Any, y: Any, records: Records, candidates: Any) -> Evaluation:
    estimator = model.estimator
    predicted = estimator.predict(X, candidates)
    losses = {MODEL: estimator.losses(y, predicted)}
    inputs, outputs = estimator.training_pairs_
    for name, each in baselines(estimator, inputs, outputs).items():
        losses[name] = estimator.losses(y, each.predict(estimator.input_kernel_.check(X, "X"), candidates))
    return Evaluation(losses, X, predicted, y, records, loss_name(estimator), candidates)


def _folded(model: FileModel, X: Any, y: Any, records: Records, folds: int) -> Evaluation:
    n = len(records)
    groups = model.settings.get("groups")
    labels = (
        None if groups is None or groups not in records.columns else np.asarray(records.columns[groups], dtype=object)
    )
    splitter = KFold(folds, shuffle=True, random_state=0) if labels is None else GroupKFold(folds)
    found: dict[str, np.ndarray] = {name: np.empty(n) for name in (MODEL, CONSTANT, NEIGHBORS)}
    predictions: list[Any] = [None] * n
    with tracked("evaluate", folds) as begin:
        for number, (train, test) in enumerate(splitter.split(np.arange(n), groups=labels), start=1):
            begin(f"fold {number} of {folds}")
            own = {} if labels is None else {"groups": labels[train]}
            fitted = clone(model.estimator).fit(at_rows(X, train), at_rows(y, train), **own)
            part, truth = at_rows(X, test), at_rows(y, test)
            predicted = fitted.predict(part)
            found[MODEL][test] = model.estimator.losses(truth, predicted)
            for i, j in enumerate(test):
                predictions[j] = member(predicted, i)
            inputs, outputs = fitted.training_pairs_
            for name, each in baselines(fitted, inputs, outputs).items():
                found[name][test] = model.estimator.losses(truth, each.predict(fitted.input_kernel_.check(part, "X")))
    collected = np.asarray(predictions) if is_numeric(predicted) else predictions
    return Evaluation(found, X, collected, y, records, loss_name(model.estimator))


def printed(model: FileModel, found: Evaluation) -> str:
    """Return the evaluation as text of at most 80 columns."""
    lines = [shortened(found.loss, 80), f"{len(found.records)} pairs, 95 % intervals (lower is better)", ""]
    for row in found.rows():
        lines.append(f"  {row['method']:22} {row['loss']:10.4g}   [{row['low']:.4g}, {row['high']:.4g}]")
    more = ", ".join(f"{name} {value:.4g}" for name, value in found.further().items())
    lines += ["", f"this model: {more}"]
    worst = found.worst(model.schema.inputs)
    if worst:
        lines += ["", "largest losses:"]
        for row in worst:
            answer = f"{shortened(row['truth'], 18)}, not {shortened(row['prediction'], 18)}"
            lines.append(
                f"  {row['where']:>10}  {shortened(row['input'], 20):20}  {answer:41}"[:70].rstrip()
                + f" {row['loss']:.3g}"
            )
    return "\n".join(lines)


def described(model: FileModel, found: Evaluation) -> dict[str, Any]:
    """Return the evaluation for JSON."""
    rows, worst = found.rows(), found.worst(model.schema.inputs)
    return {"pairs": len(found.records), "loss": found.loss, "methods": rows, "scores": found.further(), "worst": worst}
