from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.core.jsonl import read_lines


def test_a_line_that_is_not_utf8_is_an_error_or_reported(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_bytes(b"\xef\xbb\xbfone\r\n\n\xff\nfour")
    with pytest.raises(InputError, match="line 3: not UTF-8"):
        list(read_lines(file))
    reported: list[InputError] = []
    assert [(line.number, line.text) for line in read_lines(file, reported.append)] == [
        (1, "one"),
        (4, "four"),
    ]
    assert [error.message for error in reported] == [f"{file}, line 3: not UTF-8."]


def test_a_line_that_is_nested_too_deep_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": ' + "[" * 200_000 + "\n")
    (line,) = read_lines(file)
    with pytest.raises(InputError, match="line 1: not valid JSON"):
        line.row()
