"""
Masks
=====

A noisy picture in, the mask of the thing in it out. Masks are images too: their pixels are predicted
together, and the loss is the one masks are judged by, intersection over union. alpha is
chosen by that loss on left-out pictures, and the mask of least expected loss is chosen among those of training.
"""

# %%
# Pictures with a disc, a square or a cross of any size anywhere, under noise that is as strong as the thing itself.

import matplotlib.pyplot as plt
import numpy as np

from mercer import DependencyEstimator
from mercer.kernels import Gaussian, Linear
from mercer.losses import IoU
from mercer.plots import PathDisplay, PredictionGridDisplay

rng = np.random.default_rng(0)
rows, columns = np.mgrid[:16, :16]


def thing():
    kind, size = rng.integers(3), rng.uniform(3, 5.5)
    down, right = abs(rows - rng.uniform(5, 11)), abs(columns - rng.uniform(5, 11))
    shapes = [down**2 + right**2 < size**2, np.maximum(down, right) < size * 0.85]
    return [*shapes, (np.minimum(down, right) < 1.5) & (np.maximum(down, right) < size * 1.2)][kind].astype(float)


masks = np.array([thing() for _ in range(700)])
pictures = masks + 0.6 * rng.normal(size=masks.shape)
train, test = slice(0, 500), slice(500, 700)

scale = Gaussian("median").resolve(pictures[train]).scale
model = DependencyEstimator(Gaussian(scale), Linear(), loss=IoU()).fit(pictures[train], masks[train])
print(f"intersection over union, 200 pictures: {1 + model.score(pictures[test], masks[test]):.2f}")
cut = np.mean([1 - IoU()(mask, picture) for mask, picture in zip(masks[test], pictures[test], strict=True)])
print(f"the picture itself, cut at one half:   {cut:.2f}")

# %%
PredictionGridDisplay.from_estimator(
    model, pictures[test], masks[test], most=9, kind="images", input_picture=lambda picture: picture
)
plt.show()

# %%
# The loss of left-out pictures along alpha, one factorization for all of them:

PathDisplay.from_estimator(model)
plt.show()
