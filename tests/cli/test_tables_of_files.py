"""mercer fit, predict and evaluate on tables: formats, types, marks, and every way a file can be wrong."""

import csv
import datetime
import io
import json
import os

import numpy as np
import pytest

import mercer
from mercer.automatic.search import EFFORTS as EFFORT_OF
from mercer.cli.choices import EFFORTS, KERNELS, LOSSES, PRESETS
from mercer.cli.presets import LOSSES as LOSS_OF
from mercer.cli.presets import NAMES
from mercer.cli.presets import PRESETS as PRESET_OF

RNG = np.random.default_rng(0)
DAY = datetime.date(2000, 1, 1)


def houses(n=60, start=0):
    rng = np.random.default_rng(start)
    rows = []
    for i in range(n):
        area, rooms, city = (
            round(float(rng.uniform(20, 200)), 1),
            int(rng.integers(1, 6)),
            str(rng.choice(["A", "B", "C"])),
        )
        price = round(2 * area + 10 * rooms + 40 * (city == "B") + float(rng.normal()), 2)
        built = DAY + datetime.timedelta(days=int(rng.integers(5000)))
        row = {
            "area": area,
            "rooms": rooms,
            "city": city,
            "built": built,
            "garden": bool(rng.integers(2)),
            "price": price,
        }
        if i == 3:
            row["area"] = None
        if i == 4:
            row["city"] = None
        rows.append(row)
    return rows


def write(path, rows):
    """Write rows in the format of the suffix."""
    if path.suffix in (".csv", ".tsv"):
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows), encoding="utf-8")
    else:
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    from mercer.cli.fit import Source, fit
    from mercer.cli.presets import FitOptions

    folder = tmp_path_factory.mktemp("houses")
    source = Source(str(write(folder / "houses.csv", houses())), outputs=("price",))
    fit(source, folder / "model", FitOptions(effort="fast"), lambda sentence: None)
    return folder / "model"


def test_a_data_set_in_four_formats_gives_identical_predictions(tmp_path, fitted, mercer_command):
    test = write(tmp_path / "test.csv", houses(15, start=1))
    expected = mercer_command("predict", fitted, test)[1]
    for suffix in (".tsv", ".parquet", ".jsonl"):
        path = write(tmp_path / f"houses{suffix}", houses())
        code, _, err = mercer_command("fit", path, "--output", "price", "--effort", "fast", "-o", tmp_path / "m")
        assert code == 0
        assert (
            "learns price (number) from area (number), rooms (number), city (text), built (date), garden (category)"
            in err
        )
        assert mercer_command("predict", tmp_path / "m", test)[1] == expected
    answers = {}
    for suffix in (".tsv", ".parquet", ".jsonl"):
        out = tmp_path / f"answers{suffix}"
        new = write(tmp_path / f"test{suffix}", houses(15, start=1))
        assert mercer_command("predict", fitted, new, "-o", out)[0] == 0
        answers[suffix] = out
    wanted = [row["prediction"] for row in rows_of(expected)]
    assert [line.split("\t")[6] for line in answers[".tsv"].read_text().splitlines()[1:]] == wanted
    assert [str(json.loads(line)["prediction"]) for line in answers[".jsonl"].read_text().splitlines()] == wanted
    read = pytest.importorskip("pyarrow.parquet").read_table(answers[".parquet"])
    assert [str(value) for value in read.column("prediction").to_pylist()] == wanted
    assert read.column_names[:6] == ["area", "rooms", "city", "built", "garden", "price"]


def test_answers_have_intervals_doubts_and_reasons(tmp_path, fitted, mercer_command):
    odd = houses(20, start=2)
    odd[0]["area"], odd[0]["rooms"] = 90_000.0, 400
    test = write(tmp_path / "test.csv", odd)
    code, out, _ = mercer_command("predict", fitted, test, "--coverage", 0.9, "--explain")
    rows = rows_of(out)
    assert code == 0
    assert list(rows[0])[:6] == list(odd[0])
    assert rows[0]["mark"] == "doubtful"
    assert np.mean([row["mark"] == "doubtful" for row in rows[1:]]) < 0.3
    inside = [float(row["lower"]) <= float(row["price"]) <= float(row["upper"]) for row in rows[1:]]
    assert np.mean(inside) > 0.7
    assert all("-> " in row["because"] for row in rows)
    ranked = rows_of(mercer_command("predict", fitted, test, "--top-k", 2)[1])
    assert [row["rank"] for row in ranked] == ["1", "2"] * 20


