"""Report of the comparison: rows for the JSON file, tables and the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from experiments.experiment import Outcome
from experiments.fingerprint import code_fingerprint
from experiments.rivals.picture import critical_difference
from experiments.rivals.problem import STRINGS
from experiments.rivals.ranks import Comparison, Standing, against, among, compared, mean_ranks, ranks, standing
from experiments.rivals.registry import BEST, FAST, METHODS, OURS, REFERENCE
from experiments.rivals.tasks import TASKS
from mercer.report import Table, page, paragraph, section, table_html


@dataclass(frozen=True)
class Report:
    """Standings of all methods on all tasks that have some, and the folds of each task."""

    tasks: dict[str, dict[str, Standing]]

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], folds: Mapping[str, int]) -> Report:
        """Return the report on outcomes of pieces; a method with folds still to run is left out of the task."""
        groups: dict[tuple[str, str], list[Outcome]] = {}
        for outcome in outcomes:
            groups.setdefault((outcome["task"], outcome["method"]), []).append(outcome)
        tasks: dict[str, dict[str, Standing]] = {}
        for (task, method), own in groups.items():
            found = standing(own, folds[task])
            if found is not None:
                tasks.setdefault(task, {})[method] = replace(found, code=_code(method))
        return cls(tasks)

    def filled(self, rows: Sequence[Mapping[str, Any]], source: str, other_code: bool = False) -> Report:
        """Return the report with the standings of an earlier result, by its rows, for methods that have none of their own.

        Rows of a method whose code has changed since, if they tell the code, are taken with `other_code` alone; `notes` names
        those of the reference.
        """
        tasks = {task: dict(own) for task, own in self.tasks.items()}
        scored = [row for row in rows if "task" in row and row["metric"] != "seconds" and _known(row, other_code)]
        seconds = {(row["task"], row["method"]): row["value"] for row in rows if row["metric"] == "seconds"}
        for row in scored:
            task, name, mark = row["task"], row["method"], row["metric"].partition(": ")[2]
            value = Standing(None) if mark else Standing(row["value"], row["error"] or 0.0, seconds[task, name])
            known = {"where": row.get("where") or source, "code": row.get("code", "")}
            tasks.setdefault(task, {}).setdefault(name, replace(value, mark=mark, **known))
        return Report({task: tasks[task] for task in TASKS if task in tasks})

    @property
    def best(self) -> dict[str, str]:
        """Whether the smallest or the largest score is best, by task."""
        return {task: TASKS[task].score.best for task in self.tasks}

    @property
    def methods(self) -> list[str]:
        """Methods that have a standing, in the order of the registry."""
        return [name for name in METHODS if any(name in own for own in self.tasks.values())]

    def reference(self) -> str:
        """Return the method that others are counted against: ours, or the first there is."""
        return next(iter(self.methods), REFERENCE)

    def mean_ranks(self) -> dict[str, tuple[float, int]]:
        """Return mean ranks, best first; other efforts of `AutoEstimator` are ranked in the place of the default one."""
        rivals = [name for name in self.methods if name not in (REFERENCE, FAST, BEST)]
        found: dict[str, tuple[float, int]] = {}
        for ours in (FAST, BEST, REFERENCE):
            if ours in self.methods:
                means = mean_ranks(among(self.tasks, [*rivals, ours]), self.best)
                found |= {name: mean for name, mean in means.items() if name == ours}  # none without rivals
        field = among(self.tasks, [*rivals, REFERENCE])
        found |= mean_ranks(field, self.best)
        return dict(sorted(found.items(), key=lambda each: each[1]))

    def compared(self) -> Comparison | None:
        """Compare methods that can do every task with rows of numbers, on these tasks; other efforts left out."""
        tables = {task: own for task, own in self.tasks.items() if TASKS[task].kind not in STRINGS}
        field = [name for name in self.methods if name not in (FAST, BEST)]
        whole = [name for name in field if all(name in own for own in tables.values())]
        return compared(among(tables, whole), self.best)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each score and its seconds, and for each mean rank."""
        rows: list[dict[str, Any]] = [
            {"method": name, "metric": "mean rank", "value": mean, "error": None, "tasks": count}
            for name, (mean, count) in self.mean_ranks().items()
        ]
        for task, own in self.tasks.items():
            metric = TASKS[task].score.name
            for name, each in own.items():
                known = {"task": task, "where": each.where, "code": each.code}
                if each.value is None:
                    rows.append({"method": name, "metric": f"{metric}: {each.mark}", "value": 1, "error": None} | known)
                    continue
                rows.append({"method": name, "metric": metric, "value": each.value, "error": each.error} | known)
                rows.append({"method": name, "metric": "seconds", "value": each.seconds, "error": None, "task": task})
        return rows

    def ranks_table(self) -> Table:
        """Tabulate mean ranks, tasks, firsts, wins and losses against the reference, and seconds."""
        reference, lines = self.reference(), []
        for name, (mean, count) in self.mean_ranks().items():
            won, even, lost = against(self.tasks, self.best, reference, name)
            first = sum(self._first(task, name) for task in self.tasks)
            seconds = [own[name].seconds for own in self.tasks.values() if name in own]
            total = sum(each for each in seconds if each is not None)
            counts = "" if name == reference else f"{won}/{even}/{lost}"
            lines.append([name, f"{mean:.2f}", str(count), str(first), counts, f"{total:.0f}"])
        header = ["method", "mean rank", "tasks", "first", "won/even/lost", "seconds"]
        return Table(header, lines, f"Mean ranks; tasks that {reference} won, drew and lost; seconds of a fold of each")

    def _first(self, task: str, name: str) -> bool:
        return (
            self.tasks[task].get(name, Standing(None)).value is not None
            and ranks(self.tasks[task], self.best[task])[name] < 2
        )

    def scores_tables(self) -> Iterator[Table]:
        """Tabulate the scores, a table for each kind of task."""
        for kind in dict.fromkeys(TASKS[task].kind for task in self.tasks):
            own = [task for task in self.tasks if TASKS[task].kind == kind]
            names = [name for name in self.methods if any(name in self.tasks[task] for task in own)]
            lines = [[name, *(_cell(self.tasks[task].get(name)) for task in own)] for name in names]
            firsts = {
                (i, j + 1)
                for j, task in enumerate(own)
                for i, name in enumerate(names)
                if name in self.tasks[task] and self._first(task, name)
            }
            yield Table(["method", *own], lines, f"{kind}: {TASKS[own[0]].score.name}", firsts)

    def seconds_table(self) -> Table:
        """Tabulate the mean seconds of a fold."""
        lines = [[name, *(_seconds(own.get(name)) for own in self.tasks.values())] for name in self.methods]
        return Table(["method", *self.tasks], lines, "Processor seconds of a fold, predictions included")

    def notes(self) -> list[str]:
        """Compare the reference with the best rival of each task."""
        ours, ahead, near, behind = self.reference(), 0, 0, []
        tasks = {task: own for task, own in self.tasks.items() if ours in own and set(own) - set(OURS)}
        for task, own in tasks.items():
            rivals = {name: each for name, each in own.items() if name not in OURS}
            best = min(rivals, key=ranks(rivals, self.best[task]).__getitem__)
            ahead += ranks({best: own[best], ours: own[ours]}, self.best[task])[ours] == 1.0
            lost = against({task: own}, self.best, ours, best)[2]
            near += not lost
            behind += [f"{task} ({best})"] * lost
        text = f"{ours} is ahead of every rival on {ahead} of {len(tasks)} tasks, within one standard error of the best on {near}"
        notes = [f"{text}. Behind on: {', '.join(behind)}." if behind else f"{text}."] if tasks else []
        notes += [note for name in (FAST, BEST) for note in self._only_on(name)]
        return notes + [note for name in OURS for note in self._earlier(name)]

    def _only_on(self, name: str) -> list[str]:
        """Name the tasks on which another effort was run, where these are not all."""
        scored = [task for task, own in self.tasks.items() if name in own]
        return (
            [f"{name} was run on {len(scored)} of {len(self.tasks)} tasks."]
            if 0 < len(scored) < len(self.tasks)
            else []
        )

    def _earlier(self, name: str) -> list[str]:
        """Name the tasks on which a method of ours was run by other code, or by code that was not recorded."""
        scored = {task: own[name] for task, own in self.tasks.items() if name in own}
        old = [task for task, each in scored.items() if (each.code or each.where) and each.code != _code(name)]
        which = f"all {len(old)} tasks" if len(old) == len(scored) > 1 else ", ".join(old)
        return [f"By an earlier version of {name}: {which}."] if old else []

    def page(self, protocol: str, missing: Mapping[str, str], footer: str) -> str:
        """Write the HTML page."""
        blocks = [paragraph(protocol), table_html(self.ranks_table()), *map(paragraph, self.notes())]
        blocks.append(
            paragraph(
                "A method is ranked on the tasks it can do; one that did not finish every fold has the last rank. The "
                "efforts of AutoEstimator are ranked one at a time. Two methods are even on a task if they differ by less than "
                "the standard error of the better one."
            )
        )
        found = self.compared()
        if found is not None:
            blocks += [
                section("Critical difference"),
                critical_difference(
                    found, f"Mean ranks on {found.tasks} tasks; Friedman's test has p = {found.p_value:.2g}"
                ),
            ]
        blocks += [section("Scores"), *map(table_html, self.scores_tables()), table_html(self.seconds_table())]
        blocks += [section("Methods"), table_html(_settings(self.methods))]
        if missing:
            blocks.append(
                paragraph("Not installed: " + ", ".join(f"{name} ({what})" for name, what in missing.items()))
            )
        return page("AutoEstimator and its rivals on the same folds", blocks, footer)


@cache
def _code(name: str) -> str:
    """Return the first digits of the fingerprint of a method."""
    return code_fingerprint(METHODS[name].path)[:12]


def _known(row: Mapping[str, Any], other_code: bool) -> bool:
    """True for a row of a task and method there are, by the code there is or, if asked for, by other code."""
    task, name = row["task"], row["method"]
    return task in TASKS and name in METHODS and (other_code or row.get("code", "") in ("", _code(name)))


def _cell(standing: Standing | None) -> str:
    if standing is None:
        return ""
    return standing.mark if standing.value is None else f"{standing.value:.3f} ± {standing.error:.3f}"


def _seconds(standing: Standing | None) -> str:
    return "" if standing is None or standing.seconds is None else f"{standing.seconds:.1f}"


def _settings(names: Sequence[str]) -> Table:
    """Return the docstring of each method: its settings and its choices."""
    lines = []
    for name in names:
        method = METHODS[name]
        text = "" if method.missing else " ".join((method.load().__doc__ or "").replace("`", "").split())
        lines.append([name, text])
    return Table(["method", "settings"], lines, "")
