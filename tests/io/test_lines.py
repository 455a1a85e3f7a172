"""Text files are read whatever editor wrote them, and bad lines are reported by number."""

import os

import pytest

from mercer.io import lines
from mercer.io.lines import read_inputs, read_pairs


def test_byte_order_marks_and_line_ends_are_not_part_of_the_text(tmp_path):
    plain, odd = tmp_path / "plain", tmp_path / "odd"
    plain.write_bytes("é\tü\nab\tcd\n".encode())
    odd.write_bytes(b"\xef\xbb\xbf" + "é\tü\r\n\r\nab\tcd".encode())
    assert [line.columns for line in read_pairs(plain)[0]] == [line.columns for line in read_pairs(odd)[0]]
    assert [line.number for line in read_pairs(odd)[0]] == [1, 3]
    assert [line.columns for line in read_inputs(odd)[0]] == [["é"], ["ab"]]


BAD = b"ab\tcd\nno tab here\nab\t\na\tb\tc\n\xff\xfe\tx\n\tx\nx\0\ty\n" + b"x" * 200_000 + b"\ty\nbc\tde\n"
REASONS = [
    "line 2: expected two columns separated by a tab, found no tab",
    "line 3: column 2 is empty",
    "line 4: expected two columns separated by a tab, found 3 columns",
    "line 5: not UTF-8: byte 0xff at position 1",
    "line 6: column 1 is empty",
    "line 7: holds a zero byte, so this is not a text file",
    "line 8: longer than 100000 bytes",
]


def test_bad_lines_are_reported_by_number(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(BAD)
    good, bad = read_pairs(path)
    assert [str(line) for line in bad] == REASONS
    assert [(line.number, line.columns) for line in good] == [(1, ["ab", "cd"]), (9, ["bc", "de"])]


def test_inputs_are_the_first_column(tmp_path):
    path = tmp_path / "inputs.txt"
    path.write_bytes(b"ab\tcd\n\tx\n\xff\nbc\n")
    good, bad = read_inputs(path)
    assert [(line.number, line.columns) for line in good] == [(1, ["ab"]), (4, ["bc"])]
    assert [line.number for line in bad] == [2, 3]


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="pipes have no names here")
def test_pipes_are_read():
    reading, writing = os.pipe()
    os.write(writing, b"a\tb\n")
    os.close(writing)
    good, bad = read_pairs(f"/dev/fd/{reading}")
    os.close(reading)
    assert [line.columns for line in good] == [["a", "b"]]
    assert not bad


@pytest.mark.parametrize("read", [read_pairs, read_inputs])
def test_paths_that_cannot_be_read(tmp_path, read, monkeypatch):
    with pytest.raises(ValueError, match="none: no such file; expected a text file"):
        read(tmp_path / "none")
    with pytest.raises(ValueError, match="a folder; expected a text file"):
        read(tmp_path)
    (tmp_path / "large").write_bytes(b"a\tb\n" * 10)
    monkeypatch.setattr(lines, "MOST_BYTES", 10)
    with pytest.raises(ValueError, match="expected a smaller file"):
        read(tmp_path / "large")
