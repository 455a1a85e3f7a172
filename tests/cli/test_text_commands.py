"""mercer fit and mercer predict: two columns in, answers out, and every way a file can be wrong."""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer.cli import predict as predict_command
from mercer.cli.fit import Source, fit
from mercer.cli.main import main
from mercer.cli.presets import FitOptions, parse_kernel
from mercer.io import lines
from mercer.io.file_model import FileModel
from mercer.kernels import Positions, Spectrum, Subsequence

RNG = np.random.default_rng(0)
WORDS = sorted({"".join(RNG.choice(list("abcd"), size=RNG.integers(4, 8))) for _ in range(90)})
TABLE = str.maketrans("abcd", "wxyz")
TRAIN, TEST = WORDS[::2], WORDS[1::2]


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{word}\t{word.translate(TABLE)}\n" for word in TRAIN), encoding="utf-8")
    return path


@pytest.fixture
def model(tmp_path, pairs):
    fit(Source(str(pairs)), tmp_path / "model", FitOptions(output_kernel="spectrum:3"), lambda sentence: None)
    return tmp_path / "model"


def test_a_header_with_other_names_is_not_taken_for_a_record_without_a_word(tmp_path, mercer_command):
    pairs, other = tmp_path / "pairs.tsv", tmp_path / "other.tsv"
    rows = "".join(f"{word}\t{word.translate(TABLE)}\n" for word in TRAIN)
    pairs.write_text(f"typo\tword\n{rows}", encoding="utf-8")
    other.write_text("a\tb\tc\nabcd\t\t\n", encoding="utf-8")
    assert mercer_command("fit", pairs, "-o", tmp_path / "model", "--preset", "strings")[0] == 0
    for command in ("predict", tmp_path / "model", pairs), ("predict", tmp_path / "model", other):
        status, _, err = mercer_command(*command)
        assert status == 0
        told = "has no column 'typo': columns are taken by position, and the first row for a record" in err
        assert told == (command[-1] is other)


def test_from_two_columns_to_answers_nobody_has_seen(tmp_path, pairs, mercer_command):
    status, out, err = mercer_command("fit", pairs, "-o", tmp_path / "model", "--output-kernel", "spectrum:3")
    assert (status, out) == (0, f"{tmp_path / 'model'}\n")
    assert f"learned from {len(TRAIN)} pairs" in err
    assert "answers by BeamSearch: Spectrum(length=3) adds up" in err
    inputs = tmp_path / "inputs.txt"
    inputs.write_text("\n".join(TEST))
    status, out, err = mercer_command("predict", tmp_path / "model", inputs)
    rows = [line.split("\t") for line in out.splitlines()]
    assert status == 0
    assert [row[0] for row in rows] == TEST
    right = [row[1] == row[0].translate(TABLE) for row in rows]
    assert np.mean(right) > 0.3
    assert np.mean([row[1] in {word.translate(TABLE) for word in TRAIN} for row in rows]) < 0.3


def test_the_best_few_come_with_rank_and_score(tmp_path, model, mercer_command):
    inputs, answers = tmp_path / "inputs.txt", tmp_path / "deep" / "answers.tsv"
    inputs.write_text("\n".join(TEST[:5]))
    status, out, _ = mercer_command("predict", model, inputs, "--top-k", 3, "--output", answers)
    assert (status, out) == (0, "")
    rows = [line.split("\t") for line in answers.read_text(encoding="utf-8").splitlines()]
    assert [(row[0], row[1]) for row in rows] == [(word, str(place)) for word in TEST[:5] for place in (1, 2, 3)]
    scores = np.asarray([float(row[3]) for row in rows]).reshape(5, 3)
    assert np.all(np.diff(scores, axis=1) <= 0)
    single = mercer_command("predict", model, inputs)[1].splitlines()
    assert [row[2] for row in rows[::3]] == [line.split("\t")[1] for line in single]


