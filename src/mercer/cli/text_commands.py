"""``mercer fit`` and ``mercer predict`` from end to end."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mercer.cli.kernel_names import parse_kernel
from mercer.cli.presets import PRESETS, Choices
from mercer.io.text_model import SIDES, TextModel
from mercer.io.lines import BadLine, Line, read_inputs, read_pairs
from mercer.losses import EditDistance, Loss, ZeroOne
from mercer.report.progress import tracked
from mercer.saving import load, save

LOSSES: dict[str, Loss | str] = {"edit": EditDistance(), "zero-one": ZeroOne(), "kernel": "kernel"}
"""The losses there are a name for."""

CHUNK = 64
"""Lines predicted at a time: what is lost at most when a run is stopped."""

_SHOWN = 5
"""Bad lines that are named one by one."""

_FEW = 20
"""Pairs for each distinct output from which outputs are taken to be classes."""

Say = Callable[[str], None]


class Stopped(Exception):
    """A run was stopped by the user; what it says is what was kept."""


def fit(
    pairs: str | Path,
    output: Path,
    *,
    preset: str = "strings",
    input_kernel: str | None = None,
    output_kernel: str | None = None,
    alpha: str | None = None,
    loss: str | None = None,
    rank: int | None = None,
    tokens: str | None = None,
    skip_bad: bool = False,
    say: Say = print,
) -> Path:
    """Learn from a file of two columns and save the model; the file that is written is there in full or not at all."""
    model = TextModel(_estimator(preset, input_kernel, output_kernel, alpha, loss, rank), _sides(tokens), preset)
    _require_file(output, "the model", pairs)
    with tracked("fit", 3) as begin, _notes(say):
        begin("reading")
        lines, bad = read_pairs(pairs)
        _mind_bad(pairs, bad, skip_bad, say)
        if len(lines) < 2:
            raise ValueError(f"{pairs} has {len(lines)} usable lines; expected at least two pairs to learn from")
        columns = [line.columns[0] for line in lines], [line.columns[1] for line in lines]
        if preset == "strings" and len(set(columns[1])) * _FEW <= len(lines):
            say(
                f"note: the second column has only {len(set(columns[1]))} different texts; --preset labels takes them as classes "
                "and answers with nothing else"
            )
        begin("learning")
        try:
            model.fit(*columns)
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
    """Answer every line of a file, written as they are found; how many lines could not be used.

    Without `top_k` each answer is a line ``input, answer``; with it there are up to `top_k` lines ``input, rank, answer,
    score``, a higher score being better. Columns have tabs between them. What was answered stays, whatever comes after.
    """
    if top_k is not None and top_k < 1:
        raise ValueError(f"--top-k {top_k}; expected a whole number from 1")
    if output is not None:
        _require_file(output, "the answers", model, inputs)
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
                file.write("".join(_answers(text, chunk, top_k)))
                file.flush()
                done += len(chunk)
        except KeyboardInterrupt:
            where = "printed" if output is None else f"in {output}"
            raise Stopped(f"stopped; the answers to {done} of {len(lines)} lines are {where}") from None
    if not lines:
        say(f"{inputs} has no line to answer; expected one input per line")
    for line in bad[:_SHOWN]:
        say(f"{inputs}: {line}; left out")
    if len(bad) > _SHOWN:
        say(f"{inputs}: and {len(bad) - _SHOWN} more lines left out")
    return len(bad)


def _answers(model: TextModel, chunk: list[Line], top_k: int | None) -> Iterator[str]:
    column = [line.columns[0] for line in chunk]
    if top_k is None:
        for text, answer in zip(column, model.predict(column), strict=True):
            yield f"{text}\t{answer}\n"
        return
    for text, found in zip(column, model.rank(column, top_k), strict=True):
        for place, (answer, score) in enumerate(found, start=1):
            yield f"{text}\t{place}\t{answer}\t{score:.6g}\n"


def _estimator(
    preset: str,
    input_kernel: str | None,
    output_kernel: str | None,
    alpha: str | None,
    loss: str | None,
    rank: int | None,
) -> object:
    if preset not in PRESETS:
        raise ValueError(f"--preset {preset!r}; expected one of {', '.join(PRESETS)}")
    if loss is not None and loss not in LOSSES:
        raise ValueError(f"--loss {loss!r}; expected one of {', '.join(LOSSES)}")
    if rank is not None and rank < 1:
        raise ValueError(f"--rank {rank}; expected a whole number from 1")
    choices = Choices(
        None if input_kernel is None else parse_kernel(input_kernel),
        None if output_kernel is None else parse_kernel(output_kernel),
        None if alpha is None else _ridge(alpha),
        None if loss is None else LOSSES[loss],
        rank,
    )
    return PRESETS[preset].estimator(preset, choices)


def _ridge(alpha: str) -> float | str:
    if alpha in ("loo", "gcv", "kfold"):
        return alpha
    try:
        value = float(alpha)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise ValueError(f"--alpha {alpha!r}; expected a number above 0, or loo, gcv or kfold to choose one")
    return value


def _sides(tokens: str | None) -> list[str]:
    if tokens is None:
        return []
    if tokens not in (*SIDES, "both"):
        raise ValueError(f"--tokens {tokens!r}; expected input, output or both")
    return list(SIDES) if tokens == "both" else [tokens]


def _mind_bad(path: str | Path, bad: list[BadLine], skip: bool, say: Say) -> None:
    if not bad:
        return
    named = "; ".join(map(str, bad[:_SHOWN])) + (f"; and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else "")
    if not skip:
        raise ValueError(f"{path}: {named}. Mend them, or pass --skip-bad to leave them out")
    say(f"{path}: left out {named}")


def _summary(model: TextModel) -> Iterator[str]:
    estimator = model.estimator
    yield f"learned from {model.pairs} pairs: {estimator!r}"
    if getattr(estimator, "alpha_", None) is not None:
        yield f"ridge {estimator.alpha_:.3g}"
    decoder = getattr(estimator, "decoder_", None)
    if decoder is not None:
        reason = getattr(estimator, "reasons_", {}).get("decoder")
        yield f"answers by {type(decoder).__name__}" + (f": {reason}" if reason else "")


def _require_file(output: Path, what: str, *read: str | Path) -> None:
    """Refuse, before anything is computed, an output that cannot be written or would overwrite what is read."""
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
    with output.open("w", encoding="utf-8", newline="\n") as file:
        yield file


@contextmanager
def _notes(say: Say) -> Iterator[None]:
    """Warnings as plain lines, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"note: {message}")
