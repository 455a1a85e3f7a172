"""
A kernel of your own
====================

What is similar is often known to nobody but you. Five minutes to midnight and five past are close, though
their numbers are far apart. A kernel is a dataclass with one method, the similarity of two objects; Gram
matrices, algebra, pipelines, leave-one-out and saving follow. `check_kernel` names the first requirement that
a kernel breaks.
"""

# %%
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from mercer import DependencyEstimator
from mercer.kernels import FromFunction, Kernel
from mercer.testing import check_kernel


@dataclass(eq=False, repr=False)
class Clock(Kernel):
    """Times of day such as "23:55", alike if they are less than about `hours` apart around the clock."""

    hours: float = 2.0

    def pointwise(self, x, z):
        a, b = (int(time[:2]) + int(time[3:]) / 60 for time in (x, z))
        return np.exp((np.cos(2 * np.pi * (a - b) / 24) - 1) * (24 / (2 * np.pi * self.hours)) ** 2)


check_kernel(Clock(), ["00:00", "23:55", "00:05", "12:30"])
print(Clock()(["23:55"], ["00:05", "20:00"]).round(3))

# %%
# How busy a station is, over the day, from forty counts, none of them around midnight. A kernel that takes times for
# numbers knows nothing there; on a clock, the evening and the morning meet.

rng = np.random.default_rng(0)
minutes = np.sort(rng.choice(np.arange(120, 1260), 40, replace=False))
times = [f"{m // 60:02}:{m % 60:02}" for m in minutes]
busy = 60 + 40 * np.cos(2 * np.pi * (minutes - 1410) / 1440) + 25 * np.cos(4 * np.pi * (minutes - 60) / 1440)
counts = busy + 6 * rng.normal(size=40)


def numbers(x, z):
    a, b = (int(time[:2]) + int(time[3:]) / 60 for time in (x, z))
    return float(np.exp(-((a - b) ** 2) / 8))


every = [f"{m // 60:02}:{m % 60:02}" for m in range(0, 1440, 10)]
fig, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
ax.plot(minutes / 60, counts, "o", color="#8a8f98", label="counted")
for kernel, name, style in (
    (FromFunction(numbers), "times as numbers", "k:"),
    (Clock(2.0), "times on a clock", "#c2410c"),
):
    model = DependencyEstimator(kernel).fit(times, counts)
    ax.plot(np.arange(144) / 6, model.predict(every), style, label=name)
ax.set(xlabel="hour", ylabel="people", xticks=range(0, 25, 3))
ax.legend()
plt.show()
