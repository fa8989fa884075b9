"""A chat completions service that behaves as told, and what rows need to be taught by it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.references import FoundReferences
from citewell.bootstrap.row import RowParts
from citewell.bootstrap.teacher import Teacher
from citewell.bootstrap.teachers.completion import CompletionTeacher
from citewell.bootstrap.types import BootstrapTask
from citewell.core.types import Reference
from citewell.generator.chat_client import ChatClient, CompletionTimeouts

PASSAGES = (
    "The tides are caused by the gravity of the Moon and, to a lesser degree, of the Sun.",
    "Most coasts of the Earth have two high tides and two low tides on each day.",
    "Sourdough bread rises because wild yeast in the starter makes carbon dioxide.",
    "Movable type of metal was used in Korea in 1377 to print a Buddhist book.",
    "Bees make honey from nectar, which they thicken by fanning it with their wings.",
)
GOOD = (
    "The tides are caused by the gravity of the Moon and of the Sun[1]. Most coasts have two high tides and "
    "two low tides on each day[2]."
)

DEFAULT = BootstrapConfig()

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def references(*texts: str) -> tuple[Reference, ...]:
    return tuple(Reference(n, "", "", text, 0.0) for n, text in enumerate(texts or PASSAGES, 1))


def task(number: int = 1, answer: str | None = None) -> BootstrapTask:
    return BootstrapTask(
        key=f"t{number}",
        line=number,
        question=f"What causes tide number {number}?",
        references=references(),
        answer=answer,
    )


def completion(text: str, finish_reason: str = "stop") -> dict[str, Any]:
    return {
        "object": "chat.completion",
        "model": "tutor",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
        ],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
    }


def answering(text: str, finish_reason: str = "stop") -> Handler:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(completion(text, finish_reason))

    return answer


async def nothing(question: str) -> FoundReferences:
    return FoundReferences((), relevant=False)


@asynccontextmanager
async def service(handler: Handler) -> AsyncIterator[str]:
    """The base URL of a service whose completions `handler` writes."""
    app = web.Application()
    app.router.add_post("/v1/chat/completions", handler)
    async with TestServer(app, host="127.0.0.1") as server:
        yield f"http://127.0.0.1:{server.port}/v1"


@asynccontextmanager
async def taught_by(
    url: str, config: BootstrapConfig = DEFAULT, *, seconds: float = 60.0, retries: int = 2
) -> AsyncIterator[RowParts]:
    """Parts with a teacher at `url`."""
    async with ChatClient(
        "tutor",
        url,
        key="secret",
        timeouts=CompletionTimeouts(total=seconds),
        retries=retries,
    ) as client:
        yield RowParts(CompletionTeacher(client, config.prompt, config.teacher), nothing, config)


def parts(teacher: Teacher, config: BootstrapConfig = DEFAULT, found: Sequence[str] = ()) -> RowParts:
    async def retrieve(question: str) -> FoundReferences:
        return FoundReferences(references(*found) if found else (), relevant=bool(found))

    return RowParts(teacher, retrieve, config)


async def messages_of(request: web.Request) -> list[dict[str, str]]:
    body = json.loads(await request.read())
    messages: list[dict[str, str]] = body["messages"]
    return messages
