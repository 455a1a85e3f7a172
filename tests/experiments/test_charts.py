import re
from xml.etree import ElementTree

import pytest

from experiments.charts import Line, line_chart


def parsed(chart):
    return ElementTree.fromstring(re.sub(r"<style>.*?</style>", "", chart, flags=re.DOTALL))


def places(element):
    return [tuple(map(float, pair.split(","))) for pair in element.get("points").split()]


def test_points_are_where_they_belong():
    chart = line_chart({"a": Line([0, 5, 10], [1, 3, 2])}, across="n", up="error")
    (line,) = parsed(chart).iter("polyline")
    (x0, y0), (x1, y1), (x2, y2) = places(line)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.11)
    assert y0 - y1 == pytest.approx(2 * (y0 - y2), abs=0.11)  # up is less


def test_bands_lie_around_their_line_and_inside_the_picture():
    chart = parsed(line_chart({"a": Line([1, 2], [1.0, 2.0], [0.5, 0.5])}, across="n", up="error"))
    (band,), (line,) = chart.iter("polygon"), chart.iter("polyline")
    edge, (left, right) = places(band), places(line)
    assert edge[0][1] < left[1] < edge[3][1]
    assert edge[1][1] < right[1] < edge[2][1]
    assert all(0 <= x <= 560 and 0 <= y <= 280 for x, y in edge)


def test_names_and_axes_are_written_and_escaped():
    chart = line_chart({"a < b": Line([1], [2])}, across="n & m", up="<mse>", title="t")
    texts = [element.text for element in parsed(chart).iter("text")]
    assert "n & m" in texts
    assert "<mse>" in texts
    assert "a < b" in "".join(parsed(chart).itertext())


def test_ticks_are_round_and_within():
    texts = [
        element.text
        for element in parsed(line_chart({"a": Line([5, 20], [0.61, 0.93])}, across="n", up="e")).iter("text")
    ]
    assert {"5", "10", "15", "20"} <= set(texts)
    assert {"0.7", "0.8", "0.9"} <= set(texts)


def test_curves_of_many_points_have_no_dots():
    assert "<circle" not in line_chart({"a": Line(range(50), range(50), dots=False)}, across="n", up="e")


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


def test_logarithmic_axes_put_equal_ratios_at_equal_distances():
    drawn = line_chart({"a": Line([1, 10, 100], [0.1, 1.0, 10.0])}, across="n", up="time", log=("across", "up"))
    places = [float(part.split('"')[0]) for part in drawn.split('cx="')[1:]]
    heights = [float(part.split('"')[0]) for part in drawn.split('cy="')[1:]]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=0.2)
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.2)
    with pytest.raises(ValueError, match="a logarithmic axis has the value 0; expected numbers above zero"):
        line_chart({"a": Line([0, 1], [1.0, 2.0])}, across="n", up="time", log=("across",))
