"""From a file of each format to answers: molecules, spectra, sequences, inflections, images and curves."""

import csv
import io
import json

import numpy as np
import pytest

ALKANES = ["C" * n for n in range(1, 13)]
ALCOHOLS = ["C" * n + "O" for n in range(1, 13)]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def write_sdf(path, molecules):
    chem = pytest.importorskip("rdkit.Chem")
    with chem.SDWriter(str(path)) as writer:
        for smiles, properties in molecules:
            made = chem.MolFromSmiles(smiles)
            for name, value in properties.items():
                made.SetProp(name, str(value))
            writer.write(made)
    return path


def test_an_sdf_file(tmp_path, mercer_command):
    known = [(s, {"kind": "alkane"}) for s in ALKANES] + [(s, {"kind": "alcohol"}) for s in ALCOHOLS]
    path = write_sdf(tmp_path / "known.sdf", known)
    code, _, err = mercer_command("fit", path, "--output", "kind", "--effort", "fast", "-o", tmp_path / "m")
    assert code == 0
    assert "learns kind (text) from molecule (text)" in err
    assert "molecules to classes" in err
    new = write_sdf(tmp_path / "new.sdf", [("CC(C)CCCCCO", {}), ("CC(C)CCCC", {})])
    rows = rows_of(mercer_command("predict", tmp_path / "m", new)[1])
    assert [row["prediction"] for row in rows] == ["alcohol", "alkane"]
    (tmp_path / "new.smi").write_text("OCCCCCCCC first\nCCCCCCCC second\nC1CC broken\n")
    code, out, err = mercer_command("predict", tmp_path / "m", tmp_path / "new.smi")
    assert code == 1
    assert [(row["name"], row["prediction"]) for row in rows_of(out)] == [("first", "alcohol"), ("second", "alkane")]
    assert "line 3, column 'molecule': 'C1CC', which rdkit cannot read" in err


def test_a_smiles_file_with_numbers(tmp_path, mercer_command):
    pytest.importorskip("rdkit")
    path = tmp_path / "boiling.smi"
    path.write_text("smiles length\n" + "".join(f"{s} {len(s)}\n" for s in (*ALKANES, *ALCOHOLS)))
    assert mercer_command("fit", path, "--effort", "fast", "-o", tmp_path / "m")[0] == 0
    (tmp_path / "new.smi").write_text("CCCCCCCC\n")
    row = json.loads(mercer_command("predict", tmp_path / "m", tmp_path / "new.smi", "--json")[1])
    assert abs(row["prediction"] - 8) < 1.5


def spectrum(smiles, form):
    """A made-up spectrum with a peak for each length of a chain."""
    from rdkit.Chem import Descriptors, MolFromSmiles

    mass = Descriptors.ExactMolWt(MolFromSmiles(smiles)) + 1.007276
    peaks = [(15.0235 + 14.0157 * i, 1.0 + i % 3) for i in range(len(smiles))] + [(31.0184, 5.0)] * ("O" in smiles)
    peaks = sorted(peaks)
    if form == "mgf":
        lines = [f"{mz:.4f} {intensity}" for mz, intensity in peaks]
        return "\n".join(
            ["BEGIN IONS", f"PEPMASS={mass:.5f}", f"SMILES={smiles}", "CHARGE=1+", *lines, "END IONS", "", ""]
        )
    lines = [f"{mz:.4f}\t{intensity}" for mz, intensity in peaks]
    head = [f"NAME: {smiles}", f"PRECURSORMZ: {mass:.5f}", f"SMILES: {smiles}", f"Num Peaks: {len(lines)}"]
    return "\n".join([*head, *lines, "", ""])


