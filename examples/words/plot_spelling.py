"""
Spelling with a dictionary
==========================

People misspell words in a few ways: a letter is dropped, doubled, or changes places with its neighbour. A map
from misspelt words to words learns those ways, and works for words it has never seen as an answer, as long as
a dictionary offers them. Words are compared by the pairs of letters they share, in order, with gaps.
"""

# %%
# Thirty words are learned from, with four misspellings each; ten more are only in the dictionary.

import matplotlib.pyplot as plt
import numpy as np

from mercer import DependencyEstimator
from mercer.kernels import Subsequence
from mercer.plots import WeightsDisplay

known = """receive believe relieve achieve separate desperate definite infinite necessary accessory address possess embarrass
harass occasion occurrence reference preference conscience conscious neighbour weigh height foreign sovereign library literary
february surprise promise""".split()
new = "government environment tomorrow beginning argument judgment rhythm schedule vacuum tongue".split()
rng = np.random.default_rng(0)


def misspelt(word):
    i = int(rng.integers(1, len(word) - 1))
    dropped, doubled = word[:i] + word[i + 1 :], word[:i] + word[i] + word[i:]
    return [dropped, doubled, word[:i] + word[i + 1] + word[i] + word[i + 2 :]][rng.integers(3)]


pairs = sorted({(misspelt(word), word) for word in known for _ in range(4)})
typos, words = map(list, zip(*pairs, strict=True))
letters = Subsequence(length=2, decay=0.5).normalized()
model = DependencyEstimator(letters, letters).fit(typos, words)

tests = [(misspelt(word), word) for word in new for _ in range(4)]
answers = model.predict([typo for typo, _ in tests], candidates=known + new)
right = np.array([answer == word for answer, (_, word) in zip(answers, tests, strict=True)])
print(f"{right.mean():.0%} of 40 misspellings of words that were not trained on are corrected")

# %%
# An answer for a word of training rests on its misspellings:

WeightsDisplay.from_estimator(model, "recevie", k=8)
plt.show()

# %%
# Nonsense is answered with doubt, and so are most words that training did not have. The score is the share of right
# answers that look better than this one.

doubts = {
    "misspelt, known": typos[::3],
    "misspelt, new": [t for t, _ in tests],
    "nonsense": ["xyzzy", "qwrtp", "aaaa", "zzz"],
}
fig, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
for row, (name, inputs) in enumerate(doubts.items()):
    scores = model.abstention_score(inputs, candidates=known + new)
    ax.plot(scores, row + 0.06 * rng.normal(size=len(scores)), "o", alpha=0.5, label=name)
ax.set_yticks(range(3), doubts)
ax.set_xlabel("abstention score: 0 is sure, 1 is not to be trusted")
plt.show()
