"""The benchmark that a person reads, on the folder of notes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.reading import QUESTIONS, main


def test_every_question_of_the_notes_is_written_with_its_answer_and_references(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "reading.md"
    monkeypatch.setattr(sys, "argv", ["reading", "--collections", "notes", "--output", str(out)])
    main()
    text = out.read_text(encoding="utf-8")
    assert text.count("\n### ") == 20
    assert "### 3. Which company builds the new landing stage?" in text
    assert "We chose Harbour Works, since the regatta is on 19 September." in text
    assert text.count("— missing.") <= 2
    assert str(QUESTIONS) not in text
