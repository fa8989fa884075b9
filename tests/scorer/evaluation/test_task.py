"""Questions are prepared as WebGLM does, and scorers read them as they are then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from citewell.core.errors import InputError
from citewell.scorer.data.config import RAW, SMALL_FORUM, ReadingConfig
from citewell.scorer.evaluation.task import read_task


def write(file: Path, *rows: dict[str, Any]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def answers(*votes: float, length: int = 10) -> list[dict[str, Any]]:
    return [
        {"text": " ".join([f"w{place}x{n}" for n in range(length + place)]), "score": vote}
        for place, vote in enumerate(votes)
    ]


def test_votes_are_prepared_as_in_the_paper(tmp_path: Path) -> None:
    file = write(tmp_path / "votes.jsonl", {"question": "Why?", "answers": answers(*range(20, 2, -2), 1)})
    (item,) = read_task(file).items
    # Nine answers are valid; the longer ones are cut at the median of their lengths.
    assert item.votes == tuple(range(20, 3, -2))
    assert max(item.lengths) == 14
    assert {(first, second) for first, second, _ in item.pairs} == {
        (first, second) for first in range(9) for second in range(first + 6, 9)
    }
    assert all(preference == 1 for _, _, preference in item.pairs)


def test_small_forums_and_raw_votes_have_rules_of_their_own(tmp_path: Path) -> None:
    file = write(tmp_path / "votes.jsonl", {"question": "Why?", "answers": answers(9, 8, 2, -1)})
    (small,) = read_task(file, ReadingConfig(votes=SMALL_FORUM)).items
    assert small.votes == (9, 8, 2)
    assert {pair[:2] for pair in small.pairs} == {(0, 2), (1, 2)}
    (raw,) = read_task(file, ReadingConfig(votes=RAW)).items
    assert raw.lengths == (10, 11, 12, 13)
    assert len(raw.pairs) == 6
    with pytest.raises(InputError):
        read_task(file)


def test_comparisons_have_no_votes_and_keep_their_references(tmp_path: Path) -> None:
    file = write(
        tmp_path / "pairs.jsonl",
        {"prompt": "Why?", "chosen": "Good.", "rejected": "Bad.", "references": ["A passage."]},
        {"prompt": "Why?", "chosen": "Good.", "rejected": "Worse."},
        {"prompt": "How?", "chosen": "So.", "rejected": "Thus."},
    )
    task = read_task(file)
    first, second = task.items
    assert (first.votes, task.has_votes, task.has_references) == ((), False, True)
    assert first.references[0] == ("A passage.",)
    assert (task.pairs, second.answers) == (3, ("So.", "Thus."))
    assert [item.question for item in read_task(file, limit=1).items] == ["Why?"]


def test_what_is_wrong_with_the_file_is_noted(tmp_path: Path) -> None:
    file = write(
        tmp_path / "pairs.jsonl",
        {"prompt": "Why?", "chosen": "Good.", "rejected": "Bad."},
        {"prompt": "Why?", "chosen": "Same.", "rejected": "Same."},
    )
    assert any("line 2" in note for note in read_task(file).notes)
