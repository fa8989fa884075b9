"""Which answers a visitor sees: its own, and all of them with the scope `admin`."""

from __future__ import annotations

from typing import Any

from core.errors import CitewellError
from server.access.doorman import Visitor
from server.services import Services
from server.store.answers import StoredAnswer


class NoAnswerError(CitewellError):
    """There is no such answer, or none that this key may see."""

    status = 404

    def __init__(self, answer_id: str) -> None:
        """The answer `answer_id` was asked for."""
        super().__init__(
            f"There is no answer {answer_id[:64]!r}.", "GET /v1/answers lists the answers of a key."
        )


class UnansweredError(CitewellError):
    """The question has no answer, of which anything could be thought."""

    status = 409


def sees_all(visitor: Visitor) -> bool:
    """Whether a visitor sees the answers of others; without keys, everybody sits at the same computer."""
    return visitor.key_id is None or "admin" in visitor.scopes


async def visible_answer(services: Services, visitor: Visitor, answer_id: str) -> StoredAnswer:
    """The answer of an id, as far as it has come; raises `NoAnswerError` where the visitor sees none."""
    ticket = services.answering.ticket(answer_id)
    if ticket is not None:
        found: StoredAnswer | None = services.answering.state(ticket)
    else:
        found = await services.store.get().answers.get(answer_id)
    if found is None or (found.key_id != visitor.key_id and not sees_all(visitor)):
        raise NoAnswerError(answer_id)
    return found


def written(answer: StoredAnswer) -> dict[str, Any]:
    """The body of an answer; raises `UnansweredError` where none was written."""
    if answer.body is None or "answer" not in answer.body:
        raise UnansweredError(f"The question {answer.id} has no answer.", "Wait for it, or ask again.")
    return answer.body