def test_a_model_is_scored_beside_baselines(tmp_path, fitted, mercer_command):
    test = write(tmp_path / "test.csv", houses(30, start=3))
    code, out, _ = mercer_command("evaluate", fitted, test)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    found = json.loads(mercer_command("evaluate", fitted, test, "--json")[1])
    losses = {row["method"]: row["loss"] for row in found["methods"]}
    assert losses["this model"] < losses["k nearest neighbours"] < losses["constant"]
    assert found["scores"]["R2"] > 0.9
    for row in found["methods"]:
        assert row["low"] < row["loss"] < row["high"]
    assert [row["loss"] for row in found["worst"]] == sorted((row["loss"] for row in found["worst"]), reverse=True)
    model, truth = mercer.load(fitted), [row["price"] for row in houses(30, start=3)]
    rows = rows_of(mercer_command("predict", fitted, test)[1])
    own = model.estimator.losses(np.asarray(truth), np.asarray([float(row["prediction"]) for row in rows]))
    assert losses["this model"] == pytest.approx(own.mean())


def test_folds_are_left_out_in_turn(tmp_path, mercer_command):
    x = np.linspace(0, 6, 40)
    path = tmp_path / "sine.csv"
    path.write_text("x,y,g\n" + "".join(f"{a},{np.sin(a)},{i % 8}\n" for i, a in enumerate(x)))
    columns = ("--input", "x", "--output", "y", "--groups", "g")
    assert mercer_command("fit", path, *columns, "--effort", "fast", "-o", tmp_path / "m")[0] == 0
    found = json.loads(mercer_command("evaluate", tmp_path / "m", path, "--folds", 4, "--json")[1])
    losses = {row["method"]: row["loss"] for row in found["methods"]}
    assert 0 < losses["this model"] < losses["constant"]
    assert "--folds 1; expected 2 to 40" in mercer_command("evaluate", tmp_path / "m", path, "--folds", 1)[2]


def test_label_sets_in_cells_and_in_lists(tmp_path, mercer_command):
    words = [
        ("sun sea sand", {"beach", "warm"}),
        ("snow ice wind", {"cold"}),
        ("sun sand dune", {"warm"}),
        ("ice snow ski", {"cold", "sport"}),
    ] * 5
    csv_path, json_path = tmp_path / "tags.csv", tmp_path / "tags.jsonl"
    csv_path.write_text("text,tags\n" + "".join(f"{text},{';'.join(sorted(tags))}\n" for text, tags in words))
    json_path.write_text("".join(json.dumps({"text": text, "tags": sorted(tags)}) + "\n" for text, tags in words))
    outputs = []
    for path in (csv_path, json_path):
        arguments = ("--output-kind", "label sets", "--loss", "f1", "--effort", "fast", "-o", tmp_path / "m")
        assert mercer_command("fit", path, *arguments)[0] == 0
        outputs.append(rows_of(mercer_command("predict", tmp_path / "m", csv_path, "--coverage", 0.8)[1]))
    assert outputs[0] == outputs[1]
    assert outputs[0][0]["prediction"] == "beach;warm"
    assert "set_size" in outputs[0][0]


def test_lists_without_order_are_recognised(tmp_path, mercer_command):
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    labels = [["warm"] * bool(a > 0.5) + ["wet"] * bool(b > 0.5) + ["far"] * bool(a + b > 1.2) for a, b in X.tolist()]
    mixed = [rng.permutation(own).tolist() for own in labels]  # the order says nothing

    def lines(values):
        return "".join(
            json.dumps({"a": a, "b": b, "tags": own}) + "\n" for (a, b), own in zip(X.tolist(), values, strict=True)
        )

    (tmp_path / "tags.jsonl").write_text(lines(mixed))
    cells = "".join(f"{a},{b},{';'.join(own)}\n" for (a, b), own in zip(X.tolist(), labels, strict=True))
    (tmp_path / "tags.csv").write_text("a,b,tags\n" + cells)
    fit = ("--output", "tags", "--effort", "fast", "-o", tmp_path / "m")
    code, _, err = mercer_command("fit", tmp_path / "tags.jsonl", *fit)
    assert code == 0
    assert "tags holds lists without repetition, taken for label sets; --output-kind sequences" in err
    found = json.loads(mercer_command("evaluate", tmp_path / "m", tmp_path / "tags.jsonl", "--json")[1])
    assert found["loss"].startswith("F1")
    answers = mercer_command("predict", tmp_path / "m", tmp_path / "tags.jsonl")[1]
    # the same from cells of text, in which the empty one has no labels
    assert "--output-kind 'label sets' if they separate labels" in mercer_command("fit", tmp_path / "tags.csv", *fit)[2]
    assert mercer_command("fit", tmp_path / "tags.csv", *fit, "--output-kind", "label sets")[0] == 0
    again = mercer_command("predict", tmp_path / "m", tmp_path / "tags.jsonl")[1]
    both = [[json.loads(line)["prediction"] for line in out.splitlines()] for out in (answers, again)]
    assert both[0] == both[1]
    assert [] in both[0]
    # orders of the same labels, and lists that repeat, are sequences
    for other in (
        [rng.permutation(["x", "y", "z"]).tolist() for _ in X],
        [["x", "y", "x"][: 1 + i % 3] for i in range(60)],
    ):
        (tmp_path / "orders.jsonl").write_text(lines(other))
        assert "to sequences" in mercer_command("fit", tmp_path / "orders.jsonl", *fit)[2]


