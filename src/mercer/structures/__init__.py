"""Objects of each kind: how they are written, checked and converted.

| kind | module | written as |
|---|---|---|
| sequences | `sequences` | strings, or lists and tuples of hashable symbols |
| trees | `trees` | bracketed text, nested tuples |
| grammars | `grammar` | rules with probabilities |
| rankings | `rankings` | rows of ranks |
| graphs | `graphs` | networkx graphs |
| molecules, mass spectra | `molecules` | SMILES, packed fingerprints, lists of peaks |
| tables | `tables`, `table_encoder` | frames of pandas and polars with mixed columns and gaps |

Kernels, losses and decoders of a kind are in their own rooms and import from here.
"""

from mercer.structures.grammar import Grammar
from mercer.structures.graphs import as_graphs
from mercer.structures.molecules import MassSpectrum
from mercer.structures.rankings import as_rankings
from mercer.structures.sequences import is_sequence
from mercer.structures.tables import Table
from mercer.structures.trees import as_tree, bracketed, brackets, leaves, parse_tree

__all__ = [
    "Grammar",
    "MassSpectrum",
    "Table",
    "as_graphs",
    "as_rankings",
    "as_tree",
    "bracketed",
    "brackets",
    "is_sequence",
    "leaves",
    "parse_tree",
]
