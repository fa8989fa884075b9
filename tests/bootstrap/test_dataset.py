from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from citewell.bootstrap.config import DatasetConfig
from citewell.bootstrap.dataset import Dataset, write_dataset
from citewell.bootstrap.overlap import EvaluationQuestions, read_evaluation
from citewell.bootstrap.types import FilterScores, Outcome
from citewell.core.errors import CitewellError
from tests.bootstrap.outcomes import HELD_OUT, drop, fault, sample

NO_MARKS = FilterScores(words=30, segments=1, overlap=0.6, marks=0, right=0, cited=1, cited_segments=1)
CONFIG = DatasetConfig(
    name='Answers: "cited"', license="cc-by-4.0", dev=0.2, test=0.2, evaluation_sets=("questions/*.jsonl",)
)
OUTCOMES: list[Outcome] = [
    fault("f"),
    drop("d", "hallucination"),
    # The first rows have no accuracy: `datasets` must not take that for the column's kind.
    *(
        sample(
            f"s{n}",
            f"What does word{n} mean for term{n}?",
            scores=NO_MARKS if n < 60 else sample("", "").scores,
        )
        for n in range(120)
    ),
    sample("near", "What does word7 mean for the term7 today?"),
    sample("tides", "How do the tides work?"),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "questions").mkdir(parents=True)
    (folder / "questions" / "eli5.jsonl").write_text('{"id": "e1", "question": "How do tides work?"}\n')
    return folder


def write(folder: Path, data: Path | None, outcomes: list[Outcome] = OUTCOMES) -> Dataset:
    evaluation = read_evaluation(data, CONFIG) if data else EvaluationQuestions()
    command = "citewell bootstrap --questions q.jsonl"
    return write_dataset(folder, lambda: iter(outcomes), CONFIG, command=command, evaluation=evaluation)


def card(dataset: Dataset) -> str:
    return (dataset.folder / "README.md").read_text(encoding="utf-8")


def rows(file: Path) -> Iterator[dict[str, object]]:
    yield from map(json.loads, file.read_text(encoding="utf-8").splitlines())


def test_rows_have_webglm_qas_fields_and_where_they_came_from(tmp_path: Path, data: Path) -> None:
    dataset = write(tmp_path / "dataset", data)
    assert sum(dataset.rows.values()) == 121
    assert set(dataset.rows) == {"train", "dev", "test"}
    found = {row["id"]: row for split in dataset.rows for row in rows(dataset.folder / f"{split}.jsonl")}
    assert found["s70"] == {
        "id": "s70",
        "question": "What does word70 mean for term70?",
        "answer": "An answer to s70 [1]. And more of it [2].",
        "references": ["A first passage.", "A second passage."],
        "titles": ["Page 1", "Page 2"],
        "urls": ["https://example.org/1", "https://example.org/2"],
        "teacher": "recorded",
        "prompt_hash": "",
        "license": "",
        "scores": {
            "words": 40,
            "segments": 2,
            "overlap": 0.75,
            "marks": 3,
            "right": 2,
            "cited": 2,
            "cited_segments": 2,
            "accuracy": 2 / 3,
            "coverage": 1.0,
        },
    }


def test_what_is_near_an_evaluation_question_is_left_out_and_named(tmp_path: Path, data: Path) -> None:
    dataset = write(tmp_path / "dataset", data)
    assert dataset.left_out == {"evaluation_set": 1}
    assert list(rows(dataset.folder / "left_out.jsonl")) == [
        {
            "id": "tides",
            "question": "How do the tides work?",
            "why": "evaluation_set",
            "near": [{"id": "e1", "question": "How do tides work?", "collection": "eli5", "similarity": 1.0}],
        }
    ]


def test_a_held_out_question_is_left_out_without_any_evaluation_set(tmp_path: Path) -> None:
    outcomes = [sample("a", "Why do tides rise?"), sample("b", f"Explain: {HELD_OUT}\n\nI saw one.")]
    dataset = write(tmp_path / "dataset", None, outcomes)
    assert sum(dataset.rows.values()) == 1
    (left_out,) = rows(dataset.folder / "left_out.jsonl")
    assert (left_out["id"], left_out["why"]) == ("b", "evaluation_set")
    assert "1 that are similar to a question of an evaluation set, or held out" in card(dataset)


def test_the_card_tells_what_was_compared_whole_and_what_in_part(tmp_path: Path, data: Path) -> None:
    text = card(write(tmp_path / "dataset", data))
    assert "similar to one of these evaluation sets: eli5 (1 questions)." in text
    assert "may be included" not in text
    evaluation = EvaluationQuestions((), {}, {"expertqa": 115})
    dataset = write_dataset(tmp_path / "d", lambda: OUTCOMES, CONFIG, command="", evaluation=evaluation)
    assert "their other questions may be included: expertqa (115 questions)." in card(dataset)


