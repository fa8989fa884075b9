"""A client of chat completions over HTTP, as OpenAI, other hosted services, vLLM, llama.cpp and Ollama have.

https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Self

import aiohttp

from citewell.core.backoff import Backoff
from citewell.core.errors import (
    ServiceAnswerError,
    ServiceCutError,
    ServiceError,
    ServiceKeyRefusedError,
    ServiceRateError,
    ServiceUnreachableError,
)
from citewell.core.http_service import JsonObject, json_object, redact
from citewell.core.identity import USER_AGENT
from citewell.generator.completion import Completion, Delta, read_completion, read_deltas
from citewell.generator.prompt import Message
from citewell.generator.refusal import Replacement, hint_for, refusal, replacement
from citewell.generator.sse import EventReader

BASE_URL = "https://api.openai.com/v1"

_END = "[DONE]"
_MOST_BYTES = 10_000_000


@dataclass(frozen=True, slots=True)
class CompletionTimeouts:
    """Time limits in seconds: of connecting, of the first token, between two tokens, of one try, of all.

    Those of tokens hold for streams. Waiting for a free place among the client's requests does not count.
    """

    connect: float = 10.0
    first_token: float = 60.0
    token: float = 30.0
    one_try: float = 120.0
    total: float = 300.0


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """What is asked of the model beside its messages. Without a seed, the service chooses one.

    `extension` are members of the body that only some services know.
    """

    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    n: int = 1
    extension: JsonObject = field(default_factory=dict)

    def body(
        self, model: str, messages: Sequence[Message], replacements: Sequence[Replacement]
    ) -> JsonObject:
        """The JSON object that is sent, without the parameters that the model is known to refuse."""
        body: JsonObject = {
            "model": model,
            "messages": list(messages),
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
        }
        body |= {"seed": self.seed} if self.seed is not None else {}
        body |= {"n": self.n} if self.n > 1 else {}
        body |= self.extension
        for refused, instead in replacements:
            if refused in body:
                value = body.pop(refused)
                body |= {instead: value} if instead else {}
        return body


class ChatClient:
    """One model of one service, to be entered with `async with`; at most `concurrency` requests at a time.

    Requests that failed in passing (no connection, no answer in time, 429, 5xx) are sent again, when the
    service wants it or after a random wait. The service's address is the operator's own choice, so the guard
    of fetching does not apply. Redirects are not followed. The key is in no message and no error.
    """

    def __init__(
        self,
        model: str,
        base_url: str = BASE_URL,
        *,
        key: str = "",
        patience: CompletionTimeouts | None = None,
        backoff: Backoff | None = None,
        concurrency: int = 8,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Ask `base_url`/chat/completions for `model`; without a key, no `Authorization` is sent."""
        self.model = model
        self._url = base_url.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"
        self._key = key.strip()
        self._patience = patience or CompletionTimeouts()
        self._backoff = backoff or Backoff(tries=5, base=1.0, longest=30.0)
        self._places = asyncio.Semaphore(concurrency)
        self._sleep = sleep
        self._clock = clock
        self._replacements: list[Replacement] = []

    async def __aenter__(self) -> Self:
        if not (self._key.isprintable() and self._key.isascii()):
            raise self._error(
                ServiceKeyRefusedError, "The API key holds a character that no HTTP header can hold."
            )
        headers = {"User-Agent": USER_AGENT}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        # The places are the limit, not the connections.
        self._session = aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=0))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def complete(self, messages: Sequence[Message], request: CompletionRequest) -> Completion:
        """The model's answer to `messages`, in one piece; its text may be empty.

        Raises a `ServiceError` of the kind that fits when the service gives none.
        """
        async with self._places:
            end = self._clock() + self._patience.total
            tried = 0
            while True:
                try:
                    return await self._complete_once(messages, request, end)
                except ServiceError as error:
                    tried += 1
                    delay = self._delay(error, tried, end)
                await self._sleep(delay)

    async def stream(
        self, messages: Sequence[Message], request: CompletionRequest
    ) -> AsyncGenerator[Delta, None]:
        """The model's answer to `messages`, piece by piece as it is written; closing it ends the request.

        A request is sent again only while nothing of its answer was given. Raises a `ServiceError`:
        `ServiceCutError` where the service broke off within the answer.
        """
        async with self._places:
            end = self._clock() + self._patience.total
            tried, given = 0, False
            while True:
                try:
                    async with aclosing(self._stream_once(messages, request, end)) as deltas:
                        async for delta in deltas:
                            given = given or bool(delta.text)
                            yield delta
                    return
                except ServiceError as error:
                    if given:
                        raise
                    tried += 1
                    delay = self._delay(error, tried, end)
                await self._sleep(delay)

    async def _complete_once(
        self, messages: Sequence[Message], request: CompletionRequest, end: float
    ) -> Completion:
        async with self._posted(messages, request, end, stream=False) as response:
            body = json_object(self._utf8(await self._read(response)))
        if body is None:
            raise self._no_answer(response)
        if "error" in body and not body.get("choices"):
            raise self._refused(response, body)
        completion = read_completion(body)
        if completion is None:
            raise self._no_answer(response)
        return completion

    async def _stream_once(
        self, messages: Sequence[Message], request: CompletionRequest, end: float
    ) -> AsyncGenerator[Delta, None]:
        open_candidates, seen = set(range(request.n)), False
        async with (
            self._posted(messages, request, end, stream=True) as response,
            aclosing(self._bodies(response)) as bodies,
        ):
            async for body in bodies:
                if "error" in body and not body.get("choices"):
                    raise self._refused(response, body)
                deltas = read_deltas(body)
                if deltas is None:
                    raise self._no_answer(response)
                for delta in deltas:
                    seen = True
                    if delta.finish_reason:
                        open_candidates.discard(delta.index)
                    yield delta
        # A service that knows no `n` writes one candidate, which is complete.
        if len(open_candidates) == request.n:
            if not seen:
                raise self._error(ServiceAnswerError, f"{self._service} sent an empty stream.")
            raise self._error(ServiceCutError, f"{self._service} broke off its answer.")

    async def _bodies(self, response: aiohttp.ClientResponse) -> AsyncGenerator[JsonObject, None]:
        """The JSON objects of a stream, or the only one of a service that does not stream."""
        if response.content_type == "application/json":
            body = json_object(self._utf8(await self._read(response)))
            if body is None:
                raise self._no_answer(response)
            yield body
            return
        reader, thought = EventReader(), False
        limit = self._patience.first_token
        loop = asyncio.get_running_loop()
        pieces = response.content.iter_any().__aiter__()
        more = True
        deadline = loop.time() + limit
        while more:
            try:
                async with asyncio.timeout_at(deadline):
                    piece = await anext(pieces, b"")
            except TimeoutError:
                what = "the first token" if limit == self._patience.first_token else "the next token"
                raise self._error(
                    ServiceCutError if thought else ServiceUnreachableError,
                    f"{self._service} did not send {what} within {limit:g} s.",
                ) from None
            more = bool(piece)
            for data in self._events(reader, piece):
                if data.strip() == _END:
                    return
                body = json_object(data)
                if body is None:
                    raise self._error(
                        ServiceAnswerError, f"{self._service} sent an event that is no JSON object."
                    )
                if any(delta.text or delta.thinking for delta in read_deltas(body) or ()):
                    thought, limit = True, self._patience.token
                    deadline = loop.time() + limit
                yield body

    def _events(self, reader: EventReader, piece: bytes) -> list[str]:
        try:
            return list(reader.feed(piece) if piece else reader.close())
        except ValueError as error:
            raise self._error(
                ServiceAnswerError, f"{self._service} sent a stream that cannot be read: {error}."
            ) from None

    @asynccontextmanager
    async def _posted(
        self, messages: Sequence[Message], request: CompletionRequest, end: float, *, stream: bool
    ) -> AsyncGenerator[aiohttp.ClientResponse, None]:
        """A response of status 200, within the time of one try; raises a `ServiceError` for all else."""
        left = max(end - self._clock(), 0.001)  # to aiohttp, no time left would mean no limit
        seconds = min(self._patience.one_try, left)
        limits = aiohttp.ClientTimeout(
            total=seconds, sock_connect=self._patience.connect, connect=self._patience.connect
        )
        first = self._patience.first_token if stream else seconds
        body = request.body(self.model, messages, self._replacements) | ({"stream": True} if stream else {})
        try:
            async with asyncio.timeout(first) as waiting:
                posting = self._session.post(self._url, json=body, allow_redirects=False, timeout=limits)
                response = await posting
                waiting.reschedule(None)
            async with response:
                if response.status != HTTPStatus.OK:
                    refused = json_object(await self._read(response)) or {}
                    raise self._refused(response, refused)
                yield response
        # The causes are cut off: their texts may hold the address and its credentials.
        except aiohttp.InvalidURL:
            raise self._error(ServiceAnswerError, f"{self._url!r} is not a valid URL.") from None
        except aiohttp.ServerTimeoutError:
            raise self._error(
                ServiceUnreachableError, f"{self._service} took too long to connect or to answer."
            ) from None
        except TimeoutError:
            within = f"answer within {first:.3g} s" if waiting.expired() else f"finish within {seconds:.3g} s"
            message = f"{self._service} did not {within}."
            raise self._error(ServiceUnreachableError, message) from None
        except aiohttp.ClientPayloadError:
            raise self._error(ServiceCutError, f"{self._service} broke off its answer.") from None
        except aiohttp.ClientError as error:
            message = f"{self._service} cannot be reached ({type(error).__name__})."
            raise self._error(ServiceUnreachableError, message) from None

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        parts, size = [], 0
        async for part in response.content.iter_any():
            size += len(part)
            if size > _MOST_BYTES:
                message = f"{self._service} answered with more than {_MOST_BYTES:,} bytes."
                raise self._error(ServiceAnswerError, message)
            parts.append(part)
        return b"".join(parts)

    def _utf8(self, body: bytes) -> str:
        try:
            return body.decode("utf-8-sig")
        except UnicodeDecodeError:
            message = f"{self._service} answered with bytes that are not UTF-8."
            raise self._error(ServiceAnswerError, message) from None

    @property
    def _service(self) -> str:
        return f"The model {self.model} at {self._url}"

    def _delay(self, error: ServiceError, tried: int, end: float) -> float:
        """Seconds until the next try; raises the error where there is none."""
        if isinstance(error, _ParameterError):
            return 0.0
        delay = None
        if isinstance(error, ServiceUnreachableError | ServiceRateError):
            delay = self._backoff.wait(tried, error.retry_after, end - self._clock())
        if delay is None:
            raise error
        return delay

    def _refused(self, response: aiohttp.ClientResponse, body: JsonObject) -> ServiceError:
        # An error within a stream has its status in the body, if anywhere.
        code = body["error"].get("code") if isinstance(body.get("error"), dict) else None
        status = code if response.status == HTTPStatus.OK and isinstance(code, int) else response.status
        change = replacement(status, body)
        kind, message, seconds = refusal(self._service, status, response.headers, body)
        if change is not None and change not in self._replacements:
            self._replacements.append(change)
            kind = _ParameterError
        return self._error(kind, message, seconds)

    def _no_answer(self, response: aiohttp.ClientResponse) -> ServiceError:
        kind = response.headers.get("Content-Type", "nothing named")[:80]
        return self._error(
            ServiceAnswerError, f"{self._service} answered with {kind} that is no chat completion."
        )

    def _error(self, kind: type[ServiceError], message: str, seconds: float | None = None) -> ServiceError:
        return kind(redact(message, (self._key,)), hint_for(kind), retry_after=seconds)


class _ParameterError(ServiceAnswerError):
    """The model refuses an optional parameter, which the next request leaves out."""
