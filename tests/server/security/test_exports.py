"""Exports have one line a row and strings that stay strings, whatever people and pages write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.small_service import BATS
from citewell.scorer.data.reading import read_comparisons
from citewell.server.store.columns import storable
from tests.server.api.conftest import Service, Start

TEXTS = (
    'quote " backslash \\ slash / end',
    "a\nb\r\nc\rd\x0be\x0cf",
    "\x1c\x1d\x1e\x85\u2028\u2029 are lines to some",
    '\\n{"thumbs": 1}\n{"thumbs": -1}',
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=cmd|'/c calc'!A1",
    '=HYPERLINK("http://127.0.0.1:9/","here")',
    "null",
    "true",
    "1e999",
    "\x00\x07\x1b[2J",
    "\u202egnirts\u202c \ufeff\u200b",
    "\U0001f4a9 \U000e0041 \U0010ffff",
    "</script><script>1</script>",
)
LONE = (b"\\ud800", b"\\udc00", b"a\\ud83d", b"\\udca9\\ud83d")


@pytest.fixture
def fresh(start: Start) -> Service:
    return start()


def lines_of(service: Service, name: str) -> list[bytes]:
    response = service.client.get(f"/v1/export/{name}")
    assert response.headers["Content-Type"].startswith("application/x-ndjson")
    assert response.headers["Content-Disposition"] == f'attachment; filename="{name}.jsonl"'
    *lines, rest = response.content.split(b"\n")
    assert rest == b""
    return lines


def test_a_comparison_is_one_line_whatever_it_says(fresh: Service, tmp_path: Path) -> None:
    for text in TEXTS:
        body = {
            "question": f"Why? {text}",
            "answers": [{"text": f"One {text}", "references": [f"R {text}"]}, {"text": f"Two {text}"}],
            "comment": f"Because {text}",
        } | dict.fromkeys(("usefulness", "coherence", "unsupported", "overall"), -1)
        assert fresh.client.post("/v1/comparisons", json=body).status_code == 201, text
    lines = lines_of(fresh, "comparisons")
    assert len(fresh.client.get("/v1/export/comparisons").text.splitlines()) == len(lines)
    rows = [json.loads(line) for line in lines]
    texts = [storable(text) for text in TEXTS]
    assert [row["comment"] for row in rows] == [f"Because {text}".strip() for text in texts]
    assert [row["question"] for row in rows] == [f"Why? {text}".strip() for text in texts]
    for row, text in zip(rows, texts, strict=True):
        written = [storable(answer["text"]) for answer in row["answers"]]
        assert [each.strip() for each in written] == [f"One {text}".strip(), f"Two {text}".strip()]
        assert storable(row["answers"][0]["references"][0]) == f"R {text}"
    file = tmp_path / "comparisons.jsonl"
    file.write_bytes(b"\n".join(lines) + b"\n")
    assert read_comparisons(file).funnel["lines"] == len(TEXTS)


def test_feedback_is_one_line_whatever_it_says(fresh: Service) -> None:
    answer = fresh.ask(BATS).json()["id"]
    for text in TEXTS:
        body = {"thumb": 1, "comment": f"Because {text}"}
        assert fresh.client.post(f"/v1/answers/{answer}/feedback", json=body).status_code == 201, text
    rows = [json.loads(line) for line in lines_of(fresh, "feedback")]
    assert [row["comment"] for row in rows] == [f"Because {storable(text)}".strip() for text in TEXTS]


@pytest.mark.parametrize("lone", LONE)
def test_half_a_character_is_refused_and_spoils_no_export(service: Service, lone: bytes) -> None:
    rating = b'"usefulness": 0, "coherence": 0, "unsupported": 0, "overall": 0'
    answers = b'"answers": [{"text": "a"}, {"text": "b' + lone + b'"}]'
    body = b'{"question": "Why?", ' + answers + b", " + rating + b"}"
    response = service.client.post(
        "/v1/comparisons", content=body, headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 400
    assert lines_of(service, "comparisons") == []
