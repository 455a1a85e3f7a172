"""Files are found where they should be, and never used when they are not the pinned ones."""

import functools
import hashlib
import http.server
import os
import sys
import threading

import pytest

from mercer.datasets import ChecksumError, fetch, store

CONTENT = b"1 2 3\n"
SUM = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty data folder, an empty cache and a file that a server on this machine sends."""
    for folder in ("data", "cache", "site"):
        (tmp_path / folder).mkdir()
    (tmp_path / "site" / "toy.txt").write_bytes(CONTENT)
    monkeypatch.setenv("MERCER_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path / "site")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        url = f"http://127.0.0.1:{server.server_address[1]}/toy.txt"
        monkeypatch.setitem(store.SOURCES, "toy/toy.txt", store.Source(SUM, url))
        yield tmp_path
        server.shutdown()
        thread.join()


def put(path, content=CONTENT):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def refuse(*args, **kwargs):
    raise AssertionError("the network was asked")


def test_data_folder_comes_first(home, monkeypatch):
    monkeypatch.setattr(store, "_download", refuse)
    put(home / "cache/mercer/toy/toy.txt")
    path = put(home / "data/toy/toy.txt")
    assert fetch("toy/toy.txt") == path


def test_download_fills_the_cache_once(home, monkeypatch):
    path = fetch("toy/toy.txt")
    assert path == home / "cache/mercer/toy/toy.txt"
    assert path.read_bytes() == CONTENT
    monkeypatch.setattr(store, "_download", refuse)
    assert fetch("toy/toy.txt") == path


@pytest.mark.parametrize("place", ["data/toy/toy.txt", "cache/mercer/toy/toy.txt"])
def test_changed_file_is_refused_with_both_sums(home, place):
    put(home / place, b"1 2 4\n")
    other = hashlib.sha256(b"1 2 4\n").hexdigest()
    with pytest.raises(ChecksumError, match=rf"toy\.txt has SHA-256 {other}; expected {SUM}"):
        fetch("toy/toy.txt")


def test_changed_download_is_refused_and_leaves_nothing(home):
    put(home / "site/toy.txt", b"a page that says 404")
    with pytest.raises(ChecksumError, match=f"toy.txt was not used: .*; expected SHA-256 {SUM}"):
        fetch("toy/toy.txt")
    assert [name for _, _, names in os.walk(home / "cache") for name in names] == []


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/toy.txt", "http://host.invalid/toy.txt"])
def test_without_network_the_message_names_the_way_out(home, monkeypatch, address):
    pytest.importorskip("pooch")
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setitem(store.SOURCES, "toy/toy.txt", store.Source(SUM, address))
    with pytest.raises(
        FileNotFoundError,
        match=r"could not be downloaded \(.*\)\. Put .* FOLDER/toy/toy.txt .*MERCER_DATA=FOLDER",
    ):
        fetch("toy/toy.txt")


def test_without_pooch_the_extra_is_named(home, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"pip install mercer\[data\]', or set MERCER_DATA"):
        fetch("toy/toy.txt")


def test_file_without_address(home, monkeypatch):
    monkeypatch.setitem(store.SOURCES, "toy/toy.txt", store.Source(SUM))
    with pytest.raises(FileNotFoundError, match=r"it cannot be downloaded.*MERCER_DATA"):
        fetch("toy/toy.txt")


def test_unknown_name_lists_the_known_ones(home):
    with pytest.raises(ValueError, match=r"name is 'mnist'; expected one of .*usps/zip\.train\.gz"):
        fetch("mnist")


def test_data_folder_that_does_not_exist(home, monkeypatch):
    monkeypatch.setenv("MERCER_DATA", str(home / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"MERCER_DATA is '.*', which is not"):
        fetch("toy/toy.txt")
