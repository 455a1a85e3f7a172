"""
Entangled kernels
=================

Eight outputs swing with the same rhythm, which is faster than the kernel of the inputs expects, and much noise
lies over them. A separable operator can learn which outputs are alike, but its similarity of inputs stays as it
was given. `EntangledRidge` learns a kernel in which inputs and outputs are entangled, by aligning it with the
outputs: what the outputs have in common tells it which inputs are similar, here those one period apart.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mercer import EntangledRidge, OutputKernelLearning
from mercer.kernels import Gaussian

rng = np.random.default_rng(0)
waves = rng.normal(size=(2, 8)) / 1.4


def drawn(n):
    X = rng.uniform(-2, 2, size=(n, 1))
    truth = np.hstack([np.cos(6 * X), np.sin(6 * X)]) @ waves
    return X, truth, truth + rng.normal(size=truth.shape)


kernel = Gaussian(0.5)
models = {
    "each output alone": lambda: OutputKernelLearning(kernel, max_iter=0),
    "separable, learned": lambda: OutputKernelLearning(kernel),
    "entangled, learned": lambda: EntangledRidge(kernel, kraus_rank=10, gamma=0.1, max_iter=20, random_state=0),
}
X_test, y_test, _ = drawn(400)
sizes = [20, 40, 80]
errors = np.zeros((len(models), len(sizes)))
for j, n in enumerate(sizes):
    draws = [drawn(n) for _ in range(4)]
    for i, make in enumerate(models.values()):
        errors[i, j] = np.mean([np.mean((make().fit(X, y).predict(X_test) - y_test) ** 2) for X, _, y in draws])

# %%
# The error on new inputs, and one of the eight outputs as it was seen, with two ways to learn it from 40 pairs.

fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6), width_ratios=[2, 3], layout="constrained")
for name, row, marker in zip(models, errors, "os^", strict=True):
    left.plot(sizes, row, marker=marker, label=name)
left.set(xlabel="pairs", ylabel="squared error on new inputs", ylim=(0, None))
left.set_xticks(sizes)
left.legend()

X, _, y = drawn(40)
across = np.linspace(-2, 2, 200)[:, None]
right.plot(X, y[:, 0], "o", color="#8a8f98", markersize=4, label="seen")
right.plot(across, np.hstack([np.cos(6 * across), np.sin(6 * across)]) @ waves[:, 0], color="#8a8f98", label="truth")
for name, style in (("each output alone", "k:"), ("entangled, learned", "#c2410c")):
    right.plot(across, models[name]().fit(X, y).predict(across)[:, 0], style, label=name)
right.set(xlabel="input", title="one output")
right.legend(fontsize="small", ncols=2)
plt.show()

# %%
# The alignment of the kernel with the outputs rises with every step of the ascent. Too many steps follow the noise:
# the number of steps is a parameter like alpha.

model = EntangledRidge(kernel, kraus_rank=10, gamma=0.1, max_iter=60, random_state=0).fit(X, y)
fig, ax = plt.subplots(figsize=(5.5, 2.6), layout="constrained")
ax.plot(model.alignment_path_, marker=".", color="#2563a8")
ax.axvline(20, color="gray", linestyle="--", linewidth=0.8)
ax.set(xlabel="step", ylabel="alignment")
plt.show()
