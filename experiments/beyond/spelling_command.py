"""Spelling by the command line: files, ``mercer fit``, ``predict --candidates`` and ``evaluate``, as a user types them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import mercer
from experiments.beyond.candidates import BAR, FULL, SPELLING, task
from experiments.beyond.candidates import SMALL as SMALL_SIZES
from experiments.experiment import Experiment, Outcome, Piece, mean_row
from mercer.cli import main as command
from mercer.cli.answers import DOUBTFUL

STRANGE = "xyzzy"
"""A word unlike all others."""
EFFORTS = ("fast", "balanced")
FEW = (4, 8, 20, 100)
"""Further numbers of training pairs."""
RIGHT, MARKED = "top-1, %", "marked, %"
WRONG_MARKED, WRONG_OTHERS = "wrong of the marked, %", "wrong of the others, %"
AMONG, WITHOUT = f"{STRANGE} marked, with candidates", f"{STRANGE} marked, without candidates"


class SpellingCommand(Experiment):
    """500 typos by ``mercer``, from a few and from 800 training pairs."""

    name = "spelling-command"
    title = "Spelling by the command line"
    source = "Not from the papers: the misspelt words of the experiment `candidates`, as files."
    protocol = (
        "The spelling task of `candidates` (Dutch words with one random edit; 800 training pairs, 500 test words, 5000 words to "
        "choose from, none of them trained on) is written to files. Each command runs in a process of its own: mercer fit "
        "pairs.tsv --effort EFFORT -o model; mercer predict model typos.tsv --candidates words.txt; mercer evaluate model "
        f"test.tsv --candidates words.txt, whose share of right answers must be the same. The word {STRANGE} is asked as well, "
        "with candidates and without. Fewer training pairs are the first of the 800, by the default effort."
    )
    digits = 1
    best = "max"
    senses = {**Experiment.senses, "wrong": "min"}
    without_best = (MARKED, WRONG_MARKED, STRANGE)

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each effort, and for each smaller number of pairs."""
        if small:
            return [Piece("60", {"pairs": 60, "effort": "fast", "small": True})]
        cases = [(FULL[SPELLING][0], effort) for effort in EFFORTS] + [(few, EFFORTS[1]) for few in FEW]
        return [
            Piece(f"{pairs}-{effort}", {"pairs": pairs, "effort": effort, "small": False}) for pairs, effort in cases
        ]

    def parameters(self, small: bool) -> dict[str, Any]:
        """Return the sizes."""
        return {"sizes": (SMALL_SIZES if small else FULL)[SPELLING], "few": FEW}

    def code(self, piece: Piece) -> Sequence[Path]:
        """Return this file and the command."""
        return [*super().code(piece), Path(command.__file__)]

    def run(self, piece: Piece) -> Outcome:
        """Write the files and run the commands."""
        pairs, effort, small = (piece.settings[key] for key in ("pairs", "effort", "small"))
        words = task(SPELLING, small)
        with TemporaryDirectory() as folder:
            home = Path(folder)
            _write(home / "pairs.tsv", "typo\tword", zip(words.X[:pairs], words.y[:pairs], strict=True))
            _write(home / "test.tsv", "typo\tword", zip(words.queries, words.truth, strict=True))
            _write(home / "typos.tsv", "typo", [(typo,) for typo in [*words.queries, STRANGE]])
            _write(home / "strange.tsv", "typo", [(STRANGE,)])
            _write(home / "words.txt", "word", [(word,) for word in words.candidates])
            choice = ("--candidates", "words.txt")
            mercer_command(home, "fit", "pairs.tsv", "--effort", effort, "-o", "model")
            mercer_command(home, "predict", "model", "typos.tsv", *choice, "-o", "answers.csv")
            scores = json.loads(mercer_command(home, "evaluate", "model", "test.tsv", *choice, "--json"))["scores"]
            alone = json.loads(mercer_command(home, "predict", "model", "strange.tsv", "--json"))
            with (home / "answers.csv").open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
        marked = [int(row["mark"] == DOUBTFUL) for row in rows]
        hits = [int(row["prediction"] == right) for row, right in zip(rows[:-1], words.truth, strict=True)]
        if abs(float(np.mean(hits)) - scores["exactly right"]) > 1e-9:
            raise ValueError(f"mercer predict is right {np.mean(hits)} of the time, mercer evaluate says {scores}")
        strange = [marked[-1], int(alone["mark"] == DOUBTFUL)]
        return {**piece.settings, "hits": hits, "marked": marked[:-1], "strange": strange}

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return the right answers, the marked ones, and who of them is wrong."""
        rows = []
        for outcome in outcomes:
            hits, marked = np.asarray(outcome["hits"]), np.asarray(outcome["marked"], dtype=bool)
            found = {RIGHT: hits, MARKED: marked, WRONG_MARKED: 1 - hits[marked], WRONG_OTHERS: 1 - hits[~marked]}
            method, pairs = f"mercer fit --effort {outcome['effort']}", outcome["pairs"]
            rows += [
                mean_row(100.0 * values, method, metric, pairs=pairs) for metric, values in found.items() if len(values)
            ]
            rows += [
                mean_row([float(mark)], method, metric, pairs=pairs)
                for metric, mark in zip((AMONG, WITHOUT), outcome["strange"], strict=True)
            ]
        return rows

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Compare the right answers with their bar, and say where the strange word is marked."""
        most = max(row["pairs"] for row in rows)
        right = {row["method"]: row["value"] for row in rows if row["metric"] == RIGHT and row["pairs"] == most}
        told = [
            f"{method}, {most} pairs: {value:.1f} % ({'meets' if value >= BAR else 'misses'} {BAR:.0f} %)."
            for method, value in right.items()
        ]
        strange = [row for row in rows if row["metric"].startswith(STRANGE)]
        missed = [f"{row['pairs']} pairs ({row['metric']})" for row in strange if not row["value"]]
        return [*told, f"{STRANGE} is not marked: {', '.join(missed)}." if missed else f"{STRANGE} is always marked."]


def mercer_command(folder: Path, *words: str) -> str:
    """Run ``mercer`` in a folder, in a process of its own; return what it prints."""
    paths = [str(Path(mercer.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUTF8": "1"}
    call = [sys.executable, "-m", "mercer", *words]
    done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        raise ValueError(f"mercer {' '.join(words)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def _write(path: Path, head: str, rows: Any) -> None:
    path.write_text("\n".join([head, *("\t".join(row) for row in rows)]) + "\n", encoding="utf-8")
