"""
Curves with bands
=================

From the latitude, altitude and distance to the sea of a place to its temperature over a year. The output is a
closed curve, so its neighbouring days are learned together: `CurveRidge` chooses how far neighbours reach by
exact leave-one-out, together with alpha. The bands hold the whole curve of a new place with a probability of
ninety percent.
"""

# %%
# Places and their curves, with weather that lasts for a few days.

import matplotlib.pyplot as plt
import numpy as np

from mercer import CurveRidge
from mercer.kernels import Encoded, Gaussian, ZScores
from mercer.plots import PathDisplay, PredictionGridDisplay

rng = np.random.default_rng(0)
places = np.column_stack([rng.uniform(30, 65, 120), rng.exponential(0.4, 120), rng.exponential(150, 120)])
day = np.arange(0, 365, 7.0)
latitude, altitude, sea = places.T[:, :, None]
season = -np.cos(2 * np.pi * (day - 20 - 10 * np.exp(-sea / 50)) / 365)
weather = rng.normal(size=(120, len(day) + 4))
weather = sum(weather[:, i : i + len(day)] for i in range(5)) / 5
temperature = 34 - 0.55 * latitude - 6 * altitude + (3 + 0.25 * (latitude - 30) * (1 - np.exp(-sea / 100))) * season
temperature = temperature + 2.5 * weather

train, test = slice(0, 80), slice(80, 120)
model = CurveRidge(Encoded(ZScores(), Gaussian("median")), grid=day, period=365).fit(places[train], temperature[train])
print(f"neighbours within about {model.length_:.0f} days move together")
print(f"error in a new place: {np.sqrt(np.mean((model.predict(places[test]) - temperature[test]) ** 2)):.2f} degrees")

# %%
display = PredictionGridDisplay.from_estimator(model, places[test], temperature[test], grid=day, coverage=0.9)
for ax, (north, up, inland) in zip(display.axes_.flat, places[test], strict=False):
    ax.set_title(f"{north:.0f}° N, {1000 * up:.0f} m, {inland:.0f} km inland", fontsize="small")
display.figure_.supxlabel("day of the year")
display.figure_.supylabel("temperature")
plt.show()

inside = model.predict_interval(places[test], coverage=0.9, simultaneous=True).contains(temperature[test])
print(f"{inside.mean():.0%} of 40 curves lie inside their band from end to end")

# %%
# The left-out error for each length and alpha:

PathDisplay.from_estimator(model)
plt.show()
