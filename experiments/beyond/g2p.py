"""Pronunciation from spelling: seven languages, from 800 or 8000 words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from experiments.experiment import Experiment, Outcome, Piece
from mercer.datasets import PronouncedWords, load_pronunciations
from mercer.decoders import Ranked
from mercer.report import Table, section, table_html
from mercer.sequence_models import AlignedSequences
from mercer.sequence_models.word_models import WORD_SCORES

NAMES = {
    "ady": "Adyghe",
    "ice": "Icelandic",
    "ita": "Italian",
    "khm": "Khmer",
    "rum": "Romanian",
    "wel_sw": "Welsh",
    "dut": "Dutch",
}
NEURAL = {"ady": 22.0, "ice": 12.0, "ita": 19.0, "khm": 34.0, "rum": 10.0, "wel_sw": 10.0, "dut": 14.7}
"""Test error of the neural baseline of the shared task."""
LOW = ("ady", "ice", "ita", "khm", "rum", "wel_sw")
BARS = {"low": float(np.mean([NEURAL[name] for name in LOW])), "khm": 36.0, "dut": 14.7}
"""The mean of the baseline over the six small languages, a bound for Khmer, and the baseline for Dutch."""
METRIC, MEAN = "wrong words, %", "mean of six"
WHOLE = "AlignedSequences"
FIRST, ORACLE = "weights before learning", "best of the candidates"
SINGLE = ("network backwards", "network forwards", "ridge", "runs")
SHOWN, LISTED = 12, 10


class Pronunciation(Experiment):
    """Words and phones of the SIGMORPHON 2021 task."""

    name = "g2p"
    title = "Spelling to sound: SIGMORPHON 2021"
    source = (
        "Not from the papers: the grapheme-to-phoneme task of SIGMORPHON 2021 (words of Wiktionary by way of WikiPron), 800 "
        "training words of six languages and 8000 of Dutch. The published value is the neural baseline of the organisers, an "
        "ensemble trained on the training words and tuned on the development words."
    )
    protocol = (
        "AlignedSequences with its default settings, one recipe for all languages. Its parts were settled on training and "
        "development words: five-fold cross-validation on the words of each of the six small languages, and development words "
        "and training words left out of Dutch. The alignment, the classes of symbols, the vectors and all weights are learned "
        "for each language from its training words. It is fitted to the training words alone. A word is wrong unless every phone "
        "is right. The rows of single models rank the same candidates by one score alone. Earlier versions had predicted these "
        "test words six or seven times (with ridges in both directions in place of networks: 40 % for Khmer, 20.2 % for the mean "
        "of six, 15.7 % for Dutch; with networks that see four symbols to either side, and a chain: 33.0, 17.8 and 15.0 %; with "
        "alignments that may read up to three symbols together, as good on words left out: 33.0, 18.5 and 15.2 %). The recurrent "
        "networks were chosen by words left out of the training parts (the experiment word-parts, and folds of the Dutch words) "
        "and by samples of six dictionaries that are not among these data; the test words were predicted after that."
    )
    digits = 1
    bounds = (ORACLE,)

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each language; the small version has a few Romanian words, tested on development words."""
        if small:
            return [Piece("rum", {"language": "rum", "train": 100, "test": 40, "small": True})]
        return [Piece(language, {"language": language}) for language in NAMES]

    def run(self, piece: Piece) -> Outcome:
        """Fit one language and predict its test words."""
        language, small = piece.settings["language"], piece.settings.get("small", False)
        data = load_pronunciations(language)
        train = _first(data.train, piece.settings.get("train"))
        test = _first(data.dev, piece.settings["test"]) if small else data.test
        model = AlignedSequences().fit(train.words, train.phones)
        trust, found = model.trust_, model.candidates(test.words)
        names = [*(part.kind for part in model.models_), *WORD_SCORES]
        singles = dict(zip(names[:-1], np.eye(len(trust)), strict=False))  # the length alone ranks nothing
        trusts = {WHOLE: trust, FIRST: model.first_trust()} | singles
        wrong = {name: _wrong_under(each, found, test.phones) for name, each in trusts.items()}
        places = [_place(each.objects, phones) for each, phones in zip(found, test.phones, strict=True)]
        wrong[ORACLE] = [place is None for place in places]
        examples = [
            {"word": word, "truth": " ".join(phones), "predicted": " ".join(each.objects[0]), "place": place}
            for word, phones, each, place in zip(test.words, test.phones, found, places, strict=True)
            if place != 1
        ]
        return {
            "language": language,
            "wrong": {name: 100.0 * float(np.mean(values)) for name, values in wrong.items()},
            "words": len(test.words),
            "trust": {name: round(float(weight), 2) for name, weight in zip(names, trust, strict=True)},
            "examples": examples[:SHOWN],
            "rescued": sum(place is not None and 1 < place <= LISTED for place in places),
        }

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return the error of each language, then the mean of the six small ones."""
        rows = []
        for outcome in outcomes:
            language, n = outcome["language"], outcome["words"]
            for method, value in outcome["wrong"].items():
                error = 100.0 * float(np.sqrt(value / 100 * (1 - value / 100) / n))
                paper = {"paper": NEURAL[language]} if method == WHOLE else {}
                rows.append(_row(method, value, error, NAMES[language]) | paper)
        low = [outcome for outcome in outcomes if outcome["language"] in LOW]
        if len(low) == len(LOW):
            for method in low[0]["wrong"]:
                values = np.asarray([outcome["wrong"][method] for outcome in low])
                shares = values / 100
                sizes = np.asarray([outcome["words"] for outcome in low])
                error = 100.0 * float(np.sqrt(np.sum(shares * (1 - shares) / sizes))) / len(low)
                paper = {"paper": BARS["low"]} if method == WHOLE else {}
                rows.append(_row(method, float(values.mean()), error, MEAN) | paper)
        return rows

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Compare with the bars, and with the parts of the model."""
        found = {(row["method"], row["language"]): row["value"] for row in rows}
        notes = ["The errors after ± are binomial standard errors over the test words."]
        for language, bar in ((MEAN, BARS["low"]), (NAMES["khm"], BARS["khm"]), (NAMES["dut"], BARS["dut"])):
            if (WHOLE, language) not in found:
                continue
            value = found[WHOLE, language]
            verdict = "meets" if value <= bar + 1e-9 else "misses"
            singles = [(method, found[method, language]) for method in SINGLE if (method, language) in found]
            alone = ", ".join(f"{method} {wrong:.1f} %" for method, wrong in singles)
            notes.append(
                f"{language}: {value:.1f} % {verdict} the bar of {bar:.4g} %. Alone: {alone}; all with the weights before "
                f"learning {found[FIRST, language]:.1f} %; the right answer is missing from the candidates for "
                f"{found[ORACLE, language]:.1f} %."
            )
        return notes

    def blocks(self, rows: list[dict[str, Any]], outcomes: Sequence[Outcome]) -> Iterable[str]:
        """Show the weight of each model."""
        yield section("Weight of each score, learned from left-out training words")
        names = list(dict.fromkeys(name for outcome in outcomes for name in outcome["trust"]))
        lines = [[NAMES[o["language"]], *(str(o["trust"].get(name, "")) for name in names)] for o in outcomes]
        yield table_html(Table(["language", *names], lines, ""))

    def examples(self, outcomes: Sequence[Outcome]) -> list[Table]:
        """Return the first words predicted wrong of each language."""
        header = ["word", "phones", "predicted", "place of the right answer"]
        tables = []
        for outcome in outcomes:
            errors = outcome["examples"]
            title = (
                f"{NAMES[outcome['language']]}: the first {len(errors)} words predicted wrong; of all, {outcome['rescued']} have "
                f"the right answer among the {LISTED} best candidates"
            )
            rows = [[each["word"], each["truth"], each["predicted"], _place_text(each["place"])] for each in errors]
            tables.append(Table(header, rows, title))
        return tables


def _row(method: str, value: float, error: float, language: str) -> dict[str, Any]:
    return {"method": method, "metric": METRIC, "value": value, "error": error, "language": language}


def _first(words: PronouncedWords, size: int | None) -> PronouncedWords:
    return PronouncedWords(words.words[:size], words.phones[:size])


def _wrong_under(trust: np.ndarray, found: Sequence[Ranked], truth: Sequence[list[str]]) -> list[bool]:
    """Tell for each word whether its best candidate is wrong under some weights of the scores."""
    best = [each.objects[int(np.argmax(each.scores @ trust))] for each in found]
    return [predicted != phones for predicted, phones in zip(best, truth, strict=True)]


def _place(objects: Iterable[Any], truth: list[str]) -> int | None:
    return next((i for i, found in enumerate(objects, 1) if found == truth), None)


def _place_text(place: int | None) -> str:
    return "not found" if place is None else str(place)