def test_columns_of_another_form_and_the_training_file_are_pointed_out(tmp_path, mercer_command):
    lines = [f"{i:02d}.0{1 + i % 9}.2025;{i},5;{('a, b', 'b', 'a, c', 'c, b')[i % 4]}" for i in range(1, 29)]
    path = tmp_path / "notes.csv"
    path.write_text("day;amount;tags\n" + "\n".join(lines) + "\n")
    _, _, err = mercer_command("fit", path, "--output", "tags", "--effort", "fast", "-o", tmp_path / "m")
    assert "day is taken for text; its cells look like dates; write them as 2025-07-31" in err
    assert "amount is taken for text; its cells look like numbers with a decimal comma; write 1.5" in err
    assert "tags is text with separators; --output-kind 'label sets'" in err
    assert "seems to be the training file" in mercer_command("evaluate", tmp_path / "m", path)[2]
    path.write_text("x,y\n" + "".join(f"{i},a sentence with a comma and number {i}\n" for i in range(20)))
    assert "separators" not in mercer_command("fit", path, "--output", "y", "--effort", "fast", "-o", tmp_path / "m")[2]


def test_several_outputs_and_columns_by_position(tmp_path, mercer_command):
    path = tmp_path / "two.csv"
    path.write_text("".join(f"{a},{a * a},{1 - a}\n" for a in np.linspace(0, 1, 20)))
    assert (
        mercer_command("fit", path, "--input", "1", "--output", "2,3", "--effort", "fast", "-o", tmp_path / "m")[0] == 0
    )
    (tmp_path / "new.csv").write_text("0.5\n")
    row = mercer_command("predict", tmp_path / "m", tmp_path / "new.csv", "--json")[1]
    found = json.loads(row)
    assert abs(found["prediction_c2"] - 0.25) < 0.05
    assert abs(found["prediction_c3"] - 0.5) < 0.05


def bad_table(kind):
    head, good = "a,b,y\n", "".join(f"{i},{i + 1},{2 * i}\n" for i in range(12))
    return {
        "empty": (b"", "the file is empty"),
        "header only": (head.encode(), "nothing follows"),
        "missing column": (("a,b,z\n" + good).encode(), "no column 'y'"),
        "ragged": ((head + good + "1,2\n").encode(), "line 14: expected 3 columns, found 2 columns"),
        "encoding": ((head + good).encode() + b"\xff,1,2\n", "line 14: not UTF-8: byte 0xff at position 1"),
        "carriage returns": ((head + good).replace("\n", "\r").encode(), "lines end with CR alone"),
        "long cell": (
            (head + good + "x" * 1_000_000 + ",1,2\n").encode(),
            "line 14, column 'a': a cell of 1000000 characters",
        ),
        "infinity": ((head + good + "inf,1,2\n").encode(), "line 14, column 'a': inf; expected a finite number"),
        "nan output": ((head + good + "1,1,NaN\n").encode(), "line 14, column 'y': an empty cell"),
        "a word": ((head + good + "1,1,many\n").encode(), "line 14, column 'y': 'many'; expected a number"),
        "same names": (("a,a,y\n" + good).encode(), "line 1, columns 1 and 2 are both called 'a'"),
        "open quote": ((head + good + '"1,1,2\n').encode(), "line 14: unexpected end of data"),
        "nameless": (("a,,y\n" + good).encode(), "line 1, column 2 has no name"),
    }[kind]


