"""Which answers a caller sees: its own, and all of them with the scope `admin`."""

from __future__ import annotations

from typing import Any

from citewell.core.errors import CitewellError
from citewell.server.access.authenticator import Caller
from citewell.server.services import Services
from citewell.server.store.answers import StoredAnswer


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


def sees_all(caller: Caller) -> bool:
    """Whether a caller sees the answers of others; without keys, everybody sits at the same computer."""
    return caller.key_id is None or "admin" in caller.scopes


def whose(caller: Caller) -> str | None:
    """The key whose rows a caller finds in lists; None for those of all."""
    return None if sees_all(caller) else caller.key_id


def is_visible(caller: Caller, key_id: str | None) -> bool:
    """Whether a caller sees what the key `key_id` has made, or who needs no key where that is None."""
    return key_id == caller.key_id or sees_all(caller)


async def visible_answer(services: Services, caller: Caller, answer_id: str) -> StoredAnswer:
    """The answer of an id, as far as it has come; raises `NoAnswerError` where the caller sees none."""
    subscription = services.questions.subscription(answer_id)
    if subscription is not None:
        found: StoredAnswer | None = subscription.answer
    else:
        found = await services.store.get().answers.get(answer_id)
    if found is None or not is_visible(caller, found.key_id):
        raise NoAnswerError(answer_id)
    return found


def written(answer: StoredAnswer) -> dict[str, Any]:
    """The body of an answer; raises `UnansweredError` where none was written."""
    if answer.body is None or "answer" not in answer.body:
        raise UnansweredError(f"The question {answer.id} has no answer.", "Wait for it, or ask again.")
    return answer.body