def test_few_pairs_are_owned_up_to(tmp_path, mercer_command):
    path, strange = tmp_path / "pairs.tsv", tmp_path / "strange.txt"
    path.write_text("recieve\treceive\nseperate\tseparate\nrecive\treceive\nseprate\tseparate\n")
    strange.write_text("recieve\nxyzzy\n")
    status, _, err = mercer_command("fit", path, "--effort", "fast", "-o", tmp_path / "m")
    assert status == 0
    assert "4 pairs are few: this loss is the mean of 4 answers, each by a model of the other 3" in err
    assert "doubts are learned from 20 pairs on" in err
    out = mercer_command("predict", tmp_path / "m", strange)[1]
    assert [line.split("\t")[-1] for line in out.splitlines()] == ["", "doubtful"]


def test_answers_are_utf8_whatever_the_encoding_of_the_system(tmp_path, monkeypatch):
    """Files and pipes get what the readers take; Windows would write them in another encoding."""
    (tmp_path / "pairs.tsv").write_text("a→b\tα→β\nb→a\tβ→α\na→a\tα→α\n", encoding="utf-8")
    fit(Source(str(tmp_path / "pairs.tsv")), tmp_path / "m", FitOptions(effort="fast"), lambda sentence: None)
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="cp1252"))
    monkeypatch.setattr(sys, "argv", ["mercer", "predict", str(tmp_path / "m"), str(tmp_path / "pairs.tsv")])
    with pytest.raises(SystemExit) as done:
        main()
    sys.stdout.flush()
    assert not done.value.code
    assert written.getvalue().decode("utf-8").startswith("a→b\t")


def test_bad_lines_are_named_by_number(tmp_path, mercer_command):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"ab\tcd\nno tab here\nab\t\na\tb\tc\n\xff\xfe\tx\n\tx\nx\0\ty\n" + b"bc\tde\n")
    status, out, err = mercer_command("fit", path, "-o", tmp_path / "model")
    assert (status, out) == (2, "")
    assert f"{path}: line 2: expected 2 columns, found 1 column; line 4" in err
    assert "and 1 more. Save the file as UTF-8 first" in err
    assert not (tmp_path / "model").exists()
    status, _, err = mercer_command("fit", path, "-o", tmp_path / "model", "--skip-bad", "--alpha", "0.1")
    assert status == 0
    assert "left out line 2: expected 2 columns" in err


def test_bad_inputs_are_left_out_and_the_rest_is_answered(tmp_path, model, mercer_command):
    inputs = tmp_path / "inputs.txt"
    inputs.write_bytes(TEST[0].encode() + b"\n\xff\n" + TEST[1].encode() + b"\n")
    status, out, err = mercer_command("predict", model, inputs)
    assert status == 1
    assert [line.split("\t")[0] for line in out.splitlines()] == TEST[:2]
    assert "left out line 2: not UTF-8: byte 0xff at position 1" in err


def test_tokens_are_words(tmp_path, mercer_command):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{word}\t{' '.join(letter.upper() * 2 for letter in word)}\n" for word in TRAIN))
    status, _, _ = mercer_command(
        "fit",
        path,
        "-o",
        tmp_path / "m",
        "--tokens",
        "output",
        "--output-kernel",
        "weighted-degree:2",
        "--alpha",
        "0.1",
    )
    assert status == 0
    assert isinstance(mercer.load(tmp_path / "m"), FileModel)
    inputs = tmp_path / "inputs.txt"
    inputs.write_text(TRAIN[0])
    answer = mercer_command("predict", tmp_path / "m", inputs)[1].rstrip("\n").split("\t")[1]
    assert set(answer.split(" ")) <= {"AA", "BB", "CC", "DD"}


