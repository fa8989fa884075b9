"""A client of chat completions, as OpenAI, other hosted services, vLLM, llama.cpp and Ollama have them.

The SDK `openai` sends, repeats and reads requests. This module adds time limits of tokens and of all tries
together, requests without the parameters that a model refuses, and errors with hints.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from yarl import URL

from citewell.core.errors import (
    ServiceAnswerError,
    ServiceCutError,
    ServiceError,
    ServiceKeyRefusedError,
    ServiceUnreachableError,
)
from citewell.core.http_service import json_object, redact
from citewell.core.identity import USER_AGENT
from citewell.generator.completion import (
    Completion,
    CompletionRequest,
    Delta,
    Replacement,
    read_completion,
    read_deltas,
)
from citewell.generator.failures import failure, hint_for, refusal_in_answer, replacement
from citewell.generator.prompt import Message
from citewell.generator.thinking import ThinkingCut

BASE_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionTimeouts:
    """Time limits in seconds: of connecting, of the first token, between two tokens, of all tries together.

    Those of tokens hold for streams. Waiting for a free slot among the client's requests does not count.
    """

    connect: float = 10.0
    first_token: float = 60.0
    token: float = 30.0
    total: float = 300.0


class ChatClient:
    """One model of one service, to be entered with `async with`; at most `concurrency` requests at a time.

    Requests that failed temporarily (no connection, no answer in time, 429, 5xx) are sent again by the SDK,
    at most `retries` times. The service's address is the operator's own choice, so the guard of fetching does
    not apply. Redirects are not followed. The key never appears in messages and errors.
    """

    def __init__(
        self,
        model: str,
        base_url: str = BASE_URL,
        *,
        key: str = "",
        timeouts: CompletionTimeouts | None = None,
        retries: int = 5,
        concurrency: int = 8,
    ) -> None:
        """Ask `base_url`/chat/completions for `model`; without a key, no `Authorization` is sent."""
        self.model = model
        self.concurrency = concurrency
        self._url = base_url.rstrip("/").removesuffix("/chat/completions")
        self._key = key.strip()
        self._timeouts = timeouts or CompletionTimeouts()
        self._retries = retries
        self._slots = asyncio.Semaphore(concurrency)
        self._replacements: list[Replacement] = []

    async def __aenter__(self) -> Self:
        if error := unusable(self._url, self._key):
            raise self._error(error)
        self._client = openai.AsyncOpenAI(
            api_key=self._key or "none",  # which is not sent
            base_url=self._url,
            max_retries=self._retries,
            default_headers={"User-Agent": USER_AGENT},
            http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    async def complete(self, messages: Sequence[Message], request: CompletionRequest) -> Completion:
        """Return the model's answer to `messages`, in one piece; its text may be empty.

        Raises the fitting `ServiceError` if the service gives no answer.
        """
        async with self._slots, self._asking(self._end(), self._all):
            answer = await self._send(messages, request, stream=False)
            completion = read_completion(answer)
            if completion is None:
                raise self._no_completion(answer)
            return completion

    async def stream(
        self, messages: Sequence[Message], request: CompletionRequest
    ) -> AsyncGenerator[Delta, None]:
        """Yield the model's answer to `messages`, piece by piece as it is written.

        Closing it ends the request. Raises a `ServiceError`: `ServiceCutError` when the service broke off
        within the answer.
        """
        unfinished, begun = set(range(request.n)), False
        cuts: defaultdict[int, ThinkingCut] = defaultdict(ThinkingCut)
        async with self._slots:
            end = self._end()
            async with self._asking(end, self._all):
                response = await self._send(messages, request, stream=True)
            async with response, aclosing(self._chunks(response, end)) as chunks:
                async for chunk in chunks:
                    deltas = read_deltas(chunk)
                    if deltas is None:
                        raise self._no_completion(chunk)
                    for delta in deltas:
                        begun = True
                        text = cuts[delta.index].take(delta.text)
                        if delta.finish_reason:
                            unfinished.discard(delta.index)
                            text += cuts[delta.index].end()
                        thinking = delta.thinking or bool(delta.text and not text)
                        yield replace(delta, text=text, thinking=thinking)
        # A service that does not know `n` writes one candidate, which is complete.
        if len(unfinished) == request.n:
            if not begun:
                raise self._error(ServiceAnswerError(f"{self._service} sent an empty stream."))
            raise self._error(ServiceCutError(f"{self._service} broke off its answer."))

    async def _chunks(
        self, response: openai.AsyncStream[ChatCompletionChunk], end: float
    ) -> AsyncGenerator[object, None]:
        """Yield the chunks of a stream, or the answer of a service that does not stream, each in its time."""
        if response.response.headers.get("Content-Type", "").startswith("application/json"):
            async with self._asking(end, self._all):
                body = json_object(await response.response.aread())
            yield ChatCompletion.construct(**body or {})
            return
        loop, chunks = asyncio.get_running_loop(), aiter(response)
        limit, expected, begun = self._timeouts.first_token, "the first token", False
        deadline = loop.time() + limit
        while True:
            missing = self._all if end < deadline else f"send {expected} within {limit:g} s"
            async with self._asking(min(deadline, end), missing, begun=begun):
                chunk = await anext(chunks, None)
            if chunk is None:
                return
            if any(delta.text or delta.thinking for delta in read_deltas(chunk) or ()):
                limit, expected, begun = self._timeouts.token, "the next token", True
                deadline = loop.time() + limit
            yield chunk

    async def _send(self, messages: Sequence[Message], request: CompletionRequest, *, stream: bool) -> Any:
        limits = self._timeouts
        options: dict[str, Any] = {
            "timeout": openai.Timeout(
                limits.total,
                connect=limits.connect,
                read=limits.first_token if stream else limits.total,
            ),
            "extra_headers": {} if self._key else {"Authorization": openai.Omit()},
        }
        if stream:
            options["stream"] = True
        while True:
            sent = tuple(self._replacements)
            asked = request.parameters(self.model, messages, sent) | options
            try:
                return await self._client.chat.completions.create(**asked)
            except openai.BadRequestError as error:
                change = replacement(error)
                if change is None or change in sent:
                    raise
                # Another request may have been refused for the same parameter in the meantime.
                if change not in self._replacements:
                    self._replacements.append(change)

    @asynccontextmanager
    async def _asking(self, deadline: float, expected: str, *, begun: bool = False) -> AsyncIterator[None]:
        """Raise a `ServiceError` for a failure in the block, or if it is not done by `deadline`.

        `begun` tells that a part of the answer has arrived.
        """
        try:
            async with asyncio.timeout_at(deadline):
                yield
            return
        except TimeoutError:
            kind = ServiceCutError if begun else ServiceUnreachableError
            found: ServiceError = kind(f"{self._service} did not {expected}.")
        except openai.APIError as error:
            found = failure(self._service, error, begun=begun)
        except (ValueError, RecursionError):
            found = self._no_completion(None)
        # Not within the handlers: the causes' texts may hold the address and its credentials.
        raise self._error(found)

    def _end(self) -> float:
        return asyncio.get_running_loop().time() + self._timeouts.total

    @property
    def _all(self) -> str:
        return f"answer within {self._timeouts.total:g} s"

    @property
    def _service(self) -> str:
        return f"The model {self.model} at {self._url}"

    def _no_completion(self, answer: object) -> ServiceError:
        if error := getattr(answer, "error", None):
            return self._error(refusal_in_answer(self._service, error))
        return self._error(
            ServiceAnswerError(f"{self._service} sent something that is not a chat completion.")
        )

    def _error(self, error: ServiceError) -> ServiceError:
        """Return the error with a hint and without the key."""
        kind = type(error)
        return kind(redact(error.message, (self._key,)), hint_for(kind), retry_after=error.retry_after)


def unusable(url: str, key: str) -> ServiceError | None:
    """Return why nothing can be sent to an address with a key; None if it can."""
    if not (key.isprintable() and key.isascii()):
        return ServiceKeyRefusedError("The API key holds a character that no HTTP header can hold.")
    try:
        parsed = URL(url)
    except ValueError:
        parsed = URL()
    if parsed.scheme in ("http", "https") and parsed.host:
        return None
    return ServiceAnswerError(redact(f"{url!r} is not a valid URL.", (key,)))
