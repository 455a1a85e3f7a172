"""Results as tables and pictures, in the terminal, on HTML pages and in JSON."""

from mercer.report.explained import explanation_gallery, explanation_html, explanation_table
from mercer.report.page import Card, Picture, data_uri, gallery, page, paragraph, section, table_html
from mercer.report.progress import tracked
from mercer.report.result import Result, environment
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
    "print_table",
    "section",
    "table_html",
    "tracked",
]
