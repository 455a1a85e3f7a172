"""Every table and figure with results in the five papers, and the experiments that reproduce it."""

from __future__ import annotations

from typing import NamedTuple


class Item(NamedTuple):
    """A table or figure of a paper."""

    paper: str
    place: str
    experiments: tuple[str, ...]


_NIPS = "Weston et al., NIPS 2002"
_MPI = "Weston et al., MPI report 98"
_ICML = "Kadri et al., ICML 2013"
_INRIA = "Kadri et al., INRIA report 7956"
_POSTER = "Huusari and Kadri, entangled kernels"

INDEX = (
    Item(_NIPS, "Figure 1, Table 1: strings", ("weston-table1", "toy-strings-construction")),
    Item(_NIPS, "Table 2: digits", ("weston-table2", "weston-grids")),
    Item(_NIPS, "Figure 2: completions right and wrong", ("weston-figure2",)),
    Item(_NIPS, "Table 3: completion", ("weston-table3", "weston-grids")),
    Item(_MPI, "Figure 1, Table 1: strings", ("weston-table1",)),
    Item(_MPI, "Table 2: digits", ("weston-table2", "weston-grids")),
    Item(_MPI, "Figure 2, Table 3: completion", ("weston-figure2", "weston-table3")),
    Item(_ICML, "Table 2 left: completion", ("kadri-table2-left",)),
    Item(_ICML, "Table 2 right: handwritten words", ("kadri-table2-right",)),
    Item(_ICML, "Table 3: faces", ("kadri-table3", "faces")),
    Item(_ICML, "Figure 2: faces, low rank", ("kadri-figure2",)),
    Item(_INRIA, "Table 2: completion", ("report-images",)),
    Item(_INRIA, "Table 3: handwritten words", ("report-words",)),
    Item(_POSTER, "simulated data, plots over p and n", ("entangled-simulated",)),
    Item(_POSTER, "weather table", ("entangled-poster", "entangled-weather")),
)
