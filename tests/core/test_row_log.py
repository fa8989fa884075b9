"""Rows that a long run appends survive its end, and a line that was cut off does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.core.row_log import RowLog


def test_rows_are_read_by_the_next_run(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    assert RowLog(file).rows == []
    log = RowLog(file)
    log.append({"question": "Wie heißt \ud800 er?"}, {"n": 2})
    log.append({"n": 3})
    assert log.rows == RowLog(file).rows == [{"question": "Wie heißt \ud800 er?"}, {"n": 2}, {"n": 3}]


@pytest.mark.parametrize("lost", [2, 5, 8])
def test_a_line_that_was_cut_off_is_dropped(tmp_path: Path, lost: int) -> None:
    file = tmp_path / "rows.jsonl"
    RowLog(file).append({"n": 1}, {"n": 2})
    file.write_bytes(cut := file.read_bytes()[:-lost])
    log = RowLog(file)
    assert log.rows == [{"n": 1}]
    assert file.read_bytes() == cut, "reading changes nothing"
    log.append({"n": 3})
    assert log.rows == [{"n": 1}, {"n": 3}]


def test_a_whole_last_row_without_its_line_end_stays(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"n": 1}\n{"n": 2}', encoding="utf-8")
    log = RowLog(file)
    assert log.rows == [{"n": 1}, {"n": 2}]
    log.append({"n": 3})
    log.append({"n": 4})
    assert log.rows == [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}]


def test_a_line_may_end_within_a_character(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    RowLog(file).append({"n": 1}, {"text": "ü"})
    file.write_bytes(file.read_bytes()[:-4])
    assert RowLog(file).rows == [{"n": 1}]


def test_errors_name_the_file_and_the_line(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"n": 1}\n[2]\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"rows\.jsonl, line 2: not a JSON object"):
        _ = RowLog(file).rows
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        RowLog(tmp_path / "nowhere" / "rows.jsonl").append({"n": 1})
