"""Curves: weather over a year, angles over a step, heights over childhood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.datasets.store import read_arrays


@dataclass(frozen=True)
class Weather:
    """35 Canadian stations: `temperature` (°C) and `precipitation` (mm) on each day of the mean year, (35, 365) each.

    `log_precipitation` is its logarithm to base 10, with 0.05 mm for the 27 zeros.
    """

    temperature: np.ndarray
    precipitation: np.ndarray
    log_precipitation: np.ndarray
    station: np.ndarray
    region: np.ndarray


@dataclass(frozen=True)
class Gait:
    """39 boys, one step each: angles (degrees) of `hip` and `knee`, (39, 20), at 20 `times` of the step, from 0 to 1."""

    hip: np.ndarray
    knee: np.ndarray
    times: np.ndarray


@dataclass(frozen=True)
class Growth:
    """Heights (cm) of 39 `boys` and 54 `girls`, (39, 31) and (54, 31), at 31 `ages` from 1 to 18 years."""

    boys: np.ndarray
    girls: np.ndarray
    ages: np.ndarray


def load_weather() -> Weather:
    """Load the Canadian weather of Ramsay and Silverman (R package fda), daily means over 1960–1994; in ``canadian_weather``."""
    names = ("temp", "precip", "log10precip", "station", "region")
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(names[:3], (35, 365)) | {"station": (35,), "region": (35,)}
    return Weather(*read_arrays("canadian_weather/canadian_weather.npz", shapes))


def load_gait() -> Gait:
    """Load the gait data of Olshen et al. (R package fda), angles of hip and knee over a step; in ``functional``."""
    return Gait(*read_arrays("functional/gait.npz", {"hip": (39, 20), "knee": (39, 20), "t": (20,)}))


def load_growth() -> Growth:
    """Load the Berkeley growth data of Tuddenham and Snyder (R package fda), heights by age; in ``functional``."""
    return Growth(*read_arrays("functional/growth.npz", {"boys": (39, 31), "girls": (54, 31), "age": (31,)}))
