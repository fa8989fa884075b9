"""What is left out of users' data before a scorer learns from it, and that people are kept apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from citewell.scorer.data.config import HygieneConfig, ReadingConfig, SplitConfig
from citewell.scorer.data.hygiene import Hygiene
from citewell.scorer.data.personal import kind_of_personal_data
from citewell.scorer.data.reading import read_comparisons
from citewell.scorer.data.splits import divide, part
from tests.scorer.data.files import write

LONG = "Which of the many reasons that were given for the color of the sky is the right one, "


def row(question: str, rater: str | None = "r1", **more: Any) -> dict[str, Any]:
    return {"question": question, "answers": ["One.", "Two."], "preferred": 0, "rater": rater} | more


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Write to ada.l@example.org please", "mail"),
        ("My number is +49 (30) 1234 5678.", "phone"),
        ("Call 030 123 45 67 now", "phone"),
        ("Card 4111 1111 1111 1111 was charged", "card"),
        ("Pay to DE89 3704 0044 0532 0130 00 today", "iban"),
        ("Why is 192.168.17.4 slow?", "ip"),
        ("What is 2001:db8::ff00:42:8329?", "ip"),
        ("Card 4111 1111 1111 1112 is none", None),
        ("Pay to DE89 3704 0044 0532 0130 01", None),
        ("It was 2026-11-23, 12:30:15, or 1990-2000", None),
        ("About 1 234 567 890 people live there", None),
        ("Version 1.22.333 weighs 3.14159265358 kg", None),
        ("Is ISBN 978-3-16 old?", None),
        ("Why is the sky blue at 10:30?", None),
    ],
)
def test_personal_data_is_found_by_its_form(text: str, kind: str | None) -> None:
    assert kind_of_personal_data(text) == kind


def test_what_users_wrote_is_cleaned_and_counted(tmp_path: Path) -> None:
    rows = [
        row("Why is the sky blue?"),
        row("Why is the sky  BLUE?", rater="r2"),  # another opinion on the same question
        row("Where does ada@example.org live?"),
        row("Why is the sea salty?", comment="Call me: +49 30 1234 5678"),
        row(LONG + "or the wrong one?"),
        row(LONG + "or the worse one?"),
        row("Why do cats purr?"),
        {"question": "Who is ada@example.org?", "answers": ["One.", "Two."], "preferred": 1},  # public data
    ]
    config = ReadingConfig(hygiene=HygieneConfig(per_rater=2))
    data = read_comparisons(write(tmp_path, rows), config)
    assert {each.question for each in data.comparisons} == {
        "Why is the sky blue?",
        "Why is the sky  BLUE?",
        LONG + "or the wrong one?",
        "Who is ada@example.org?",
    }
    assert data.funnel["rows with personal data"] == 2
    assert data.funnel["near-duplicate prompts"] == 1
    assert data.funnel["rows beyond the cap of a rater"] == 1


def test_short_questions_are_near_only_if_they_are_the_same() -> None:
    hygiene = Hygiene(HygieneConfig())
    assert [hygiene.fault(row(text)) for text in ("Why is it blue?", "Why is it blue??")] == [None, None]


def test_people_are_kept_apart(tmp_path: Path) -> None:
    rows = [row(f"Why {number}?", rater=f"r{number % 20}") for number in range(200)]
    data = read_comparisons(write(tmp_path, rows))
    division = divide([data], SplitConfig(by="rater", dev=0.2, test=0.2))
    raters = {
        split: {each.rater for each in part(data, division, split).comparisons}
        for split in ("train", "dev", "test")
    }
    assert sum(map(len, raters.values())) == 20
    assert set.union(*raters.values()) == {f"r{number}" for number in range(20)}
    assert len(raters["train"]) > len(raters["dev"]) > 0
    parts = [part(data, division, split) for split in ("train", "dev", "test")]
    assert sum(len(each.comparisons) for each in parts) == 200
