"""Results as tables and pictures: in the terminal, on one HTML page, in JSON."""

from mercer.report.environment import environment
from mercer.report.explained import explanation_gallery, explanation_html, explanation_table
from mercer.report.page import Card, Picture, gallery, page, paragraph, section, table_html
from mercer.report.png import data_uri, png
from mercer.report.progress import tracked
from mercer.report.result import Result
from mercer.report.tables import Table, pivot, print_table

__all__ = [
    "Card",
    "Picture",
    "Result",
    "Table",
    "data_uri",
    "environment",
    "explanation_gallery",
    "explanation_html",
    "explanation_table",
    "gallery",
    "page",
    "paragraph",
    "pivot",
    "png",
    "print_table",
    "section",
    "table_html",
    "tracked",
]
