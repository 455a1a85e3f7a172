"""Reading of text files, of rows in blocks, and models of text; names are imported when they are first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.core.blocks import ArrayBlocks, Batches
    from mercer.io.rows import open_rows, pairs_of

__all__ = ["ArrayBlocks", "Batches", "open_rows", "pairs_of"]

if not TYPE_CHECKING:  # the command line reads text without NumPy

    def __getattr__(name: str) -> Any:
        if name in __all__:
            return getattr(import_module("mercer.io.rows"), name)
        raise AttributeError(f"module 'mercer.io' has no attribute {name!r}")
