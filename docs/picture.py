"""Draw the picture of the README and of the first page: ``python docs/picture.py``."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import CurveRidge, DependencyEstimator
from mercer.datasets import load_digit_halves
from mercer.kernels import Classes, Gaussian, Subsequence
from mercer.losses import ZeroOne
from mercer.operators import Covariance

BLUE, RED, GREY = "#2563a8", "#c2410c", "#8a8f98"


def words(ax):
    """Draw misspelt words and the words that are predicted for them."""
    pairs = [("recieve", "receive"), ("recive", "receive"), ("seperate", "separate"), ("seprate", "separate")]
    pairs += [("definately", "definitely"), ("definatly", "definitely"), ("acommodate", "accommodate")]
    letters = Subsequence(length=2, decay=0.5).normalized()
    typos, right = zip(*pairs, strict=True)
    model = DependencyEstimator(letters, letters).fit(list(typos), list(right))
    asked = ["reciev", "sepparate", "definetly", "acomodate"]
    for i, (typo, word) in enumerate(zip(asked, model.predict(asked), strict=True)):
        ax.text(0.44, 0.86 - 0.24 * i, typo, ha="right", color=GREY)
        ax.text(0.5, 0.86 - 0.24 * i, "→", ha="center", color=GREY)
        ax.text(0.56, 0.86 - 0.24 * i, word, ha="left", color=RED, weight="bold")
    ax.set_axis_off()


def digits(figure):
    """Draw upper halves of digits, completed."""
    halves = load_digit_halves()
    model = DependencyEstimator(Gaussian("median"), Gaussian("median"), operator=Covariance())
    model.fit(halves.inputs[:800], halves.outputs[:800])
    some = [1003, 1005, 1006, 1009, 1012]
    lower = model.predict(halves.inputs[some])
    blank = halves.whole(halves.inputs[some], np.full_like(lower, -1.0))
    whole = halves.whole(halves.inputs[some], lower)
    for column in range(5):
        for row, image in enumerate((blank[column], whole[column])):
            ax = figure.add_subplot(2, 5, 1 + column + 5 * row)
            ax.imshow(image, cmap="gray_r")
            ax.set(xticks=[], yticks=[])
            for spine in ax.spines.values():
                spine.set_color(GREY if row == 0 else RED)


def curves(ax):
    """Draw a curve with its band."""
    rng = np.random.default_rng(3)
    X, times = rng.uniform(0, 1, size=(60, 1)), np.linspace(0, 1, 50)
    curves = np.sin(2 * np.pi * (times + X)) * (1 + X) + 0.15 * rng.normal(size=(60, 50))
    model = CurveRidge(grid=times).fit(X[:59], curves[:59])
    lower, upper = (ends[0] for ends in model.predict_interval(X[59:], 0.9, simultaneous=True))
    ax.fill_between(times, lower, upper, color=RED, alpha=0.18, linewidth=0)
    ax.plot(times, curves[59], color=GREY, linewidth=1.2)
    ax.plot(times, model.predict(X[59:])[0], color=RED, linewidth=2)
    ax.set(xticks=[], yticks=[])


def sets(figure):
    """Draw noisy digits with sets that hold the right one nineteen times out of twenty."""
    rng, data = np.random.default_rng(0), load_digits()
    order = rng.permutation(len(data.target))
    X, y = data.data[order] / 16 + 0.3 * rng.normal(size=data.data.shape), data.target[order]
    model = DependencyEstimator(Gaussian("median"), Classes(), loss=ZeroOne()).fit(X[:500], y[:500])
    some = [500, 502, 503, 506, 507, 508]
    for place, (i, found) in enumerate(zip(some, model.predict_set(X[some], coverage=0.95), strict=True)):
        ax = figure.add_subplot(2, 3, 1 + place)
        ax.imshow(X[i].reshape(8, 8), cmap="gray_r")
        ax.set_axis_off()
        ax.set_title("{" + ", ".join(map(str, sorted(found.objects))) + "}", color=RED, fontsize="medium")


def main():
    """Write ``docs/_static/picture.png``."""
    figure = plt.figure(figsize=(13, 2.9), layout="constrained")
    parts = figure.subfigures(1, 4, width_ratios=[1.1, 1.3, 1.0, 1.0], wspace=0.04)
    titles = [
        "words → words",
        "upper → lower half",
        "number → curve, with its band",
        "how sure? sets with 95% coverage",
    ]
    for part, title in zip(parts, titles, strict=True):
        part.suptitle(title, color=BLUE, fontsize="medium")
    words(parts[0].subplots())
    digits(parts[1])
    curves(parts[2].subplots())
    sets(parts[3])
    figure.savefig(Path(__file__).parent / "_static" / "picture.png", dpi=110)


if __name__ == "__main__":
    main()
