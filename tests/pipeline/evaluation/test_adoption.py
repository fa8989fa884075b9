"""Adoption: what the share of relevant references is among those shown, and among those cited."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from citewell.bootstrap.folder import RUN
from citewell.bootstrap.journal import Journal
from citewell.bootstrap.recipe import Recipe
from citewell.core.errors import InputError
from citewell.pipeline.evaluation.adoption import (
    CITED,
    SHOWN,
    UNCITED,
    details,
    markdown,
    measure,
    read_adoptions,
    read_labels,
    to_label,
)
from citewell.pipeline.evaluation.comparing import compare_files
from tests.bootstrap.outcomes import sample

ROWS = [
    {"id": "a", "question": "Why do bees dance?", "answer": "To tell where flowers are[1].",
     "references": ["Bees dance to tell where flowers are.", "Wasps eat meat."]},
    {"id": "b", "question": "Why is the sea salty?", "answer": "Rivers bring salt[2]. It stays[1].",
     "references": ["Salt stays.", "Rivers bring salt.", "Ships are made of steel."]},
    {"id": "c", "question": "Why?", "answer": "Nobody knows.", "references": ["Nothing."]},
]  # fmt: skip


def data(folder: Path) -> Path:
    file = folder / "train.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return file


def test_labels_of_people_give_the_shares_of_the_papers_table(tmp_path: Path) -> None:
    rows = read_adoptions(data(tmp_path))
    assert [sorted(row.cited) for row in rows] == [[1], [1, 2], []]
    drawn = [json.loads(line) for line in to_label(rows).splitlines()]
    assert len(drawn) == 6
    assert not any("cited" in line for line in drawn), "who labels must not see what was cited"
    right = {("a", 1), ("b", 1), ("b", 2)}
    for line in drawn[:5]:  # the last row is not labeled
        line["relevant"] = (line["id"], line["reference"]) in right
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in drawn), encoding="utf-8")
    found = measure(rows, read_labels(file), "people")
    assert found.pooled == {SHOWN: (3, 5), CITED: (3, 3), UNCITED: (0, 2)}
    assert found.gain is not None
    assert found.gain.difference == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert "| people | cited | 1.000 |" in markdown([found])


def test_two_teachers_are_compared_row_by_row(tmp_path: Path) -> None:
    rows = read_adoptions(data(tmp_path))
    files = [tmp_path / "before.details.json", tmp_path / "after.details.json"]
    for file, right in zip(files, ({("a", 1)}, {("a", 1), ("b", 1), ("b", 2)}), strict=True):
        judged = {(row.id, r.number): (row.id, r.number) in right for row in rows for r in row.references}
        file.write_text(details([measure(rows, judged, "people")]), encoding="utf-8")
    found = compare_files(*files, None, 1)
    assert found.means["people"][CITED] == (0.5, 1.0)
    assert found.comparisons[CITED]["people"].better == 1
    assert found.comparisons[CITED]["people"].queries == 2, "one answer cites nothing"


def test_what_cannot_be_measured_is_refused(tmp_path: Path) -> None:
    rows = read_adoptions(data(tmp_path))
    with pytest.raises(InputError, match="No row has all its references judged"):
        measure(rows, {("a", 1): True}, "people")
    file = tmp_path / "uncited.jsonl"
    file.write_text(json.dumps(ROWS[2]), encoding="utf-8")
    with pytest.raises(InputError, match="no answer that cites"):
        read_adoptions(file)
    with pytest.raises(InputError, match="not the folder of a bootstrap"):
        read_adoptions(tmp_path)
    file.write_text('{"id": "a", "reference": "1", "relevant": true}', encoding="utf-8")
    with pytest.raises(InputError, match="not a label"):
        read_labels(file)


def test_references_may_have_titles_and_ids_are_unique(tmp_path: Path) -> None:
    titled = [{"title": "Bees", "text": ROWS[0]["references"][0]}, "Wasps eat meat."]
    file = tmp_path / "titled.jsonl"
    file.write_text(json.dumps(ROWS[0] | {"references": titled}) + "\n")
    (row,) = read_adoptions(file)
    assert [(each.title, each.text) for each in row.references] == [
        ("Bees", "Bees dance to tell where flowers are."),
        ("", "Wasps eat meat."),
    ]
    file.write_text(2 * (json.dumps(ROWS[0]) + "\n"))
    with pytest.raises(InputError, match="line 2: an earlier row has the id a"):
        read_adoptions(file)
    file.write_text(json.dumps(ROWS[0] | {"titles": ["Bees"]}) + "\n")
    with pytest.raises(InputError, match="2 references have 1 titles"):
        read_adoptions(file)


def test_a_run_counts_the_citations_of_its_teacher_before_correction(tmp_path: Path) -> None:
    corrected = replace(sample("a", "Why?"), raw_answer="An answer to a [1]. And more of it.")
    Journal(tmp_path, 10).append([corrected, replace(sample("b", "How?"), raw_answer="Without marks.")])
    started = {"recipe": Recipe().decisive()}
    (tmp_path / RUN).write_text(json.dumps({"started_with": started}), encoding="utf-8")
    assert [row.cited for row in read_adoptions(tmp_path)] == [{1}, {1, 2}]
