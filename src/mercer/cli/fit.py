"""The command ``mercer fit``: from a file to a saved model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mercer.cli.console import Say, Stopped, check_output, noted, shortened
from mercer.cli.presets import FitOptions
from mercer.io.cells import parsed
from mercer.io.file_model import FileModel
from mercer.io.records import ReadOptions, Records, read, report_bad
from mercer.io.schema import SETS, Asked, Schema
from mercer.io.types import hint
from mercer.report.progress import tracked
from mercer.saving import require_skops, save
from mercer.uncertainty.doubt_scale import FEWEST

_OFTEN = 4  # labels occur so often on average, and one cell in so many holds several
_SHOWN = 5  # rows of the leaderboard that are told


@dataclass(frozen=True)
class Source:
    """A file and the columns to learn from, as they were typed."""

    path: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    groups: str | None = None
    types: dict[str, str] = field(default_factory=dict)
    form: str | None = None
    header: bool | None = None
    masks: str | None = None
    curve: tuple[str, ...] = ()
    skip_bad: bool = False

    def asked(self, options: FitOptions) -> Asked:
        """Return the columns and kinds that were named."""
        return Asked(self.inputs, self.outputs, self.groups, self.types, *options.kinds())

    def read(self) -> Records:
        """Read the file."""
        names = tuple(part for name in (*self.inputs, *self.outputs) for part in name.split(",") if not part.isdigit())
        return read(self.path, ReadOptions(self.header, names, self.masks, self.curve), self.form)


def fit(source: Source, output: Path, options: FitOptions, tell: Say, candidates: str | None = None) -> FileModel:
    """Learn from a file and save the model; the output is written in full or not at all."""
    estimator = options.estimator()
    check_output(output, "the model", source.path)
    require_skops()
    with tracked("fit", 3) as begin, noted(tell):
        begin("reading")
        model, (X, y, groups) = prepared(source, estimator, options, tell)
        extra = None if candidates is None else read_candidates(model, candidates, tell)
        begin(f"learning from {len(X)} pairs")
        try:
            model.fit(X, y, groups, extra)
        except KeyboardInterrupt:
            raise Stopped("stopped while learning; no model was written") from None
        except TypeError as error:  # of the data: the options were checked before
            raise ValueError(str(error)) from error
        begin("saving")
        save(model, output)
    for sentence in summary(model):
        tell(sentence)
    return model


def prepared(source: Source, estimator: Any, options: FitOptions, tell: Say) -> tuple[FileModel, tuple[Any, Any, Any]]:
    """Read the pairs of a file; return a model that is not fitted, and its X, y and groups."""
    records = source.read()
    asked = source.asked(options)
    if options.of_text:
        first = Schema.of(records, asked, source.path)
        texts = dict.fromkeys((*first.inputs, *first.outputs), "text")
        asked = Asked(asked.inputs, asked.outputs, asked.groups, texts | asked.types, *options.kinds())
    schema = Schema.of(records, asked, source.path)
    for note in (*records.notes, schema.described, *_about_text(schema, records), *_about_sets(asked, schema, records)):
        tell(note)
    settings = {
        "form": source.form,
        "masks": source.masks,
        "curve": source.curve,
        "groups": source.groups,
        "grids": records.grids,
    }
    model = FileModel(estimator, schema, source=Path(source.path).name, settings=settings)
    X, y, kept, bad = model.pairs_of(records)
    left_out = report_bad(source.path, [*records.bad, *bad], source.skip_bad)
    if left_out:
        tell(left_out)
    if len(kept) < 2:
        raise ValueError(
            f"{source.path} has {len(kept)} usable {records.unit}s; expected at least two pairs to learn from"
        )
    if schema.input_kind != "auto" and hasattr(estimator, "inputs"):
        estimator.set_params(inputs=schema.input_kind)
    if schema.output_kind != "auto" and hasattr(estimator, "outputs"):
        estimator.set_params(outputs=schema.output_kind)
    groups = None if source.groups is None else np.asarray(kept.columns[source.groups], dtype=object)
    return model, (X, y, groups)


def _about_sets(asked: Asked, schema: Schema, records: Records) -> Iterator[str]:
    """Yield a sentence about each column that was taken for sets, or may hold some."""
    sides = [("input", asked.input_kind, schema.input_kind, schema.inputs)]
    sides += [("output", asked.output_kind, schema.output_kind, schema.outputs)]
    for side, wanted, kind, names in sides:
        if wanted == "auto" and kind in SETS:
            yield f"{names[0]} holds lists without repetition, taken for {kind}; --{side}-kind sequences if their order matters"
    texts = [value for value in records.columns[schema.outputs[0]] if type(value) is str]
    if schema.output_kind == "auto" and texts and _hold_labels(texts):
        yield f"{schema.outputs[0]} is text with separators; --output-kind 'label sets' if they separate labels"


def _hold_labels(texts: list[str]) -> bool:
    """True if a quarter of the cells hold several labels, and these occur four times on average."""
    parts = [parsed(text, "label sets") for text in texts]
    several = sum(len(labels) > 1 for labels in parts)
    names = {label for labels in parts for label in labels}
    return _OFTEN * several > len(texts) and _OFTEN * len(names) <= sum(map(len, parts))


def _about_text(schema: Schema, records: Records) -> Iterator[str]:
    """Yield a sentence about each column of text whose cells look like something else."""
    for name in (*schema.inputs, *schema.outputs):
        looks_like = hint(records.columns[name]) if schema.types[name] == "text" else None
        if looks_like:
            yield f"{name} is taken for text; its cells look like {looks_like}"


def read_candidates(model: FileModel, path: str, tell: Say) -> Any:
    """Read a file of outputs to choose from, each once: the column of the output, or else the first one."""
    name = model.schema.outputs[0]
    records = read(path, ReadOptions(names=(name,)))
    if name not in records.columns:
        column = next(iter(records.inputs or records.columns))
        records.columns = {name: records.columns[column]}
    if len(model.schema.outputs) > 1:
        raise ValueError("--candidates needs one output column, and the model has several")
    values, bad = model.schema.read_outputs(records)
    left_out = report_bad(path, [*records.bad, *(bad[i] for i in sorted(bad))], skip=True)
    if left_out:
        tell(left_out)
    kept = [value for i, value in enumerate(values[name]) if i not in bad]
    if all(isinstance(value, str | tuple | frozenset) for value in kept):
        kept = list(dict.fromkeys(kept))  # a set of answers does not hold one of them twice
    if not kept:
        raise ValueError(f"{path} holds no candidates; expected one output per {records.unit}")
    return model.schema.as_outputs({name: kept})


def summary(model: FileModel) -> Iterator[str]:
    """Yield sentences about what was learned."""
    estimator = model.estimator
    kinds = getattr(estimator, "kinds_", None)
    if kinds is None:
        yield f"learned from {model.pairs} pairs: {estimator!r}"
        if getattr(estimator, "alpha_", None) is not None:
            yield f"alpha {estimator.alpha_:.3g}"
        decoder = getattr(estimator, "decoder_", None)
        if decoder is not None:
            reason = getattr(estimator, "reasons_", {}).get("decoder")
            yield f"answers by {type(decoder).__name__}" + (f": {reason}" if reason else "")
        return
    yield f"learned from {model.pairs} pairs: {kinds['inputs']} to {kinds['outputs']}"
    told = reasons(model)
    for side in ("inputs", "outputs"):
        yield f"{side} taken for {kinds[side]}: {told[side]}"
    why = repr(estimator.loss_) if told["loss"] == "given" else told["loss"]
    yield f"left-out loss {estimator.left_out_loss_:.4g}: {why}"
    if model.pairs < FEWEST:
        yield from few_pairs(model.pairs)
    for row in [entry for entry in estimator.leaderboard_ if entry.weight > 0.005][:_SHOWN]:
        yield f"  {row.weight:4.0%}  {shortened(f'{row.learner} {row.kernel}', 46):46}  loss {row.loss:.4g}"
    if "model" in told:
        yield told["model"]


def few_pairs(n: int) -> Iterator[str]:
    """Yield sentences about a loss that was measured on few pairs."""
    yield f"{n} pairs are few: this loss is the mean of {n} answers, each by a model of the other {n - 1}"
    yield f"add pairs: an output that occurs once is unknown when it is left out, and doubts are learned from {FEWEST} pairs on"


def reasons(model: FileModel) -> dict[str, str]:
    """Return the reasons of an estimator, in the words of the command line."""
    found = {name: reason for name, reason in getattr(model.estimator, "reasons_", {}).items() if reason}
    for side, names in (("inputs", model.schema.inputs), ("outputs", model.schema.outputs)):
        if found.get(side, "").startswith(f"{side}="):
            found[side] = ", ".join(f"{name} ({model.schema.types[name]})" for name in names)
        elif side in found:
            found[side] = found[side].replace(f"{side}=", f"--{side[:-1]}-kind ")
    return found


def described(model: FileModel, output: Path) -> dict[str, Any]:
    """Return what was learned, for JSON."""
    estimator, schema = model.estimator, model.schema
    found: dict[str, Any] = {
        "model": str(output),
        "pairs": model.pairs,
        "inputs": schema.inputs,
        "outputs": schema.outputs,
    }
    found |= {"types": schema.types, "kinds": getattr(estimator, "kinds_", None)}
    if hasattr(estimator, "leaderboard_"):
        found |= {"left_out_loss": estimator.left_out_loss_, "reasons": estimator.reasons_}
        found["leaderboard"] = estimator.leaderboard_.to_dicts()
    return found
