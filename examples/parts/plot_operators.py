"""
Operators compared
==================

Twenty outputs are driven by three hidden factors and blurred by noise. Learned one by one, each output has to
find its own way through the noise. An operator says how outputs act on each other: the covariance of the
outputs shrinks directions in which they hardly vary, and a learned output matrix finds the factors by itself.
With few pairs that matters; with many it does not.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mercer import DependencyEstimator, OutputKernelLearning
from mercer.operators import ConditionalCovariance, Covariance, Identity

rng = np.random.default_rng(0)
directions, loadings = rng.normal(size=(4, 3)), rng.normal(size=(3, 20))


def drawn(n):
    X = rng.normal(size=(n, 4))
    truth = np.sin(X @ directions) @ loadings
    return X, truth, truth + 1.5 * rng.normal(size=truth.shape)


X_test, y_test, _ = drawn(400)
models = {
    "identity": lambda: DependencyEstimator(operator=Identity()),
    "covariance": lambda: DependencyEstimator(operator=Covariance()),
    "conditional covariance": lambda: DependencyEstimator(operator=ConditionalCovariance(eps=0.1)),
    "learned output matrix": lambda: OutputKernelLearning(),
}
sizes = [20, 40, 80, 160]
errors = {name: [] for name in models}
for n in sizes:
    draws = [drawn(n) for _ in range(3)]
    for name, make in models.items():
        found = [np.mean((make().fit(X, y).predict(X_test) - y_test) ** 2) for X, _, y in draws]
        errors[name].append(np.mean(found))

# %%
fig, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
for name, marker in zip(models, "os^D", strict=True):
    ax.plot(sizes, errors[name], marker=marker, label=name)
ax.set(xscale="log", xlabel="pairs", ylabel="squared error on new inputs")
ax.set_xticks(sizes, [str(n) for n in sizes])
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# The matrix that was learned from 160 pairs, beside the one behind the data; noise of each output adds to its diagonal.

X, _, y = drawn(160)
learned = OutputKernelLearning().fit(X, y).output_matrix_
fig, axes = plt.subplots(1, 2, figsize=(6.5, 3), layout="constrained")
for ax, matrix, title in zip(axes, (learned, loadings.T @ loadings), ("learned", "true"), strict=True):
    limit = abs(matrix).max()
    ax.imshow(matrix, cmap="RdBu", vmin=-limit, vmax=limit)
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
