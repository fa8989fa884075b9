"""Fields of a type that nothing can be read from: each is named with its line, and with what to write."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from citewell.core.errors import InputError
from citewell.retriever.training.labels.adopted import adopted_rows
from citewell.retriever.training.labels.asked import read_asked
from citewell.retriever.training.labels.candidates import candidate_rows
from citewell.retriever.training.labels.positives import positive_rows
from citewell.retriever.training.labels.sentences import sentence_rows
from citewell.retriever.training.labels.support import support_rows

READERS: dict[str, Callable[[Path], Any]] = {
    "adopted": adopted_rows,
    "asked": lambda file: read_asked([file]),
    "candidates": lambda file: candidate_rows(file, {}),
    "positives": positive_rows,
    "sentences": lambda file: sentence_rows([file]),
    "support": support_rows,
}
CANDIDATES = [{"text": "Yes.", "label": 1}, {"text": "No.", "label": 0}]


@pytest.mark.parametrize(
    ("label", "row", "told"),
    [
        ("asked", {"positive": "It is."}, "the field positive is not a list"),
        ("asked", {"positive": 5}, "the field positive is not a list"),
        ("asked", {"hard_negative": "It is."}, "the field hard_negative is not a list"),
        ("asked", {"positive": [{"title": 5, "text": "It is."}]}, "the title is not a text"),
        ("asked", {"positive": [["It is."]]}, "a passage is neither text nor an object"),
        ("asked", {"sentences": 5}, "the field sentences is not a list"),
        ("asked", {"sentences": "It is."}, "the field sentences is not a list"),
        ("asked", {"sentences": [{"text": "It is."}], "domain": ["x"]}, "the domain is not a text"),
        ("asked", {"passage": "It is.", "title": {}}, "the title is not a text"),
        ("positives", {"positive": "It is."}, "the field positive is not a list"),
        ("positives", {"positive": [{"title": ["x"], "text": "It is."}]}, "the title is not a text"),
        ("sentences", {"positive": "It is."}, "the field positive is not a list"),
        ("sentences", {"label": "unanswerable", "passage": "No.", "title": 5}, "the title is not a text"),
        ("candidates", {"candidates": CANDIDATES, "title": 5}, "the title is not a text"),
        ("candidates", {"candidates": [{"text": "Yes.", "label": [1]}]}, "label is neither 0 nor 1"),
        ("support", {"premise": "It is.", "claim": "It is.", "label": ["x"]}, r"label \['x'\] is not known"),
        ("support", {"premise": "It is.", "claim": "It is.", "label": {}}, "label {} is not known"),
        (
            "adopted",
            {"answer": "[1]", "references": [{"title": 5, "text": "It."}]},
            "the title is not a text",
        ),
    ],
)
def test_the_field_is_named_with_its_line(tmp_path: Path, label: str, row: dict[str, Any], told: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"question": "What?"} | row) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"rows\.jsonl, line 1: .*{told}") as error:
        READERS[label](file)
    assert error.value.hint.startswith("Write ")


def test_what_cannot_be_encoded_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    passage = {"title": "A\ud800", "text": "It is b\udfff."}
    row = {"question": "What is\ud800?", "positive": [passage, "c\ud800"], "answer": "b\udfff"}
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (found,) = positive_rows(file)
    assert found.passages == ("A?. It is b?.", "c?")
    assert (found.question, found.answers) == ("What is??", ("b?",))
    asked = read_asked([file])
    assert [each.encoded for each in asked.passages.values()] == ["A?. It is b?.", "c?"]
