"""
Inflection
==========

*try* becomes *tried* and *tries*, *stop* becomes *stopped*, *love* becomes *loved*. `Inflection` learns such
changes from lemmas with tags and their forms. It cuts a change into steps (letters dropped, an ending built
from right to left), learns each step by kernel ridges, and searches for the best script of steps, so it
writes forms with endings it has never seen as a whole.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mercer import Inflection

plain = "walk talk kick jump look call help ask turn open clean rain paint wait play enjoy stay obey".split()
silent_e = "love bake hope live move save close dance smile vote write_ race use".replace("write_ ", "").split()
consonant_y = "try cry fry carry hurry study copy marry worry deny".split()
doubled = "stop drop plan rob beg hug nod pin rub tap".split()
hissing = "kiss miss pass wash push fix mix watch catch_ touch".replace("catch_ ", "").split()


def forms(lemma):
    if lemma in silent_e:
        stem, third = lemma[:-1], lemma + "s"
    elif lemma in consonant_y:
        stem, third = lemma[:-1] + "i", lemma[:-1] + "ies"
    else:
        stem = lemma + (lemma[-1] if lemma in doubled else "")
        third = lemma + ("es" if lemma in hissing else "s")
    going = lemma if lemma in consonant_y else stem
    return {"V;PST": stem + "ed", "V;PRS;3;SG": third, "V;V.PTCP;PRS": going + "ing"}


rng = np.random.default_rng(0)
lemmas = rng.permutation(plain + silent_e + consonant_y + doubled + hissing)
pairs = {
    part: [((str(lemma), tag), form) for lemma in some for tag, form in forms(lemma).items()]
    for part, some in (("train", lemmas[:42]), ("test", lemmas[42:]))
}
X, y = map(list, zip(*pairs["train"], strict=True))
X_test, y_test = map(list, zip(*pairs["test"], strict=True))
model = Inflection(rounds=10).fit(X, y)
print(f"{-model.score(X_test, y_test):.0%} of {len(y_test)} forms of other verbs are wrong")

# %%
# Right and wrong, verb by verb:

predicted = model.predict(X_test).reshape(-1, 3)
truth = np.array(y_test, dtype=object).reshape(-1, 3)
fig, ax = plt.subplots(figsize=(7.5, 5.2), layout="constrained")
ax.set_axis_off()
cells = [[lemma, *row] for lemma, row in zip(lemmas[42:], predicted, strict=True)]
table = ax.table(cells, colLabels=["lemma", "past", "third person", "participle"], loc="center", cellLoc="left")
for (row, column), cell in table.get_celld().items():
    cell.set_edgecolor("none")
    if row == 0:
        cell.set_text_props(weight="bold")
    elif column > 0:
        right = predicted[row - 1, column - 1] == truth[row - 1, column - 1]
        cell.set_text_props(color="#2563a8" if right else "#c2410c", weight="normal" if right else "bold")
ax.set_title("Forms of verbs that were not trained on; wrong ones are red and bold")
plt.show()
