"""The reading of a teacher's answers: what is drawn, what counts as good, and what filters keep of it."""

from __future__ import annotations

from msgspec.structs import replace

from benchmarks.teacher_reading import drawn, report, sheet, tables
from citewell.bootstrap.types import Outcome, Sample
from tests.bootstrap.outcomes import drop, fault, sample

ROWS: list[Outcome] = [
    sample("a", "Why?"), sample("b", "How?"), drop("c", "short"), drop("d", "empty", raw_answer=""),
    fault("e"),
]  # fmt: skip
VERDICTS = {
    "a": {"answers": "yes", "supported": "all", "marks": "all"},
    "b": {"answers": "yes", "supported": "some", "marks": "all"},
    "c": {"answers": "refused", "supported": "all", "marks": "none"},
}


def test_the_sheet_shows_answers_and_not_what_the_filters_said() -> None:
    rows = drawn(ROWS, 10)
    assert sorted(row.key for row in rows) == ["a", "b", "c"]
    assert len(drawn(ROWS, 2)) == 2
    text = sheet(rows)
    assert "Rambling." in text
    assert "[1] Page 1: A first passage." in text
    assert "short" not in text
    assert "Rambling." not in sheet([row for row in rows if isinstance(row, Sample)], kept=True)


def test_the_report_counts_the_good_before_and_after_each_filter() -> None:
    raw = [*ROWS[:2], replace(sample("c", "Question c?"))]
    found = report({"raw": raw, "rouge-1": ROWS}, VERDICTS)
    assert (found["read"]["read"], found["read"]["good"], found["marks right"]) == (3, 2, 2)
    assert found["versions"]["raw"]["good"] == 2
    assert (found["versions"]["rouge-1"]["read"], found["versions"]["rouge-1"]["good"]) == (2, 1)
    assert found["dropped"]["rouge-1"]["short"]["good"] == 1
    assert "| rouge-1 | short | 1 | 1 |" in tables(found)


def test_a_version_that_changes_the_text_is_read_by_itself() -> None:
    reread = {"judged": {"a": VERDICTS["a"], "b": VERDICTS["a"]}}
    found = report({"rouge-1": ROWS, "judged": ROWS}, VERDICTS, reread)
    assert (found["versions"]["rouge-1"]["good"], found["versions"]["judged"]["good"]) == (1, 2)
    assert found["dropped"]["judged"]["short"]["good"] == 1


def test_a_second_reader_shows_how_far_readers_agree() -> None:
    again = {"a": VERDICTS["a"], "b": VERDICTS["a"]}
    found = report({"rouge-1": ROWS}, VERDICTS, again=again)
    assert (found["again"]["read"], found["again"]["agreed"]) == (2, 1)
    assert "A second reader read 2 of them, and found the same for 1" in tables(found)
    assert "second reader" not in tables(report({"rouge-1": ROWS}, VERDICTS))
