"""
Trees
=====

Who has the telescope in *I saw the man with the telescope*? A grammar offers two trees for it and cannot
choose; the words can. The map goes from a sentence to a tree: sentences are compared by the pairs of words
they share, trees by the parts they share, and the answer is one of the parses of that very sentence.
"""

# %%
# A grammar, and verbs and nouns that go with some things. A phrase belongs to the verb if the verb uses such a thing.

import matplotlib.pyplot as plt
import numpy as np

from mercer import DependencyEstimator
from mercer.decoders import EachOf
from mercer.kernels import Spectrum, SubsetTree
from mercer.structures import Grammar

things = "telescope binoculars hat beard hammer stick collar spots key knife lid lock".split()
grammar = Grammar.read(
    f"""
    S  -> NP VP
    VP -> V NP | VP PP
    NP -> 'I' | 'we' | D N | NP PP
    PP -> P T
    D  -> 'the'
    P  -> 'with'
    V  -> 'saw' | 'hit' | 'opened'
    N  -> 'man' | 'dog' | 'box'
    T  -> {" | ".join(repr(thing) for thing in things)}
    """
)
used = {"saw": ["telescope", "binoculars"], "hit": ["hammer", "stick"], "opened": ["key", "knife"]}
sentences = [
    (who, verb, "the", noun, "with", thing)
    for who in ("I", "we")
    for verb in used
    for noun in ("man", "dog", "box")
    for thing in things
]
parses = [list(grammar.parses(sentence)) for sentence in sentences]


def belongs_to_verb(tree):
    return len(tree[2]) == 3 and tree[2][1][0] == "VP"  # S -> NP VP, VP -> VP PP


right = [
    next(tree for tree in trees if belongs_to_verb(tree) == (sentence[5] in used[sentence[1]]))
    for sentence, trees in zip(sentences, parses, strict=True)
]
order = np.random.default_rng(0).permutation(len(sentences))
train, test = order[:90], order[90:]

# %%
# Learn from 90 sentences, and choose among the parses of each new one.

words = Spectrum(1) * Spectrum(1)  # pairs of words that two sentences share
model = DependencyEstimator(words.normalized(), SubsetTree(decay=0.5).normalized())
model.fit([sentences[i] for i in train], [right[i] for i in train])
answers = model.predict([sentences[i] for i in test], candidates=EachOf([parses[i] for i in test]))
share = np.mean([answer == right[i] for answer, i in zip(answers, test, strict=True)])
print(f"{share:.0%} of {len(test)} sentences are attached rightly; a coin would have 50%")

# %%
# Two answers:


def draw(ax, tree, x=0.0, y=0.0):
    """Draw a tree and return its width."""
    if not isinstance(tree, tuple):
        ax.text(x, y, tree, ha="center", color="#c2410c", fontsize=9)
        return 1.0
    widths, places = 0.0, []
    for child in tree[1:]:
        start = x + widths
        width = draw(ax, child, start, y - 1)
        places.append(start + (width - 1) / 2 if isinstance(child, tuple) else start)
        widths += width
    middle = x + (widths - 1) / 2
    ax.text(middle, y, tree[0], ha="center", fontsize=9, weight="bold")
    for place in places:
        ax.plot([middle, place], [y - 0.12, y - 0.7], color="gray", linewidth=0.8)
    return widths


fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
asked = [("I", "saw", "the", "man", "with", "telescope"), ("I", "saw", "the", "dog", "with", "collar")]
for ax, sentence in zip(axes, asked, strict=True):
    (answer,) = model.predict([sentence], candidates=EachOf([list(grammar.parses(sentence))]))
    draw(ax, answer)
    ax.set_axis_off()
    ax.set(xlim=(-0.7, 5.7), ylim=(-5.5, 0.7), title=" ".join(sentence))
plt.show()
