"""Every reader and every way its file can be wrong: one clear line with row and column, status 2, nothing overwritten."""

import json
import os
import threading

import pytest

from mercer.io.file_model import FileModel

LONG = "z" * 1_000_000
ROWS = "".join(f"{i},{i + 1},{2 * i}\n" for i in range(12))
LINES = "".join(json.dumps({"a": i, "b": i + 1, "y": 2 * i}) + "\n" for i in range(12))
FASTA = "".join(f">s{i} y={i % 2}\nACGT{'A' * i}\n" for i in range(8))
FORMS = "".join(f"walk{i}\twalk{i}ed\tV;PST\n" for i in range(8))
SMILES = "smiles y\n" + "".join("C" * (i + 1) + f" {i}\n" for i in range(8))
CURVES = "id,t,u,v\n" + "".join(f"c{i},{t},{i + t},{i * t}\n" for i in range(4) for t in range(5))
PEAKS = "".join(f"{50 + j}.1 {j + 1}\n" for j in range(4))
MGF = "".join(f"BEGIN IONS\nPEPMASS={99 + i}.5\nSMILES={'C' * i}\n{PEAKS}END IONS\n\n" for i in range(1, 7))
TABS = PEAKS.replace(" ", "\t")
MSP = "".join(f"NAME: m{i}\nPRECURSORMZ: {99 + i}.5\nSMILES: {'C' * i}\nNum Peaks: 4\n{TABS}\n" for i in range(1, 7))
SDF = "".join(
    f"m{i}\n     x\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 C   0  0\n"
    f"    1.0000    0.0000    0.0000 O   0  0\n  1  2  1  0\nM  END\n>  <y>\n{i}\n\n$$$$\n"
    for i in range(6)
)
"""Good files, which are changed below."""


def tabs(text):
    return text.replace(",", "\t")


def table(head="a,b,y\n", more=""):
    return head + ROWS + more


