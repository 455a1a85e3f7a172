"""Recipes: upstream formats are read as they are, results are the same on every machine, and nothing wrong is kept."""

import gzip
import hashlib
import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from experiments.command import main
from experiments.data import fetching, formats
from experiments.data.recipe import Recipe, Upstream, gz, npz, rewritten
from experiments.data.recipes import RECIPES
from mercer.datasets import ChecksumError, store

DENSE = """% remark
@relation toy
@ATTRIBUTE a numeric
@attribute 'b c' {red, 'dark blue'}
@attribute y1 {0,1}
@attribute y2 real

@data
1.5,'dark blue',1,2
?, red ,0,-3e1
"""
SPARSE = """@relation toy
@attribute w1 {0,1}
@attribute w2 {0,1}
@attribute L1 {0,1}
@attribute L2 {0,1}
@data
{1 1,3 1}
{}
{0 1,2 1,3 1}
"""


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_dense_arff(tmp_path):
    table = formats.read_arff(written(tmp_path / "a.arff", DENSE))
    assert table.names == ["a", "b c", "y1", "y2"]
    np.testing.assert_array_equal(table.values, [[1.5, 1, 1, 2], [np.nan, 0, 0, -30]])
    found = formats.multi_target(table, 2)
    assert found["targets"].tolist() == ["y1", "y2"]
    np.testing.assert_array_equal(found["Y"], [[1, 2], [0, -30]])


def test_sparse_arff(tmp_path):
    table = formats.read_arff(written(tmp_path / "a.arff", SPARSE))
    np.testing.assert_array_equal(table.values, [[0, 1, 0, 1], [0, 0, 0, 0], [1, 0, 1, 1]])
    found = formats.multi_label({"train": table, "test": table}, 2, sparse=True)
    assert found["X_train_indices"].tolist() == [1, 0]
    assert found["X_train_indptr"].tolist() == [0, 1, 1, 2]
    assert found["Y_test_indices"].tolist() == [1, 0, 1]
    assert found["Y_test_indices"].dtype == np.int16
    assert found["labels"].tolist() == ["L1", "L2"]
    assert "X_train_data" not in found


def test_a_wrong_row_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"a\.arff, line 9: '1\.5,red' is not a row of 4 values"):
        formats.read_arff(written(tmp_path / "a.arff", DENSE.replace("1.5,'dark blue',1,2", "1.5,red")))


def test_rankings(tmp_path):
    text = "A1,town,ranking\n0.5,1:B,b>a>c\n1,10:A,c>b>a\n"
    found = formats.read_ranking(written(tmp_path / "r.txt", text))
    np.testing.assert_array_equal(found["X"], [[0.5, 1], [1, 0]])
    np.testing.assert_array_equal(found["order"], [[1, 0, 2], [2, 1, 0]])
    np.testing.assert_array_equal(found["ranks"], [[1, 0, 2], [2, 1, 0]])
    assert str(found["categories"]) == '{"town": ["10:A", "1:B"]}'
    with pytest.raises(ValueError, match="some rows do not rank a, b, c"):
        formats.read_ranking(written(tmp_path / "r.txt", text + "1,1:B,a>b\n"))


def test_grey_pictures(tmp_path):
    pixels = np.arange(6, dtype=np.uint8)
    found = formats.read_pgm(written(tmp_path / "p.pgm", b"P5\n# made by hand\n3 2\n255\n" + pixels.tobytes()))
    np.testing.assert_array_equal(found, pixels.reshape(2, 3))
    with pytest.raises(ValueError, match=r"p\.pgm has 5 pixels; expected 3 × 2"):
        formats.read_pgm(written(tmp_path / "p.pgm", b"P5 3 2 255\n" + pixels[:5].tobytes()))


def test_similarity_tables(tmp_path):
    rows, columns, values = formats.read_similarities(written(tmp_path / "t.txt", "\td1\td2\nt1\t1\t0\nt2\t0.5\t1\n"))
    assert (rows, columns, values.tolist()) == (["t1", "t2"], ["d1", "d2"], [[1, 0], [0.5, 1]])


def test_letters_are_read_without_running_code(tmp_path):
    words = {"labels": [np.array([2, 0, 19]), np.array([0, 1])], "folds": np.array([0, 1])}
    words["data"] = [np.eye(len(word), 128, dtype=np.uint8) for word in words["labels"]]
    found = formats.read_letters(written(tmp_path / "letters.pickle", pickle.dumps(words, protocol=2)))
    assert found["words"].tolist() == ["cat", "ab"]
    assert found["fold"].tolist() == [0, 0, 0, 1, 1]
    assert np.unpackbits(found["pixels_packed"], axis=1)[:, :3].tolist() == [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
        [1, 0, 0],
        [0, 1, 0],
    ]
    hostile = pickle.dumps(Path("x"))
    with pytest.raises(pickle.UnpicklingError, match="is not an array of numbers"):
        formats.read_letters(written(tmp_path / "letters.pickle", hostile))


