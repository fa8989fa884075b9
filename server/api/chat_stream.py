"""A chat completion as a stream of chunks in OpenAI's format."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from litestar import Response
from litestar.response import Stream

from citewell.generator.auto import EXTRACTIVE
from citewell.server.api.chat_draft import Draft
from citewell.server.api.chat_errors import error_of
from citewell.server.api.chat_reply import ChatCompletion
from citewell.server.api.chat_schemas import ChatRequest
from citewell.server.api.jsonl import one_line
from citewell.server.api.sse import MEDIA_TYPE
from citewell.server.services import Services
from citewell.server.work.event_log import QuestionEnded
from citewell.server.work.subscription import Subscription

_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_STILL_THERE = b": still there\n\n"  # a comment, which clients skip


def stream(services: Services, subscription: Subscription, asked: ChatRequest, model: str) -> Response[Any]:
    """Return the answer in chunks. If the client leaves, its question is cancelled."""
    subscription.expect()
    return Stream(_lines(services, subscription, asked, model), media_type=MEDIA_TYPE, headers=_HEADERS)


async def _lines(
    services: Services, subscription: Subscription, asked: ChatRequest, model: str
) -> AsyncGenerator[bytes, None]:
    begun = ChatCompletion(asked, model, subscription.answer)
    draft = _draft(services, asked, str(subscription.answer.settings.get("generator") or ""))
    try:
        yield _chunk(begun, {"role": "assistant", "content": ""})
        async with aclosing(subscription.follow()) as events:
            async for numbered in events:
                if numbered is None:
                    yield _STILL_THERE
                    continue
                event = numbered.event
                if isinstance(event, QuestionEnded):
                    if event.error is not None:
                        yield _line(error_of(event.error))
                        return
                    for chunk in _end(ChatCompletion(asked, model, event.answer), draft):
                        yield chunk
                elif draft is not None and (text := draft.add(event)):
                    yield _chunk(begun, {"content": text})
        yield b"data: [DONE]\n\n"
    finally:
        subscription.leave()


def _draft(services: Services, asked: ChatRequest, generator: str) -> Draft | None:
    """Return None if what is written may not be the answer: if there are several candidates, or a judge."""
    settings = services.settings
    if (asked.best_of or settings.generator.best_of) > 1 or services.pipelines.get().judges(generator):
        return None
    return Draft(
        settings.citations.threshold,
        drop_unsupported=settings.citations.drop_unsupported,
        markdown=generator != EXTRACTIVE and (bool(generator) or services.pipelines.get().writes),
    )


def _end(done: ChatCompletion, draft: Draft | None) -> list[bytes]:
    rest = done.text if draft is None else draft.end(done.text)
    chunks = [_chunk(done, {"content": rest + done.end}), _chunk(done, {}, "stop", citewell=done.extra())]
    options = done.asked.stream_options
    if options is not None and options.include_usage:
        chunks.append(_line(_head(done) | {"choices": [], "usage": done.usage()}))
    return chunks


def _chunk(of: ChatCompletion, delta: dict[str, str], finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return _line(_head(of) | {"choices": [choice]} | more)


def _head(of: ChatCompletion) -> dict[str, Any]:
    return {"id": of.id, "object": "chat.completion.chunk", "created": of.created, "model": of.model}


def _line(value: Any) -> bytes:
    return b"data: " + one_line(value) + b"\n\n"