NAMED = "line 14, column"
DELIMITED = {
    "empty": ("", "the file is empty; expected a row of names"),
    "header only": (table()[:6], "line 1 holds names of columns (a, b, y) and nothing follows"),
    "missing column": (table("a,b,z\n"), "has no column 'y'; it has a, b, z"),
    "short row": (table(more="1,2\n"), "line 14: expected 3 columns, found 2 columns"),
    "long row": (table(more="1,2,3,4\n"), "line 14: expected 3 columns, found 4 columns"),
    "encoding": (table(more="\xe9,1,2\n").encode("latin-1"), "line 14: not UTF-8: byte 0xe9 at position 1"),
    "UTF-16": (table().encode("utf-16"), "line 1: not UTF-8: byte 0xff at position 1"),
    "CR among LF": (table(more="1,2,3\r4,5,6\r"), "line 14: lines end with CR alone"),
    "long cell": (table(more=f"{LONG},1,2\n"), f"{NAMED} 'a': a cell of 1000000 characters"),
    "NaN": (table(more="1,1,NaN\n"), f"{NAMED} 'y': an empty cell; expected a value"),
    "inf": (table(more="1,-Infinity,2\n"), f"{NAMED} 'b': -inf; expected a finite number"),
    "same names": (table("a,a,y\n"), "line 1, columns 1 and 2 are both called 'a'; rename one"),
    "zero byte": (table(more="\0,1,2\n"), "line 14: holds a zero byte"),
}
OTHERS = {
    "jsonl": {
        "empty": ("", "the file is empty; expected a JSON object per line"),
        "a list": ("[]\n", "line 1: holds a list; expected an object"),
        "missing column": (LINES.replace('"y"', '"z"'), "has no column 'y'; it has a, b, z"),
        "short row": (LINES + '{"a": 1}\n', "line 13, column 'y': an empty cell"),
        "encoding": ((LINES + '{"a": "\xe9"}\n').encode("latin-1"), "line 13: not UTF-8: byte 0xe9 at position 8"),
        "CR among LF": (LINES + '{"a": 1}\r{"a": 2}\r', "line 13: lines end with CR alone"),
        "long cell": (LINES + json.dumps({"a": LONG}) + "\n", "line 13, column 'a': a cell of 1000000 characters"),
        "NaN": (LINES + '{"a": 1, "b": 1, "y": NaN}\n', "line 13, column 'y': an empty cell"),
        "inf": (LINES + '{"a": 1, "b": 1, "y": Infinity}\n', "line 13: holds Infinity"),
        "inf as text": (LINES + '{"a": 1, "b": 1, "y": "inf"}\n', "line 13, column 'y': inf; expected a finite number"),
        "same names": (LINES + '{"a": 1, "a": 1}\n', "line 13: the column 'a' is there twice"),
    },
    "fasta": {
        "empty": ("", "the file is empty; expected lines that begin with >"),
        "heads only": (">s1 y=1\n>s2 y=0\n", "has no column 'y'"),
        "missing column": (FASTA.replace("y=", "z="), "has no column 'y'; it has id, description, sequence, z"),
        "short row": (FASTA + ">s9\nACGT\n", "line 17, column 'y': an empty cell"),
        "no sequence": (FASTA + ">s9 y=1\n", "line 17: 's9 y=1' has no sequence"),
        "encoding": ((FASTA + ">s9 y=\xe9\nA\n").encode("latin-1"), "line 17: not UTF-8: byte 0xe9"),
        "CR among LF": (FASTA + ">s9 y=1\rACGT\r", "line 17: lines end with CR alone"),
        "long cell": (FASTA + ">s9 y=1\n" + "A" * 10**6 + "\n", "line 17, column 'sequence': a cell of 1000000"),
        "NaN": (FASTA + ">s9 y=nan\nACGT\n", "line 17, column 'y': an empty cell"),
        "inf": (FASTA + ">s9 y=inf\nACGT\n", "line 17, column 'y': inf; expected a finite number"),
        "same names": (FASTA + ">s9 y=1 y=2\nACGT\n", "line 17: the column 'y' is there twice"),
    },
    "trn": {
        "empty": ("", "the file is empty"),
        "header only": ("lemma\tform\ttags\n", "has 1 usable lines; expected at least two pairs"),
        "missing column": ("walk\twalked\nrun\tran\n", "has 2 columns; expected lemma, form and tags"),
        "short row": (FORMS + "go\twent\n", "line 9: expected 3 columns, found 2 columns"),
        "encoding": ((FORMS + "g\xe9\tx\tV\n").encode("latin-1"), "line 9: not UTF-8: byte 0xe9 at position 2"),
        "CR among LF": (FORMS + "go\twent\tV;PST\rgo\twent\tV;PST\r", "line 9: lines end with CR alone"),
        "long cell": (FORMS + f"{LONG}\tx\tV;PST\n", "line 9, column 'lemma': a cell of 1000000 characters"),
        "gap": (FORMS + "go\t\tV;PST\n", "line 9, column 'form': an empty cell"),
    },
    "smi": {
        "empty": ("", "the file is empty; expected a SMILES per line"),
        "header only": ("smiles y\n", "line 1 holds names of columns and nothing follows"),
        "missing column": (SMILES.replace(" y", " z"), "has no column 'y'; it has molecule, z"),
        "short row": (SMILES + "CCO\n", "line 10: expected 2 columns, found 1"),
        "long row": (SMILES + "CCO 1 2\n", "line 10: expected 2 columns, found 3"),
        "encoding": ((SMILES + "C\xe9 1\n").encode("latin-1"), "line 10: not UTF-8: byte 0xe9 at position 2"),
        "CR among LF": (SMILES + "CCO 3\rCCN 3\r", "line 10: lines end with CR alone"),
        "long cell": (SMILES + f"CCO {LONG}\n", "line 10, column 'y': a cell of 1000000 characters"),
        "NaN": (SMILES + "CCO nan\n", "line 10, column 'y': an empty cell"),
        "inf": (SMILES + "CCO inf\n", "line 10, column 'y': inf; expected a finite number"),
        "same names": (SMILES.replace(" y", " y y"), "line 1, columns 2 and 3 are both called 'y'"),
        "no molecule": (SMILES + "C1CC 3\n", "line 10, column 'molecule': 'C1CC', which rdkit cannot read"),
    },
    "sdf": {
        "empty": ("", "the file is empty; expected an SDF file"),
        "blank": ("\n\n", "molecule 1: rdkit cannot read it"),
        "missing column": (SDF.replace("<y>", "<z>"), "has no column 'y'; it has molecule, name, z"),
        "short row": (SDF.replace(">  <y>\n4\n\n", ""), "molecule 5, column 'y': an empty cell"),
        "encoding": (SDF.replace("\n4\n", "\n\xe9\n").encode("latin-1"), "line 58: not UTF-8: byte 0xe9 at position 1"),
        "CR alone": (SDF.replace("\n", "\r"), "line 1: lines end with CR alone"),
        "long cell": (SDF.replace("\n4\n", f"\n{LONG}\n"), "molecule 5, column 'y': a cell of 1000000 characters"),
        "NaN": (SDF.replace("\n4\n", "\nnan\n"), "molecule 5, column 'y': an empty cell"),
        "inf": (SDF.replace("\n4\n", "\ninf\n"), "molecule 5, column 'y': inf; expected a finite number"),
        "same names": (SDF.replace("\n4\n\n", "\n4\n\n>  <y>\n5\n\n"), "line 60: the column 'y' is there twice"),
        "cut": (SDF[:-150], "molecule 6: rdkit cannot read it"),
    },
    "mgf": {
        "empty": ("", "the file is empty; expected an MGF file"),
        "no peaks": ("BEGIN IONS\nPEPMASS=100\nSMILES=C\nEND IONS\n", "spectrum 1: it has no peaks"),
        "missing column": (MGF.replace("SMILES", "NAME"), "has the columns spectrum, precursor_mz, pepmass"),
        "short row": (MGF.replace("SMILES=CCCC\n", ""), "spectrum 4, column 'smiles': an empty cell"),
        "encoding": (
            MGF.replace("=CCCC\n", "=\xe9\n").encode("latin-1"),
            "line 30: not UTF-8: byte 0xe9 at position 8",
        ),
        "CR among LF": (MGF + MGF.replace("\n", "\r"), "line 55: lines end with CR alone"),
        "long cell": (
            MGF.replace("=CCCC\n", f"={LONG}\n"),
            "spectrum 4, column 'smiles': a cell of 1000000 characters",
        ),
        "NaN": (MGF.replace("PEPMASS=103.5", "PEPMASS=nan"), "spectrum 4: MassSpectrum has precursor nan"),
        "inf": (MGF.replace("52.1 3", "52.1 inf", 1), "spectrum 1: MassSpectrum has intensity inf at peak 2"),
        "a word": (MGF.replace("52.1 3", "52.1 many", 1), "damaged at the first spectrum"),
        "same names": (MGF.replace("=CCCC\n", "=C\nSMILES=CC\n"), "line 31: the column 'smiles' is there twice"),
    },
    "msp": {
        "empty": ("", "the file is empty; expected an MSP file"),
        "no peaks": ("NAME: a\nSMILES: C\nNum Peaks: 0\n\n", "there are no spectra; expected an MSP file"),
        "missing column": (MSP.replace("SMILES", "INCHIKEY"), "has the columns spectrum, precursor_mz"),
        "short row": (MSP.replace("SMILES: CCCC\n", ""), "spectrum 4, column 'smiles': an empty cell"),
        "encoding": (MSP.replace(": CCCC\n", ": \xe9\n").encode("latin-1"), "line 30: not UTF-8: byte 0xe9"),
        "CR among LF": (MSP + MSP.replace("\n", "\r"), "line 55: lines end with CR alone"),
        "long cell": (
            MSP.replace(": CCCC\n", f": {LONG}\n"),
            "spectrum 4, column 'smiles': a cell of 1000000 characters",
        ),
        "NaN": (MSP.replace(": 103.5", ": nan"), "spectrum 4: MassSpectrum has precursor nan"),
        "inf": (MSP.replace("52.1\t3", "52.1\tinf", 1), "damaged at the first spectrum"),
        "same names": (MSP.replace(": CCCC\n", ": C\nSMILES: CC\n"), "line 31: the column 'smiles' is there twice"),
    },
    "curve": {
        "missing column": (CURVES.replace("id,t", "id,s"), "--curve id,t; expected the columns of the curve and of"),
        "short row": (CURVES + "c9,1\n", "line 22: expected 4 columns, found 2 columns"),
        "encoding": ((CURVES + "c\xe9,1,2,3\n").encode("latin-1"), "line 22: not UTF-8: byte 0xe9 at position 2"),
        "NaN": (CURVES + "c9,nan,1,2\n", "line 22, column 't': an empty cell; expected a position"),
        "inf": (CURVES + "c9,0,inf,2\nc9,4,1,2\n", "line 22, column 'u': inf; expected a finite number"),
        "same names": (CURVES.replace("id,t,u", "id,t,t"), "line 1, columns 2 and 3 are both called 't'"),
        "same positions": (CURVES + "c3,4,9,9\n", "line 22, column 't': 4, which is the position of line 21"),
        "one position": (CURVES + "c9,0,1,2\n", "line 22, column 'u': the curve c9 has 1 value; expected at least two"),
        "no curve": (CURVES + ",0,1,2\n", "line 22, column 'id': an empty cell; expected the name of a curve"),
    },
}
TSV = {
    kind: (tabs(text) if type(text) is str else text.replace(b",", b"\t"), say)
    for kind, (text, say) in DELIMITED.items()
    if kind != "UTF-16"
}
BAD = {"csv": DELIMITED, "tsv": TSV, **OTHERS}
GOOD = {
    "csv": table(), "tsv": tabs(table()), "jsonl": LINES, "fasta": FASTA, "trn": FORMS, "smi": SMILES, "sdf": SDF, "mgf": MGF,
    "msp": MSP, "curve": CURVES,
}  # fmt: skip
NEEDS = {"smi": ("rdkit",), "sdf": ("rdkit",), "mgf": ("rdkit", "matchms"), "msp": ("rdkit", "matchms")}
OPTIONS = {"curve": ("--curve", "id,t", "--input", "u", "--output", "v"), "trn": (), "mgf": (), "msp": ()}


