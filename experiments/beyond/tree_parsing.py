"""Sentences to trees: the right parse of an ambiguous sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from experiments.beyond.toy_trees import GRAMMAR, ParsedSentences, attachments, log_likelihood, make_parsed_sentences
from experiments.charts import Line, line_chart
from experiments.experiment import Experiment, Outcome, Piece, mean_row
from experiments.protocol import paper_estimator
from mercer.decoders import Candidates
from mercer.kernels import Kernel, Subsequence, SubsetTree
from mercer.report import Table, paragraph, section, table_html
from mercer.structures.grammar import Grammar
from mercer.structures.trees import Tree, bracketed, brackets

CHANCE, FIRST, RULES, LEARNED, PROCESS = (
    "a parse at random",
    "the first parse",
    "most probable under the rules of the training trees",
    "sentence kernel → tree kernel",
    "most probable under the process that made the sentences",
)
METHODS = (CHANCE, FIRST, RULES, LEARNED, PROCESS)
EXACT, F1, SECOND = "right tree, %", "labelled brackets, F1 %", "right tree among the two best, %"
SIZES, TEST = (50, 200, 800), 300
SEEDS, SHOWN = (0, 1, 2, 3, 4), 4
ALPHAS, DECAYS = (0.003, 0.03, 0.3), (0.2, 0.4)
INPUT = Subsequence((1, 2), decay=0.9).normalized()
"""Words, and pairs of words with gaps: a verb and its instrument are apart."""


class TreeParsing(Experiment):
    """Choice among the parses of sentences of a small grammar."""

    name = "tree-parsing"
    title = "Sentences to trees: the right parse of an ambiguous sentence"
    source = (
        "Not from the papers: trees as outputs under the kernel of Collins and Duffy, candidates for each sentence."
    )
    bounds = (PROCESS,)
    protocol = (
        "Sentences such as “she opened the box with the key in anger” are drawn with their trees from a process in which "
        "words determine the attachment of a phrase (experiments.beyond.toy_trees). Under the grammar each has 2, 5 or 14 "
        f"parses, which are the candidates. Training sizes {', '.join(map(str, SIZES))}; {TEST} test sentences, none of them "
        "trained on; five draws. The inputs are compared by words and pairs of words with gaps, the trees by SubsetTree, "
        f"normalized. On a held-out quarter of the training trees its decay ({' or '.join(map(str, DECAYS))}) and alpha "
        f"({', '.join(map(str, ALPHAS))}) are chosen by the share of right trees. Rules: relative frequencies of the "
        "productions of the training trees; a parse with an unseen one comes last."
    )
    digits, best = 1, "max"

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each draw and training size."""
        sizes, test, seeds = ((60,), 40, (0,)) if small else (SIZES, TEST, SEEDS)
        return [
            Piece(f"draw-{seed}-{size}", {"seed": seed, "size": size, "test": test}) for seed in seeds for size in sizes
        ]

    def parameters(self, small: bool) -> dict[str, Any]:
        """Return the grids."""
        return {"alphas": list(ALPHAS), "decays": list(DECAYS), "input": repr(INPUT)}

    def seeds(self, small: bool) -> list[int]:
        """Return a seed for each draw."""
        return [0] if small else list(SEEDS)

    def run(self, piece: Piece) -> Outcome:
        """Run all methods on one draw."""
        seed, size, test = (piece.settings[name] for name in ("seed", "size", "test"))
        drawn = make_parsed_sentences(max(SIZES) + 3 * test, random_state=seed)
        train, new = _some(drawn, slice(0, size)), _unseen(drawn, max(SIZES), test)
        candidates = [GRAMMAR.parses(words) for words in new.sentences]
        rules = Grammar.learned(train.trees)
        kernel, alpha = _chosen(train)
        model = paper_estimator(INPUT, kernel, alpha=alpha, decoder=Candidates()).fit(train.sentences, train.trees)
        ranked = [found.objects for found in model.rank(new.sentences, k=2, candidates=candidates)]
        answers = {
            FIRST: [own[0] for own in candidates],
            RULES: [max(own, key=rules.log_probability) for own in candidates],
            LEARNED: [best[0] for best in ranked],
            PROCESS: [max(own, key=log_likelihood) for own in candidates],
        }
        scores = {method: _scores(trees, new.trees) for method, trees in answers.items()}
        scores[CHANCE] = _by_chance(candidates, new.trees)
        scores[LEARNED][SECOND] = _share([tree in list(best) for tree, best in zip(new.trees, ranked, strict=True)])
        outcome: Outcome = {"size": size, "scores": scores, "kernel": repr(kernel), "alpha": alpha}
        outcome["by_parses"] = _by_parses(candidates, answers[LEARNED], new.trees)
        if seed == 0:
            outcome["examples"] = _examples(new, answers[LEARNED])
        return outcome

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return means over the draws, for every training size."""
        rows = []
        for size in sorted({outcome["size"] for outcome in outcomes}):
            same = [outcome["scores"] for outcome in outcomes if outcome["size"] == size]
            for method in METHODS:
                for metric in (EXACT, SECOND, F1) if method == LEARNED else (EXACT, F1):
                    values = [scores[method][metric] for scores in same]
                    rows.append(mean_row(values, method, metric, training=size))
        return rows

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Compare with chance, rules and the true process."""
        size = max(row["training"] for row in rows)
        found = {row["method"]: row["value"] for row in rows if row["training"] == size and row["metric"] == EXACT}
        share = (found[LEARNED] - found[CHANCE]) / (found[PROCESS] - found[CHANCE])
        return [
            f"With {size} trees the right parse is found for {found[LEARNED]:.1f}% of new sentences; by chance for "
            f"{found[CHANCE]:.1f}%, as the first parse for {found[FIRST]:.1f}%, by the probabilities of the rules for "
            f"{found[RULES]:.1f}%.",
            f"Knowing the process itself gives {found[PROCESS]:.1f}%: {share:.0%} of the way there from chance was learned. "
            "Rules do not look at pairs of words.",
        ]

    def blocks(self, rows: list[dict[str, Any]], outcomes: Sequence[Outcome]) -> Iterable[str]:
        """Show the learning curve, results by ambiguity, and errors."""
        exact = [row for row in rows if row["metric"] == EXACT]
        if len({row["training"] for row in exact}) > 1:
            yield section("Right parses against the number of trees")
            lines = {}
            for method in METHODS:
                own = [row for row in exact if row["method"] == method]
                lines[method] = Line([float(row["training"]) for row in own], [row["value"] for row in own])
            yield line_chart(lines, across="training trees", up="right tree, %", title="")
        largest = max(outcome["size"] for outcome in outcomes)
        tables = [outcome["by_parses"] for outcome in outcomes if outcome["size"] == largest]
        yield section(f"By the number of parses, {largest} training trees")
        lines_ = [
            [
                str(count),
                str(sum(table[count][1] for table in tables)),
                f"{100 * _ratio(tables, count):.1f}",
                f"{100 / int(count):.1f}",
            ]
            for count in sorted({count for table in tables for count in table}, key=int)
        ]
        yield table_html(Table(["parses", "sentences", "right tree, %", "by chance, %"], lines_, ""))
        yield section("Sentences it got wrong, and right")
        for outcome in outcomes:
            if outcome["size"] == largest:
                for example in outcome.get("examples", []):
                    yield paragraph(" · ".join(example))