@pytest.mark.parametrize("form", ["mgf", "msp"])
def test_spectra_and_candidates_of_the_right_mass(tmp_path, mercer_command, form):
    pytest.importorskip("rdkit")
    pytest.importorskip("matchms")
    known, new = [*ALKANES[1:9], *ALCOHOLS[:8]], [ALKANES[9], ALCOHOLS[8]]
    (tmp_path / f"known.{form}").write_text("".join(spectrum(s, form) for s in known))
    (tmp_path / f"new.{form}").write_text("".join(spectrum(s, form) for s in [*new, ALKANES[11]]))
    (tmp_path / "candidates.smi").write_text("\n".join([*ALKANES[:11], *ALCOHOLS[:11], "CCCCC(C)CCCC"]))
    code, _, err = mercer_command("fit", tmp_path / f"known.{form}", "--effort", "fast", "-o", tmp_path / "m")
    assert code == 0
    assert "learns smiles (text) from spectrum (object)" in err
    assert "spectra to molecules" in err
    arguments = ("predict", tmp_path / "m", tmp_path / f"new.{form}", "--candidates", tmp_path / "candidates.smi")
    code, out, err = mercer_command(*arguments, "--ppm", 10, "--json")
    assert code == 0, err
    rows = [json.loads(line) for line in out.splitlines()]
    assert rows[0]["prediction"] in (ALKANES[9], "CCCCC(C)CCCC")
    assert rows[1]["prediction"] == ALCOHOLS[8]
    assert (rows[2]["prediction"], rows[2]["mark"]) == (None, "no candidate")
    assert "--ppm chooses among candidates" in mercer_command(*arguments[:3], "--ppm", 10)[2]


def test_a_fasta_file(tmp_path, mercer_command):
    rng = np.random.default_rng(0)
    sequences = ["".join(rng.choice(list("AC" if i % 2 else "GT"), 30)) for i in range(30)]
    path = tmp_path / "known.fasta"
    path.write_text(
        "".join(f">s{i} class={['even', 'odd'][i % 2]}\n{s[:20]}\n{s[20:]}\n" for i, s in enumerate(sequences))
    )
    code, _, err = mercer_command("fit", path, "--effort", "fast", "-o", tmp_path / "m")
    assert code == 0
    assert "learns class (text) from sequence (text)" in err
    (tmp_path / "new.fa").write_text(">n1\nACACACCAACACAC\n>n2\ngtgtgtgttgtt\n>n3\n>n4\nAC1\n")
    code, out, err = mercer_command("predict", tmp_path / "m", tmp_path / "new.fa")
    assert code == 1
    assert [(row["id"], row["prediction"]) for row in rows_of(out)] == [("n1", "odd"), ("n2", "even")]
    assert "'n3' has no sequence" in err
    assert "line 7: 'AC1'; expected letters" in err


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1)])
def test_a_file_of_inflections(tmp_path, mercer_command, order):
    verbs = [
        "walk",
        "talk",
        "jump",
        "kick",
        "look",
        "turn",
        "play",
        "stay",
        "pull",
        "fill",
        "call",
        "rain",
        "open",
        "land",
    ]
    rows = [(v, v + end, tag) for v in verbs for end, tag in (("ed", "V;PST"), ("ing", "V;PTCP"), ("s", "V;3;SG"))]
    path = tmp_path / "verbs.trn"
    path.write_text("".join("\t".join(row[i] for i in order) + "\n" for row in rows))
    code, _, err = mercer_command("fit", path, "--effort", "fast", "-o", tmp_path / "m")
    assert code == 0
    assert "lemmas with tags to strings" in err
    new = [("start", "", "V;PST"), ("cook", "", "V;PTCP")]
    (tmp_path / "new.tsv").write_text("lemma\ttags\n" + "".join(f"{lemma}\t{tags}\n" for lemma, _, tags in new))
    out = mercer_command("predict", tmp_path / "m", tmp_path / "new.tsv", "--json")[1]
    assert [json.loads(line)["prediction"] for line in out.splitlines()] == ["started", "cooking"]


def write_image(path, pixels):
    pillow = pytest.importorskip("PIL.Image")
    path.parent.mkdir(parents=True, exist_ok=True)
    pillow.fromarray((255 * pixels).astype(np.uint8)).save(path)


