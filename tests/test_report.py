import base64
import io
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image
from rich.console import Console

from mercer.report import (
    Card,
    Picture,
    Result,
    Table,
    data_uri,
    gallery,
    page,
    paragraph,
    pivot,
    print_table,
    section,
    table_html,
    tracked,
)
from mercer.structures.written import brief

ROW = {"method": "identity", "metric": "loss", "value": 0.5, "error": 0.1}


# -- PNG -----------------------------------------------------------------------------------------


def decode(uri):
    kind, _, content = uri.partition(",")
    assert kind == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(content))))


@given(hnp.arrays(np.uint8, hnp.array_shapes(min_dims=2, max_dims=2, max_side=12)))
@settings(max_examples=25, deadline=None)
def test_pictures_hold_the_pixels(image):
    np.testing.assert_array_equal(decode(data_uri(image, white=255.0, black=0.0)), image)


@pytest.mark.parametrize("image", [np.zeros((0, 2)), np.zeros((2, 2, 3))])
def test_pictures_are_gray(image):
    with pytest.raises(ValueError, match="expected rows × columns"):
        data_uri(image)


def test_data_uri_maps_ink_to_black_and_cuts_off():
    assert decode(data_uri(np.array([[-1.0, 1.0, 0.0, 7.0, -7.0]]))).tolist() == [[255, 0, 128, 0, 255]]


# -- Result --------------------------------------------------------------------------------------

names = st.text(min_size=1, max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False)
rows = st.fixed_dictionaries(
    {"method": names, "metric": names, "value": numbers, "error": st.none() | numbers},
    optional={"paper": st.none() | numbers, "n": st.integers()},
)


@given(names, st.lists(rows, max_size=3), st.lists(st.integers(), max_size=3))
@settings(max_examples=25, deadline=None)
def test_result_survives_json(experiment, rows, seeds):
    result = Result(experiment, rows, {"k": [1, 2]}, seeds, seconds=2.5)
    assert Result.from_json(result.to_json()) == result


def test_result_with_numpy_numbers():
    row = ROW | {"value": np.float32(0.5), "n": np.int64(3)}
    text = Result("toy", [row], {"alphas": np.array([0.1, 1.0])}).to_json()
    read = Result.from_json(text)
    assert read.rows[0]["n"] == 3
    assert read.parameters == {"alphas": [0.1, 1.0]}


def test_environment_of_a_result():
    assert Result("toy", []).environment.keys() == {
        *("python", "numpy", "scipy", "sklearn", "mercer", "cpu", "cores", "platform")
    }


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"method": "a", "metric": "loss"}, r"rows\[0\] has no value and no error"),
        (ROW | {"value": float("nan")}, r"rows\[0\]\['value'\] is nan; expected a finite number"),
        (ROW | {"value": "0.5"}, r"\['value'\] is '0.5'; expected a finite number"),
        (ROW | {"value": True}, r"\['value'\] is True; expected a finite number"),
        (ROW | {"error": float("inf")}, r"\['error'\] is inf"),
        (ROW | {"paper": "0.8"}, r"\['paper'\] is '0.8'"),
        (ROW | {"method": 3}, r"\['method'\] is 3; expected a str"),
        ("row", r"rows\[0\] is 'row'; expected a dict"),
    ],
)
def test_bad_rows_are_named(row, message):
    with pytest.raises(ValueError, match=message):
        Result("toy", [row])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the text is not JSON"),
        ("[]", "the JSON text is .*; expected a dict"),
        (
            '{"experiment": "toy"}',
            "missing environment, missing parameters, missing rows, missing seconds, missing seeds;",
        ),
    ],
)
def test_bad_json_is_named(text, message):
    with pytest.raises(ValueError, match=message):
        Result.from_json(text)


def test_unknown_entries_are_named():
    content = json.loads(Result("toy", [ROW]).to_json()) | {"colour": "red"}
    with pytest.raises(ValueError, match="not a result: unknown colour; expected exactly"):
        Result.from_json(json.dumps(content))


def test_file_is_written_in_full_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "result.json"
    first = Result("toy", [ROW])
    first.to_json(path)
    with pytest.raises(TypeError, match="a result holds <object"):
        Result("toy", [ROW], {"what": object()}).to_json(path)
    assert Result.read(path) == first
    assert [entry.name for entry in path.parent.iterdir()] == ["result.json"]


def test_interrupted_write_keeps_the_old_file(tmp_path):
    from mercer.core.files import written_atomically

    path = tmp_path / "file"
    path.write_text("old")

    def interrupted():
        with written_atomically(path) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_reading_a_damaged_file_names_it(tmp_path):
    path = tmp_path / "result.json"
    path.write_text("{}")
    with pytest.raises(ValueError, match=r"result\.json: not a result: missing"):
        Result.read(path)


