"""
Rankings
========

Five running shoes, and runners who put them in order. The order depends on the runner's weight and on the
distance they run. Rankings are compared by the pairs of shoes on which they agree (the Kemeny kernel, whose
distance is Kendall's), and predicted as whole orders: a new order, which nobody in training gave, can be the
answer, and it is proven to be the best one.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mercer import DependencyEstimator
from mercer.kernels import Gaussian, Kemeny
from mercer.losses import Kendall

shoes = ["Feather", "Racer", "Daily", "Cloud", "Tank"]
ideal = np.array(
    [[0.1, 0.2], [0.3, 0.8], [0.5, 0.5], [0.7, 0.9], [0.9, 0.3]]
)  # weight and distance each shoe is made for
rng = np.random.default_rng(0)
runners = rng.random((260, 2))
dislike = np.linalg.norm(runners[:, None] - ideal, axis=2) + 0.08 * rng.normal(size=(260, 5))
ranks = dislike.argsort(axis=1).argsort(axis=1) + 1  # ranks[i, j] is the place of shoe j, 1 for the best

model = DependencyEstimator(Gaussian("median"), Kemeny(), loss=Kendall()).fit(runners[:160], ranks[:160])
print(model.decoder_, model.reasons_["decoder"], sep=": ")
print(f"Kendall loss for 100 other runners: {-model.score(runners[160:], ranks[160:]):.3f}")
print(model.predict([[0.2, 0.9]]), "for a light runner who runs far")

# %%
# The place that is predicted for each shoe, over weight and distance. The cross is the runner it was made for.

grid = np.stack(np.meshgrid(np.linspace(0, 1, 30), np.linspace(0, 1, 30)), axis=-1).reshape(-1, 2)
places = np.asarray(model.predict(grid)).reshape(30, 30, 5)
fig, axes = plt.subplots(1, 5, figsize=(11, 2.7), sharey=True, layout="constrained")
for j, ax in enumerate(axes):
    image = ax.imshow(places[..., j], origin="lower", extent=(0, 1, 0, 1), cmap="viridis_r", vmin=1, vmax=5)
    ax.plot(*ideal[j], "x", color="red")
    ax.set(title=shoes[j], xlabel="weight")
axes[0].set_ylabel("distance")
fig.colorbar(image, ax=axes, label="predicted place", ticks=range(1, 6))
plt.show()
