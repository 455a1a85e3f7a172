"""
Completing images
=================

The upper half of a handwritten digit is given; draw the lower half. Outputs are pictures, compared by a
Gaussian kernel, and the predicted point is decoded into a picture that need not be one of training: the fixed
point of a weighted mean, within the range of the pixels. The covariance operator lets pixels that vary
together be predicted together.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mercer import DependencyEstimator, NeighborsEstimator
from mercer.datasets import load_digit_halves
from mercer.kernels import Gaussian
from mercer.operators import Covariance
from mercer.plots import LeaderboardDisplay, PredictionGridDisplay

digits = load_digit_halves()
top, bottom = digits.inputs, digits.outputs
train, test = slice(0, 400), slice(400, 800)

kernels = Gaussian("median"), Gaussian("median")
model = DependencyEstimator(*kernels, operator=Covariance()).fit(top[train], bottom[train])
neighbours = NeighborsEstimator(*kernels, k="loo").fit(top[train], bottom[train])
drawn, nearest = model.predict(top[test]), neighbours.predict(top[test])

# %%
# The given half, the true digit, and the one with the predicted half:

some = slice(0, 10)
whole = [digits.whole(top[test][some], halves[some]) for halves in (bottom[test], drawn)]
blank = digits.whole(top[test][some], np.full_like(drawn[some], -1.0))
PredictionGridDisplay.from_predictions(*whole, inputs=blank, input_picture=lambda image: image)
plt.show()

# %%
# Squared errors of pixels, over 400 digits:


def squared(y, predicted):
    return float(np.mean((y - predicted) ** 2))


predictions = {
    "covariance operator": drawn,
    "nearest neighbours": nearest,
    "mean": np.broadcast_to(bottom[train].mean(0), drawn.shape),
}
LeaderboardDisplay.from_predictions(bottom[test], predictions, squared)
plt.show()
