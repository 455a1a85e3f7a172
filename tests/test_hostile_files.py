"""`mercer.load` refuses hostile and damaged files with one error, quickly and in little memory."""

import contextlib
import copy
import io
import json
import os
import random
import sys
import time
import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_array

import mercer
from mercer import CurveRidge, DependencyEstimator, NeighborsEstimator
from mercer.core import archives
from mercer.kernels import Classes, Gaussian, LabelSets, Spectrum
from mercer.saving import LoadError

try:
    import resource
except ImportError:  # Windows, where memory is not measured
    resource = None

SECONDS, MEGABYTES = 2.0, 500
ROUNDS = 22
WORDS = ["abab", "abba", "baab", "bbaa", "aabb", "baba"]


def corpus():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((6, 3)), rng.standard_normal((6, 2))
    yield DependencyEstimator(alpha=0.1).fit(X, Y)
    yield DependencyEstimator(Spectrum(2), LabelSets(), alpha=0.1).fit(WORDS, [set(word) for word in WORDS])
    yield DependencyEstimator(Gaussian(1.0), alpha=0.1).fit(csr_array(np.abs(X) > 0.5).astype(float), Y)
    yield NeighborsEstimator(Spectrum(2), Classes(), k=2).fit(WORDS, [word[0] for word in WORDS])
    yield CurveRidge(alpha=0.1).fit(X, Y)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """The members of each valid file, by name; loaded once, so that imports are not timed."""
    found = []
    for number, model in enumerate(corpus()):
        path = mercer.save(model, tmp_path_factory.mktemp("valid") / f"{number}.skops")
        assert repr(mercer.load(path)) == repr(model)
        with zipfile.ZipFile(path) as archive:
            found.append({name: archive.read(name) for name in archive.namelist()})
    return found


