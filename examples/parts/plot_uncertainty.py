"""
How sure is it?
===============

A prediction without its doubt is half an answer. Here digits are read from small noisy pictures.
`predict_set` gives, for each picture, a set of digits that holds the right one as often as you ask for,
whatever the model; and the abstention score tells the pictures that had better be read by someone else. Both
come from training pairs that are left out in turn, at no cost.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import DependencyEstimator
from mercer.kernels import Classes, Gaussian
from mercer.losses import ZeroOne
from mercer.plots import CoverageDisplay

digits = load_digits()
rng = np.random.default_rng(0)
order = rng.permutation(len(digits.target))  # they come writer by writer, and sets are for pairs like those of training
X, y = digits.data[order] / 16 + 0.35 * rng.normal(size=digits.data.shape), digits.target[order]
train, test = slice(0, 500), slice(500, 1500)
model = DependencyEstimator(Gaussian("median"), Classes(), loss=ZeroOne()).fit(X[train], y[train])
print(f"{1 + model.score(X[test], y[test]):.1%} of 1000 pictures are read rightly")

# %%
# The sets hold the right digit as often as asked for. The band is what chance allows for 1000 pictures.

levels = [0.8, 0.85, 0.9, 0.95, 0.98]
CoverageDisplay.from_estimator(model, X[test], y[test], levels=levels)
plt.show()

# %%
# A few pictures with their sets:

sets = model.predict_set(X[test][:10], coverage=0.95)
fig, axes = plt.subplots(1, 10, figsize=(10, 1.6), layout="constrained")
for ax, picture, found, truth in zip(axes, X[test], sets, y[test], strict=False):
    ax.imshow(picture.reshape(8, 8), cmap="gray_r")
    ax.set_axis_off()
    ax.set_title(
        "{" + ", ".join(map(str, found.objects)) + "}",
        fontsize="small",
        color="black" if truth in found.objects else "red",
    )
plt.show()

# %%
# If only the surest answers are given, fewer of them are wrong.

curve = model.risk_coverage_curve(X[test], y[test])
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(curve.coverage, curve.risk, color="#c2410c")
ax.set(xlabel="share of pictures that is answered", ylabel="share of wrong answers", ylim=(0, None))
plt.show()