# -- tables --------------------------------------------------------------------------------------


def test_pivot_marks_the_best_of_each_column_and_leaves_gaps():
    rows = [
        {"method": "a", "n": 10, "value": 0.5, "error": None},
        {"method": "a", "n": 20, "value": 0.25, "error": 0.125},
        {"method": "b", "n": 10, "value": 0.4, "error": None},
    ]
    table = pivot(rows, "method", "n", digits=2)
    assert table.header == ["method", "10", "20"]
    assert table.rows == [["a", "0.50", "0.25 ± 0.12"], ["b", "0.40", "–"]]
    assert table.best == {(1, 1)}
    assert pivot(rows, "method", "n", best="max").best == {(0, 1)}
    assert pivot(rows, "method", "n", best=None).best == set()


def test_printed_table_takes_text_as_it_is():
    out = io.StringIO()
    print_table(Table(["m", "v"], [["[red]a[/red]", "1 ± 2"]]), Console(file=out, width=60))
    assert "[red]a[/red]" in out.getvalue()
    assert "1 ± 2" in out.getvalue()


# -- page ----------------------------------------------------------------------------------------


class Checker(HTMLParser):
    """Follows the tags of a page: they must nest, and point to nothing outside."""

    void = {"meta", "img", "br", "link", "input"}

    def __init__(self):
        super().__init__()
        self.open, self.sources, self.seen = [], [], set()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        self.sources += [value for name, value in attributes if name in ("src", "href")]
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def example_page(text="plain"):
    image = np.eye(8) * 2 - 1
    table = Table([text, "v"], [[text, text], ["b", "2"]], text, {(1, 1)})
    card = Card(text, [Picture(image, text), Picture(image, text, text, divided=True)])
    return page(
        text,
        [section(text), paragraph(text), table_html(table), gallery([card])],
        text,
    )


def test_page_stands_alone_and_is_well_formed():
    text = example_page()
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    assert checker.seen.isdisjoint({"script", "link", "iframe"})
    assert len(checker.sources) == 2
    assert all(source.startswith("data:image/png;base64,") for source in checker.sources)
    assert not re.search(r"https?:|url\(|@import", text)
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text
    assert '<td class="best">2</td>' in text


def test_page_escapes_every_text():
    text = example_page('<b class="x">&')
    assert "<b class" not in text
    assert 'alt="&lt;b class=&quot;x&quot;&gt;&amp;"' in text


def test_progress_is_silent_when_not_a_terminal(capfd):
    with tracked("working", 2) as begin:
        begin("one")
        begin("two")
    assert capfd.readouterr() == ("", "")


def test_objects_in_a_few_characters():
    shown = [brief(thing) for thing in ("ab", np.zeros(3), np.zeros((8, 8)), frozenset({2, 1}))]
    assert shown == ["'ab'", "[0, 0, 0]", "array of shape (8, 8)", "{1, 2}"]


def test_brackets_are_printed_as_they_are():
    from io import StringIO

    from rich.console import Console

    from mercer.report.tables import Table, print_table

    file = StringIO()
    print_table(Table(["[red]a", "[/b]"], [["[bold]x", "[/z]"]], "[/t] of [red]"), Console(file=file, width=80))
    assert all(text in file.getvalue() for text in ("[red]a", "[/b]", "[bold]x", "[/z]", "[/t] of [red]"))


def test_wide_tables_keep_the_first_column_at_80_columns():
    header = ["method", *(f"measure {j}" for j in range(9))]
    table = Table(header, [["kernel ridge", *(f"0.{j}00 ± 0.010" for j in range(9))]], "scores")
    console = Console(file=io.StringIO(), width=80)
    print_table(table, console)
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("kernel ridge") == text.count("method") > 1
    assert all(text.count(f"0.{j}00 ± 0.010") == 1 for j in range(9))


def test_long_cells_are_broken_into_lines_and_numbers_are_not():
    rows = [["iris", "a" * 60, "0.5 ± 0.1"], ["glass", "short", "0.4 ± 0.1"]]
    html = table_html(Table(["set", "chosen", "loss"], rows))
    assert f'<td class="text">{"a" * 60}</td>' in html
    assert '<th scope="col" class="text">chosen</th>' in html  # the whole column is on the left
    assert '<td class="text">short</td>' in html
    assert "<td>0.5 ± 0.1</td>" in html


def test_long_names_of_rows_have_more_room():
    html = table_html(Table(["method", "loss"], [["principal components", "1"], ["ridge", "2"]]))
    assert '<th scope="row" class="long">principal components</th>' in html
    assert '<th scope="row">ridge</th>' in html


def test_names_in_a_paragraph_are_code():
    assert paragraph("`a < b` and `") == "<p><code>a &lt; b</code> and `</p>"