class Learned(Exception):
    """A file was found good."""


@pytest.fixture
def fit(tmp_path, monkeypatch, mercer_command):
    """Run ``mercer fit`` up to the point where it would learn; the old model must stay."""

    def learn(*arguments):
        raise Learned

    monkeypatch.setattr(FileModel, "fit", learn)
    model = tmp_path / "model"
    model.write_text("kept")

    def run(reader, path):
        for package in NEEDS.get(reader, ()):
            pytest.importorskip(package)
        code, out, err = mercer_command("fit", path, *OPTIONS.get(reader, ("--output", "y")), "-o", model)
        assert (code, out, model.read_text()) == (2, "", "kept")
        last = err.splitlines()[-1]
        assert last.startswith("mercer: ")
        assert len(last) < 700
        return last

    return run


def written(folder, reader, content):
    path = folder / f"file.{reader if reader != 'curve' else 'csv'}"
    path.write_bytes(content if type(content) is bytes else content.encode())
    return path


@pytest.mark.parametrize(("reader", "kind"), [(reader, kind) for reader, kinds in BAD.items() for kind in kinds])
def test_a_bad_file_gets_one_line(tmp_path, fit, reader, kind):
    content, message = BAD[reader][kind]
    assert message in fit(reader, written(tmp_path, reader, content))


