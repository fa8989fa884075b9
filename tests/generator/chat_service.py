"""A chat completions service on this machine that does as a test wants: well, badly or not at all."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def chunk(text: str, index: int = 0, finish: str | None = None) -> str:
    """One event of a stream."""
    choice = {"index": index, "delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n\n"


def whole(text: str | None, finish: str = "stop") -> dict[str, Any]:
    """A whole answer."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"model": "tiny-1", "choices": [choice], "usage": usage}


def yes_or_no(yes: float) -> dict[str, Any]:
    """An answer whose first token is yes with this share of the probability of yes and no."""
    found = whole("Yes")
    top = [
        {"token": "Yes", "logprob": math.log(yes * 0.9)},
        {"token": " no", "logprob": math.log((1 - yes) * 0.9)},
    ]
    found["choices"][0]["logprobs"] = {"content": [{"token": "Yes", "logprob": 0.0, "top_logprobs": top}]}
    return found


async def streamed(request: web.Request, *pieces: str | bytes) -> web.StreamResponse:
    """Send an event stream in these pieces."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    for piece in pieces:
        await response.write(piece.encode() if isinstance(piece, str) else piece)
    return response


class ChatService:
    """Answers the n-th request with the n-th handler, and all later ones with the last; keeps what it got."""

    def __init__(self, handlers: Sequence[Handler]) -> None:
        self._handlers = handlers
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._handle)
        self._server = TestServer(app, host="127.0.0.1")

    async def __aenter__(self) -> ChatService:
        await self._server.start_server()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._server.close()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.port}/v1"

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(await request.json())
        self.headers.append(dict(request.headers))
        return await self._handlers[min(len(self.requests), len(self._handlers)) - 1](request)
