"""Making data files from their recipes, and checking those that are there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from experiments.data.recipe import Recipe, Upstream
from experiments.data.recipes import RECIPES, converter
from mercer.core.files import written_atomically
from mercer.datasets import ChecksumError
from mercer.datasets.store import SOURCES, cache_folder, find

Download = Callable[[Upstream, Path], Path]


def make(name: str, download: Download | None = None) -> Path:
    """Return a data file, made from its recipe unless it is there; upstream files that were downloaded are kept.

    A run that was stopped goes on where it ended: files that are complete and have the right checksum are not asked for again.
    """
    recipe = recipe_of(name)
    if (found := find(name)) is not None:
        return found
    if not recipe.upstream:
        raise FileNotFoundError(
            f"{name} has no recipe: {recipe.by_hand}. Put it at FOLDER/{name} and set MERCER_DATA=FOLDER"
        )
    fetched = download or with_pooch
    folder = cache_folder() / "upstream" / name
    files = {key: fetched(source, folder / Path(source.url).name) for key, source in recipe.upstream.items()}
    content = converter(recipe)(files)
    digest = hashlib.sha256(content).hexdigest()
    if digest not in SOURCES[name].accepted:
        raise ChecksumError(
            f"{name} was made from {len(files)} upstream files and has SHA-256 {digest}; expected one of "
            f"{', '.join(SOURCES[name].accepted)}. It was not kept: an upstream file or a library has changed"
        )
    with written_atomically(cache_folder() / name) as path:
        path.write_bytes(content)
    return cache_folder() / name


def with_pooch(source: Upstream, target: Path) -> Path:
    """Download a file with progress, and check its SHA-256; one that is there and right is kept."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError("downloading data sets needs pooch; run 'pip install mercer[data]'") from error
    known = None if source.sha256 is None else f"sha256:{source.sha256}"
    try:
        return Path(pooch.retrieve(source.url, known, fname=target.name, path=target.parent, progressbar=_has_tqdm()))
    except ValueError as error:
        raise ChecksumError(f"{source.url} does not have SHA-256 {source.sha256}; it was not used ({error})") from error
    except OSError as error:
        raise FileNotFoundError(
            f"{source.url} could not be downloaded ({error}); run the same command again to go on"
        ) from error


def _has_tqdm() -> bool:
    from importlib.util import find_spec

    return find_spec("tqdm") is not None


def recipe_of(name: str) -> Recipe:
    """Return the recipe of a data file; raise ValueError that lists the names otherwise."""
    if name not in RECIPES:
        raise ValueError(f"there is no data file {name!r}; see python -m experiments data --list")
    return RECIPES[name]


def state(name: str) -> str:
    """Return "there", "missing", "by hand" or "damaged" for a data file."""
    try:
        found = find(name)
    except ChecksumError:
        return "damaged"
    if found is not None:
        return "there"
    return "missing" if RECIPES[name].upstream else "by hand"
