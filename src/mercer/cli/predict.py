"""The command ``mercer predict``: answers to the inputs of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mercer.cli.answers import Question, answered
from mercer.cli.console import Say, Stopped, check_output, noted
from mercer.cli.fit import read_candidates
from mercer.decoders import EachOf
from mercer.io.file_model import FileModel, at_rows
from mercer.io.records import ReadOptions, Records, read, report_bad
from mercer.io.writers import opened_writer, written_format
from mercer.report.progress import tracked
from mercer.saving import load

CHUNK = 64  # records answered at a time; at most these are lost when a run is stopped


def loaded(path: Path) -> FileModel:
    """Load a model that was written by ``mercer fit``."""
    model = load(path)
    if not isinstance(model, FileModel):
        raise ValueError(f"{path} holds a {type(model).__name__}; expected a model written by mercer fit")
    return model


def read_for(  # noqa: PLR0913
    model: FileModel,
    path: str,
    header: bool | None = None,
    form: str | None = None,
    with_outputs: bool = False,
    masks: str | None = None,
) -> Records:
    """Read a file with the settings of a model; its columns get the names of training."""
    schema, settings = model.schema, model.settings
    names = tuple(schema.inputs) if schema.header else ()
    curve, grids = tuple(settings.get("curve", ())), settings.get("grids", {})
    form = form or settings.get("form")
    masks = masks or (settings.get("masks") if with_outputs else None)
    found = read(path, ReadOptions(header, names, masks, curve, grids), form)
    return schema.placed(found, path)


def predict(  # noqa: PLR0913
    model: Path,
    inputs: str,
    question: Question,
    tell: Say,
    *,
    output: Path | None = None,
    candidates: str | None = None,
    ppm: float | None = None,
    as_json: bool = False,
    header: bool | None = None,
    form: str | None = None,
) -> int:
    """Answer every record of a file; return the number of records that could not be used. Answers already written are kept."""
    found = loaded(model)
    form = form or found.settings.get("form")
    written = "jsonl" if as_json else written_format(output, inputs, form)
    pictures = output is not None and output.suffix == "" and _has_pictures(found)
    if output is not None and not (pictures and output.is_dir()):
        check_output(output, "the answers", model, inputs)
    question.check(found)
    with noted(tell):
        records = read_for(found, inputs, header, form)
    choices = None if candidates is None else read_candidates(found, candidates, tell)
    X, kept, bad = found.inputs_of(records)
    bad = [*records.bad, *bad]
    if len(kept) == 0:
        report_bad(inputs, bad, skip=False)
        raise ValueError(f"{inputs} has no {records.unit} to answer")
    sets: Any = choices
    if ppm is not None:
        from mercer.io.spectra import within_ppm

        sets = within_ppm(kept, found.schema.inputs[0], choices, ppm)
    if output is not None and pictures:
        return _write_pictures(found, X, kept, output, tell) + len(bad)
    chunks = [np.arange(start, min(start + CHUNK, len(kept))) for start in range(0, len(kept), CHUNK)]
    done, named = 0, found.schema.header or written not in ("tsv", "csv")
    scale = found.doubt_scale(EachOf([]) if ppm is not None else choices)  # once for all chunks
    with opened_writer(output, written, named) as writer, tracked("predict", len(chunks)) as begin, noted(tell):
        try:
            for rows in chunks:
                begin(kept.where(int(rows[0])))
                part = [sets[i] for i in rows] if ppm is not None else sets
                answers = answered(found, at_rows(X, rows), kept.kept(rows.tolist()), question, part, scale)
                writer.write(_long(found, list(answers)))
                done += len(rows)
        except KeyboardInterrupt:
            where = "printed" if output is None else f"in {output}"
            raise Stopped(f"stopped; the answers to {done} of {len(kept)} {records.unit}s are {where}") from None
    left_out = report_bad(inputs, bad, skip=True)
    if left_out:
        tell(left_out)
    return len(bad)


def _long(model: FileModel, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of curves, one for each position."""
    if not model.settings.get("curve"):
        return rows
    from mercer.io.curves import scattered

    grid = model.settings["grids"].get(model.schema.outputs[0])
    return scattered(rows, tuple(model.settings["curve"]), grid)


def _has_pictures(model: FileModel) -> bool:
    return getattr(model.estimator, "kinds_", {}).get("outputs") == "images"


def _write_pictures(model: FileModel, X: Any, records: Records, output: Path, tell: Say) -> int:
    from mercer.io.images import write_images

    files = write_images(output, records.columns["file"], model.estimator.predict(X))
    tell(f"wrote {files} pictures to {output}")
    return 0
