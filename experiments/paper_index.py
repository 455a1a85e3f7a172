"""Every table and figure with results in the five papers, and the experiments that reproduce it."""

from __future__ import annotations

from typing import NamedTuple


class Item(NamedTuple):
    """A table or figure of a paper, and the values it prints."""

    paper: str
    place: str
    experiments: tuple[str, ...]
    values: tuple[float, ...] = ()
    """Every value of the table and of the text on it; faces, on other data here, as shares of Cortes' error."""


_NIPS = "Weston et al., NIPS 2002"
_MPI = "Weston et al., MPI report 98"
_ICML = "Kadri et al., ICML 2013"
_INRIA = "Kadri et al., INRIA report 7956"
_POSTER = "Huusari and Kadri, entangled kernels"

INDEX = (
    Item(
        _NIPS, "Figure 1, Table 1: strings", ("weston-table1", "toy-strings-construction"), (0.676, 0.985, 0.125, 0.205)
    ),
    Item(_NIPS, "Table 2: digits", ("weston-table2", "weston-grids"), (0.0798, 0.0847, 0.1250)),
    Item(_NIPS, "Figure 2: completions right and wrong", ("weston-figure2",), (73, 23)),
    Item(
        _NIPS,
        "Table 3: completion",
        ("weston-table3", "weston-grids"),
        (0.8384, 0.8960, 1.2190, 0.2985, 0.2345, 0.5910, 0.1878, 0.1942, 0.2345),
    ),
    Item(_MPI, "Figure 1, Table 1: strings", ("weston-table1",), (0.813, 0.963, 0.110, 0.190)),
    Item(_MPI, "Table 2: digits", ("weston-table2", "weston-grids"), (0.0897, 0.0855, 0.1250)),
    Item(
        _MPI,
        "Figure 2, Table 3: completion",
        ("weston-figure2", "weston-table3", "weston-grids"),
        (73, 23, 0.8439, 0.8960, 1.2190, 0.2905, 0.2345, 0.5910, 0.1920, 0.2345),
    ),
    Item(_ICML, "Table 2 left: completion", ("kadri-table2-left",), (0.9247, 0.8145, 0.7550, 0.6276)),
    Item(_ICML, "Table 2 right: handwritten words", ("kadri-table2-right",), (87.0, 88.5, 89.2, 91.8)),
    Item(
        _ICML,
        "Table 3: faces",
        ("kadri-table3", "faces"),
        (0.1257 / 0.1773, 0.1570 / 0.1773, 0.1130 / 0.1773),
    ),
    Item(_ICML, "Figure 2: faces, low rank", ("kadri-figure2",)),
    Item(_INRIA, "Table 2: completion", ("report-images",), (1.0423, 1.0246, 0.7616, 0.6241)),
    Item(_INRIA, "Table 3: handwritten words", ("report-words",), (83.8, 86.1)),
    Item(_POSTER, "simulated data, plots over p and n", ("entangled-simulated",)),
    Item(
        _POSTER,
        "weather table",
        ("entangled-poster", "entangled-weather"),
        (0.951, 0.813, 0.761, 1.062, 0.900, 0.788, 0.840, 0.722, 0.728, -0.092, -0.094, -0.034, 0.124, 0.107, 0.044),
    ),
)