@pytest.mark.parametrize("preset", ["labels", "neighbors"])
def test_other_presets(tmp_path, preset, mercer_command):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{word}\t{'first' if word[0] in 'ab' else 'second'}\n" for word in WORDS))
    assert mercer_command("fit", path, "-o", tmp_path / "m", "--preset", preset)[0] == 0
    inputs = tmp_path / "inputs.txt"
    inputs.write_text("\n".join(WORDS))
    answers = [line.split("\t")[1] for line in mercer_command("predict", tmp_path / "m", inputs)[1].splitlines()]
    if preset == "labels":
        assert set(answers) <= {"first", "second"}
    assert np.mean([(a == "first") == (w[0] in "ab") for a, w in zip(answers, WORDS, strict=True)]) > 0.6


def test_a_preset_of_aligned_sequences(tmp_path, mercer_command):
    path, inputs = tmp_path / "pairs.tsv", tmp_path / "inputs.txt"
    path.write_text("".join(f"{word}\t{' '.join(letter.upper() for letter in word)}\n" for word in TRAIN))
    inputs.write_text("\n".join(TEST[:6]))
    assert mercer_command("fit", path, "-o", tmp_path / "m", "--preset", "aligned", "--tokens", "output")[0] == 0
    out = mercer_command("predict", tmp_path / "m", inputs, "--top-k", 1)[1]
    assert [line.split("\t")[2] for line in out.splitlines()] == [" ".join(word.upper()) for word in TEST[:6]]
    assert (
        "takes no options"
        in mercer_command("fit", path, "-o", tmp_path / "m", "--preset", "aligned", "--alpha", "1")[2]
    )
    assert "a model of AlignedSequences has no losses" in mercer_command("evaluate", tmp_path / "m", path)[2]


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("spectrum:3", Spectrum(3)),
        ("spectrum:1-3", Spectrum((1, 3))),
        ("subsequence:3,0.5/normalized", Subsequence(3, 0.5).normalized()),
        ("positions", Positions()),
        ("spectrum:1 + spectrum:2/normalized", Spectrum(1) + Spectrum(2).normalized()),
    ],
)
def test_kernels_have_short_names(text, kernel):
    assert parse_kernel(text) == kernel


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--input-kernel", "spectra:3"), "'spectra' is not a kernel; expected one of spectrum"),
        (("--input-kernel", "spectrum:x"), "'x' is not a number"),
        (("--output-kernel", "spectrum:0"), "length=0 in Spectrum"),
        (("--output-kernel", "positions:3"), "too many parameters"),
        (("--preset", "magic"), "--preset 'magic'; expected one of auto, strings, aligned, labels, neighbors"),
        (("--preset", "neighbors", "--alpha", "1"), "--alpha has no effect with --preset neighbors"),
        (("--alpha", "-1"), "--alpha '-1'; expected a number above 0"),
        (("--loss", "hinge"), "--loss 'hinge'; expected one of zero-one"),
        (("--tokens", "all"), "--tokens 'all'; expected one of input, output, both"),
        (("--rank", "0"), "--rank 0"),
        (("--time-limit", "0"), "--time-limit 0; expected a number of seconds above zero"),
        (("--time-limit", "nan"), "--time-limit nan; expected a number of seconds above zero"),
    ],
)
def test_bad_options_get_one_line(tmp_path, pairs, mercer_command, arguments, message):
    status, out, err = mercer_command("fit", pairs, "-o", tmp_path / "model", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_files_that_are_not_there_or_too_large_or_no_models(tmp_path, pairs, model, mercer_command, monkeypatch):
    assert "no such file" in mercer_command("fit", tmp_path / "none", "-o", tmp_path / "m")[2]
    assert (
        "a folder; expected a text file" in mercer_command("fit", tmp_path, "-o", tmp_path / "m", "--format", "csv")[2]
    )
    assert "is a folder; expected a file" in mercer_command("fit", pairs, "-o", tmp_path)[2]
    assert "is not a saved model" in mercer_command("predict", pairs, pairs)[2]
    assert "--top-k 0" in mercer_command("predict", model, pairs, "--top-k", 0)[2]
    other = mercer.save(mercer.DependencyEstimator(alpha=0.1).fit([[0.0], [1.0]], [0.0, 1.0]), tmp_path / "other")
    assert "expected a model written by mercer fit" in mercer_command("predict", other, pairs)[2]
    (tmp_path / "one.tsv").write_text("a\tb\n")
    assert (
        "1 usable lines; expected at least two" in mercer_command("fit", tmp_path / "one.tsv", "-o", tmp_path / "m")[2]
    )
    monkeypatch.setattr(lines, "MOST_BYTES", 10)
    assert "expected a smaller file" in mercer_command("fit", pairs, "-o", tmp_path / "m")[2]


def test_what_is_read_is_not_overwritten(tmp_path, pairs, model, mercer_command):
    before = pairs.read_bytes(), model.read_bytes()
    assert "which is read; expected another file" in mercer_command("fit", pairs, "-o", pairs)[2]
    assert "which is read; expected another file" in mercer_command("predict", model, pairs, "-o", model)[2]
    assert "which is read; expected another file" in mercer_command("predict", model, pairs, "-o", pairs)[2]
    assert (pairs.read_bytes(), model.read_bytes()) == before
    assert "is a folder; expected a file for the answers" in mercer_command("predict", model, pairs, "-o", tmp_path)[2]
    for command in (("fit", pairs), ("predict", model, pairs)):
        assert f"{pairs.name} is a file; expected a folder" in mercer_command(*command, "-o", pairs / "deep" / "x")[2]


def test_a_file_without_inputs_is_told(tmp_path, model, mercer_command):
    (tmp_path / "blank.txt").write_text("\n  \n")
    code, out, err = mercer_command("predict", model, tmp_path / "blank.txt")
    assert (code, out) == (2, "")
    assert "blank.txt: the file is empty" in err


def test_what_was_answered_is_kept_when_a_run_is_stopped(tmp_path, model, mercer_command, monkeypatch):
    inputs, answers = tmp_path / "inputs.txt", tmp_path / "answers.tsv"
    inputs.write_text("\n".join(TEST))
    monkeypatch.setattr(predict_command, "CHUNK", 10)
    calls = []
    original = mercer.DependencyEstimator.predict

    def interrupted(self, X):
        calls.append(X)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(self, X)

    monkeypatch.setattr(mercer.DependencyEstimator, "predict", interrupted)
    status, _, err = mercer_command("predict", model, inputs, "--output", answers)
    assert status == 130
    assert f"the answers to 20 of {len(TEST)} lines are in" in err
    assert [line.split("\t")[0] for line in answers.read_text().splitlines()] == TEST[:20]


def test_standard_input(tmp_path, model):
    command = [sys.executable, "-m", "mercer", "predict", str(model)]
    text = "\n".join(TEST[:3]).encode()
    done = subprocess.run([*command, "-"], input=text, capture_output=True, check=True)
    assert [line.split("\t")[0] for line in done.stdout.decode().splitlines()] == TEST[:3]


def test_a_missing_package_is_named_before_anything_is_learned(tmp_path, pairs, model, mercer_command, monkeypatch):
    def refused(*arguments):
        raise AssertionError("nothing may be learned or answered")

    monkeypatch.setattr(mercer.AutoEstimator, "fit", refused)
    monkeypatch.setattr(mercer.DependencyEstimator, "predict", refused)
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    message = "mercer: saving and loading models needs skops; run 'pip install skops'\n"
    assert mercer_command("fit", pairs, "-o", tmp_path / "new") == (2, "", message)
    assert mercer_command("predict", model, pairs) == (2, "", message)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
def test_a_full_disk_names_the_file(pairs, model, mercer_command):
    for command in (("fit", pairs, "--alpha", "0.1"), ("predict", model, pairs)):
        status, _, err = mercer_command(*command, "-o", "/dev/full")
        assert status == 2
        assert "No space left on device: '/dev/full'" in err
