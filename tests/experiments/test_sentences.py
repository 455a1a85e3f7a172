"""Sentences on the pages: those that compare say what the rows say, and say something else when the rows do."""

import ast
import random
import re
from pathlib import Path

import pytest

from experiments.experiment import Experiment
from experiments.registry import EXPERIMENTS, experiment
from mercer.report import Result

ROOT = Path(__file__).parents[2]
STORED = [name for name in EXPERIMENTS if (ROOT / "results" / f"{name}.json").is_file()]

COMPARES = re.compile(
    r"\b(better|worse|beats?|beaten|outperform\w*|ahead|behind|faster|slower|higher|larger|smaller|fewer|gains?|helps?|hurts?"
    r"|wins?|alike|similar\w*|match\w*|reach\w*|reproduc\w*|confirm\w*|explain\w*|unexplained|agree\w*|exceed\w*|than|unlike"
    r"|none|never|cannot|hardly|too|matters?|raises?|rises?|falls?|improv\w*|close|closer|closest|far|little|because|since"
    r"|therefore|so|reason|why|depends?|needs?|meets?|misses|met|missed|prevents?|fits?|within|outside)\b"
)
SIGNED = re.compile(r"[-+−]\d")  # the sign of a number compares
NUMBER = re.compile(r"[-+−]?\d[\d.,]*(e[-+]\d+)?")

CLAIMS = re.compile(
    r"\b(better|worse|beats?|outperform\w*|ahead|behind|faster|slower|helps?|hurts?|wins?|improves?|matters?|hardly|confirm\w*"
    r"|of the (printed )?size|comes? close)\b"
)

FACTS = {
    # headings of lists that follow the rows, numbers that say themselves what is more, definitions, what a paper prints, and
    # mathematics: true whatever was measured
    "weston-table1": ["matched by:", "not matched by:", "Such outputs kept as candidates change KDE and k-NN so:"],
    "weston-figure2": ["Our reader differs, so its counts"],
    "kadri-table2-left": [
        "C is smaller for the conditional operator",
        "Its rows cannot be compared",
        "The closest reading after the pre-image",
        "The paper's rows use different losses",
    ],
    "kadri-table2-right": ["The constraints behind the 88.5 are in Cortes et al."],
    "kadri-figure2": [
        "The paper's low-rank conditional covariance is better",
        "The low-rank fit is faster than the exact conditional covariance up to rank",
        "The low-rank fit sees all faces",
    ],
    "entangled-weather": ["KRR in our reading of the poster is within"],
    "entangled-simulated": [
        "EKL is below KRR by more than two of its own standard errors at",
        "ptrEKL is below KRR by more than two of its own standard errors at",
        "knowing A and T would gain",
        "the poster's model has none",
    ],
    "qm9-graphs": ["Exactly right are"],
    "toy-strings-construction": ["training outputs"],
    "spelling-command": ["mercer fit"],  # the name of the command
}
FACTS["report-images"] = FACTS["kadri-table2-left"]


def sentences(made, rows):
    """Sentences of the remarks, numbers taken out, with the sentence itself."""
    split = [part for note in made.notes(rows) for part in re.split(r"(?<=[.:;])\s+", note)]
    return {NUMBER.sub("#", each): each for each in split}


def changed(rows, seed):
    """Rows with other values: shuffled, reflected, scaled, all alike, those of the paper, in order, and with other errors."""
    rng = random.Random(seed)
    way = seed % 10
    found = [dict(row) for row in rows]
    for metric in dict.fromkeys(row["metric"] for row in rows):
        own = [row for row in found if row["metric"] == metric]
        values = [row["value"] for row in own]
        reflected = [max(values) + min(values) - value for value in values]
        new = [
            rng.sample(values, len(values)),
            reflected,
            [value * rng.choice([0.1, 0.5, 1.0, 2.0, 10.0]) for value in values],
            [row.get("paper", row["value"]) for row in own],
            [values[0]] * len(values),
            sorted(values),
            sorted(values, reverse=True),
            [value * rng.uniform(0.8, 1.25) for value in values],
            [0.001 * value for value in values],
            [10.0 * value for value in values],
        ][way]
        scale = rng.choice([1e-6, 1.0, 100.0])
        for row, value in zip(own, new, strict=True):
            row["value"] = value
            row["error"] = None if row["error"] is None else row["error"] * scale
    return found


def fixed_comparisons(made, rows, tries=60):
    """Sentences with a word of comparison whose words stay the same under every change of the rows."""
    said = sentences(made, rows)
    kept = {words for words, whole in said.items() if COMPARES.search(whole) and not SIGNED.search(whole)}
    for seed in range(tries):
        try:
            kept &= sentences(made, changed(rows, seed)).keys()
        except ZeroDivisionError:  # a ratio of values that are all alike
            continue
    return sorted(said[words] for words in kept)


@pytest.mark.parametrize("name", STORED)
def test_a_sentence_that_compares_follows_the_rows(name):
    made = experiment(name)
    found = fixed_comparisons(made, Result.read(ROOT / "results" / f"{name}.json").rows)
    facts = FACTS.get(name, [])
    assert [each for each in found if not each.startswith(tuple(facts))] == [], (
        "generate this from the rows, or delete it"
    )
    unused = [fact for fact in facts if not any(each.startswith(fact) for each in found)]
    assert unused == [], "these facts are on no page"


def test_a_fixed_comparison_is_found():
    class Told(Experiment):
        def notes(self, rows):
            better, other = rows[0]["value"], rows[1]["value"]
            return [
                f"Ours has {better:.2f}, better than {other:.2f}.",
                f"Ours is {'ahead of' if better < other else 'behind'} theirs.",
                f"The gap is {better - other:+.2f}, which helps.",
            ]

    rows = [
        {"method": name, "metric": "loss", "value": value, "error": 0.1} for name, value in (("a", 1.0), ("b", 2.0))
    ]
    assert fixed_comparisons(Told(), rows) == ["Ours has 1.00, better than 2.00."]


def paragraphs(path):
    """Sentences without a value in the paragraphs that a module puts on a page."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("paragraph", "section"):
            parts = getattr(node.args[0], "values", [node.args[0]])
            texts = [part.value if isinstance(part, ast.Constant) else "{}" for part in parts]
            yield from (each for each in re.split(r"(?<=[.:;])\s+", "".join(map(str, texts))) if "{}" not in each)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_comparison_stands_in_a_protocol(name):
    made = experiment(name)
    assert [each for each in re.split(r"(?<=[.:;])\s+", made.protocol) if CLAIMS.search(each)] == []


def test_no_comparison_stands_in_a_paragraph_of_fixed_text():
    modules = [path for room in ("papers", "beyond", "masks") for path in (ROOT / "experiments" / room).glob("*.py")]
    found = [each for path in modules for each in paragraphs(path)]
    assert len(found) > 30
    assert [each for each in found if CLAIMS.search(each)] == []
