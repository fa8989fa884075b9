"""Sources: broken lines are named, and what is measured on is not trained on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.core.training.sources import DataFolders
from citewell.generator.training.config import load_config
from citewell.generator.training.sources import GeneratorData, read_data
from tests.generator.training.made_up import rows, write_config, write_rows


def read(folder: Path, extra: str = "") -> tuple[GeneratorData, list[str]]:
    told: list[str] = []
    recipe = write_config(folder)
    recipe.write_text(recipe.read_text() + extra)
    config = load_config(recipe)
    folders = DataFolders(folder)
    found = read_data(config, folders, told.append, references=config.prompt.references, seed=0)
    return found, told


def test_a_held_out_question_is_not_learned_from(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", rows(20))
    data, _ = read(tmp_path)
    train = {example.question for source in data.train for example in source.examples}
    dev = {example.question for source in data.dev for example in source.examples}
    assert (len(train), len(dev), train & dev) == (12, 8, set())


def test_broken_rows_are_named_by_line_and_left_out(tmp_path: Path) -> None:
    good = rows(16)
    lines = [json.dumps(row) for row in good]
    lines[2] = "{not json"
    lines[4] = json.dumps({"question": "why?", "references": ["a text"]})
    lines[5] = json.dumps({"question": "why?", "answer": "so[1]."})
    many = [f"text {number}" for number in range(5)]
    lines[6] = json.dumps(
        {"question": "q", "references": many, "answer": "It is all of these[1][2][3][4][5]."}
    )
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    data, told = read(tmp_path)
    assert len(data.train[0].examples) == 16 - 4 - 8
    assert any("rows.jsonl, line 3: not valid JSON" in line for line in told)
    assert any("rows.jsonl, line 5: there is no answer" in line for line in told)
    assert any("rows.jsonl, line 6: the references" in line for line in told)
    assert "made-up: skipped 1 rows that cite more than 3 references" in told


def test_rows_that_do_not_fit_are_left_out_and_told(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", rows(20))
    data, _ = read(tmp_path)
    longest = data.train[0].examples[0]
    told: list[str] = []
    fitting = data.fitting(
        lambda source: tuple(each for each in source.examples if each != longest), told.append
    )
    assert fitting.train[0].examples == data.train[0].examples[1:]
    assert fitting.dev == data.dev
    assert told == ["made-up: skipped 1 too long rows"]
    with pytest.raises(InputError, match="No row of the source made-up fits the prompt") as error:
        data.fitting(lambda source: (), told.append)
    assert "cut = true" in error.value.hint


def test_marks_of_references_that_are_not_there_are_told(tmp_path: Path) -> None:
    good = rows(16)
    good[3] |= {"answer": "It is red[9]."}
    write_rows(tmp_path / "rows.jsonl", good)
    data, told = read(tmp_path)
    assert sum(len(source.examples) for source in (*data.train, *data.dev)) == 16
    (line,) = (line for line in told if "references that do not exist" in line)
    assert line.startswith("made-up: 1 answers")
    assert line.endswith("rows.jsonl, line 4)")


def test_a_file_of_nothing_else_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"question": "why?", "references": ["a"]}\n')
    with pytest.raises(InputError, match=r"no training row\. .*line 1: there is no answer"):
        read(tmp_path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no rows\.jsonl in"):
        read(tmp_path)


def test_the_folder_of_a_bootstrap_has_its_splits(tmp_path: Path) -> None:
    dataset = tmp_path / "made" / "dataset"
    dataset.mkdir(parents=True)
    values = rows(10)
    write_rows(dataset / "train.jsonl", values[:7])
    write_rows(dataset / "dev.jsonl", values[7:])
    write_rows(tmp_path / "rows.jsonl", rows(10))
    extra = '\n[[dev]]\nname = "made-dev"\nfiles = ["made"]\nlicense = "CC0"\n'
    data, _ = read(tmp_path, extra)
    assert {example.question for example in data.dev[0].examples} == {row["question"] for row in values[7:]}
