"""The answers that a caller may see: its own or, with the scope `admin`, all of them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from citewell.core.errors import CitewellError
from citewell.server.access.authenticator import Caller
from citewell.server.services import Services
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.errors import StoreError
from citewell.server.work.errors import NotReadyError


class NoAnswerError(CitewellError):
    """The answer does not exist, or the key may not see it."""

    status = 404

    def __init__(self, answer_id: str) -> None:
        """Name the answer that was requested."""
        super().__init__(
            f"The answer {answer_id[:64]!r} does not exist.",
            "The history lists your answers, and GET /v1/answers.",
        )


class NoThreadError(CitewellError):
    """The conversation does not exist, or the key may not see it."""

    status = 404

    def __init__(self, thread: str) -> None:
        """Name the conversation that was requested."""
        super().__init__(
            f"The conversation {thread[:64]!r} does not exist.",
            "The history lists your conversations: GET /v1/threads.",
        )


class UnansweredError(CitewellError):
    """The question has no answer to rate or to export."""

    status = 409


def whose(caller: Caller) -> str | None:
    """Return the key whose rows a caller may list; None for all rows."""
    return None if caller.sees_all else caller.key_id


def is_visible(caller: Caller, key_id: str | None) -> bool:
    """Return whether a caller may see what belongs to the key `key_id`, or to no key if that is None."""
    return key_id == caller.key_id or caller.sees_all


async def visible_answer(services: Services, caller: Caller, answer_id: str) -> StoredAnswer:
    """Return the answer with an id, finished or not; raises `NoAnswerError` if the caller may not see it."""
    found = await _known_answer(services, answer_id)
    if found is None or not is_visible(caller, found.key_id):
        raise NoAnswerError(answer_id)
    return found


async def _known_answer(services: Services, answer_id: str) -> StoredAnswer | None:
    """Return an answer as this process remembers it, unless another process has deleted it, or as stored."""
    subscription = services.questions.subscription(answer_id)
    if subscription is None:
        return await services.store.get().answers.get(answer_id)
    # An answer that cannot be looked up in the database is given from memory.
    with suppress(StoreError, NotReadyError):
        is_stored = subscription.answer.mode != "retrieve"
        if is_stored and await services.store.get().answers.get(answer_id) is None:
            services.questions.forget(answer_id)
            return None
    return subscription.answer


async def visible_thread(services: Services, caller: Caller, thread: str) -> list[StoredAnswer]:
    """Return the answers of a conversation, oldest first; raises `NoThreadError` if the caller sees none."""
    found = await services.store.get().threads.answers(thread, whose(caller))
    if not found:
        raise NoThreadError(thread)
    return found


def generator_of(answer: StoredAnswer) -> str | None:
    """Return the generator that wrote an answer, if that is known."""
    models = (answer.body or {}).get("models") or {}
    return str(models["generator"]) if "generator" in models else None


def written(answer: StoredAnswer) -> dict[str, Any]:
    """Return the body of an answer; raises `UnansweredError` if there is none."""
    if answer.body is None or "answer" not in answer.body:
        raise UnansweredError(
            f"The question {answer.id} has no answer.", "Wait for it, or ask the question again."
        )
    return answer.body
