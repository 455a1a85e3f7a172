"""
A million rows
==============

An exact kernel ridge on a million rows would need a matrix of eight terabytes. `LowRank` takes a few hundred
columns of it instead, and its time grows in proportion to the rows; `residual_` says how much of the kernel
is left out. This page uses fewer rows so that it is built in seconds: run ``python plot_million_rows.py
1000000`` for the title.
"""

# %%
# Rows with a smooth target, and a kernel ridge with 200 columns. alpha is chosen by leave-one-out all the same.

import sys
import time
import warnings

import matplotlib.pyplot as plt
import numpy as np

from mercer import DependencyEstimator, NumericalWarning
from mercer.kernels import Gaussian
from mercer.solvers import LowRank

most = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 40_000
rng = np.random.default_rng(0)
warnings.simplefilter("ignore", NumericalWarning)  # the residual is printed below


def rows(n):
    X = rng.uniform(-2, 2, size=(n, 4))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + np.cos(X[:, 2]) * X[:, 3] + 0.2 * rng.normal(size=n)


X_test, y_test = rows(5000)
sizes, seconds, errors = [most // 16, most // 8, most // 4, most // 2, most], [], []
for n in sizes:
    X, y = rows(n)
    start = time.perf_counter()
    model = DependencyEstimator(Gaussian(2.0), solver=LowRank(rank=200)).fit(X, y)
    seconds.append(time.perf_counter() - start)
    errors.append(float(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2))))
    print(f"{n:>9,} rows: {seconds[-1]:5.1f} s, error {errors[-1]:.3f}, residual {model.residual_:.1e}")

# %%
# Time is linear in the rows. The error levels off near the noise, 0.2 (dashed); a larger rank takes it closer.

fig, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for ax, values, name in zip(axes, (seconds, errors), ("seconds", "error on new rows"), strict=True):
    ax.plot(sizes, values, marker="o", color="#2563a8")
    ax.set(xlabel="rows", ylabel=name, xscale="log")
    ax.minorticks_off()
    ax.set_xticks(sizes, [f"{n / 1000:g}k" for n in sizes])
axes[0].set_yscale("log")
axes[1].axhline(0.2, color="gray", linewidth=0.8, linestyle="--")
plt.show()
