"""One table of every kind of column, with gaps, as a frame of each library."""

import datetime

import numpy as np
import pandas as pd

CITIES = ["Oslo", "Bergen", "Rome"]


def mixed(n=40, seed=0):
    """Columns as lists, None for a gap."""
    rng = np.random.default_rng(seed)

    def with_gaps(values):
        return [None if rng.random() < 0.15 else value for value in values]

    return {
        "age": with_gaps(rng.normal(40, 12, n).tolist()),
        "rooms": rng.integers(1, 6, n).tolist(),
        "city": with_gaps(rng.choice(CITIES, n).tolist()),
        "member": with_gaps((rng.random(n) < 0.5).tolist()),
        "since": with_gaps(
            [datetime.datetime(2020, 1, 1) + datetime.timedelta(days=int(d)) for d in rng.integers(0, 900, n)]
        ),
        "note": with_gaps(["".join(rng.choice(list("abcde "), rng.integers(0, 12))) for _ in range(n)]),
    }


def frames(columns):
    """The same table as a frame of pandas and one of polars, where that is installed."""
    found = {"pandas": pd.DataFrame(columns)}
    try:
        import polars as pl
    except ImportError:
        return found
    return found | {"polars": pl.DataFrame(columns)}
