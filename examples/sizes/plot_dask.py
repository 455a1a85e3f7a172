"""
On a cluster with Dask
======================

Collections of Dask go in where arrays do: `LowRank` and `ConjugateGradient` read them one partition at a time, and the
work on a partition is a task, on the cluster that is active or else on threads of this process. The answer is the same
as on one machine, also if a worker is lost on the way. This page runs on threads; with ``Client("scheduler:8786")`` from
``dask.distributed`` before ``fit``, the same lines run on that cluster.
"""

# %%
# Rows in eight partitions, which are made when they are needed.

import dask.array
import matplotlib.pyplot as plt
import numpy as np

from mercer import DependencyEstimator
from mercer.kernels import Gaussian
from mercer.solvers import LowRank

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(16_000, 2))
y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.2 * rng.normal(size=len(X))
rows = dask.array.from_array(X, chunks=(2_000, 2))

spread = DependencyEstimator(Gaussian(1.0), solver=LowRank(rank=100), alpha=0.1).fit(rows, y)
alone = DependencyEstimator(Gaussian(1.0), solver=LowRank(rank=100), alpha=0.1).fit(X, y)
print(f"{rows.npartitions} partitions; residual of the kernel {spread.residual_:.1e}")

# %%
# What was learned from the partitions, and its difference from the model that was fitted on one array:

axis = np.linspace(-2, 2, 60)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
learned = spread.predict(grid).reshape(60, 60)
difference = abs(learned - alone.predict(grid).reshape(60, 60))
print(f"largest difference: {difference.max():.1e}")

fig, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
truth = np.sin(2 * grid[:, 0]) * grid[:, 1]
for ax, values, title in zip(axes, (truth.reshape(60, 60), learned), ("truth", "learned by partitions"), strict=True):
    image = ax.imshow(values, origin="lower", extent=(-2, 2, -2, 2), cmap="RdBu", vmin=-2, vmax=2)
    ax.set_title(title)
fig.colorbar(image, ax=axes)
plt.show()
