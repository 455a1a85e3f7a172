"""
Sets of labels
==============

A picture of a digit is described by a set of words: *even*, *prime*, *round* (it has a loop), *large* (above
four). The sets are objects of their own here, not four separate yes-or-no questions: under the F1 loss, the
best set is not always the one that has every label with a probability above one half, and `mercer` finds the
set of highest expected F1 exactly.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from mercer import DependencyEstimator
from mercer.kernels import Gaussian, LabelSets
from mercer.losses import F1

digits = load_digits()
words = {"even": {0, 2, 4, 6, 8}, "prime": {2, 3, 5, 7}, "round": {0, 6, 8, 9}, "large": {5, 6, 7, 8, 9}}
X = digits.data / 16
y = [{word for word, members in words.items() if digit in members} for digit in digits.target]

model = DependencyEstimator(Gaussian("median"), LabelSets(), loss=F1()).fit(X[:250], y[:250])
print(model.reasons_["decoder"])
print(f"mean F1 on 500 other digits: {1 + model.score(X[250:750], y[250:750]):.3f}")

# %%
# The weight of training pairs with a label is a probability for it, calibrated on left-out pairs. Some digits that the model is
# least sure about:

probabilities = model.label_probabilities(X[250:750])
doubtful = abs(probabilities - 0.5).min(axis=1).argsort()[:6] + 250
predicted = model.predict(X[doubtful])

fig, axes = plt.subplots(2, 6, figsize=(10, 3.4), height_ratios=[1, 0.9], layout="constrained")
for column, i in enumerate(doubtful):
    axes[0, column].imshow(digits.images[i], cmap="gray_r")
    axes[0, column].set_axis_off()
    axes[0, column].set_title("\n".join(sorted(predicted[column])) or "(none)", fontsize="small", color="#c2410c")
    axes[1, column].barh(model.labels_.astype(str), probabilities[i - 250], color="#2563a8")
    axes[1, column].axvline(0.5, color="gray", linewidth=0.8)
    axes[1, column].set(xlim=(0, 1), xticks=[0, 1])
    axes[1, column].tick_params(labelleft=column == 0)
plt.show()
