import base64
import re

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from experiments.charts import Line, line_chart, line_figure

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def vectors(chart):
    """The text of the picture inside a block."""
    return base64.b64decode(re.search(r"base64,([^\"]+)", chart)[1]).decode()


def test_points_and_bands_are_where_they_belong():
    lines = {"a": Line([1, 2, 4], [1.0, 3.0, 2.0], [0.5, 0.25, 1.0]), "b": Line([1, 4], [2.0, 1.0])}
    (ax,) = line_figure(lines, across="n", up="error").axes
    for drawn, line in zip(ax.lines, lines.values(), strict=True):
        np.testing.assert_array_equal(drawn.get_xydata(), np.column_stack([line.across, line.up]))
    (band,) = ax.collections
    edge = band.get_paths()[0].vertices
    assert {(1.0, 0.5), (1.0, 1.5), (2.0, 2.75), (2.0, 3.25), (4.0, 1.0), (4.0, 3.0)} <= set(map(tuple, edge.tolist()))
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == ["a", "b"]
    assert ax.lines[0].get_linestyle() != ax.lines[1].get_linestyle()


def test_a_logarithmic_axis_has_a_tick_at_each_point_and_no_other():
    lines = {"a": Line([200, 4000, 6291], [1.0, 2.0, 3.0]), "a long name " * 5: Line([500], [1.0])}
    figure = line_figure(lines, across="n", up="error", log=["across"])
    (ax,) = figure.axes
    assert [text.get_text() for text in ax.get_xticklabels()] == ["200", "500", "4000", "6291"]
    assert len(ax.get_xticks(minor=True)) == 0
    assert ax.get_legend() is None  # it is below the axes, not over the lines


def test_titles_are_written_and_escaped():
    chart = line_chart({"a < b": Line([1], [2])}, across="n & m", up="<mse>", title="t <x>")
    assert "<figcaption>t &lt;x&gt;</figcaption>" in chart
    assert 'alt="t &lt;x&gt;: &lt;mse&gt; against n &amp; m"' in chart
    picture = vectors(chart)
    for text in ("a &lt; b", "n &amp; m", "&lt;mse&gt;"):
        assert text in picture
    assert "prefers-color-scheme" in picture  # readable on dark pages


def test_equal_lines_give_equal_pictures():
    lines = {"a": Line([1, 2], [1.0, 2.0])}
    assert line_chart(lines, across="n", up="e") == line_chart(lines, across="n", up="e")


def test_curves_of_many_points_have_no_dots():
    drawn = line_figure({"a": Line(range(50), range(50), dots=False), "b": Line([1], [2])}, across="n", up="e").axes[0]
    assert [line.get_marker() for line in drawn.lines] == ["None", "o"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ({}, "lines is empty"),
        ({"a": Line([1, 2], [1])}, "line 'a' has 2 places, 1 values"),
        ({"a": Line([1], [float("nan")])}, "line 'a' contains NaN"),
        ({"a": Line([1], [1], [1, 2])}, "and 2 errors"),
    ],
)
def test_bad_lines(lines, message):
    with pytest.raises(ValueError, match=message):
        line_chart(lines, across="n", up="e")


def test_logarithmic_axes():
    drawn = line_figure({"a": Line([1, 10], [0.1, 1.0])}, across="n", up="time", log=("across", "up")).axes[0]
    assert (drawn.get_xscale(), drawn.get_yscale()) == ("log", "log")
    with pytest.raises(ValueError, match="a logarithmic axis has the value 0; expected numbers above zero"):
        line_chart({"a": Line([0, 1], [1.0, 2.0])}, across="n", up="time", log=("across",))