def test_a_folder_of_images_with_masks(tmp_path, mercer_command):
    rng = np.random.default_rng(0)
    for i in range(30):
        mask = np.zeros((8, 8))
        top, left = rng.integers(0, 5, 2)
        mask[top : top + 4, left : left + 4] = 1
        write_image(tmp_path / "photos" / f"{i}.png", np.clip(0.2 + 0.6 * mask + 0.05 * rng.random((8, 8)), 0, 1))
        write_image(tmp_path / "masks" / f"{i}.png", mask)
    arguments = ("--masks", tmp_path / "masks", "--effort", "fast", "-o", tmp_path / "m")
    code, _, err = mercer_command("fit", tmp_path / "photos", *arguments)
    assert code == 0
    assert "30 images of 8×8 pixels, 30 masks" in err
    assert "images to images" in err
    assert mercer_command("predict", tmp_path / "m", tmp_path / "photos", "-o", tmp_path / "out")[0] == 0
    pillow = pytest.importorskip("PIL.Image")
    pairs = [[np.asarray(pillow.open(tmp_path / f / f"{i}.png")) > 127 for f in ("out", "masks")] for i in range(30)]
    assert np.mean([np.mean(a == b) for a, b in pairs]) > 0.9
    found = json.loads(mercer_command("evaluate", tmp_path / "m", tmp_path / "photos", "--json")[1])
    losses = {row["method"]: row["loss"] for row in found["methods"]}
    assert losses["this model"] < losses["constant"]
    write_image(tmp_path / "photos" / "odd.png", np.zeros((4, 4)))
    assert "image odd.png: there is no mask of this name" in mercer_command("fit", tmp_path / "photos", *arguments)[2]
    (tmp_path / "photos" / "odd.png").write_bytes(b"no picture")
    code, _, err = mercer_command("fit", tmp_path / "photos", *arguments)
    assert code == 2
    assert "image odd.png: cannot identify image file" in err


def test_one_image_is_answered(tmp_path, mercer_command):
    rng = np.random.default_rng(0)
    for i in range(6):
        for kind, level in (("dark", 0.1), ("light", 0.8)):
            write_image(tmp_path / "all" / kind / f"{i}.png", level + 0.1 * rng.random((6, 6)))
    code, _, err = mercer_command(
        "fit", tmp_path / "all", "--effort", "fast", "--loss", "zero-one", "-o", tmp_path / "m"
    )
    assert (code, "ZeroOne()" in err) == (0, True)  # a loss that was given is named
    rows = rows_of(mercer_command("predict", tmp_path / "m", tmp_path / "all" / "light" / "3.png")[1])
    assert [(row["file"], row["prediction"]) for row in rows] == [("3.png", "light")]
    (tmp_path / "broken.png").write_bytes(b"PNG")
    code, _, err = mercer_command("predict", tmp_path / "m", tmp_path / "broken.png")
    assert (code, "cannot identify image file" in err, err.count("\n")) == (2, True, 1)


def test_folders_of_images_are_classes(tmp_path, mercer_command):
    rng = np.random.default_rng(0)
    for i in range(20):
        for kind, level in (("dark", 0.1), ("light", 0.8)):
            write_image(tmp_path / "all" / kind / f"{i}.png", level + 0.1 * rng.random((6, 6)))
    assert mercer_command("fit", tmp_path / "all", "--effort", "fast", "-o", tmp_path / "m")[0] == 0
    write_image(tmp_path / "new" / "a.png", np.full((6, 6), 0.82))
    rows = rows_of(mercer_command("predict", tmp_path / "m", tmp_path / "new")[1])
    assert [(row["file"], row["prediction"]) for row in rows] == [("a.png", "light")]
    write_image(tmp_path / "new" / "b.png", np.zeros((4, 4)))
    (tmp_path / "none").mkdir()
    assert "holds no images" in mercer_command("fit", tmp_path / "none", "-o", tmp_path / "m2")[2]


