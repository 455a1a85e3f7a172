"""Pages on handwritten words: images of words with the readings of each method, and two tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np

from mercer.datasets.images import LETTER_SHAPE, HandwrittenWords
from mercer.report import Table, data_uri, table_html


def word_example(words: HandwrittenWords, i: int, readings: dict[str, str]) -> dict[str, Any]:
    """Encode a word for JSON: each letter as 16 bytes, one per row of pixels."""
    letters = np.packbits(words.images[i].reshape(len(words.strings[i]), -1), axis=1)
    return {
        "word": words.strings[i],
        "letters": letters.tolist(),
        "readings": [list(pair) for pair in readings.items()],
    }


def word_cards(examples: Sequence[dict[str, Any]]) -> str:
    """Show words as pictures with their readings; wrong letters are marked."""
    return '<ul class="gallery">\n' + "\n".join(_card(example) for example in examples) + "\n</ul>"


PAPER_CHOICES = {
    "words": "training words",
    "C": "M3N: C",
    "gap": "M3N: gap",
    "constrained alpha": "constrained: α",
    "eta": "constrained: η",
    "identity alpha": "identity: α",
    "covariance alpha": "covariance: α",
    "conditional alpha": "conditional: α",
    "eps": "conditional: ε at λ = 0.01",
}
OWN_CHOICES = {
    "blur": "blur, pixels",
    "scale": "σ, of the median distance",
    "same length": "same length only",
    "alpha": "α",
    "left out": "% right, leave-one-out",
}


def choices_tables(chosen: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Tabulate the chosen settings, one line for each fold: the paper's methods, then ours."""
    for names, title in (
        (PAPER_CHOICES, "The paper's methods; the gap of M3N is the duality gap as a share of the objective"),
        (OWN_CHOICES, "Ours, read by letter"),
    ):
        lines = [
            [f"fold\N{NO-BREAK SPACE}{i}", *(_plain(found[key]) for key in names)] for i, found in enumerate(chosen)
        ]
        yield table_html(Table(["", *names.values()], lines, title))


def _card(example: dict[str, Any]) -> str:
    word = example["word"]
    lines = "<br>".join(f"{_marked(read, word)} {escape(name)}" for name, read in example["readings"])
    image = _strip(example["letters"])
    rows, columns = image.shape
    style = f"width:min(100%,{1.5 * len(word):g}rem);aspect-ratio:{columns}/{rows};border-radius:0"
    return (
        f'<li class="card"><p>{escape(word)}</p><div class="pixels">'
        f'<img src="{data_uri(image)}" alt="the letters {escape(word)}" style="{style}"></div>'
        f'<div style="font-size:.8rem;line-height:1.6;margin-top:.4rem">{lines}</div></li>'
    )


def _strip(letters: list[list[int]]) -> np.ndarray:
    """Join the letters with one empty column between them: ink 1, paper −1."""
    height, width = LETTER_SHAPE
    pixels = np.unpackbits(np.asarray(letters, dtype=np.uint8), axis=1).reshape(-1, height, width)
    spaced = np.pad(pixels, ((0, 0), (0, 0), (0, 1)))
    return 2.0 * np.concatenate(list(spaced), axis=1)[:, :-1] - 1.0


def _marked(read: str, word: str) -> str:
    """Write the reading, wrong letters underlined and coloured."""
    wrong = '<b style="color:var(--accent);text-decoration:underline">{}</b>'
    letters = (escape(a) if a == b else wrong.format(escape(a)) for a, b in zip(read, word, strict=True))
    return f"<code>{''.join(letters)}</code>"


def _plain(value: Any) -> str:
    return (
        f"{value:.3g}"
        if isinstance(value, float)
        else {True: "yes", False: "no"}[value]
        if isinstance(value, bool)
        else str(value)
    )