def zipped(members, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def with_schema(members, change):
    """A file whose schema is what `change` makes of it; `change` may return None after it has changed its argument."""
    schema = json.loads(members["schema.json"])
    new = change(schema)
    return zipped(members | {"schema.json": json.dumps(schema if new is None else new)})


def nodes(schema):
    """All nodes of a schema."""
    if isinstance(schema, dict):
        yield from [schema] if "__loader__" in schema else []
        for value in schema.values():
            yield from nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from nodes(value)


def on_node(change, wanted=lambda node: True):
    """Mutate a random node of the schema."""

    def mutated(members, rng):
        def on_schema(schema):
            change(rng.choice([node for node in nodes(schema) if wanted(node)]), rng)

        return with_schema(members, on_schema)

    return mutated


def of_array(make):
    """Replace a random array."""

    def mutated(members, rng):
        name = rng.choice([name for name in members if name.endswith(".npy")])
        return zipped(members | {name: make(members[name], rng)})

    return mutated


def header(shape, descr="<f8"):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
    return file.getvalue()


def flipped(members, rng):
    """A bit of a part is changed, and its checksum is not."""
    data, part = bytearray(zipped(members)), members[rng.choice(sorted(members))]
    data[bytes(data).index(part) + rng.randrange(len(part))] ^= 1 << rng.randrange(8)
    return bytes(data)


def listed(content, identity):
    return {
        "__class__": "list",
        "__module__": "builtins",
        "__loader__": "ListNode",
        "content": content,
        "__id__": identity,
    }


def shared(members, rng):
    """Each level names the one below twice: 2**levels visits."""
    node = listed([], 1)
    for level in range(2, rng.randrange(30, 60)):
        node = listed([node, listed([], level - 1)], level)
    return with_schema(members, lambda schema: schema["content"].update(model=node))


def nested(members, rng):
    depth = rng.randrange(2_000, 50_000)
    text = members["schema.json"].decode()[:-1] + ', "deep": ' + "[" * depth + "]" * depth + "}"
    return zipped(members | {"schema.json": text})


def with_size(members, size, rng):
    """A compressed part that claims another size."""
    data = bytearray(zipped(members, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        directory, infos = archive.start_dir, archive.infolist()
    name = rng.choice([info.filename for info in infos if info.filename.endswith(".json")])
    entry = bytes(data).index(name.encode(), directory) - 46  # its place in the directory at the end
    data[entry + 24 : entry + 28] = size.to_bytes(4, "little")
    return bytes(data)


def two_owners(schema):
    first = next(node for node in nodes(schema) if "file" in node)
    schema["content"]["again"] = {**first, "__id__": 7}


def holds_itself(schema):
    node = listed([], 8)
    node["content"] = [copy.deepcopy(node)]
    schema["content"]["loop"] = node


def called(schema):
    arguments = {**listed([], 9), "__class__": "tuple", "__loader__": "TupleNode"}
    kernel = {"__class__": "Gaussian", "__module__": "mercer.kernels.vectors", "__id__": 10}
    schema["content"]["model"] = kernel | {"__loader__": "ConstructorFromReduceNode", "content": arguments}


def is_object(node):
    return node["__loader__"] == "ObjectNode"


MUTATIONS = {
    "cut": lambda members, rng: zipped(members)[: rng.randrange(1, len(zipped(members)) - 1)],
    "bit flipped": flipped,
    "more at the end": lambda members, rng: zipped(members) + rng.randbytes(rng.randrange(1, 99)),
    "compressed otherwise": lambda members, rng: zipped(members, rng.choice([zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])),
    "sizes forged": lambda members, rng: with_size(members, rng.choice([0, 1, 2**31]), rng),
    "member missing": lambda members, rng: zipped(dict(list(members.items())[1:])),
    "array too long": of_array(lambda data, rng: header((rng.randrange(10**3, 10**15),)) + data),
    "array of objects": of_array(lambda data, rng: header((1,), "|O") + b"cos\nsystem\n(S'true'\ntR."),
    "array of pickle": of_array(lambda data, rng: b"\x80\x04cos\nsystem\n."),
    "array header": of_array(lambda data, rng: data[:8] + rng.randbytes(60) + data[68:]),
    "array of nothing": of_array(lambda data, rng: header((10**12,), "<U0")),
    "key missing": on_node(lambda node, rng: node.pop(rng.choice(["__class__", "__module__", "__loader__"]))),
    "unknown loader": on_node(
        lambda node, rng: node.update(__loader__=rng.choice(["Node", "", None, 3, ["DictNode"]]))
    ),
    "system": on_node(lambda node, rng: node.update(__class__="system", __module__="os"), is_object),
    "eval": on_node(lambda node, rng: node.update(__class__="eval", __module__="builtins"), is_object),
    "private type": on_node(lambda node, rng: node.update(__class__="Nothing"), is_object),
    "text for a node": on_node(lambda node, rng: node.update(content=rng.choice(["abc", 3, True])), is_object),
    "shared numbers": shared,
    "deep": nested,
    "one file, two objects": lambda members, rng: with_schema(members, two_owners),
    "holds itself": lambda members, rng: with_schema(members, holds_itself),
    "called": lambda members, rng: with_schema(members, called),
    "protocol": lambda members, rng: with_schema(members, lambda s: s.update(protocol=rng.choice([-1, 99, "0", True]))),
    "other schema": lambda members, rng: zipped(
        members | {"schema.json": rng.choice(["", "3", "[]", "null", "\ud800".encode("utf-8", "surrogatepass"), "{}"])}
    ),
}


def peak():
    """Megabytes that this process has held at most."""
    if resource is None:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def refused(path):
    start = time.perf_counter()
    with pytest.raises(LoadError, match=f"{path.name}.*(expected a file written by mercer.save|do not load it)"):
        mercer.load(path)
    return time.perf_counter() - start


@pytest.mark.parametrize("kind", MUTATIONS)
def test_mutations_of_valid_files_are_refused(tmp_path, parts, kind):
    """All in all more than 500 files."""
    before, path = peak(), tmp_path / "hostile"
    for number in range(ROUNDS):
        path.write_bytes(MUTATIONS[kind](parts[number % len(parts)], random.Random(number)))
        assert refused(path) < SECONDS
    assert peak() - before < MEGABYTES
    assert ROUNDS * len(MUTATIONS) >= 500


def zeros(size):
    """The bytes of a valid array of zeros, compressed in the archive that holds it."""
    return header((size // 8,)) + bytes(size)


def bomb(members):
    """One array of 256 MiB in 260 kB."""
    return zipped(members | {"big.npy": zeros(2**28)}, zipfile.ZIP_DEFLATED)


def sparse_bomb(members):
    names = {f"{name}.npy": zeros(2**25) for name in ("data", "indices", "indptr", "shape", "format", "more")}
    return zipped(
        members | {next(name for name in members if name.endswith("npz")): zipped(names, zipfile.ZIP_DEFLATED)}
    )


def schema_bomb(members):
    """A schema of 25 MiB in 60 kB."""
    text = members["schema.json"].decode()[:-1] + ', "many": "' + "a" * archives.MOST_DEFLATED_SCHEMA + '"}'
    return zipped(members | {"schema.json": text}, zipfile.ZIP_DEFLATED)


def overlapping(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.writestr("big.npy", zeros(2**16))
        for number in range(2000):
            info = copy.copy(archive.filelist[-1])
            info.filename = f"{number}.npy"
            archive.filelist.append(info)
    return file.getvalue()


def crowded(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a", "")
        archive.filelist *= archives.MOST_MEMBERS + 1
    return file.getvalue()


@pytest.mark.parametrize("make", [bomb, sparse_bomb, schema_bomb, overlapping, crowded])
def test_bombs_are_refused(tmp_path, parts, make):
    path = tmp_path / "bomb"
    path.write_bytes(make(parts[2]))
    before = peak()
    assert refused(path) < SECONDS
    assert peak() - before < MEGABYTES


def test_a_schema_of_too_many_parts_is_refused_before_it_is_read(tmp_path, parts):
    path, before = tmp_path / "bomb", peak()
    text = parts[0]["schema.json"].decode()[:-1] + ', "many": [' + "[]," * archives.MOST_NODES + "[]]}"
    path.write_bytes(zipped(parts[0] | {"schema.json": text}))
    assert refused(path) < SECONDS
    assert peak() - before < MEGABYTES


def test_a_compressed_schema_takes_bounded_memory(tmp_path, parts):
    """As many names as fit: the worst that a small file can ask for."""
    path = tmp_path / "names"
    names = ",".join(f'"{number:x}":0' for number in range(2_100_000))
    text = parts[0]["schema.json"].decode()[:-1] + f', "many": {{{names}}}}}'
    assert 0.8 * archives.MOST_DEFLATED_SCHEMA < len(text) < archives.MOST_DEFLATED_SCHEMA
    path.write_bytes(zipped(parts[0] | {"schema.json": text}, zipfile.ZIP_DEFLATED))
    before, start = peak(), time.process_time()
    with contextlib.suppress(LoadError):
        mercer.load(path)
    assert time.process_time() - start < 10 * SECONDS
    assert peak() - before < MEGABYTES


def test_files_are_small_and_those_of_earlier_versions_load(tmp_path, parts):
    model = DependencyEstimator(Spectrum(2), Classes(), alpha=0.1).fit(20 * WORDS, 20 * list("abcdef"))
    path = mercer.save(model, tmp_path / "model")
    with zipfile.ZipFile(path) as archive:
        sizes = {info.filename: (info.compress_size, info.file_size) for info in archive.infolist()}
    assert 5 * sizes["schema.json"][0] < sizes["schema.json"][1]
    assert path.stat().st_size < 0.25 * sum(size for _, size in sizes.values())
    (tmp_path / "old").write_bytes(zipped(parts[0]))  # stored, as they were written before
    assert repr(mercer.load(tmp_path / "old")) == repr(next(corpus()))


def test_what_would_be_refused_compressed_is_stored(tmp_path, monkeypatch):
    X = np.zeros((400, 50))
    X[:, 0] = np.arange(400)
    model = DependencyEstimator(alpha=0.1).fit(X, X[:, 0])
    monkeypatch.setattr(archives, "SPARE", 0)
    monkeypatch.setattr(archives, "INFLATION", 2)
    monkeypatch.setattr(archives, "MOST_DEFLATED_SCHEMA", 100)
    path = mercer.save(model, tmp_path / "model")
    with zipfile.ZipFile(path) as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
    np.testing.assert_array_equal(mercer.load(path).predict(X[:3]), model.predict(X[:3]))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_devices_and_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", "/dev/null"):
        with pytest.raises(LoadError, match="is a device or a pipe; expected a file written by mercer.save"):
            mercer.load(path)


def test_random_bytes_inside_a_file_do_no_harm(tmp_path, parts):
    """Where no checksum looks, a model may load; nothing else may happen."""
    path, rng = tmp_path / "changed", random.Random(0)
    for number in range(150):
        data = bytearray(zipped(parts[number % len(parts)]))
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data)
        with contextlib.suppress(LoadError):
            assert repr(mercer.load(path))


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_NODES", 10)
    with pytest.raises(ValueError, match="cannot be saved so that mercer.load would take it: its schema has .* parts"):
        mercer.save(DependencyEstimator(), tmp_path / "model")
    assert not list(tmp_path.iterdir())
