"""Text files are read whatever editor wrote them, and bad lines are reported by number."""

import os

import pytest

from mercer.io import lines
from mercer.io.delimited import read_tsv
from mercer.io.lines import text_lines
from mercer.io.records import ReadOptions


def test_byte_order_marks_and_line_ends_are_not_part_of_the_text(tmp_path):
    plain, odd = tmp_path / "plain", tmp_path / "odd"
    plain.write_bytes("é\tü\nab\tcd\n".encode())
    odd.write_bytes(b"\xef\xbb\xbf" + "é\tü\r\n\r\nab\tcd".encode())
    first, second = (read_tsv(str(path), ReadOptions()) for path in (plain, odd))
    assert first.columns == second.columns == {"input": ["é", "ab"], "output": ["ü", "cd"]}
    assert (first.numbers, second.numbers) == ([1, 2], [1, 3])


BAD = b"ab\tcd\nno tab here\nab\t\na\tb\tc\n\xff\xfe\tx\nx\0\ty\n" + b"x" * 5_000_000 + b"\ty\nx\ry\tz\nbc\tde\n"
REASONS = [
    "line 2: expected 2 columns, found 1 column",
    "line 4: expected 2 columns, found 3 columns",
    "line 5: not UTF-8: byte 0xff at position 1",
    "line 6: holds a zero byte, so this is not a text file",
    "line 7: longer than 4194304 bytes",
    "line 8: lines end with CR alone; expected LF or CRLF, as by tr '\\r' '\\n'",
]


def test_bad_lines_are_reported_by_number(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(BAD)
    found = read_tsv(str(path), ReadOptions())
    assert [str(bad) for bad in found.bad] == REASONS
    assert found.columns == {"input": ["ab", "ab", "bc"], "output": ["cd", None, "de"]}
    assert found.numbers == [1, 3, 9]


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="pipes have no names here")
def test_pipes_are_read():
    reading, writing = os.pipe()
    os.write(writing, b"a\tb\n")
    os.close(writing)
    assert list(text_lines(f"/dev/fd/{reading}", [])) == [(1, "a\tb")]
    os.close(reading)


def test_paths_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="none: no such file; expected a text file"):
        list(text_lines(tmp_path / "none", []))
    with pytest.raises(ValueError, match="a folder; expected a text file"):
        list(text_lines(tmp_path, []))
    (tmp_path / "large").write_bytes(b"a\tb\n" * 10)
    monkeypatch.setattr(lines, "MOST_BYTES", 10)
    with pytest.raises(ValueError, match="expected a smaller file"):
        list(text_lines(tmp_path / "large", []))
