"""Arbitrary bytes for every reader of files and for `load`: refused with a clear error or read, never anything else."""

import warnings
from functools import cache
from io import BytesIO

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mercer
from mercer.io import open_rows
from mercer.io.images import SUFFIXES
from mercer.io.records import FORMATS, ReadOptions, read
from mercer.saving import LoadError

SETTINGS = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
CORPUS = {
    "csv": b'name,value\n"a, b",1\nc,2.5\n',
    "tsv": b"ab\tba\nabc\tcba\n",
    "jsonl": b'{"x": "a", "y": [1, 2]}\n{"x": "b", "y": []}\n',
    "parquet": b"PAR1\x15\x04\x15\x10PAR1",
    "inflections": b"go\twent\tV;PST\nsee\tsaw\tV;PST\n",
    "sdf": b"\n  x\n\n  1  0  0  0  0  0  0  0  0  0999 V2000\n    0.0 0.0 0.0 C   0  0\nM  END\n$$$$\n",
    "smiles": b"CCO ethanol\nc1ccccc1 benzene\n",
    "mgf": b"BEGIN IONS\nPEPMASS=100.5\n50.1 10\n60.2 20\nEND IONS\n",
    "msp": b"Name: a\nNum Peaks: 2\n50.1 10; 60.2 20\n\n",
    "fasta": b">one\nACGT\nAC\n>two\nGGT\n",
}
PICTURES = ("bmp", "gif", "jpg", "pgm", "png", "ppm", "tiff", "webp")
PARTS = [
    b"",
    b"\0",
    b"\r",
    b"\n",
    b"\t",
    b",",
    b'"',
    b";",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"1e999",
    b"nan",
    b"{",
    b"}",
    b"[" * 50,
]


@st.composite
def mutated(draw, seed):
    """A valid file with a few cuts, copies and insertions."""
    data = seed
    for _ in range(draw(st.integers(0, 4))):
        at, length = draw(st.integers(0, len(data))), draw(st.integers(0, 12))
        new = draw(st.sampled_from(PARTS) | st.binary(max_size=8) | st.just(data[at : at + length] * 3))
        data = data[:at] + new + data[at + draw(st.integers(0, 12)) :]
    return data


def test_the_corpus_has_every_format():
    assert set(CORPUS) | {"images"} == set(FORMATS)
    assert {f".{form}" for form in PICTURES} | {".jpeg", ".tif"} == SUFFIXES


@pytest.mark.parametrize("form", CORPUS)
@SETTINGS
@given(data=st.data())
def test_readers(form, data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / f"fuzzed.{form}"
    path.write_bytes(data.draw(mutated(CORPUS[form]) | st.binary(max_size=200)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            records = read(path, form=form)
        except ImportError:
            pytest.skip("an optional package is not there")
        except ValueError as error:
            assert str(error)  # noqa: PT017
            return
    assert all(len(values) == len(records) for values in records.columns.values())
    assert all(bad.reason for bad in records.bad)


@cache
def picture(form):
    """A small image in a format, by its ending."""
    from PIL import Image

    stream = BytesIO()
    pixels = np.arange(48, dtype=np.uint8).reshape(6, 8) * 5
    Image.fromarray(pixels).save(stream, format={"jpg": "JPEG", "pgm": "PPM"}.get(form, form.upper()))
    return stream.getvalue()


@pytest.mark.parametrize(("form", "place"), [*((form, "image") for form in PICTURES), ("png", "mask")])
@SETTINGS
@given(data=st.data())
def test_readers_of_images(form, place, data, tmp_path_factory):
    pytest.importorskip("PIL")
    folder = tmp_path_factory.getbasetemp() / f"{place}-{form}"
    images, masks = folder / "images", folder / "masks"
    for each in (images, masks):
        each.mkdir(parents=True, exist_ok=True)
        (each / f"whole.{form}").write_bytes(picture(form))
    changed = data.draw(mutated(picture(form)) | st.binary(max_size=200))
    for each in (images, masks):
        (each / f"fuzzed.{form}").write_bytes(changed if (each is images) == (place == "image") else picture(form))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        records = read(images, form="images", options=ReadOptions(masks=str(masks)))
    # the whole one is read whatever the other is
    assert {f"whole.{form}"} <= set(records.columns["file"]) <= {f"whole.{form}", f"fuzzed.{form}"}
    assert len(records) + len(records.bad) == 2
    assert all(bad.reason for bad in records.bad)
    for pixels in (*records.columns["image"], *records.columns["mask"]):
        assert pixels.ndim == 2
        assert pixels.min() >= 0.0
        assert pixels.max() <= 1.0


@cache
def rows(form):
    stream = BytesIO()
    if form == "npy":
        np.save(stream, np.arange(12.0).reshape(6, 2))
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        arrow = pytest.importorskip("pyarrow")
        parquet.write_table(arrow.table({"a": [1.0, 2.0], "b": [3.0, 4.0]}), stream)
    return stream.getvalue()


@pytest.mark.parametrize("form", ["npy", "parquet"])
@SETTINGS
@given(data=st.data())
def test_readers_of_rows_in_blocks(form, data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / f"rows.{form}"
    path.unlink(missing_ok=True)  # a new file: the last one may still be mapped
    path.write_bytes(data.draw(mutated(rows(form)) | st.binary(max_size=200)))
    try:
        found = [np.asarray(block) for block in open_rows(path).read()]
    except (ValueError, TypeError) as error:
        assert str(error)  # noqa: PT017
        return
    assert len({block.shape[1:] for block in found}) <= 1


@cache
def saved(folder):
    X = np.arange(12.0).reshape(6, 2)
    return mercer.save(mercer.DependencyEstimator(alpha=0.1).fit(X, X), folder / "valid.skops").read_bytes()


@SETTINGS
@given(data=st.data())
def test_load(data, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    whole = saved(folder)
    changed = data.draw(mutated(whole) | st.binary(max_size=300))
    (folder / "fuzzed.skops").write_bytes(changed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = mercer.load(folder / "fuzzed.skops")
        except LoadError as error:
            assert str(error)  # noqa: PT017
            assert changed != whole
            return
    # bytes between the parts of an archive may differ; what is built is still a model, or data that skops trusts
    assert changed != whole or isinstance(model, mercer.DependencyEstimator)