def test_molecules_as_graphs():
    pytest.importorskip("rdkit")
    found = formats.molecular_graphs(["C=O", "[NH4+]"])
    assert found["atoms"][:, :2].tolist() == [[6, 8], [7, 0]]
    assert found["bonds_upper"][0, 0] == 2
    assert found["charges"][1, 0] == 1
    with pytest.raises(ValueError, match="line 1: 'xx' is not a molecule of at most 9 heavy atoms"):
        formats.molecular_graphs(["xx"])


class Named(np.ndarray):
    """An array with names, as rdata returns those of R."""

    dims = ("rows", "columns", "slices")
    coords = {"rows": np.array(["0.1", "0.2"])}


def test_gait_from_r_data(monkeypatch):
    values = np.arange(12.0).reshape(2, 3, 2)
    monkeypatch.setattr(formats, "read_rda", lambda path: {"gait": values.view(Named)})
    content = RECIPES["functional/gait.npz"].convert({"gait": Path("gait.rda")})
    with np.load(io.BytesIO(content)) as arrays:
        np.testing.assert_array_equal(arrays["knee"], values[:, :, 1].T)
        np.testing.assert_array_equal(arrays["t"], [0.1, 0.2])


def test_growth_from_r_data(tmp_path):
    rdata = pytest.importorskip("rdata")
    rdata.write_rda(
        tmp_path / "growth.rda", {"growth": {"hgtm": np.eye(2), "hgtf": np.ones((2, 3)), "age": np.array([1.0, 2.0])}}
    )
    content = RECIPES["functional/growth.npz"].convert({"growth": tmp_path / "growth.rda"})
    with np.load(io.BytesIO(content)) as arrays:
        assert {name: arrays[name].shape for name in arrays.files} == {"boys": (2, 2), "girls": (3, 2), "age": (2,)}


def test_archives_have_no_dates():
    content = npz({"a": np.arange(3), "b": np.array(["x"])})
    assert content == npz({"a": np.arange(3), "b": np.array(["x"])})
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {item.date_time for item in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_every_file_has_a_recipe_or_a_way_by_hand():
    assert store.SOURCES.keys() <= RECIPES.keys()
    for recipe in RECIPES.values():
        assert bool(recipe.upstream) != bool(recipe.by_hand)
        assert all(source.url.startswith("https://") for source in recipe.upstream.values())
        assert recipe.licence


@pytest.mark.data
@pytest.mark.parametrize("name", [name for name in store.SOURCES if RECIPES[name].convert is not None])
def test_what_a_recipe_writes_is_accepted(name):
    """The content of each stored file, written as a recipe writes it, has the SHA-256 that is pinned for recipes."""
    path = store.find(name)
    if path is None:
        pytest.skip(f"{name} is not in $MERCER_DATA")
    assert hashlib.sha256(rewritten(path)).hexdigest() == store.SOURCES[name].rebuilt


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty cache, and a recipe for one file."""
    monkeypatch.delenv("MERCER_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    written(tmp_path / "words.tsv", "a\tb\n")
    source = Upstream("https://example.org/words.tsv")
    recipe = Recipe("toy/words.tsv.gz", "none", {"words": source}, lambda files: gz(files["words"].read_bytes()))
    right = hashlib.sha256(gz(b"a\tb\n")).hexdigest()
    monkeypatch.setitem(fetching.RECIPES, recipe.name, recipe)
    monkeypatch.setitem(store.SOURCES, recipe.name, store.Source("0" * 64, None, right))
    return tmp_path


def test_a_file_is_made_once_and_then_found(home):
    asked = []

    def download(source, target):
        asked.append(source.url)
        return home / "words.tsv"

    path = fetching.make("toy/words.tsv.gz", download)
    assert gzip.decompress(path.read_bytes()) == b"a\tb\n"
    assert fetching.make("toy/words.tsv.gz", download) == path
    assert asked == ["https://example.org/words.tsv"]
    assert fetching.state("toy/words.tsv.gz") == "there"


def test_an_upstream_file_that_changed_is_not_kept(home):
    written(home / "words.tsv", "changed\n")
    with pytest.raises(ChecksumError, match="was made from 1 upstream files and has SHA-256 .*; expected one of"):
        fetching.make("toy/words.tsv.gz", lambda source, target: home / "words.tsv")
    assert fetching.state("toy/words.tsv.gz") == "missing"


def test_names_that_cannot_be_made_are_explained(home):
    with pytest.raises(ValueError, match="there is no data file 'nothing'; see python -m experiments data --list"):
        fetching.make("nothing")
    with pytest.raises(FileNotFoundError, match=r"has no recipe: it is merged from 50,068 records"):
        fetching.make("msms_massbank/massbank_msms_pos.npz")


def test_pooch_checks_what_it_brings(home):
    pytest.importorskip("pooch")
    url = (home / "words.tsv").as_uri()
    with pytest.raises((ChecksumError, FileNotFoundError, ValueError)):
        fetching.with_pooch(Upstream(url, "0" * 64), home / "target" / "words.tsv")


def test_the_command_lists_files_with_their_licences(home, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["experiments", "data", "--list"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert "missing  multi_target/jura.npz  (no licence is stated for the data)" in capsys.readouterr().out
