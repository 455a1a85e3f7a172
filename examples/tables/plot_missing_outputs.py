"""
Outputs with gaps
=================

Two sensors measure nearly the same thing, and the second one was broken for a week. A missing output is an
equation less, not a value to be filled in before learning: where the outputs are known to be related, what is
known about one helps to predict the other. The operator says how related they are.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mercer import OperatorValuedRidge
from mercer.kernels import Gaussian
from mercer.operators import Separable

rng = np.random.default_rng(1)
days = np.linspace(0, 21, 120)[:, None]
first = np.sin(days[:, 0]) + 0.3 * np.sin(2.7 * days[:, 0])
truth = np.stack([first, 0.8 * first + 0.3], axis=1)
measured = truth + 0.08 * rng.normal(size=truth.shape)
measured[40:80, 1] = np.nan  # the week without the second sensor

kernel = Gaussian(0.8)
related = OperatorValuedRidge(Separable(kernel, [[1.0, 0.97], [0.97, 1.0]]), alpha=0.05).fit(days, measured)
apart = OperatorValuedRidge(Separable(kernel, np.eye(2)), alpha=0.05).fit(days, measured)

# %%
# Learned apart, the second sensor falls back on its mean during the gap. Learned together, it follows the first one.

fig, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
ax.axvspan(days[40, 0], days[79, 0], color="gray", alpha=0.15, label="second sensor broken")
ax.plot(days, measured[:, 0], ".", color="#8a8f98", markersize=3, label="first sensor")
ax.plot(days, measured[:, 1], ".", color="#2563a8", markersize=4, label="second sensor")
ax.plot(days, truth[:, 1], color="#2563a8", alpha=0.4, label="second, truth")
ax.plot(days, apart.predict(days)[:, 1], color="black", linestyle=":", label="learned apart")
ax.plot(days, related.predict(days)[:, 1], color="#c2410c", label="learned together")
ax.set(xlabel="day", ylabel="value")
ax.legend(ncols=3, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0))
plt.show()

for name, model in (("apart", apart), ("together", related)):
    print(f"{name}: error in the gap {np.sqrt(np.mean((model.predict(days) - truth)[40:80, 1] ** 2)):.3f}")
