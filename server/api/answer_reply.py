"""Stored answers as replies of the API."""

from __future__ import annotations

from typing import Any

from citewell.server.api.schemas import AnswerResponse, to
from citewell.server.store.answers import StoredAnswer


def answer_response(answer: StoredAnswer) -> AnswerResponse:
    """Convert a stored answer to the API's form."""
    values: dict[str, Any] = (answer.body or {}) | {
        "id": answer.id,
        "status": answer.status,
        "question": answer.question,
        "mode": answer.mode,
        "created": answer.created,
        "thread": answer.thread,
        "seconds": answer.seconds,
        "cached": bool(answer.settings.get("cached")),
        "options": {name: value for name, value in answer.settings.items() if name != "cached"},
    }
    if answer.problem is not None:
        values["problem"] = answer.problem
    response: AnswerResponse = to(AnswerResponse, values)
    return response
