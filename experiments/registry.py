"""List of the experiments: tables and figures of the papers, and public tasks beyond them."""

from __future__ import annotations

from importlib import import_module

from experiments.experiment import Experiment

EXPERIMENTS: dict[str, str] = {
    "weston-table1": "papers.weston_strings:StringsToStrings",
    "weston-table2": "papers.weston_classes:DigitClasses",
    "weston-table3": "papers.weston_images:DigitCompletion",
    "weston-figure2": "papers.weston_images:CompletionErrors",
    "weston-grids": "papers.weston_grids:PrintedGrids",
    "kadri-table2-left": "papers.kadri_images:ImageReconstruction",
    "kadri-table2-right": "papers.kadri_words:OpticalWords",
    "words-readings": "papers.kadri_words_search:WordReadings",
    "kadri-table3": "papers.kadri_faces:FaceViews",
    "kadri-figure2": "papers.kadri_faces:TrainingSize",
    "report-images": "papers.kadri_images:ReportReconstruction",
    "report-words": "papers.kadri_words:ReportWords",
    "entangled-weather": "papers.entangled_weather:Weather",
    "entangled-poster": "papers.entangled_poster:PosterWeather",
    "entangled-simulated": "papers.entangled_simulated:Simulated",
    "entangled-steps": "papers.entangled_steps:StepsOfTheAscent",
    "gait": "papers.gait:HipToKnee",
    "label-ranking": "beyond.label_ranking:LabelRankings",
    "conformal": "beyond.conformal:CalibratedSets",
    "coverage": "beyond.coverage:Coverage",
    "coverage-groups": "beyond.coverage_groups:CoverageOfGroups",
    "massbank": "beyond.massbank:MassBank",
    "candidates": "beyond.candidates:NewCandidates",
    "spelling-command": "beyond.spelling_command:SpellingCommand",
    "doubts": "beyond.doubts:DoubtLevels",
    "qm9-graphs": "beyond.qm9_graphs:SmilesToGraph",
    "bibtex": "beyond.bibtex:Bibtex",
    "multilabel": "beyond.multilabel:MultiLabelSets",
    "tree-parsing": "beyond.tree_parsing:TreeParsing",
    "horses": "beyond.horses:HorseMasks",
    "faces": "beyond.faces:FrontViews",
    "g2p": "beyond.g2p:Pronunciation",
    "inflection": "beyond.inflection:InflectedForms",
    "word-parts": "beyond.word_parts:WordParts",
    "weston-open": "beyond.weston_open:OpenEnds",
    "covariance-sizes": "beyond.covariance_sizes:LargerData",
    "entangled-structures": "beyond.entangled_structures:EntangledStructures",
    "max-margin": "beyond.max_margin:MaxMarginMaps",
    "toy-strings-construction": "beyond.toy_strings_construction:ConstructedStrings",
}
"""Experiment name → ``module:class``, in the order `--all` runs them."""


def experiment(name: str) -> Experiment:
    """Make the experiment called `name`.

    Examples
    --------
    >>> experiment("no-such-table")
    Traceback (most recent call last):
    ...
    ValueError: there is no experiment 'no-such-table'; see python -m experiments reproduce --list
    """
    if name not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {name!r}; see python -m experiments reproduce --list")
    module, _, kind = EXPERIMENTS[name].partition(":")
    return getattr(import_module(f"experiments.{module}"), kind)()
