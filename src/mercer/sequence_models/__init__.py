"""Sequences into sequences: two estimators, built from kernel ridges over rows of symbols.

| file | content |
|---|---|
| `aligned` | `AlignedSequences`: spelling to sound and the like |
| `alignment` | `Aligner`: one chunk of the output for each input symbol |
| `inventory` | symbols, chunks and their features, vowels and consonants |
| `context_model` | contexts of symbols, and the kernel ridges from contexts to chunks |
| `ngrams` | `NgramModel`, the model of runs of symbols |
| `inflection` | `Inflection`: lemma and tags to form |
| `edits` | `Script`: the edits from a lemma to a form, and the cheapest one |
| `inflection_decision`, `inflection_search` | kernel ridges for the steps of a script, and the beam search over them |
| `base`, `symbols`, `hamming_ridge` | what both share: the base class, symbols as numbers, the kernel |
"""

from mercer.sequence_models.aligned import AlignedSequences
from mercer.sequence_models.alignment import Aligner
from mercer.sequence_models.edits import Script
from mercer.sequence_models.inflection import Inflection

__all__ = ["AlignedSequences", "Aligner", "Inflection", "Script"]