def test_the_card_tells_the_licenses_and_the_prompt(tmp_path: Path) -> None:
    outcomes = [replace(sample(f"s{n}", f"What is term{n}?"), license="CC BY 4.0") for n in range(3)]
    prompt = [{"role": "system", "content": "Answer briefly."}]
    evaluation = EvaluationQuestions()
    config = DatasetConfig(license="other", about="Wikipedia for Schools is under the GFDL.")
    text = card(
        write_dataset(
            tmp_path / "d", lambda: outcomes, config, command="", evaluation=evaluation, prompt=prompt
        )
    )
    assert "- License: other. Wikipedia for Schools is under the GFDL." in text
    assert "| CC BY 4.0 | 3 |" in text
    assert "## The prompt\n\nsystem:\n\n```\nAnswer briefly.\n```" in text


def test_near_duplicates_share_a_split(tmp_path: Path, data: Path) -> None:
    dataset = write(tmp_path / "dataset", data)
    where = {row["id"]: split for split in dataset.rows for row in rows(dataset.folder / f"{split}.jsonl")}
    assert where["near"] == where["s7"]


def test_a_second_writing_changes_no_file(tmp_path: Path, data: Path) -> None:
    folder = tmp_path / "dataset"
    write(folder, data)
    before = {file: (file.stat().st_mtime_ns, file.stat().st_ino) for file in folder.iterdir()}
    write(folder, data)
    assert {file: (file.stat().st_mtime_ns, file.stat().st_ino) for file in folder.iterdir()} == before


def test_rows_that_are_added_move_no_other(tmp_path: Path, data: Path) -> None:
    first = write(tmp_path / "first", data, OUTCOMES[:60])
    second = write(tmp_path / "second", data)
    for split in first.rows:
        lines = (first.folder / f"{split}.jsonl").read_text().splitlines()
        assert (second.folder / f"{split}.jsonl").read_text().splitlines()[: len(lines)] == lines


def test_datasets_loads_the_folder_with_its_card(tmp_path: Path, data: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="needs the extra train")
    dataset = write(tmp_path / "dataset", data)
    loaded = datasets.load_dataset(str(dataset.folder), cache_dir=str(tmp_path / "cache"))
    assert {split: len(loaded[split]) for split in loaded} == dataset.rows
    first = loaded["train"][0]
    assert first["references"] == ["A first passage.", "A second passage."]
    assert first["scores"]["accuracy"] is None
    assert loaded["train"].features["scores"]["accuracy"].dtype == "float64"


def test_the_card_says_where_rows_went_and_under_what_license(tmp_path: Path, data: Path) -> None:
    text = (write(tmp_path / "dataset", data).folder / "README.md").read_text(encoding="utf-8")
    for expected in (
        'license: "cc-by-4.0"',
        "citewell bootstrap --questions q.jsonl",
        "1 that are similar to a question of an evaluation set, or held out",
        "eli5 (1 questions)",
        "- hallucination              1         122 left, 98.4%",
        "recorded (123 answers)",
    ):
        assert expected in text


def test_without_evaluation_sets_the_card_says_that_nothing_was_compared(tmp_path: Path) -> None:
    dataset = write(tmp_path / "dataset", None)
    assert sum(dataset.rows.values()) == 122
    assert "were not compared with any evaluation set" in card(dataset)


def test_a_run_without_samples_makes_an_empty_data_set(tmp_path: Path) -> None:
    dataset = write(tmp_path / "dataset", None, [drop("d", "empty", scores=None, raw_answer="")])
    assert dataset.rows == {}
    assert "0.0% of the rows" in (dataset.folder / "README.md").read_text()


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "dataset").write_text("a file")
    with pytest.raises(CitewellError, match="cannot be written"):
        write(tmp_path / "dataset", None)


def test_the_card_shows_rows_that_a_hash_draws(tmp_path: Path) -> None:
    def shown(outcomes: list[Outcome]) -> list[str]:
        folder = tmp_path / str(len(outcomes))
        config = CONFIG.model_copy(update={"card_rows": 4})
        dataset = write_dataset(
            folder, lambda: iter(outcomes), config, command="", evaluation=EvaluationQuestions()
        )
        text = card(dataset).split("## 4 rows, drawn by a hash")[1]
        assert "An answer to s" in text
        assert "1. Page 1: A first passage." in text
        return [line for line in text.splitlines() if line.startswith("### ")]

    all_rows = shown(OUTCOMES)
    assert len(all_rows) == 4
    assert shown(OUTCOMES[::-1][1:]) == all_rows, "their order, and a row that is not drawn, play no part"
