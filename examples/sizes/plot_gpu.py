"""
On a GPU
========

Algebra follows the arrays. Give torch tensors that live on a CUDA device, and kernels, factorizations,
leave-one-out and predictions are computed there; give NumPy arrays, and they are computed on the CPU. The
code is the same. This page says where it ran when it was built: without a GPU the tensors stay on the CPU,
and without torch the arrays are NumPy's.
"""

# %%
import time

import matplotlib.pyplot as plt
import numpy as np

from mercer import DependencyEstimator
from mercer.kernels import Gaussian

try:
    import torch
except ImportError:
    torch = None

device = "cuda" if torch is not None and torch.cuda.is_available() else "cpu"
where = "NumPy on the CPU" if torch is None else f"torch on {device}"
print(f"this page ran with {where}")


def placed(array):
    return array if torch is None else torch.asarray(array, device=device)


def as_numpy(array):
    return array if torch is None else array.cpu().numpy()


# %%
# The same model with NumPy and with tensors. Predictions are tensors where the inputs are.

rng = np.random.default_rng(0)
sizes, times, differences = [250, 500, 1000, 2000], {"NumPy": [], where: []}, []
for n in sizes:
    X = rng.normal(size=(n, 5))
    y = np.sin(X[:, :1] + X[:, 1:3])
    answers = []
    for name, place in (("NumPy", np.asarray), (where, placed)):
        start = time.perf_counter()
        model = DependencyEstimator(Gaussian(2.0), alpha=0.1).fit(place(X), place(y))
        answers.append(model.predict(place(X[:200])))
        times[name].append(time.perf_counter() - start)
    differences.append(float(abs(answers[0] - as_numpy(answers[1])).max()))
print(f"largest difference of predictions: {max(differences):.1e}")

# %%
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for (name, seconds), marker in zip(times.items(), "os", strict=True):
    ax.plot(sizes, seconds, marker=marker, label=name)
ax.set(xlabel="pairs", ylabel="seconds, fit and predict", xscale="log", yscale="log")
ax.set_xticks(sizes, [str(n) for n in sizes])
ax.minorticks_off()
ax.legend()
plt.show()
