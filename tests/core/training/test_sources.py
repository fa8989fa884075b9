"""Where the files of a recipe are looked for, and how limits and seeds sample examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.core.training.sources import DataFolders, question_key, sample


def test_files_are_found_beside_the_recipe_then_in_the_data_folder(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "there.jsonl").touch()
    (data / "here.jsonl").touch()
    (tmp_path / "here.jsonl").touch()
    assert DataFolders(tmp_path, data).find("here.jsonl") == tmp_path / "here.jsonl"
    assert DataFolders(tmp_path, data).find("there.jsonl") == data / "there.jsonl"
    with pytest.raises(InputError, match=r"There is no there\.jsonl") as raised:
        DataFolders(tmp_path).find("there.jsonl")
    assert "CITEWELL_DATA" in raised.value.hint


def test_a_sample_keeps_the_order_and_depends_on_the_seed() -> None:
    items = tuple(range(100))
    found = sample(items, 10, "0 a")
    assert (len(found), list(found)) == (10, sorted(found))
    assert sample(items, 10, "0 a") == found != sample(items, 10, "1 a")
    assert sample(items, None, "0 a") == sample(items, 200, "0 a") == items


def test_questions_are_equal_but_for_case_and_white_space() -> None:
    assert question_key("What  is\nRain?") == question_key("what is rain?") != question_key("what is snow?")
