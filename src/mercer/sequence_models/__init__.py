"""Sequences into sequences: two estimators, built from kernel ridges over rows of symbols.

| file | content |
|---|---|
| `aligned` | `AlignedSequences`: spelling to sound and the like |
| `alignment`, `alignment_choice` | `Aligner`: one chunk of the output for each input symbol, or run of them; its choice |
| `inventory`, `classes` | symbols, chunks and their features; vowels and consonants, and classes induced from aligned pairs |
| `contexts`, `context_model` | contexts of symbols, and the kernel ridges from contexts to chunks |
| `recurrent`, `network_model` | recurrent networks that read whole words from both ends, to chunks |
| `networks` | small networks from rows of symbols to classes |
| `voting`, `network_loops` | what networks have in common, and their compiled loops |
| `gated_units`, `recurrent_loops` | compiled loops of recurrent networks |
| `progress` | `Progress`: lines with the time that is left |
| `steps` | scores and beam searches of models that read one symbol after another |
| `word_models` | scores of whole words |
| `ngrams` | `NgramModel`, the model of runs of symbols |
| `inflection` | `Inflection`: lemma and tags to form |
| `edits` | `Script`: the edits from a lemma to a form, and the cheapest one |
| `harmony` | `Harmony`: the vowels that words do not mix |
| `inflection_decision`, `inflection_search` | kernel ridges for the steps of a script, and the beam search over them |
| `form_networks` | `FormNetworks`: small networks of the steps of the transducer |
| `made_up_pairs` | `MadeUpPairs`: training pairs with the stem swapped for random letters of the same shape |
| `inflection_models` | `FormModels`: scripts and the transducer, and the trust in each |
| `transducer` | `Transducer`: copy, drop or write letters |
| `transducer_features`, `transducer_learning`, `transducer_beam` | the compiled loops of the transducer |
| `edit_alignment`, `tag_views` | the edits between two words, and the subsets of tags that a transducer looks at |
| `base`, `symbols`, `hamming_ridge` | what both share: the base class, symbols as numbers, the kernel |
"""

from mercer.sequence_models.aligned import AlignedSequences
from mercer.sequence_models.alignment import Aligner
from mercer.sequence_models.edits import Script
from mercer.sequence_models.inflection import Inflection

__all__ = ["AlignedSequences", "Aligner", "Inflection", "Script"]
