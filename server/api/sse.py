"""A question's events as server-sent events (https://html.spec.whatwg.org/#server-sent-events)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, NamedTuple

from litestar import Response
from litestar.response import Stream
from litestar.response.sse import ServerSentEventMessage

from citewell.server.api.events import api_event
from citewell.server.api.jsonl import one_line
from citewell.server.work.subscription import Subscription

MEDIA_TYPE = "text/event-stream"
_RETRY = 1000  # milliseconds after which a client reconnects


class StreamPosition(NamedTuple):
    """The point at which a client stopped reading: an answer, and the number of the last event received."""

    answer_id: str
    number: int


def read_position(header: str) -> StreamPosition | None:
    """Return the position that the header `Last-Event-ID` names, or None."""
    answer_id, dot, number = header.strip().rpartition(".")
    return StreamPosition(answer_id, int(number)) if dot and number.isdecimal() and len(number) < 10 else None


def wants_events(accept: str) -> bool:
    """Return whether the header `Accept` asks for server-sent events."""
    return MEDIA_TYPE in accept.lower()


def resumed(headers: Mapping[str, str]) -> StreamPosition | None:
    """Return the position from which a request resumes a stream; None for a request that asks a question."""
    return read_position(headers.get("last-event-id", ""))


def stream(subscription: Subscription, after: int, **headers: str) -> Response[Any]:
    """Return the events of a question after number `after`, with more `headers`.

    A client whose connection broke reconnects with the header `Last-Event-ID`.
    """
    subscription.expect()
    location = f"/v1/answers/{subscription.answer.id}"
    headers |= {"Location": location, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return Stream(_messages(subscription, after), media_type=MEDIA_TYPE, status_code=200, headers=headers)


async def _messages(subscription: Subscription, after: int) -> AsyncGenerator[bytes, None]:
    yield ServerSentEventMessage(comment="citewell", retry=_RETRY, data=None).encode()
    async with aclosing(subscription.follow(after)) as events:
        async for numbered in events:
            if numbered is None:
                yield ServerSentEventMessage(comment="still there", data=None).encode()
                continue
            name, data = api_event(numbered.event)
            message = ServerSentEventMessage(
                data=one_line(data), event=name, id=f"{subscription.answer.id}.{numbered.number}"
            )
            yield message.encode()