@pytest.mark.parametrize("irregular", [False, True])
def test_curves_in_long_format(tmp_path, mercer_command, irregular):
    rng = np.random.default_rng(0)

    def long(ids, knees=True):
        lines = ["id,t,hip" + ",knee" * knees]
        for i in ids:
            phase = i / 10
            for t in np.sort(np.r_[0, 1, rng.random(18)]) if irregular else np.linspace(0, 1, 20):
                knee = f",{np.cos(3 * t + phase)}" if knees else ""
                lines.append(f"s{i},{t},{np.sin(3 * t + phase)}{knee}")
        return "\n".join(lines) + "\n"

    (tmp_path / "gait.csv").write_text(long(range(24)))
    columns = ("--curve", "id,t", "--input", "hip", "--output", "knee")
    code, _, err = mercer_command("fit", tmp_path / "gait.csv", *columns, "--effort", "fast", "-o", tmp_path / "m")
    assert code == 0
    assert "24 curves" in err
    assert ("interpolated" in err) == irregular
    (tmp_path / "new.csv").write_text(long([7.5], knees=False))
    rows = rows_of(mercer_command("predict", tmp_path / "m", tmp_path / "new.csv", "--coverage", 0.9)[1])
    assert {row["id"] for row in rows} == {"s7.5"}
    errors = [float(row["prediction"]) - np.cos(3 * float(row["t"]) + 0.75) for row in rows]
    assert len(rows) >= 20
    assert np.abs(errors).max() < 0.15
    assert (
        "--curve who,t; expected the columns"
        in mercer_command("fit", tmp_path / "gait.csv", "--curve", "who,t", "-o", tmp_path / "n")[2]
    )
    (tmp_path / "bad.csv").write_text("id,t,hip,knee\na,0,1,2\na,x,2,3\na,1,3,3\nb,0,1,2\nb,1,2,3\n")
    assert (
        "line 3, column 't': 'x'; expected a number"
        in mercer_command("fit", tmp_path / "bad.csv", *columns, "-o", tmp_path / "n")[2]
    )


@pytest.mark.parametrize(
    "suffix", [".sdf", ".smi", ".mgf", ".msp", ".fasta", ".trn", ".csv", ".tsv", ".jsonl", ".parquet"]
)
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00nonsense", b"x" * 1_000_000 + b"\n", b"a\rb\rc\r"])
def test_nonsense_in_every_format_gets_one_line(tmp_path, mercer_command, suffix, content):
    path, model = tmp_path / f"bad{suffix}", tmp_path / "model"
    path.write_bytes(content)
    model.write_text("kept")
    code, out, err = mercer_command("fit", path, "--output", "y", "-o", model)
    assert (code, out, model.read_text()) == (2, "", "kept")
    assert err.startswith("mercer: ")
    assert len(err.splitlines()[-1]) < 700
    (tmp_path / f"folder{suffix}").mkdir()
    assert mercer_command("fit", tmp_path / f"folder{suffix}", "--output", "y", "-o", model)[0] == 2
    assert "no such file" in mercer_command("fit", tmp_path / f"none{suffix}", "--output", "y", "-o", model)[2]


@pytest.mark.parametrize("suffix", [".xlsx", ".json", ".gz", ".npz", ".HTML"])
def test_files_of_other_formats_are_refused_by_name(tmp_path, mercer_command, suffix):
    good, other = tmp_path / "good.csv", tmp_path / f"pairs.csv{suffix}"
    good.write_text("a,b\n" + "".join(f"{i},{2 * i}\n" for i in range(10)))
    other.write_bytes(good.read_bytes())
    refused = f"{suffix.lower()} files are not read or written; expected one of .csv, .tsv"
    code, _, err = mercer_command("fit", other, "--output", "b", "-o", tmp_path / "model")
    assert (code, refused in err) == (2, True)
    options = ("--output", "b", "--effort", "fast", "-o", tmp_path / "model")
    assert mercer_command("fit", other, *options, "--format", "csv")[0] == 0
    code, out, _ = mercer_command("predict", tmp_path / "model", other)  # in the format that was named in training
    assert (code, out.splitlines()[0]) == (0, "a,b,prediction,doubt,mark")
    code, _, err = mercer_command("predict", tmp_path / "model", good, "-o", tmp_path / f"answers{suffix}")
    assert (code, refused in err) == (2, True)
