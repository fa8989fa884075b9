"""Questions are divided by what they say, once and for all, and the held ones are listed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchmarks.generation_set import (
    FOLDER,
    READERS,
    SPLITS,
    UNANSWERABLE,
    GenerationSetQuestion,
    RetrievedReferences,
    collect,
    divided,
    held,
    main,
    overlaps,
)
from citewell.generator.evaluation.held_out import LIST, digest, is_held_out

DATA = os.environ.get("CITEWELL_DATA", "")


def asked(number: int, group: str = "") -> GenerationSetQuestion:
    row = {"question": f"What is {number}?", "references": [{"text": f"It is {number}."}], "source": "mine"}
    return GenerationSetQuestion(row, group or f"What is {number}?")


def test_a_question_keeps_its_split_when_others_come_or_go() -> None:
    few, many = (divided([asked(n) for n in range(size)], "pubmedqa") for size in (50, 500))
    for split in SPLITS:
        assert {q.question for q in few[split]} <= {q.question for q in many[split]}
    assert 0.1 < len(many["test"]) / 500 < 0.2
    again = divided([asked(n) for n in reversed(range(500))], "pubmedqa")
    assert again == many, "the order of the rows plays no part"


def test_questions_of_a_group_stay_together_and_are_limited() -> None:
    parts = divided([asked(n, f"article {n % 40}") for n in range(2000)], "squad-unanswerable")
    groups = {split: {q.group for q in of} for split, of in parts.items()}
    assert not groups["train"] & (groups["dev"] | groups["test"])
    assert all(len(of) <= UNANSWERABLE[split] for split, of in parts.items())


def test_references_are_filled_up_from_the_same_split() -> None:
    parts = {"mine": divided([asked(n) for n in range(200)], "pubmedqa")}
    rows = {split: collect(parts, split) for split in SPLITS}
    assert all(len({r["text"] for r in row["references"]}) == 5 for of in rows.values() for row in of)
    for row in rows["test"]:
        assert f"It is {row['question'].split()[-1][:-1]}." in [r["text"] for r in row["references"]]
    assert not any(overlaps(rows).values())
    assert rows == {split: collect(parts, split) for split in SPLITS}, "the same each time"


def test_words_alone_decide_what_is_held_out() -> None:
    assert digest("Why is the sky  blue?") == digest("why is the sky blue")
    assert digest("Why is the sky blue?") != digest("Why is the sea blue?")
    assert not is_held_out("Is this question of a test held out?")


needs_data = pytest.mark.skipif(not DATA, reason="CITEWELL_DATA does not name a folder with data")


@needs_data
def test_a_source_can_be_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["generation_set", "--out", str(tmp_path), "--limit", "2", "--sources"]
    monkeypatch.setattr("sys.argv", [*command, "expertqa,pubmedqa"])
    main()
    rows = map(json.loads, (tmp_path / "test.jsonl").read_text(encoding="utf-8").splitlines())
    assert sorted(row["source"] for row in rows) == ["expertqa"] * 2 + ["pubmedqa"] * 2
    monkeypatch.setattr("sys.argv", [*command, "expertqa,eli6"])
    with pytest.raises(SystemExit):
        main()
    assert "unknown sources: eli6" in capsys.readouterr().err


@needs_data
def test_the_list_of_held_questions_is_that_of_the_data() -> None:
    parts = {source: divided(list(read(Path(DATA))), source) for source, read in READERS.items()}
    assert held(parts) == (FOLDER / LIST).read_text().split()
    assert all(is_held_out(q.question) for split in ("dev", "test") for q in parts["eli5"][split])
    assert not any(is_held_out(q.question) for of in parts.values() for q in of["train"])


@needs_data
def test_a_split_can_be_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["generation_set", "--out", str(tmp_path), "--limit", "2", "--sources", "pubmedqa"]
    monkeypatch.setattr("sys.argv", [*command, "--splits", "dev,test"])
    main()
    sizes = [len((tmp_path / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()) for split in SPLITS]
    assert sizes == [0, 2, 2]


def test_what_was_retrieved_outlives_an_interruption(tmp_path: Path) -> None:
    file = tmp_path / "retrieved.jsonl"
    first = RetrievedReferences(file)
    first.add("Why is the sky blue?", [{"text": "Air scatters blue light.", "title": "Sky", "url": "sky"}])
    first.add("Who is nobody?", [])
    with file.open("a", encoding="utf-8") as cut:
        cut.write('{"question": "Why is the sea')
    second = RetrievedReferences(file)
    assert second.get("Why is the sky blue?") == first.get("Why is the sky blue?")
    assert second.get("Who is nobody?") == [], "it was asked, and has no evidence"
    assert second.get("Why is the sea salty?") is None
    second.add("Why is the sea salty?", [])
    assert RetrievedReferences(file).get("Why is the sea salty?") == []
