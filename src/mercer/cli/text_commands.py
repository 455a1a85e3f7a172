"""The commands ``mercer fit`` and ``mercer predict``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mercer.cli.presets import FitOptions
from mercer.core.files import naming_file
from mercer.io.lines import BadLine, Line, printable, read_inputs, read_pairs
from mercer.io.text_model import TextModel
from mercer.report.progress import tracked
from mercer.saving import load, require_skops, save

CHUNK = 64  # lines predicted at a time; at most these are lost when a run is stopped
_SHOWN = 5  # bad lines that are listed
_PAIRS_PER_CLASS = 20  # pairs per distinct output from which outputs look like classes

Say = Callable[[str], None]


class Stopped(Exception):
    """The user stopped a run; the message says what was kept."""


def fit(pairs: str | Path, output: Path, options: FitOptions, say: Say = print) -> Path:
    """Learn from a file of two columns and save the model; the output is written in full or not at all."""
    model = options.model()
    _check_output(output, "the model", pairs)
    require_skops()
    with tracked("fit", 3) as begin, _notes(say):
        begin("reading")
        lines, bad = read_pairs(pairs)
        _report_bad(pairs, bad, options.skip_bad, say)
        if len(lines) < 2:
            raise ValueError(f"{pairs} has {len(lines)} usable lines; expected at least two pairs to learn from")
        inputs, outputs = ([line.columns[side] for line in lines] for side in (0, 1))
        distinct = len(set(outputs))
        if options.preset == "strings" and distinct * _PAIRS_PER_CLASS <= len(lines):
            say(f"note: the second column has only {distinct} different texts; --preset labels takes them as classes")
        begin("learning")
        try:
            model.fit(inputs, outputs)
        except KeyboardInterrupt:
            raise Stopped("stopped while learning; no model was written") from None
        begin("saving")
        save(model, output)
    for sentence in _summary(model):
        say(sentence)
    return output


def predict(
    model: Path, inputs: str | Path, *, top_k: int | None = None, output: Path | None = None, say: Say = print
) -> int:
    """Answer every line of a file as they are read; return the number of lines that could not be used.

    Without `top_k` each answer is a line ``input, answer``; with it there are up to `top_k` lines ``input, rank, answer,
    score``, where a higher score is better. Columns are separated by tabs. Answers already written are kept.
    """
    if top_k is not None and top_k < 1:
        raise ValueError(f"--top-k {top_k}; expected a whole number from 1")
    if output is not None:
        _check_output(output, "the answers", model, inputs)
    text = load(model)
    if not isinstance(text, TextModel):
        raise ValueError(f"{model} holds a {type(text).__name__}; expected a model written by mercer fit")
    lines, bad = read_inputs(inputs)
    chunks = [lines[start : start + CHUNK] for start in range(0, len(lines), CHUNK)]
    done = 0
    with _opened(output) as file, tracked("predict", len(chunks)) as begin, _notes(say):
        try:
            for chunk in chunks:
                begin(f"line {chunk[0].number}")
                answers = "".join(_answers(text, chunk, top_k))
                file.write(printable(answers) if output is None and sys.stdout.isatty() else answers)
                file.flush()
                done += len(chunk)
        except KeyboardInterrupt:
            where = "printed" if output is None else f"in {output}"
            raise Stopped(f"stopped; the answers to {done} of {len(lines)} lines are {where}") from None
    if not lines:
        say(f"{inputs} has no line to answer; expected one input per line")
    _report_bad(inputs, bad, skip=True, say=say)
    return len(bad)


def _answers(model: TextModel, chunk: list[Line], top_k: int | None) -> Iterator[str]:
    column = [line.columns[0] for line in chunk]
    if top_k is None:
        for text, answer in zip(column, model.predict(column), strict=True):
            yield f"{text}\t{answer}\n"
        return
    for text, ranked in zip(column, model.rank(column, top_k), strict=True):
        for rank, (answer, score) in enumerate(ranked, start=1):
            yield f"{text}\t{rank}\t{answer}\t{score:.6g}\n"


def _report_bad(path: str | Path, bad: list[BadLine], skip: bool, say: Say) -> None:
    more = [f"and {len(bad) - _SHOWN} more"] if len(bad) > _SHOWN else []
    listed = "; ".join([*map(str, bad[:_SHOWN]), *more])
    if bad and not skip:
        raise ValueError(f"{path}: {listed}. Correct them, or pass --skip-bad to leave them out")
    if bad:
        say(f"{path}: left out {listed}")


def _summary(model: TextModel) -> Iterator[str]:
    estimator = model.estimator
    yield f"learned from {model.pairs} pairs: {estimator!r}"
    if getattr(estimator, "alpha_", None) is not None:
        yield f"alpha {estimator.alpha_:.3g}"
    decoder = getattr(estimator, "decoder_", None)
    if decoder is not None:
        reason = getattr(estimator, "reasons_", {}).get("decoder")
        yield f"answers by {type(decoder).__name__}" + (f": {reason}" if reason else "")


def _check_output(output: Path, what: str, *read: str | Path) -> None:
    """Raise ValueError, before anything is computed, if `output` cannot be written or is one of the files read."""
    if output.is_dir():
        raise ValueError(f"--output {output} is a folder; expected a file for {what}")
    above = next(folder for folder in output.absolute().parents if folder.exists())
    if not above.is_dir():
        raise ValueError(f"--output {output}: {above.name} is a file; expected a folder to write {what} in")
    for path in map(Path, read):
        if output.exists() and path.exists() and output.samefile(path):
            raise ValueError(f"--output {output} is {path}, which is read; expected another file for {what}")


@contextmanager
def _opened(output: Path | None) -> Iterator[IO[str]]:
    if output is None:
        yield sys.stdout
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    with naming_file(output), output.open("w", encoding="utf-8", newline="\n") as file:
        yield file


@contextmanager
def _notes(say: Say) -> Iterator[None]:
    """Report warnings as plain lines, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"note: {message}")
