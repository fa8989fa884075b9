"""The HTTP client that all search providers share: JSON in, JSON out, retries and errors."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

import aiohttp

from citewell.core.errors import (
    ServiceAnswerError,
    ServiceError,
    ServiceKeyRefusedError,
    ServiceOfflineError,
    ServiceRateError,
    ServiceUnreachableError,
)
from citewell.core.http_service import SHOWN, JsonObject, explanation, json_object, redact
from citewell.core.http_time import retry_after
from citewell.core.identity import USER_AGENT
from citewell.retriever.fetch.resolver import SystemResolver
from citewell.retriever.search.retry import Retry

_MAX_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class Refusal:
    """A response with a status other than 200. `body` is its JSON object, if it has one."""

    status: int
    headers: Mapping[str, str]
    body: JsonObject
    explanation: str
    """The service's own explanation, or an empty string."""


Classify = Callable[[Refusal], type[ServiceError] | None]
"""The error class of a refusal, for services with unusual statuses; None leaves it to the HTTP status."""


@dataclass(frozen=True, slots=True)
class Service:
    """The service of a provider.

    `name` is for messages. `hints` says what to do about an HTTP status or an error class. `secrets` never
    appear in errors. `wait` reads from the headers of a refusal how many seconds to wait.
    """

    name: str
    url: str
    hints: Mapping[Any, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    classify: Classify = lambda refusal: None
    wait: Callable[[Mapping[str, str]], float | None] = retry_after

    def error(
        self, kind: type[ServiceError], message: str, hint: str = "", seconds: float | None = None
    ) -> ServiceError:
        """Return an error about this service, without secrets and credentials."""
        return kind(self.redact(message), self.redact(hint or self.hint(kind)), retry_after=seconds)

    def hint(self, kind: type[ServiceError], status: int = 0) -> str:
        """Return what to do about an error class or, failing that, an HTTP status."""
        known = (self.hints[key] for key in (*kind.__mro__, status) if key in self.hints)
        return next(known, f"Check that the URL {self.url} is right and that the service is running.")

    def redact(self, text: str) -> str:
        """`text` without the secrets, plain or URL-encoded."""
        return redact(text, self.secrets)


class SearchHttp:
    """A pool of connections to search services; an async context manager.

    The operator chooses the services' addresses, often on a private network, so the address guard of
    fetching does not apply. Redirects are not followed, since they could lead elsewhere.
    """

    def __init__(
        self,
        retry: Retry | None = None,
        *,
        user_agent: str = USER_AGENT,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Retry failed requests according to `retry`; `sleep` and `clock` are for tests."""
        self._retry = retry or Retry()
        self._user_agent = user_agent
        self._sleep = sleep
        self._clock = clock

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            headers={"User-Agent": self._user_agent},
            connector=aiohttp.TCPConnector(resolver=SystemResolver()),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def ask(
        self,
        service: Service,
        params: Mapping[str, str] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        post: JsonObject | None = None,
    ) -> JsonObject:
        """GET with `params`, or POST a JSON object; return the JSON object of the response.

        Retries after transient failures (429, 5xx, no connection, no response). Raises the fitting
        `ServiceError` for anything but a 200 with a JSON object.
        """
        if not all(value.isprintable() for value in (headers or {}).values()):
            message = (
                f"The API key of {service.name} contains characters that are not allowed in HTTP headers."
            )
            raise service.error(ServiceKeyRefusedError, message)
        end = self._clock() + self._retry.seconds
        tried = 0
        while True:
            left = end - self._clock()
            try:
                return await self._once(service, params or {}, headers or {}, post, left)
            except ServiceError as error:
                tried += 1
                delay = self._retry.delay(error, tried, end - self._clock())
                if delay is None:
                    raise
            await self._sleep(delay)

    async def _once(
        self,
        service: Service,
        params: Mapping[str, str],
        headers: Mapping[str, str],
        post: JsonObject | None,
        left: float,
    ) -> JsonObject:
        left = max(left, 0.001)  # aiohttp takes 0 as no limit
        seconds = min(self._retry.try_seconds, left)
        try:
            async with self._session.request(
                "GET" if post is None else "POST",
                service.url,
                params=params,
                headers=headers,
                json=post,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=seconds),
            ) as response:
                body = await _read(service, response)
        # `from None`: the texts of the causes may contain the URL with its key.
        except aiohttp.InvalidURL:
            message = f"{service.name}: {service.url!r} is not a valid URL."
            raise service.error(ServiceAnswerError, message) from None
        except TimeoutError:
            limit = self._retry.seconds if seconds == left else seconds
            message = f"{service.name} did not respond within {limit:g} s."
            raise service.error(ServiceUnreachableError, message) from None
        except aiohttp.ClientPayloadError:
            message = f"{service.name} closed the connection in the middle of its response."
            raise service.error(ServiceUnreachableError, message) from None
        except aiohttp.ClientConnectorDNSError as error:
            raise ServiceOfflineError(error.host) from None
        except aiohttp.ClientError:
            message = f"{service.name} at {service.url} cannot be reached."
            raise service.error(ServiceUnreachableError, message) from None

        value = json_object(body)
        if response.status != HTTPStatus.OK:
            refusal = Refusal(response.status, response.headers, value or {}, explanation(value or {}))
            raise refused(service, refusal)
        if value is None:
            kind = response.headers.get("Content-Type", "something unnamed")
            message = f"{service.name} sent {kind[:80]} instead of JSON."
            raise service.error(ServiceAnswerError, message)
        return value


def refused(service: Service, refusal: Refusal) -> ServiceError:
    """Return the error for a refusal."""
    status = refusal.status
    kind = service.classify(refusal)
    if kind is None:
        if status == HTTPStatus.UNAUTHORIZED:
            kind = ServiceKeyRefusedError
        elif status == HTTPStatus.TOO_MANY_REQUESTS:
            kind = ServiceRateError
        else:
            kind = ServiceUnreachableError if status >= 500 else ServiceAnswerError
    phrase = next((s.phrase for s in HTTPStatus if s == status), "")
    message = f"{service.name} answered {status} {phrase}".rstrip()
    if status < HTTPStatus.BAD_REQUEST and "Location" in refusal.headers:
        message += f" and points to {refusal.headers['Location'][:SHOWN]}"
    if refusal.explanation:
        message += f": {refusal.explanation.rstrip('.')}"
    if "Retry-After" in refusal.headers:
        message += f" (retry after {refusal.headers['Retry-After'][:40]})"
    hint = service.hint(kind, status)
    return service.error(kind, f"{message}.", hint, service.wait(refusal.headers))


async def _read(service: Service, response: aiohttp.ClientResponse) -> bytes:
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > _MAX_BYTES:
            message = f"{service.name} sent more than {_MAX_BYTES:,} bytes."
            raise service.error(ServiceAnswerError, message)
        parts.append(part)
    return b"".join(parts)
