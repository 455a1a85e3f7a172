"""One fold of the OCR table: rows on the paper's features, steps of our own kernel, and example words."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.papers.kadri_words_methods import (
    ALPHAS,
    BLURS,
    LAMBDA,
    OWN_ALPHAS,
    Fold,
    Grams,
    OwnKernels,
    image_features,
    letters_alone,
    operator_grid,
)
from experiments.papers.kadri_words_page import word_example
from experiments.papers.kadri_words_reading import characters_right
from mercer.datasets.images import HandwrittenWords
from mercer.kernels import Gaussian, PartByPart, Polynomial
from mercer.operators import Covariance, Identity


def paper_rows(fold: Fold, scores: dict[str, dict[str, float]], chosen: dict[str, Any]) -> np.ndarray:
    """Score the operators on the paper's features; return the points that conditional covariance predicts."""
    grams = image_features(fold, Polynomial(degree=3))
    low = [alpha / 10 for alpha in ALPHAS]
    conditional, _ = grams.choose(operator_grid(), [LAMBDA])
    placed = grams.points(conditional, LAMBDA)
    scores["identity"] = fold.score(grams.points(Identity(), LAMBDA))
    scores["covariance"] = fold.score(grams.points(Covariance(), LAMBDA))
    scores["conditional"] = fold.score(placed)
    for name, operators, alphas in (
        ("identity", [Identity()], ALPHAS),
        ("covariance", [Covariance()], low),
        ("conditional", operator_grid(), low),
    ):
        operator, alpha = grams.choose(operators, alphas)
        scores[f"{name}-chosen"] = fold.score(grams.points(operator, alpha))
        chosen[f"{name} alpha"] = alpha
        if name == "identity":
            scores["identity-chosen"]["unseen"] = grams.unseen(alpha)
    chosen["eps"] = conditional.eps

    normalised = image_features(fold, Polynomial(degree=3, coef0=0.0).normalized())
    scores["normalised"] = fold.score(normalised.points(*normalised.choose([Identity()], ALPHAS)))
    return placed


def own_rows(fold: Fold, scores: dict[str, dict[str, float]], chosen: dict[str, Any]) -> np.ndarray:
    """Score our kernels, step by step; return the points that the last one predicts."""
    own = OwnKernels(fold)
    kernel, (train, test) = PartByPart(Gaussian(4.0)), own.letters(0.0)
    scores["gaussian-16"] = fold.score(Grams.of(fold, kernel(train), kernel(test, train)).points(Identity(), LAMBDA))
    for key, blurs, same in (
        ("gaussian", (0.0,), (False,)),
        ("blurred", BLURS, (False,)),
        ("ours", BLURS, (False, True)),
    ):
        ways = [own.best(way, blurs, same) for way in (0, 1)]
        both = [fold.score(own.points(way)) for way in ways]
        scores[key] = {"letters": both[0]["letters"], "words": both[1]["words"]}
        blur, scale, together, alpha = ways[0].setting
        if key != "gaussian":
            scores[key]["unseen"] = own.grams(blur, scale, bool(together)).unseen(alpha)
    chosen |= {"blur": blur, "scale": scale, "same length": bool(together), "alpha": alpha, "left out": ways[0].right}
    grams = own.grams(blur, scale, bool(together))
    low = [value / 10 for value in OWN_ALPHAS]
    scores["ours-covariance"] = fold.score(grams.points(*grams.choose([Covariance()], low)))
    scores["ours-conditional"] = fold.score(grams.points(*grams.choose(operator_grid(), low)))
    alone = letters_alone(fold, own.letter_kernel(blur, scale), *own.letters(blur))
    scores["alone"] = {"letters": characters_right(alone, fold.test.strings)}
    return own.points(ways[0])


def examples(test: HandwrittenWords, readings: dict[str, list[str]]) -> list[Any]:
    """Select example words: right in ours and wrong in both others, wrong in ours, right in all."""
    ours, others = readings["ours, letter by letter"], (readings["M3N"], readings["conditional covariance"])
    right = np.asarray([read == word for read, word in zip(ours, test.strings, strict=True)])
    theirs = np.asarray([all(r[i] == word for r in others) for i, word in enumerate(test.strings)])
    none = np.asarray([all(r[i] != word for r in others) for i, word in enumerate(test.strings)])
    groups = {
        "Read right by ours, wrong by both others": right & none,
        "Read wrong by ours": ~right,
        "Read right by all": right & theirs,
    }
    found: list[Any] = []
    for title, members in groups.items():
        rows = np.random.default_rng(0).permutation(np.flatnonzero(members))[:6]
        cards = [word_example(test, int(i), {name: read[i] for name, read in readings.items()}) for i in rows]
        found.append([title, cards])
    return found