TABLES = [
    "empty", "header only", "missing column", "ragged", "encoding", "carriage returns", "long cell", "infinity", "nan output",
    "a word", "same names", "open quote", "nameless",
]  # fmt: skip


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_bad_tables_get_one_line_and_nothing_is_overwritten(tmp_path, mercer_command, kind, suffix):
    content, message = bad_table(kind)
    if suffix == ".tsv":
        if kind == "open quote":
            pytest.skip("quotes are letters in a file of tabs")
        content = content.replace(b",", b"\t")
    path, model = tmp_path / f"bad{suffix}", tmp_path / "model"
    path.write_bytes(content)
    model.write_text("kept")
    header = ("--header",) if kind in ("nameless", "same names") else ()
    code, out, err = mercer_command("fit", path, "--output", "y", "-o", model, "--effort", "fast", *header)
    assert (code, out, model.read_text()) == (2, "", "kept")
    assert message in err
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith(f"mercer: {path}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"[1, 2]\n", "line 1: holds a list; expected an object"),
        (b'{"x": 1, "x": 2}\n', "line 1: the column 'x' is there twice"),
        (b'{"x": 1, "y": Infinity}\n', "line 1: holds Infinity"),
        (b'{"x": 1, "y": {"z": 1}}\n', "line 1: column 'y' holds an object"),
        (b'{"x": 1, "y": 2}\n{"x": 1,\n{"x": 1, "y": 3}\n', "line 2: not JSON"),
        (b'{"x": 1, "y": 2}\n{"x": 1, "y": "' + b"z" * 1_000_000 + b'"}\n', "line 2, column 'y': a cell of 1000000"),
        (b'{"x": 1, "y": 2}\n{"x": 2}\n{"x": 3, "y": 1}\n', "line 2, column 'y': an empty cell"),
        (b'{"x": 1, "y": 2}\n{"x": NaN, "y": 2}\n\xff\n', "line 3: not UTF-8"),
        (b"[" * 100_000 + b"\n", "line 1"),
    ],
)
def test_bad_json_lines(tmp_path, mercer_command, content, message):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    code, out, err = mercer_command("fit", path, "--output", "y", "-o", tmp_path / "model", "--effort", "fast")
    assert (code, out) == (2, "")
    assert message in err
    assert not (tmp_path / "model").exists()


def test_bad_parquet_files(tmp_path, mercer_command):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "bad.parquet"
    for content, message in ((b"", "the file is empty"), (b"PAR1 nonsense", "is not a Parquet file, or is damaged")):
        path.write_bytes(content)
        code, _, err = mercer_command("fit", path, "--output", "y", "-o", tmp_path / "m")
        assert code == 2
        assert message in err
    parquet.write_table(
        pyarrow.table({"x": pyarrow.array([], pyarrow.float64()), "y": pyarrow.array([], pyarrow.float64())}), path
    )
    assert "0 rows" in mercer_command("fit", path, "--output", "y", "-o", tmp_path / "m")[2]
    parquet.write_table(pyarrow.Table.from_arrays([pyarrow.array([1.0, 2.0])] * 2, names=["x", "x"]), path)
    assert "two columns are called 'x'" in mercer_command("fit", path, "--output", "x", "-o", tmp_path / "m")[2]
    parquet.write_table(pyarrow.table({"x": [1.0, 2.0, 3.0], "y": [1.0, float("inf"), 2.0]}), path)
    assert "row 2, column 'y': inf" in mercer_command("fit", path, "--output", "y", "-o", tmp_path / "m")[2]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.parquet")
        assert (
            "a pipe or a device"
            in mercer_command("fit", tmp_path / "pipe.parquet", "--output", "y", "-o", tmp_path / "m")[2]
        )


