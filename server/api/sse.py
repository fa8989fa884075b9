"""A question's events as server-sent events (https://html.spec.whatwg.org/#server-sent-events)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any, NamedTuple

from litestar import Response
from litestar.response import Stream
from litestar.response.sse import ServerSentEventMessage

from citewell.server.api.jsonl import one_line
from citewell.server.work.queue import Subscription

MEDIA_TYPE = "text/event-stream"
_RETRY = 1000  # milliseconds after which a client comes back


class StreamPosition(NamedTuple):
    """Where a client stopped reading: an answer, and the number of the last event that it has."""

    answer_id: str
    number: int


def read_place(header: str) -> StreamPosition | None:
    """The place that the header `Last-Event-ID` names; None where it names none."""
    answer_id, dot, number = header.strip().rpartition(".")
    return StreamPosition(answer_id, int(number)) if dot and number.isdecimal() and len(number) < 10 else None


def wants_events(accept: str) -> bool:
    """Whether the header `Accept` asks for server-sent events."""
    return MEDIA_TYPE in accept.lower()


def resumed(headers: Mapping[str, str]) -> StreamPosition | None:
    """The place from which a request goes on; None for one that asks anew."""
    last = headers.get("last-event-id")
    return read_place(last) if last and wants_events(headers.get("accept", "")) else None


def stream(ticket: Subscription, after: int, end: Callable[[Subscription], Any]) -> Response[Any]:
    """The events of a ticket after number `after`; `end` makes the data of the last one.

    A client that is cut off comes back with the header `Last-Event-ID`.
    """
    ticket.expect()
    location = f"/v1/answers/{ticket.about.id}"
    headers = {"Location": location, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return Stream(_messages(ticket, after, end), media_type=MEDIA_TYPE, status_code=200, headers=headers)


async def _messages(
    ticket: Subscription, after: int, end: Callable[[Subscription], Any]
) -> AsyncGenerator[bytes, None]:
    yield ServerSentEventMessage(comment="citewell", retry=_RETRY, data=None).encode()
    async with aclosing(ticket.follow(after)) as events:
        async for event in events:
            if event is None:
                yield ServerSentEventMessage(comment="still there", data=None).encode()
                continue
            data = end(ticket) if event.name in ("done", "error") else event.data
            message = ServerSentEventMessage(
                data=one_line(data), event=event.name, id=f"{ticket.about.id}.{event.number}"
            )
            yield message.encode()
