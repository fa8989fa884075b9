"""An answer of a study as its pages show it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from citewell.core.types import Reference, Sentence
from citewell.server.api.schemas import AnswerResponse
from citewell.server.pages.answer_view import AnswerPage, view_of


def study_view(question: str, answer: Mapping[str, Any], *, cited: bool) -> AnswerPage:
    """Return the view of an answer, without its system; only a `cited` one has marks and sources."""
    sentences = [
        Sentence(
            each["text"],
            tuple(each["citations"]) if cited else (),
            1.0,
            True,
            "supported",
            before=each.get("before"),
        )
        for each in answer["sentences"]
    ]
    references = [
        Reference(each["number"], each["url"], each["title"], each["text"], 0.0)
        for each in (answer["references"] if cited else ())
    ]
    shown = AnswerResponse(
        id="",
        status="done",
        question=question,
        created=datetime.now(UTC),
        thread="",
        answer=answer["text"] if cited else "",
        sentences=sentences,
        references=references,
    )
    return view_of(shown)