@pytest.mark.parametrize("reader", GOOD)
@pytest.mark.parametrize("change", [str, lambda text: text[:90] + text[90:].replace("\n", "\r\n")], ids=["LF", "CRLF"])
def test_good_files_are_read_with_either_end_of_lines_and_with_both(tmp_path, fit, reader, change):
    with pytest.raises(Learned):
        fit(reader, written(tmp_path, reader, change(GOOD[reader])))


def test_text_in_another_encoding_is_to_be_saved_as_utf_8(tmp_path, fit):
    path = tmp_path / "latin.csv"
    path.write_bytes(table(more="\xe9,1,2\n").encode("latin-1"))
    said = fit("csv", path)
    assert (
        "Save the file as UTF-8 first, such as by iconv -f latin1 -t utf-8; then correct the rest, or pass --skip-bad"
        in said
    )


@pytest.mark.parametrize("reader", GOOD)
def test_folders_are_no_files(tmp_path, fit, reader):
    path = tmp_path / f"folder.{reader if reader != 'curve' else 'csv'}"
    path.mkdir()
    assert "holds no images" in fit(reader, path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
@pytest.mark.parametrize("reader", GOOD)
def test_pipes_are_read_or_refused(tmp_path, fit, reader):
    """Text is read as it comes; parsers that need a file say so."""
    path = tmp_path / f"pipe.{reader if reader != 'curve' else 'csv'}"
    os.mkfifo(path)
    if reader in ("sdf", "mgf", "msp"):
        assert "a pipe or a device; expected an" in fit(reader, path)
        return
    threading.Thread(target=path.write_text, args=(GOOD[reader],), daemon=True).start()
    with pytest.raises(Learned):
        fit(reader, path)
