"""Ranks of methods over tasks: mean ranks, critical difference, wins and losses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from experiments.experiment import Outcome
from experiments.rivals.worker import DONE, TIMED_OUT


@dataclass(frozen=True)
class Standing:
    """Score of a method on a task: mean over the folds, its standard error, mean processor seconds of a fold.

    `value` is None where a fold was not finished; `mark` says why. `where` says on which machines the folds ran, or from which
    earlier result the standing was taken, and `code` is the fingerprint of the method then; empty if it was not recorded.
    """

    value: float | None
    error: float = 0.0
    seconds: float | None = None
    mark: str = ""
    where: str = ""
    code: str = ""


Standings = Mapping[str, Standing]
"""Standings on one task, by method."""


def standing(outcomes: Sequence[Outcome], folds: int) -> Standing | None:
    """Return the standing of one method on one task, from the outcomes of its folds; None if some are still to run.

    With one fold the error is that over its test examples.
    """
    stopped = [outcome for outcome in outcomes if outcome["status"] != DONE]
    where = "; ".join(sorted({machine(outcome) for outcome in outcomes}))
    if stopped:
        first = stopped[0]
        late = first["status"] == TIMED_OUT
        mark = f"over {first['limit']:g} s" if late else f"failed ({first['message']})"
        return Standing(None, mark=mark, where=where)
    if len(outcomes) < folds:
        return None
    values = np.array([outcome["value"] for outcome in outcomes])
    seconds = float(np.mean([outcome["seconds"] for outcome in outcomes]))
    error = values.std(ddof=1) / np.sqrt(folds) if folds > 1 else outcomes[0]["error"] or 0.0
    return Standing(float(values.mean()), float(error), seconds, where=where)


def machine(outcome: Outcome) -> str:
    """Return where a piece ran: the processor and the threads."""
    return f"{outcome['cpu']}, {outcome['threads']} threads" if "cpu" in outcome else ""


def ranks(standings: Standings, best: str) -> dict[str, float]:
    """Rank methods on one task, 1 best; equal values share the mean of their ranks, unfinished methods the last ranks.

    Examples
    --------
    >>> ranks({"a": Standing(0.3), "b": Standing(0.1), "c": Standing(None), "d": Standing(0.3)}, "min")
    {'a': 2.5, 'b': 1.0, 'c': 4.0, 'd': 2.5}
    """
    sign = 1.0 if best == "min" else -1.0
    losses = [np.inf if each.value is None else sign * each.value for each in standings.values()]
    return dict(zip(standings, map(float, stats.rankdata(losses)), strict=True))


def mean_ranks(tasks: Mapping[str, Standings], best: Mapping[str, str]) -> dict[str, tuple[float, int]]:
    """Return the mean rank of each method over the tasks it takes part in, and their number, best first."""
    found: dict[str, list[float]] = {}
    for task, standings in tasks.items():
        for method, rank in ranks(standings, best[task]).items():
            found.setdefault(method, []).append(rank)
    means = {method: (float(np.mean(own)), len(own)) for method, own in found.items()}
    return dict(sorted(means.items(), key=lambda each: each[1]))


def among(tasks: Mapping[str, Standings], methods: Iterable[str]) -> dict[str, dict[str, Standing]]:
    """Return the standings of some methods, on the tasks that at least two of them take part in."""
    chosen = set(methods)
    found = {task: {name: each for name, each in own.items() if name in chosen} for task, own in tasks.items()}
    return {task: own for task, own in found.items() if len(own) > 1}


@dataclass(frozen=True)
class Comparison:
    """Friedman test and critical difference of mean ranks, of methods that take part in the same tasks."""

    means: dict[str, float]
    tasks: int
    p_value: float
    critical_difference: float

    def cliques(self) -> list[tuple[str, str]]:
        """Return first and last of each longest run of methods whose mean ranks differ by less than the critical difference."""
        names, values = list(self.means), list(self.means.values())
        runs: list[tuple[int, int]] = []
        for start in range(len(names)):
            end = max(i for i in range(len(names)) if values[i] - values[start] <= self.critical_difference)
            if end > start and (not runs or end > runs[-1][1]):
                runs.append((start, end))
        return [(names[start], names[end]) for start, end in runs]


def compared(tasks: Mapping[str, Standings], best: Mapping[str, str], level: float = 0.05) -> Comparison | None:
    r"""Compare mean ranks by Friedman's test and Nemenyi's critical difference (Demšar 2006).

    .. math:: CD = q_\alpha \sqrt{k (k + 1) / (6 N)}

    for k methods on N tasks; q is the quantile of the studentised range divided by √2. Methods take part that have a standing
    on every task; None if there are fewer than three of them or fewer than two tasks.
    """
    standings = list(tasks.values())
    names = [name for name in (standings[0] if standings else ()) if all(name in own for own in standings)]
    if len(names) < 3 or len(standings) < 2:
        return None
    table = np.array(
        [list(ranks({name: own[name] for name in names}, best[task]).values()) for task, own in tasks.items()]
    )
    k, n = len(names), len(table)
    p_value = float(stats.friedmanchisquare(*table.T).pvalue) if np.ptp(table) > 0 else 1.0
    quantile = float(stats.studentized_range.ppf(1 - level, k, np.inf)) / np.sqrt(2)
    order = np.argsort(table.mean(axis=0), kind="stable")
    means = {names[i]: float(table[:, i].mean()) for i in order}
    return Comparison(means, n, p_value, float(quantile * np.sqrt(k * (k + 1) / (6 * n))))


def against(tasks: Mapping[str, Standings], best: Mapping[str, str], one: str, other: str) -> tuple[int, int, int]:
    """Count the tasks on which `one` wins against `other`, is within one standard error of the better of the two, and loses."""
    counts = [0, 0, 0]
    for task, own in tasks.items():
        if one in own and other in own:
            counts[1 - _sign(own[one], own[other], best[task])] += 1
    return counts[0], counts[1], counts[2]


def _sign(one: Standing, other: Standing, best: str) -> int:
    """Return 1 if `one` is better by more than the standard error of its mean, −1 if `other` is, else 0."""
    if one.value is None or other.value is None:
        return (one.value is not None) - (other.value is not None)
    gain = (other.value - one.value) * (1 if best == "min" else -1)
    error = one.error if gain > 0 else other.error
    return int(np.sign(gain)) if abs(gain) > error else 0
