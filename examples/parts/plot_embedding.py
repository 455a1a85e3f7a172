"""
The space of outputs
====================

Before it is an object, a prediction is a point in the space where similar outputs are close. This picture
shows that space for the lower halves of digits, in its two directions of largest variance. Grey dots are
halves of training, coloured ones are predictions from upper halves, joined by a line to where they should be.
Short lines are good predictions; a point between two clouds is a digit that could go on in two ways.
"""

# %%
import matplotlib.pyplot as plt

from mercer import DependencyEstimator
from mercer.datasets import load_digit_halves
from mercer.kernels import Gaussian
from mercer.plots import EmbeddingDisplay

digits = load_digit_halves()
model = DependencyEstimator(Gaussian("median"), Gaussian("median")).fit(digits.inputs[:500], digits.outputs[:500])
test = slice(500, 620)

fig, ax = plt.subplots(figsize=(7, 5.4), layout="constrained")
EmbeddingDisplay.from_estimator(model, digits.inputs[test], digits.outputs[test], labels=digits.labels[test], ax=ax)
plt.show()

# %%
# Decoded into halves and embedded again, predictions have moved to where outputs are:

fig, ax = plt.subplots(figsize=(7, 5.4), layout="constrained")
EmbeddingDisplay.from_predictions(
    digits.outputs[test], model.predict(digits.inputs[test]), model.output_kernel_, labels=digits.labels[test], ax=ax
)
plt.show()