def test_bad_rows_are_skipped_on_request_and_misspelt_columns_are_guessed(tmp_path, mercer_command):
    content, _ = bad_table("a word")
    (tmp_path / "bad.csv").write_bytes(content)
    arguments = ("fit", tmp_path / "bad.csv", "--effort", "fast", "-o", tmp_path / "m")
    code, _, err = mercer_command(*arguments, "--output", "y", "--skip-bad")
    assert code == 0
    assert "left out line 14, column 'y': 'many'" in err
    (tmp_path / "new.csv").write_text("a,b\n1,2\nmany,3\n4,5\n")
    code, out, err = mercer_command("predict", tmp_path / "m", tmp_path / "new.csv")
    assert code == 1
    assert [row["a"] for row in rows_of(out)] == ["1", "4"]
    assert "left out line 3, column 'a': 'many'; expected a number" in err
    assert "has no column 'yy' (did you mean 'y'?); it has a, b, y" in mercer_command(*arguments, "--output", "yy")[2]
    (tmp_path / "less.csv").write_text("a,c\n1,2\n")
    assert "has no column 'b'" in mercer_command("predict", tmp_path / "m", tmp_path / "less.csv")[2]
    assert "the column 'a' is input and output" in mercer_command(*arguments, "--input", "a", "--output", "a")[2]
    assert "--type a; expected COLUMN=TYPE" in mercer_command(*arguments, "--output", "y", "--type", "a")[2]
    assert "name those to learn from" in mercer_command(*arguments)[2]
    assert "the output 'y' is of text" in mercer_command(*arguments, "--output", "b,y", "--type", "y=text")[2]


def test_a_word_in_nonsense_is_doubtful(tmp_path, mercer_command):
    typos = ["recieve", "receeve", "recive", "seperate", "seprate", "separete", "definately", "definatly", "defintely"]
    words = 3 * ["receive"] + 3 * ["separate"] + 3 * ["definitely"]
    (tmp_path / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in zip(typos, words, strict=True)))
    (tmp_path / "new.txt").write_text("reciev\nxyzzy\n")
    assert mercer_command("fit", tmp_path / "pairs.tsv", "--effort", "fast", "-o", tmp_path / "m")[0] == 0
    rows = [
        line.split("\t") for line in mercer_command("predict", tmp_path / "m", tmp_path / "new.txt")[1].splitlines()
    ]
    assert rows[0][:2] == ["reciev", "receive"]
    assert [row[3] for row in rows] == ["", "doubtful"]
    (tmp_path / "words.txt").write_text("relieve\nreview\nseparate\nreceive\n")
    code, out, _ = mercer_command(
        "predict", tmp_path / "m", tmp_path / "new.txt", "--candidates", tmp_path / "words.txt", "--top-k", 2
    )
    assert code == 0
    assert out.splitlines()[0].split("\t")[:3] == ["reciev", "1", "receive"]


def test_help_shows_examples_and_choices(mercer_command):
    for command in ("fit", "predict", "evaluate", "report", "demo"):
        assert f"Example: mercer {command}" in " ".join(mercer_command(command, "--help")[1].split())
    words = " ".join(mercer_command("fit", "--help")[1].replace("│", " ").split())
    for name in (*LOSSES, *EFFORTS, *KERNELS, *PRESETS):
        assert name in words
    assert (set(LOSSES), set(KERNELS), set(EFFORTS)) == (set(LOSS_OF), set(NAMES), set(EFFORT_OF))
    assert set(PRESETS) == {"auto", *PRESET_OF}


def test_whole_numbers_have_the_scores_of_numbers(tmp_path, mercer_command):
    rows = [row | {"price": round(1000 * row["price"])} for row in houses(80)]
    train, test = write(tmp_path / "train.csv", rows[:60]), write(tmp_path / "test.csv", rows[60:])
    assert mercer_command("fit", train, "--output", "price", "--effort", "fast", "-o", tmp_path / "m")[0] == 0
    for more in ((), ("--folds", 3)):
        code, out, _ = mercer_command("evaluate", tmp_path / "m", test, *more)
        assert code == 0
        assert "RMSE" in out
        assert "exactly right" not in out
        assert "e+05" not in out


def test_a_candidate_that_is_listed_twice_is_one_answer(tmp_path, mercer_command):
    pairs = tmp_path / "pairs.csv"
    words = [first + vowel + last for first in "bdgm" for vowel in "aeiou" for last in "nlk"]
    pairs.write_text("word,form\n" + "".join(f"{word},{word}o\n" for word in words))
    (tmp_path / "forms.txt").write_text("bano\nbano\nbalo\nbano\nmuko\n")
    arguments = ("--preset", "strings", "-o", tmp_path / "m")
    assert mercer_command("fit", pairs, *arguments)[0] == 0
    code, out, _ = mercer_command(
        "predict", tmp_path / "m", pairs, "--candidates", tmp_path / "forms.txt", "--coverage", 0.9
    )
    assert code == 0
    sets = [row["set"].split(" | ") for row in rows_of(out)]
    assert all(len(each) == len(set(each)) for each in sets)
