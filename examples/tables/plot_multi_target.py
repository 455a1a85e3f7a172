"""
Several numbers at once
=======================

A wine is described by thirteen measurements. Seven of them are cheap to take; can they stand for the six that
are not? Both sides are frames with names, nothing is scaled by hand, and no kernel is chosen: `AutoEstimator`
looks at the columns, tries a menu of learners, compares them on wines that were left out, and mixes the good
ones. What it tried is on its leaderboard.
"""

# %%
# Load the frame, and cut its columns in two.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from mercer import AutoEstimator
from mercer.plots import LeaderboardDisplay

frame = load_wine(as_frame=True).data.sample(frac=1, random_state=0)
wanted = ["total_phenols", "flavanoids", "proanthocyanins", "color_intensity", "hue", "od280/od315_of_diluted_wines"]
X, y = frame.drop(columns=wanted), frame[wanted]

model = AutoEstimator(effort="fast", random_state=0).fit(X[:120], y[:120])
print(model.kinds_, model.reasons_["mixture"], sep="\n")

# %%
# Learners with a weight in the mixture are in colour. The error bars are standard errors over wines.

LeaderboardDisplay.from_estimator(model, most=8)
plt.show()

# %%
# Predictions come back as a frame with the same names.

predicted = model.predict(X[120:])
fig, axes = plt.subplots(2, 3, figsize=(8, 5.4), layout="constrained")
for ax, name in zip(axes.flat, wanted, strict=True):
    truth = y[name][120:]
    error = np.mean((predicted[name].to_numpy() - truth.to_numpy()) ** 2) / truth.var()
    ax.plot(truth, predicted[name], ".", color="#2563a8")
    ax.axline((truth.mean(), truth.mean()), slope=1, color="gray", linewidth=0.8)
    ax.set_title(f"{name[:20]}: R² {1 - error:.2f}", fontsize="medium")
fig.supxlabel("measured")
fig.supylabel("predicted")
plt.show()