def _some(pairs: ParsedSentences, rows: slice) -> ParsedSentences:
    return ParsedSentences(pairs.sentences[rows], pairs.trees[rows])


def _unseen(pairs: ParsedSentences, known: int, wanted: int) -> ParsedSentences:
    """Return the first `wanted` pairs after the first `known` with new sentences, each sentence once."""
    seen, rows = set(pairs.sentences[:known].tolist()), []
    for row in range(known, len(pairs)):
        if pairs.sentences[row] not in seen:
            seen.add(pairs.sentences[row])
            rows.append(row)
    return ParsedSentences(pairs.sentences[rows[:wanted]], pairs.trees[rows[:wanted]])


def _chosen(train: ParsedSentences) -> tuple[Kernel, float]:
    """Choose the tree kernel and alpha that find most trees of the last quarter from the others."""
    known = _some(train, slice(0, 3 * len(train) // 4))
    held = _some(train, slice(3 * len(train) // 4, None))
    candidates = [GRAMMAR.parses(words) for words in held.sentences]
    kernels = [SubsetTree(decay).normalized() for decay in DECAYS]
    scores = {}
    for number, kernel in enumerate(kernels):
        for alpha in ALPHAS:
            model = paper_estimator(INPUT, kernel, alpha=alpha, decoder=Candidates()).fit(known.sentences, known.trees)
            found = model.predict(held.sentences, candidates=candidates)
            scores[number, alpha] = _share([a == b for a, b in zip(found, held.trees, strict=True)])
    number, alpha = max(scores, key=lambda tried: scores[tried])
    return kernels[number], alpha


def _share(right: Iterable[bool]) -> float:
    return 100.0 * float(np.mean(list(right)))


def _scores(predicted: Sequence[Tree], trees: Iterable[Tree]) -> dict[str, float]:
    pairs = list(zip(predicted, trees, strict=True))
    return {EXACT: _share([a == b for a, b in pairs]), F1: 100.0 * float(np.mean([_agreement(a, b) for a, b in pairs]))}


def _agreement(predicted: Tree, tree: Tree) -> float:
    """Compute the F1 of the labelled brackets of one tree."""
    left, right = brackets(predicted), brackets(tree)
    return 2.0 * (left & right).total() / (left.total() + right.total())


def _by_chance(candidates: Sequence[Sequence[Tree]], trees: Iterable[Tree]) -> dict[str, float]:
    """Compute the mean scores of a parse drawn at random."""
    each = [np.mean([_agreement(parse, tree) for parse in own]) for own, tree in zip(candidates, trees, strict=True)]
    return {EXACT: 100.0 * float(np.mean([1.0 / len(own) for own in candidates])), F1: 100.0 * float(np.mean(each))}


def _by_parses(
    candidates: Sequence[Sequence[Tree]], predicted: Sequence[Tree], trees: Iterable[Tree]
) -> dict[str, list[int]]:
    """Count right sentences, and all sentences, for each number of parses."""
    found: dict[str, list[int]] = {}
    for own, answer, tree in zip(candidates, predicted, trees, strict=True):
        entry = found.setdefault(str(len(own)), [0, 0])
        entry[0] += int(answer == tree)
        entry[1] += 1
    return found


def _ratio(tables: Sequence[dict[str, list[int]]], count: str) -> float:
    return sum(table.get(count, [0, 0])[0] for table in tables) / sum(table.get(count, [0, 0])[1] for table in tables)


def _examples(new: ParsedSentences, predicted: Sequence[Tree]) -> list[list[str]]:
    """Return some sentences with phrases attached to the wrong word, and some that are right."""
    wrong, right = [], []
    for words, answer, tree in zip(new.sentences, predicted, new.trees, strict=True):
        sentence = " ".join(words)
        if answer == tree:
            right.append([sentence, "right", bracketed(tree)])
            continue
        apart = [
            f"“{phrase}” was attached to “{given}” and belongs to “{head}”"
            for (_, given, phrase), (_, head, _) in zip(attachments(answer), attachments(tree), strict=True)
            if given != head
        ]
        wrong.append([sentence, *(apart or ["a phrase was attached to the other of two equal words"])])
    return wrong[:SHOWN] + right[:SHOWN]
